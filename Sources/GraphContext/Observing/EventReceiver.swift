import Dispatch

/// A listener on another executor than the context's. It receives events in their order, one at a time.
struct EventReceiver<Event: Sendable>: Sendable {
  /// A closure that delivers an event, unless the subscription has ended. It returns false if the listener was
  /// released.
  private let tell: @Sendable (Event, SubscriptionFlag) async -> Bool

  /// Makes a receiver for an actor, which is held weakly.
  static func actor<Listener: Actor>(
    _ actor: Listener,
    _ body: @escaping @Sendable (isolated Listener, Event) -> Void
  ) -> EventReceiver {
    EventReceiver { [weak actor] event, flag in
      guard let actor else { return false }
      await actor.tell(event, unless: flag, body)
      return true
    }
  }

  /// Makes a receiver for the main actor. Closures that are isolated to it don't take it as a parameter.
  static func mainActor(_ body: @escaping @MainActor @Sendable (Event) -> Void) -> EventReceiver {
    EventReceiver { event, flag in
      await MainActor.run { if !flag.isCancelled { body(event) } }
      return true
    }
  }

  /// Makes a receiver for a queue, serial or concurrent.
  static func queue(_ queue: DispatchQueue, _ body: @escaping @Sendable (Event) -> Void) -> EventReceiver {
    EventReceiver { event, flag in
      await withCheckedContinuation { told in
        queue.async {
          if !flag.isCancelled { body(event) }
          told.resume()
        }
      }
      return true
    }
  }

  /// Delivers events to the listener until the subscription or the context ends, or the listener is released.
  ///
  /// - Parameter subscribe: subscribes a closure that is called on the context's executor.
  @discardableResult
  func subscribed<Subscription: FlaggedSubscription, Failure: Error>(
    by subscribe: (@escaping (Event) -> Void) throws(Failure) -> Subscription
  ) throws(Failure) -> Subscription {
    let (stream, continuation) = AsyncStream<Event>.makeStream()
    // The context releases the closure once the subscription or the context has ended. The task ends then.
    let end = StreamEnd(continuation)
    let subscription = try subscribe { end.continuation.yield($0) }
    let flag = subscription.flag
    // A detached task: the priority and task-local values of the caller's task are those of one turn.
    Task.detached {
      for await event in stream where await !tell(event, flag) {
        flag.cancel()
        return
      }
    }
    return subscription
  }
}

/// A subscription, or the flag that an audience keeps for it.
protocol FlaggedSubscription {
  var flag: SubscriptionFlag { get }
}

extension ContextSubscription: FlaggedSubscription {}

extension SubscriptionFlag: FlaggedSubscription {
  var flag: SubscriptionFlag { self }
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
