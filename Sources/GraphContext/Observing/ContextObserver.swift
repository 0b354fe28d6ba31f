/// An observer of a context's state that tells of events: ``FetchedResults``, ``CountObserver``, ``ObjectObserver``.
///
/// It calls closures for as long as the program holds their subscriptions, and closures of owners until the owners are
/// released. All receive the same events: on the context's executor in the order in which they were added, or on an
/// actor or a queue that the program names. An observer belongs to the task of its context.
public class ContextObserver<Event: Sendable> {
  /// The context whose state is observed; nil once it is released.
  public final private(set) weak var context: ManagedObjectContext?
  /// True between `pause()` and `resume()`.
  public internal(set) final var isPaused = false
  /// The event for the present state.
  final var initialEvent: Event
  final let audience = Audience<Event>()

  init(_ initialEvent: Event, of context: ManagedObjectContext) {
    (self.initialEvent, self.context) = (initialEvent, context)
  }

  /// Stops following the context until `resume()`: listeners receive nothing, and a list and a count don't change. A
  /// paused list by rank holds the snapshot of the state that it shows.
  public final func pause() { isPaused = true }

  /// Calls `body` with each event, on the context's executor.
  ///
  /// - Parameters:
  ///   - notifyInitial: whether to call it also before this method returns, with the event for the present state: a
  ///     reload of a list, a count, ``ObjectObserver/Change/initial`` of an object.
  ///   - body: the listener.
  /// - Returns: the subscription. It ends when the program releases it, and keeps the observer until then. A closure
  ///   that uses the context should capture it weakly.
  public final func onChange(
    notifyInitial: Bool = false,
    _ body: @escaping (Event) -> Void
  ) -> ContextSubscription {
    audience.add(body, keeping: self, in: context, first: notifyInitial ? initialEvent : nil)
  }

  /// Calls `body` with each event until the owner is released, which is held weakly. If an owner is added again, the
  /// new closure replaces the earlier one.
  ///
  /// - Parameters:
  ///   - owner: the owner.
  ///   - notifyInitial: whether to call `body` also before this method returns, with the event for the present state.
  ///   - body: the listener, on the context's executor.
  public final func addObserver<Owner: AnyObject>(
    _ owner: Owner,
    notifyInitial: Bool = false,
    _ body: @escaping (Owner, Event) -> Void
  ) {
    add(owner, notifyInitial, body)
  }

  /// Tells an owner nothing from now on.
  public func removeObserver(_ owner: AnyObject) { audience.remove(owner) }

  @discardableResult
  final func add<Owner: AnyObject>(
    _ owner: Owner,
    _ notifyInitial: Bool,
    _ body: @escaping (Owner, Event) -> Void
  ) -> SubscriptionFlag {
    audience.add(owner, in: context, first: notifyInitial ? initialEvent : nil, body)
  }
}
