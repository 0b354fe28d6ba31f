import Dispatch
import Synchronization

/// What a followed query tells: first its values, then what has become of them.
public enum ListUpdate<Value: Sendable>: Sendable {
  /// The values as they are when following begins, and again after each reload.
  case all([Value])
  /// The difference to the values before, with new values of the objects that have come, moved or changed.
  case changes(ListChanges, values: [ManagedObjectID: Value])

  /// Brings an array of the values up to date. The array was empty before the first update, and each one is applied to it in its turn.
  /// O(n + k log k) for n values and k changes.
  public func apply(to values: inout [Value]) {
    switch self {
    case .all(let all): values = all
    case .changes(let changes, let news):
      let new = changes.applied(to: values) { id in
        guard let value = news[id] else { fatalError("an update has no value of \(id), which has come") }
        return value
      }
      guard let new else { fatalError("an update is applied to an array of other values") }
      values = new
    }
  }
}

extension PersistentContainer {
  /// Follows a query in the store: a sequence of its objects as values, for a task on any executor, until the task ends it or the store is closed.
  ///
  /// ```swift
  /// for try await update in container.follow(From<Flight>().orderBy(\.hour).limit(50)) {
  ///   try await client.send(update.jsonPatch())
  /// }
  /// ```
  ///
  /// The query has a context of its own on a queue of its own, which moves on after each save to the store, by whatever context, batch or import. Saves that come while one
  /// is looked at are looked at together. Updates that the consumer has not read yet stay in memory. The snapshot that the context shows is held until the sequence ends.
  ///
  /// - Parameters:
  ///   - request: the query.
  ///   - sectionedBy: what divides the list, for the paths in the changes.
  ///   - value: makes the value of an object, on the context's queue.
  /// - Returns: the sequence. It throws what ``FetchedResults`` and `value` throw, and ends with that.
  public func follow<Object: ManagedObject, Value: Sendable>(
    _ request: From<Object>,
    sectionedBy: SectionedBy<Object>? = nil,
    as value: @escaping @Sendable (Object) throws -> Value
  ) -> AsyncThrowingStream<ListUpdate<Value>, any Error> {
    let (stream, continuation) = AsyncThrowingStream<ListUpdate<Value>, any Error>.makeStream()
    do {
      let feed = try ListFeed<Object, Value>(coordinator, continuation, value)
      let task = Task { await feed.start(request, sectionedBy) }
      // The sequence keeps the feed.
      continuation.onTermination = { _ in
        task.cancel()
        feed.stop()
      }
    } catch {
      continuation.finish(throwing: error)
    }
    return stream
  }

  /// Follows a query in the store, with the objects as their ``ModelWithValues/Values``.
  public func follow<Object: ModelWithValues>(
    _ request: From<Object>,
    sectionedBy: SectionedBy<Object>? = nil
  ) -> AsyncThrowingStream<ListUpdate<Object.Values>, any Error> {
    follow(request, sectionedBy: sectionedBy) { $0.values }
  }
}

/// A list in a context of its own that feeds a sequence.
private actor ListFeed<Object: ManagedObject, Value: Sendable> {
  typealias Continuation = AsyncThrowingStream<ListUpdate<Value>, any Error>.Continuation

  private let executor = QueueExecutor(label: "cambium.follow", target: nil)
  private let coordinator: StoreCoordinator
  private let blocks: ContextBlocks
  private let continuation: Continuation
  private let value: @Sendable (Object) throws -> Value
  private let news = PendingTurn()
  private let listener = Atomic<UInt64>(0)
  private var list: FetchedResults<Object>?
  private var subscription: ContextSubscription?

  init(
    _ coordinator: StoreCoordinator,
    _ continuation: Continuation,
    _ value: @escaping @Sendable (Object) throws -> Value
  ) throws(ContextError) {
    (self.coordinator, self.continuation, self.value) = (coordinator, continuation, value)
    blocks = try ContextBlocks(coordinator: coordinator, name: "follow", mergePolicy: .error)
  }

  isolated deinit {
    coordinator.removeListener(listener.load(ordering: .relaxed))
    blocks.end()
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func start(_ request: From<Object>, _ sectionedBy: SectionedBy<Object>?) {
    let news = news
    // A save before the first fetch is in that already, and costs a turn.
    let token = coordinator.addListener { [weak self] in
      guard news.begin() else { return }
      Task { await self?.moveOn() }
    }
    listener.store(token, ordering: .relaxed)
    finishingOnFailure {
      try blocks.perform { context in
        // The context has no changes of its own.
        let request = request.includingUnsavedChanges(true)
        let list = try FetchedResults(request, sectionedBy: sectionedBy, in: context)
        try tellAll(list)
        subscription = list.onChange { [unowned self] changes in
          assumeIsolated { feed in feed.finishingOnFailure { try feed.tell(changes) } }
        }
        self.list = list
      }
    }
  }

  /// Ends the subscription to the store's news, on any thread.
  nonisolated func stop() { coordinator.removeListener(listener.load(ordering: .relaxed)) }

  private func moveOn() {
    news.end()
    finishingOnFailure {
      try blocks.perform { _ in }
      if let failure = list?.failure { throw failure }
    }
  }

  private func tell(_ changes: ListChanges) throws {
    guard let list else { return }
    if changes.isReload { return try tellAll(list) }
    var values: [ManagedObjectID: Value] = [:]
    for (position, id) in changes.newPositions { values[id] = try value(list[position]) }
    // A getter that can't read gives a placeholder, which is not to be told.
    try list.context?.checkUsable()
    continuation.yield(.changes(changes, values: values))
  }

  private func tellAll(_ list: FetchedResults<Object>) throws {
    let values = try list.map(value)
    try list.context?.checkUsable()
    continuation.yield(.all(values))
  }

  private func finishingOnFailure(_ body: () throws -> Void) {
    do { try body() } catch { continuation.finish(throwing: error) }
  }
}
