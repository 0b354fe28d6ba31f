/// A list in the view context that feeds a sequence.
@MainActor final class ViewListFeed<Object: ManagedObject, Value: Sendable> {
  /// The container, which keeps the view context.
  private let container: PersistentContainer
  private let signals: AsyncStream<Void>.Continuation
  private let value: @Sendable (Object) throws -> Value
  // It belongs to the main actor, and the feed is made on any thread.
  private lazy var followed = FollowedList(signals, value, ownsContext: false)

  /// - Parameter signals: receives a signal whenever ``next()`` has something to return or to throw.
  nonisolated init(
    _ container: PersistentContainer,
    _ signals: AsyncStream<Void>.Continuation,
    _ value: @escaping @Sendable (Object) throws -> Value
  ) {
    (self.container, self.signals, self.value) = (container, signals, value)
  }

  // The sequence may be released on any thread.
  isolated deinit { followed.end() }

  func start(_ request: From<Object>, _ sectionedBy: SectionedBy<Object>?) {
    followed.begin(CommitListening(container.coordinator) { [weak self] in await self?.moveOn() }) {
      try FetchedResults(request, sectionedBy: sectionedBy, in: container.viewContext)
    }
  }

  /// Returns the next update for the consumer; nil if there is none before the next signal.
  func next() throws -> ListUpdate<Value>? {
    try followed.next { body in
      container.viewContext.tellBeforeObserving()
      return try body()
    }
  }

  /// Follows the view context, which moves by itself but doesn't report that its store was closed.
  private func moveOn() { followed.moveOn { try container.viewContext.checkCanMove() } }
}
