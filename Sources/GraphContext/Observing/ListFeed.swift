import Dispatch

/// A list in a context of its own that feeds a sequence.
actor ListFeed<Object: ManagedObject, Value: Sendable> {
  private let executor = QueueExecutor(label: "cambium.follow", target: nil)
  private let coordinator: StoreCoordinator
  private let blocks: ContextBlocks
  private let signals: AsyncStream<Void>.Continuation
  private let value: @Sendable (Object) throws -> Value
  private let news = PendingTurn()
  private var listener: UInt64?
  private var list: FetchedResults<Object>?
  private var subscription: ContextSubscription?
  /// The updates that the consumer has not fetched.
  private var waiting = WaitingUpdates<Value>()
  /// The error that ends the sequence, once the consumer has fetched the differences before it.
  private var failure: (any Error)?
  /// True once the consumer has received the failure.
  private var hasThrown = false

  /// - Parameter signals: receives a signal whenever ``next()`` has something to return or to throw.
  init(
    _ coordinator: StoreCoordinator,
    _ signals: AsyncStream<Void>.Continuation,
    _ value: @escaping @Sendable (Object) throws -> Value
  ) throws(ContextError) {
    (self.coordinator, self.signals, self.value) = (coordinator, signals, value)
    blocks = try ContextBlocks(coordinator: coordinator, name: "follow", mergePolicy: .error)
  }

  isolated deinit {
    stopFollowing()
    signals.finish()
    blocks.end()
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func start(_ request: From<Object>, _ sectionedBy: SectionedBy<Object>?) {
    let news = news
    // The first fetch already includes a save that came before it. Such a save costs only a turn.
    listener = coordinator.addListener { [weak self] in
      guard news.begin() else { return }
      Task { await self?.moveOn() }
    }
    keepingFailure {
      try blocks.perform { context in
        // The context has no changes of its own.
        let request = request.includingUnsavedChanges(true)
        let list = try FetchedResults(request, sectionedBy: sectionedBy, in: context)
        subscription = list.onChange { [unowned self] changes in
          assumeIsolated { feed in feed.keepingFailure { try feed.add(changes) } }
        }
        self.list = list
      }
    }
    signals.yield()
  }

  /// The next update for the consumer; nil if there is none before the next signal.
  ///
  /// - Throws: the error that ends the sequence, once. No signal comes after that.
  func next() throws -> ListUpdate<Value>? {
    do {
      let update = try nextWaiting()
      // One signal may stand for several differences.
      if update != nil { signals.yield() }
      return update
    } catch {
      fail(error)
      if hasThrown { return nil }
      hasThrown = true
      signals.finish()
      throw error
    }
  }

  private func nextWaiting() throws -> ListUpdate<Value>? {
    if let difference = waiting.takeFirst() { return difference }
    if let failure { throw failure }
    guard waiting.isBehind, let list else { return nil }
    // The context moves on first, and the list reports the difference. While the consumer is behind, that difference is
    // dropped.
    let values = try blocks.perform { context in
      if let failure = list.failure { throw failure }
      let values = try list.map(value)
      try context.checkUsable()
      return values
    }
    waiting.didCatchUp()
    return .all(values)
  }

  private func moveOn() {
    news.end()
    keepingFailure {
      try blocks.perform { _ in }
      if let failure = list?.failure { throw failure }
    }
  }

  /// Keeps a difference for the consumer.
  private func add(_ changes: ListChanges) throws {
    guard let list, !waiting.isBehind, failure == nil else { return }
    waiting.makeRoom(for: changes, inListOf: list.count)
    if !waiting.isBehind {
      var values: [ManagedObjectID: Value] = [:]
      for (position, id) in changes.newPositions { values[id] = try value(list[position]) }
      // A getter that can't read gives a placeholder, which the consumer must not receive.
      try list.context?.checkUsable()
      waiting.add(changes, values)
    }
    signals.yield()
  }

  private func keepingFailure(_ body: () throws -> Void) {
    do { try body() } catch {
      fail(error)
      signals.yield()
    }
  }

  /// Ends the sequence here: later differences belong to a state that the consumer doesn't know.
  private func fail(_ error: any Error) {
    failure = failure ?? error
    stopFollowing()
  }

  private func stopFollowing() {
    if let listener { coordinator.removeListener(listener) }
    (listener, subscription, list) = (nil, nil, nil)
  }
}
