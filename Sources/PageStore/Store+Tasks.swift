/// Asynchronous variants of the calls that block their thread, because they wait for the writer lock, for a
/// checkpoint or for the device.
///
/// Each runs its work on a thread of its own and suspends the task until that is done, so that no thread of
/// the concurrency runtime is blocked. Cancelling the task doesn't cancel the work.
extension Store {
  /// Runs `body` in a write transaction and commits it, as the synchronous variant does, without blocking the
  /// task's thread.
  ///
  /// `body` runs on a thread of its own. Tasks that commit at the same moment share a sync; no commit is
  /// delayed for the sake of others. Cancelling the task doesn't cancel the transaction. If others write for
  /// longer than `timeout`, this throws `timedOut` without having run `body`; nil waits for as long as it
  /// takes.
  @discardableResult
  public func write<Result: Sendable>(
    durability: Durability? = nil,
    timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await DetachedThread.result { try self.write(durability: durability, timeout: timeout, body) }
  }

  /// Makes all commits so far durable, without blocking the task's thread: see the synchronous variant for
  /// its errors.
  public func makeDurable() async throws(StoreError) {
    try await DetachedThread.result { () throws(StoreError) in try self.makeDurable() }
  }

  /// Writes a checkpoint, without blocking the task's thread: see the synchronous variant for details and
  /// errors.
  public func checkpoint() async throws(StoreError) {
    try await DetachedThread.result { () throws(StoreError) in try self.checkpoint() }
  }

  /// Makes the file as short as its contents allow, without blocking the task's thread: see the synchronous
  /// variant for details and errors.
  ///
  /// - Parameter progress: called repeatedly, on the compaction's thread; compaction ends when it returns
  ///   false. What was done stays.
  /// - Returns: the progress at the end.
  @discardableResult
  public func compact(
    progress: @escaping @Sendable (CompactionProgress) throws -> Bool = { _ in true }
  ) async throws -> CompactionProgress {
    try await DetachedThread.result { try self.compact(progress: progress) }
  }

  /// Writes the contents of the newest snapshot to a new file at `path`, without blocking the task's thread:
  /// see the synchronous variant for details and errors.
  ///
  /// - Parameters:
  ///   - path: where to write the copy. No file may be there.
  ///   - pageSize: bytes in a page of the copy, from 4,096 to 65,536; nil for that of this store.
  ///   - keepsUUID: whether the copy has this store's UUID, as a backup needs. Pass false for a copy that is to
  ///     have commits of its own beside this store.
  ///   - progress: called repeatedly, on the copy's thread; if it returns false, or throws, nothing remains
  ///     of the copy.
  /// - Returns: false if `progress` ended it.
  @discardableResult
  public func copy(
    to path: String,
    pageSize: Int? = nil,
    keepsUUID: Bool = true,
    progress: @escaping @Sendable (CopyProgress) throws -> Bool = { _ in true }
  ) async throws -> Bool {
    try await DetachedThread.result {
      try self.copy(to: path, pageSize: pageSize, keepsUUID: keepsUUID, progress: progress)
    }
  }

  /// Reads and checks the complete store, without blocking the task's thread: see the synchronous variant for
  /// details and errors. Writers wait meanwhile.
  public func verify(includingWarnings: Bool = false) async throws(StoreError) -> [IntegrityProblem] {
    try await DetachedThread.result { () throws(StoreError) in
      try self.verify(includingWarnings: includingWarnings)
    }
  }

  /// Closes this handle, without blocking the task's thread: see the synchronous variant for details and
  /// errors.
  public func close() async throws(StoreError) {
    try await DetachedThread.result { () throws(StoreError) in try self.close() }
  }
}
