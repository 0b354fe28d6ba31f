/// A listener of the commits of a store that takes turns on an executor of its own. It listens for as long as its owner
/// keeps this value.
final class CommitListening: Sendable {
  private let coordinator: StoreCoordinator
  private let token: UInt64
  private let turn: PendingTurn

  /// - Parameter takeTurn: is called after a commit, after commits were taken back, and when the store is closed. It
  ///   calls ``beginTurn()`` first on its executor: commits until then share the turn.
  init(_ coordinator: StoreCoordinator, _ takeTurn: @escaping @Sendable () async -> Void) {
    let turn = PendingTurn()
    (self.coordinator, self.turn) = (coordinator, turn)
    token = coordinator.addListener {
      guard turn.begin() else { return }
      Task { await takeTurn() }
    }
  }

  deinit { coordinator.removeListener(token) }

  /// Begins a turn. The next commit has another one.
  func beginTurn() { turn.end() }
}

extension ManagedObjectContext {
  /// Throws the reason why the context can't move on, for example that its store was closed.
  func checkCanMove() throws(ContextError) { _ = try newestSource() }
}
