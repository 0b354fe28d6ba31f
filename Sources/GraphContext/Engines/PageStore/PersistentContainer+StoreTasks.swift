import PageStore

/// Asynchronous variants of the calls that block their thread.
///
/// Each runs its work on the container's queue, or on the queue of the blocks that write. On a serial queue of the
/// program, earlier work runs first. The task is suspended until the work is done, so that no thread of the
/// concurrency runtime is blocked. In an asynchronous function the compiler chooses these variants. Cancelling the
/// task doesn't cancel the work.
extension PersistentContainer {
  /// Writes a checkpoint, without blocking the task's thread: see the synchronous variant for details and errors.
  public func checkpoint() async throws(ContextError) {
    try await queue.run { () throws(ContextError) in try self.checkpoint() }
  }

  /// Makes the store's file as short as its contents allow, without blocking the task's thread: see the synchronous
  /// variant for details and errors.
  ///
  /// - Parameter progress: called repeatedly, on the thread that does the work. The work ends when it returns false.
  ///   What was done stays.
  /// - Returns: the progress at the end.
  @discardableResult
  public func compact(
    progress: @escaping @Sendable (CompactionProgress) -> Bool = { _ in true }
  ) async throws(ContextError) -> CompactionProgress {
    try await queue.run { () throws(ContextError) in try self.compact(progress: progress) }
  }

  /// Closes the container without blocking the task's thread: see the synchronous variant for details and errors.
  /// The synchronous variant closes at once.
  ///
  /// This variant waits in the queue of the blocks that write, which all containers on the file share. So it closes
  /// after the blocks of `write` and the imports of inputs that were begun before. Those that are begun later throw
  /// `closed`. It doesn't wait for other blocks, nor for imports of asynchronous sequences. Before closing, cancel
  /// an import that waits for its source: this method would wait for the import, even if the closing task is
  /// cancelled. A block that writes must not wait for a task that closes.
  public func close() async throws(ContextError) {
    do { try await coordinator.writer.run { try self.close() } } catch { throw ContextError(any: error) }
  }

  /// Reads and checks the complete store, without blocking the task's thread: see the synchronous variant for details
  /// and errors. Writers wait while it checks the pages.
  ///
  /// - Parameter includingWarnings: whether to return warnings, too: data that is whole, but of which only one of
  ///   two copies is left.
  public func verify(includingWarnings: Bool = false) async throws(ContextError) -> [IntegrityProblem] {
    try await queue.run { () throws(ContextError) in try self.verify(includingWarnings: includingWarnings) }
  }
}
