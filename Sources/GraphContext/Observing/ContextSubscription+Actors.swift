// Telling listeners on other executors than the context's.

extension ContextSubscription {
  /// Has an actor told of events, in their order, until it is released.
  ///
  /// - Parameter subscribe: subscribes a listener that is called on the context's executor.
  static func telling<Event: Sendable, Listener: Actor, Failure: Error>(
    _ actor: Listener,
    _ body: @escaping @Sendable (isolated Listener, Event) -> Void,
    _ subscribe: (@escaping (Event) -> Void) throws(Failure) -> ContextSubscription
  ) throws(Failure) -> ContextSubscription {
    try forwarding(to: { [weak actor] in await actor?.tell($0, unless: $1, body) }, subscribe)
  }

  /// Has the main actor told of events, in their order. Closures that are isolated to it don't take it as a parameter.
  ///
  /// - Parameter subscribe: subscribes a listener that is called on the context's executor.
  static func tellingMainActor<Event: Sendable, Failure: Error>(
    _ body: @escaping @MainActor @Sendable (Event) -> Void,
    _ subscribe: (@escaping (Event) -> Void) throws(Failure) -> ContextSubscription
  ) throws(Failure) -> ContextSubscription {
    try forwarding(to: { await MainActor.tell($0, unless: $1, body) }, subscribe)
  }

  private static func forwarding<Event: Sendable, Failure: Error>(
    to receiver: @escaping @Sendable (Event, SubscriptionFlag) async -> Void,
    _ subscribe: (@escaping (Event) -> Void) throws(Failure) -> ContextSubscription
  ) throws(Failure) -> ContextSubscription {
    let (stream, continuation) = AsyncStream<Event>.makeStream()
    // The context releases the listener once the subscription or the context has ended. The task ends then.
    let end = StreamEnd(continuation)
    let subscription = try subscribe { end.continuation.yield($0) }
    let flag = subscription.flag
    // Not as a part of the caller's task, whose priority and task-local values are those of one turn.
    Task.detached { for await event in stream { await receiver(event, flag) } }
    return subscription
  }
}

extension Actor {
  fileprivate func tell<Event: Sendable>(
    _ event: Event,
    unless flag: SubscriptionFlag,
    _ body: @Sendable (isolated Self, Event) -> Void
  ) {
    if !flag.isCancelled { body(self, event) }
  }
}

extension MainActor {
  @MainActor fileprivate static func tell<Event: Sendable>(
    _ event: Event,
    unless flag: SubscriptionFlag,
    _ body: @MainActor (Event) -> Void
  ) {
    if !flag.isCancelled { body(event) }
  }
}
