import PageStore

/// Asynchronous variants of the calls that block their thread.
///
/// Each runs its work on the container's queue, after what a serial queue of the program's has to do before, and suspends the task until that is done, so that
/// no thread of the concurrency runtime is blocked. In an asynchronous function the compiler takes these. Cancelling the task doesn't cancel the work.
extension PersistentContainer {
  /// Writes a checkpoint, without blocking the task's thread: see the synchronous variant for details and errors.
  public func checkpoint() async throws(ContextError) {
    try await queue.run { () throws(ContextError) in try self.checkpoint() }
  }

  /// Closes the container after the blocks of `write` and the imports that have been begun before, without blocking the task's thread: see the synchronous variant
  /// for details and errors. That one closes at once; the saves of such blocks then throw `closed`.
  public func close() async throws(ContextError) {
    do { try await coordinator.writer.run { try self.close() } } catch { throw ContextError(any: error) }
  }

  /// Reads and checks the complete store, without blocking the task's thread: see the synchronous variant for details and errors. Writers wait while it
  /// checks the pages.
  ///
  /// - Parameter includingWarnings: whether to return, too, what is whole but rests on the last of two copies.
  public func verify(includingWarnings: Bool = false) async throws(ContextError) -> [IntegrityProblem] {
    try await queue.run { () throws(ContextError) in try self.verify(includingWarnings: includingWarnings) }
  }
}
