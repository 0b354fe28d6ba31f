/// The listeners of one kind of event of a context, in the order of their subscriptions.
///
/// Releasing a closure releases the objects that it has captured, whose `deinit` may subscribe. So the list is changed
/// first, and the closures are released after that.
final class EventListeners<Event> {
  private var listeners: [(flag: SubscriptionFlag, body: (Event) -> Void)] = []
  /// The number of events that have happened and that the listeners haven't been told of yet.
  private(set) var waitingCount = 0
  private var cleaning = AmortisedCleaning()

  /// Adds a listener. O(1) on average.
  func add(_ body: @escaping (Event) -> Void) -> SubscriptionFlag {
    let flag = SubscriptionFlag()
    if cleaning.isDue(listeners.count) {
      releaseEnded()
      cleaning.didClean(listeners.count)
    }
    listeners.append((flag, body))
    return flag
  }

  /// True if every subscription has ended.
  var isEmpty: Bool { listeners.allSatisfy(\.flag.isCancelled) }

  /// Releases the closures of cancelled subscriptions.
  func releaseEnded() {
    let all = listeners
    let staying = all.filter { !$0.flag.isCancelled }
    if staying.count == all.count { return }
    withExtendedLifetime(all) { listeners = staying }
  }

  /// Calls every listener. One that is added meanwhile is called from the next event on.
  func tell(_ event: Event) { telling()(event) }

  /// Returns a function that calls the listeners of this moment.
  func telling() -> (Event) -> Void {
    let listeners = listeners
    return { [self] event in
      for listener in listeners where !listener.flag.isCancelled { listener.body(event) }
      releaseEnded()
    }
  }

  /// Queues an event for the listeners of this moment.
  func tell(_ event: Event, in queue: EventQueue) {
    if listeners.isEmpty { return }
    waitingCount += 1
    let tell = telling()
    queue.add { [self] in
      waitingCount -= 1
      tell(event)
    }
  }
}

extension EventListeners {
  /// Returns a sequence of the results of `element` for the events from now on, after a first element if one is given.
  /// Events with the result nil are left out. The sequence ends when the listeners are released.
  func stream<Element: Sendable>(
    from first: Element? = nil,
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded,
    _ element: @escaping (Event) -> Element?
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    if let first { continuation.yield(first) }
    let flag = add { [end = StreamEnd(continuation)] event in
      if let element = element(event) { end.continuation.yield(element) }
    }
    continuation.onTermination = { _ in flag.cancel() }
    return stream
  }
}

/// An object that finishes a stream when the source of the stream releases it.
final class StreamEnd<Event: Sendable>: Sendable {
  let continuation: AsyncStream<Event>.Continuation

  init(_ continuation: AsyncStream<Event>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}
