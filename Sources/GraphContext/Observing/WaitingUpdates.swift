/// The updates of a followed list that its consumer hasn't fetched: differences in their order, or all values.
struct WaitingUpdates<Value: Sendable> {
  private var updates: [ListUpdate<Value>?] = []
  private var start = 0
  /// The number of changes in all differences that wait.
  private var changeCount = 0
  /// True if the consumer gets all values next, and no differences.
  private(set) var isBehind = true

  /// The number of changes that may wait for the consumer of a list with fewer objects.
  private static var leastLimit: Int { 64 }

  /// Makes the updates of a consumer that has nothing, and so gets all values first.
  init() {}

  /// Drops all differences if more changes would wait with another difference than the list has objects, or if that is
  /// a reload. The consumer is behind then.
  mutating func makeRoom(for changes: ListChanges, inListOf count: Int) {
    if changes.isReload || changeCount + changes.changes.count > max(Self.leastLimit, count) {
      self = WaitingUpdates()
    }
  }

  /// Keeps a difference for a consumer that isn't behind.
  mutating func add(_ changes: ListChanges, _ values: [ManagedObjectID: Value]) {
    changeCount += changes.changes.count
    updates.append(.changes(changes, values: values))
  }

  /// Returns the next difference for the consumer; nil if none waits.
  mutating func takeFirst() -> ListUpdate<Value>? {
    guard start < updates.count, case .changes(let changes, let values)? = updates[start].take() else {
      return nil
    }
    changeCount -= changes.changes.count
    start += 1
    if 2 * start >= updates.count {
      updates.removeFirst(start)
      start = 0
    }
    return .changes(changes, values: values)
  }

  /// Notes that the consumer has received all values.
  mutating func didCatchUp() { isBehind = false }
}

extension ListUpdate {
  /// Returns a sequence of the updates of a feed, which gives a signal whenever it has an update or an error.
  ///
  /// - Parameter next: returns the next update; nil if there is none before the next signal.
  static func sequence(
    after signals: AsyncStream<Void>,
    _ next: @escaping @Sendable () async throws -> ListUpdate?
  ) -> AsyncThrowingStream<ListUpdate, any Error> {
    AsyncThrowingStream {
      var iterator = signals.makeAsyncIterator()
      do {
        while await iterator.next() != nil { if let update = try await next() { return update } }
      } catch {
        // A consumer that was cancelled has its values made in a cancelled task.
        if !Task.isCancelled { throw error }
      }
      return nil
    }
  }
}
