import PageStore

/// Asynchronous variants of the calls that block their thread.
///
/// Each runs its work on the container's queue, or that of the blocks that write, after what a serial queue of the program's has to do before, and suspends the task until that is done, so that
/// no thread of the concurrency runtime is blocked. In an asynchronous function the compiler takes these. Cancelling the task doesn't cancel the work.
extension PersistentContainer {
  /// Writes a checkpoint, without blocking the task's thread: see the synchronous variant for details and errors.
  public func checkpoint() async throws(ContextError) {
    try await queue.run { () throws(ContextError) in try self.checkpoint() }
  }

  /// Closes the container without blocking the task's thread: see the synchronous variant for details and errors, which closes at once.
  ///
  /// This one takes its turn in the queue of the blocks that write, which all containers on the file share. So it comes after the blocks of `write` and the imports
  /// of inputs that were begun before, and those that are begun later throw `closed`. It doesn't wait for other blocks, nor for imports of asynchronous sequences. Cancel an import that
  /// waits for its source before: this would wait for it, whether its own task is cancelled or not. A block that writes must not wait for a task that closes.
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
