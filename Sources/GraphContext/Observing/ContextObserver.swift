/// An observer of a context's state that calls closures with events: ``FetchedResults``, ``CountObserver``, ``ObjectObserver``.
public protocol ContextObserver<Event>: AnyObject {
  /// The type of the events: a difference of a list, a count, a change of an object.
  associatedtype Event: Sendable

  /// Calls `body` with each event, on the context's executor.
  ///
  /// - Parameters:
  ///   - notifyInitial: whether to call it also before this method returns, with the state as it is.
  ///   - body: the listener.
  /// - Returns: the subscription. It ends when the program releases it, and keeps the observer until then.
  func onChange(notifyInitial: Bool, _ body: @escaping (Event) -> Void) -> ContextSubscription
}

extension ContextObserver {
  /// Calls `body` with each event, on an actor.
  ///
  /// ```swift
  /// let subscription = list.onChange(on: screen) { screen, changes in screen.show(changes) }
  /// ```
  ///
  /// The events arrive in their order, some time after they have happened. Those that the actor hasn't been told yet wait in memory. Objects stay with their context: the event has their IDs. A list may be further
  /// by then, so a difference says what has changed, and positions of it don't fit the list. An actor that keeps the rows themselves reads ``FetchedResults/snapshots()``, or follows the query
  /// with `container.follow`.
  ///
  /// - Parameters:
  ///   - actor: the actor, which is held weakly. An actor with an executor of its own is told on that.
  ///   - notifyInitial: whether the state as it is comes first.
  ///   - body: the listener. No call begins after the subscription was cancelled on this actor.
  /// - Returns: the subscription. It ends when the program releases it, and keeps the observer until then.
  public func onChange<Listener: Actor>(
    on actor: Listener,
    notifyInitial: Bool = false,
    _ body: @escaping @Sendable (isolated Listener, Event) -> Void
  ) -> ContextSubscription {
    ContextSubscription.telling(actor, body) { onChange(notifyInitial: notifyInitial, $0) }
  }

  /// Calls `body` with each event, on the main actor: `list.onChange(on: MainActor.shared) { changes in … }`.
  ///
  /// As `onChange(on:notifyInitial:_:)` for other actors. A closure that uses a screen which keeps the subscription should capture the screen weakly.
  public func onChange(
    on actor: MainActor,
    notifyInitial: Bool = false,
    _ body: @escaping @MainActor @Sendable (Event) -> Void
  ) -> ContextSubscription {
    ContextSubscription.tellingMainActor(body) { onChange(notifyInitial: notifyInitial, $0) }
  }
}
