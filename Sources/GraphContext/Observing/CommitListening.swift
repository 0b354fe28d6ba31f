/// A listener of the commits of a store. It listens for as long as the program keeps this value.
package final class CommitListening: Sendable {
  private let coordinator: StoreCoordinator
  private let token: UInt64

  fileprivate init(_ coordinator: StoreCoordinator, _ listener: @escaping @Sendable () -> Void) {
    self.coordinator = coordinator
    token = coordinator.addListener(listener)
  }

  deinit { coordinator.removeListener(token) }
}

extension PersistentContainer {
  /// Calls `listener` after each commit, and when the store is closed, on the thread that commits or closes. The
  /// listener must be quick, and must not save.
  package func onCommit(_ listener: @escaping @Sendable () -> Void) -> CommitListening {
    CommitListening(coordinator, listener)
  }
}

extension ManagedObjectContext {
  /// Throws the reason why the context can't move on, for example that its store was closed.
  package func checkCanMove() throws(ContextError) { _ = try newestSource() }
}
