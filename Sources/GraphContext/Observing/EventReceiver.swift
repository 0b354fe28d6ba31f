import Dispatch

/// A listener on another executor than the context's. It is told of events in their order, one at a time.
struct EventReceiver<Event: Sendable>: Sendable {
  /// Tells of an event, unless the subscription has ended. Returns false if the listener is gone.
  private let tell: @Sendable (Event, SubscriptionFlag) async -> Bool

  /// An actor, which is held weakly.
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

  /// The main actor. Closures that are isolated to it don't take it as a parameter.
  static func mainActor(_ body: @escaping @MainActor @Sendable (Event) -> Void) -> EventReceiver {
    EventReceiver { event, flag in
      await MainActor.run { if !flag.isCancelled { body(event) } }
      return true
    }
  }

  /// A queue, serial or concurrent.
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

  /// Has the listener told of events until the subscription or the context ends, or the listener is gone.
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
    // Not as a part of the caller's task, whose priority and task-local values are those of one turn.
    Task.detached {
      for await event in stream where await !tell(event, flag) {
        flag.cancel()
        return
      }
    }
    return subscription
  }
}

/// A subscription, or what stands for it where an audience keeps it.
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
