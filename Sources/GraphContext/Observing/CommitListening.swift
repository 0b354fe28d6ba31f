import Synchronization

/// A listener of the commits of a store that takes turns on an executor of its own. It listens for as long as its owner
/// keeps this value.
final class CommitListening: Sendable {
  /// A turn, which the listener shares with its owner.
  private final class Turn: Sendable {
    /// True from a commit until the turn begins.
    let isScheduled = Atomic(false)
  }

  private let coordinator: StoreCoordinator
  private let token: UInt64
  private let turn = Turn()

  /// - Parameter takeTurn: is called after a commit, after commits were taken back, and when the store is closed. It
  ///   calls ``beginTurn()`` first on its executor: commits until then share the turn.
  init(_ coordinator: StoreCoordinator, _ takeTurn: @escaping @isolated(any) @Sendable () async -> Void) {
    self.coordinator = coordinator
    token = coordinator.addListener { [turn] in
      guard !turn.isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
      // Without a closure around it, the task begins on the function's own actor.
      Task(operation: takeTurn)
    }
  }

  deinit { coordinator.removeListener(token) }

  /// Begins a turn. The next commit has another one.
  func beginTurn() { turn.isScheduled.store(false, ordering: .releasing) }
}

extension ManagedObjectContext {
  /// Throws the reason why the context can't move on, for example that its store was closed.
  func checkCanMove() throws(ContextError) { _ = try newestSource() }
}
