import Dispatch

// Listeners on other executors than the context's. Events arrive in their order, some time after they have happened,
// and one at a time. Events that a listener hasn't received yet wait in memory.

extension ContextObserver {
  /// Calls `body` with each event, on an actor.
  ///
  /// ```swift
  /// let subscription = list.onChange(on: screen) { screen, changes in screen.show(changes) }
  /// ```
  ///
  /// The events arrive in their order, some time after they have happened. Events that the actor hasn't received yet
  /// wait in memory. Objects stay with their context: the event has their IDs. A list may have changed again by then.
  /// So a difference says what has changed, but its positions may not fit the list. An actor that keeps the rows
  /// themselves reads ``FetchedResults/snapshots()``, or follows the query with `container.follow`.
  ///
  /// - Parameters:
  ///   - actor: the actor, which is held weakly. An actor with an executor of its own is told on that.
  ///   - notifyInitial: whether the state as it is comes first.
  ///   - body: the listener. No call begins after the subscription was cancelled on this actor.
  /// - Returns: the subscription. It ends when the program releases it, and keeps the observer until then or until the
  ///   actor is released.
  public final func onChange<Listener: Actor>(
    on actor: Listener,
    notifyInitial: Bool = false,
    _ body: @escaping @Sendable (isolated Listener, Event) -> Void
  ) -> ContextSubscription {
    EventReceiver.actor(actor, body).subscribed { onChange(notifyInitial: notifyInitial, $0) }
  }

  /// Calls `body` with each event, on the main actor: `list.onChange(on: MainActor.shared) { changes in … }`.
  ///
  /// As `onChange(on:notifyInitial:_:)` for other actors. A closure that uses a screen which keeps the subscription
  /// should capture the screen weakly.
  public final func onChange(
    on actor: MainActor,
    notifyInitial: Bool = false,
    _ body: @escaping @MainActor @Sendable (Event) -> Void
  ) -> ContextSubscription {
    EventReceiver.mainActor(body).subscribed { onChange(notifyInitial: notifyInitial, $0) }
  }

  /// Calls `body` with each event, on a queue.
  ///
  /// As `onChange(on:notifyInitial:_:)` for actors. No call begins before the one before has returned, also on a
  /// concurrent queue.
  public final func onChange(
    on queue: DispatchQueue,
    notifyInitial: Bool = false,
    _ body: @escaping @Sendable (Event) -> Void
  ) -> ContextSubscription {
    EventReceiver.queue(queue, body).subscribed { onChange(notifyInitial: notifyInitial, $0) }
  }

  /// Calls `body` with each event, on an actor, until the actor is released. The actor is held weakly. If an actor is
  /// added again, the new closure replaces the earlier one. The program keeps the observer.
  ///
  /// ```swift
  /// list.addObserver(screen) { screen, changes in screen.show(changes) }
  /// ```
  ///
  /// - Parameters:
  ///   - actor: the actor. One with an executor of its own is told on that.
  ///   - notifyInitial: whether the state as it is comes first.
  ///   - body: the listener. If the actor runs on the context's executor, no call begins after ``removeObserver(_:)``.
  ///     An actor that runs elsewhere may be handling an event at that moment.
  public final func addObserver<Listener: Actor>(
    _ actor: Listener,
    notifyInitial: Bool = false,
    _ body: @escaping @Sendable (isolated Listener, Event) -> Void
  ) {
    EventReceiver.actor(actor, body).subscribed { tell in add(actor, notifyInitial) { tell($1) } }
  }

  /// Calls `body` with each event, on the main actor, until the owner is released, which is held weakly:
  /// `list.addObserver(screen, on: MainActor.shared) { screen, changes in … }`.
  ///
  /// As `addObserver(_:notifyInitial:_:)` for actors.
  public final func addObserver<Owner: AnyObject & Sendable>(
    _ owner: Owner,
    on actor: MainActor,
    notifyInitial: Bool = false,
    _ body: @escaping @MainActor @Sendable (Owner, Event) -> Void
  ) {
    let receiver = EventReceiver<Event>.mainActor { [weak owner] event in
      if let owner { body(owner, event) }
    }
    receiver.subscribed { tell in add(owner, notifyInitial) { tell($1) } }
  }

  /// Calls `body` with each event, on a queue, until the owner is released, which is held weakly.
  ///
  /// As `addObserver(_:notifyInitial:_:)` for actors. No call begins before the one before has returned, also on a
  /// concurrent queue.
  public final func addObserver<Owner: AnyObject & Sendable>(
    _ owner: Owner,
    on queue: DispatchQueue,
    notifyInitial: Bool = false,
    _ body: @escaping @Sendable (Owner, Event) -> Void
  ) {
    let receiver = EventReceiver<Event>.queue(queue) { [weak owner] event in
      if let owner { body(owner, event) }
    }
    receiver.subscribed { tell in add(owner, notifyInitial) { tell($1) } }
  }
}
