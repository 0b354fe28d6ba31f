import Dispatch

/// A list in a context of its own, on a queue of its own, that feeds a sequence.
actor ListFeed<Object: ManagedObject, Value: Sendable> {
  private let executor = QueueExecutor(label: "cambium.follow", target: nil)
  private let coordinator: StoreCoordinator
  private let blocks: ContextBlocks
  private let followed: FollowedList<Object, Value>

  /// - Parameter signals: receives a signal whenever ``next()`` has something to return or to throw.
  init(
    _ coordinator: StoreCoordinator,
    _ signals: AsyncStream<Void>.Continuation,
    _ value: @escaping @Sendable (Object) throws -> Value
  ) throws(ContextError) {
    self.coordinator = coordinator
    followed = FollowedList(signals, value, ownsContext: true)
    blocks = try ContextBlocks(coordinator: coordinator, name: "follow", mergePolicy: .error)
  }

  isolated deinit {
    followed.end()
    blocks.end()
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func start(_ request: From<Object>, _ sectionedBy: SectionedBy<Object>?) {
    followed.begin(CommitListening(coordinator) { [weak self] in await self?.moveOn() }) {
      try blocks.perform { context in
        // The context has no changes of its own.
        let request = request.includingUnsavedChanges(true)
        return try FetchedResults(request, sectionedBy: sectionedBy, in: context)
      }
    }
  }

  /// Returns the next update for the consumer; nil if there is none before the next signal.
  func next() throws -> ListUpdate<Value>? {
    try followed.next { body in try blocks.perform { _ in try body() } }
  }

  private func moveOn() { followed.moveOn { try blocks.perform { _ in } } }
}
