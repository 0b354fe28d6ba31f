import Glibc
import Synchronization

/// An ordered, transactional key-value store in one file: named trees of byte strings.
///
/// Any number of threads can read, each from a ``Snapshot``; one thread at a time writes. A write transaction
/// takes effect completely or not at all, in memory and after a crash.
///
/// A process that opens a store for writing excludes all other processes; any number of processes can have a
/// store open for reading. A `Store` is a *handle*: opening a file that this process has open already gives
/// another handle on the same store, with the same cache and the same locks. Each handle is closed by its own
/// `close()`.
public final class Store: Sendable {
  let shared: SharedStore
  /// True if this handle keeps the store open.
  private let isCounted: Bool
  private let isClosed = Atomic(false)

  /// The path of the store; empty for a store in memory.
  public var path: String { shared.path }
  /// The options that the store was opened with.
  public var options: StoreOptions { shared.options }
  /// The permanent identifier of the store, different from that of every other.
  public var uuid: StoreUUID { committer.identity.uuid }

  var file: StoreFile { shared.file }
  var pool: PagePool { shared.pool }
  var versions: VersionTable { shared.versions }
  var writerLock: WriterLock { shared.writerLock }
  var committer: Committer { shared.committer }
  var environment: StoreEnvironment { shared.environment }

  /// - Parameter isCounted: whether the handle was counted.
  init(_ shared: SharedStore, isCounted: Bool = true) {
    self.shared = shared
    self.isCounted = isCounted
  }

  deinit { if isCounted, !isClosed.load(ordering: .relaxed) { shared.dropHandle() } }

  /// The identity of the open store, equal for all its handles.
  package var identifier: ObjectIdentifier { ObjectIdentifier(shared) }

  /// Returns a handle that isn't counted, for objects that all handles of a process share: it is usable until
  /// the last counted one is closed, and doesn't keep the store open. Closing it does nothing.
  package func uncounted() -> Store { Store(shared, isCounted: false) }

  /// Throws `closed` if this handle or the store has been closed, or if the process is a fork of the one that
  /// opened it.
  package func checkOpen() throws(StoreError) {
    try file.checkOpen()
    if isClosed.load(ordering: .relaxed) {
      throw StoreError(.closed, "this handle of the store is closed", context: .init(path: path))
    }
  }

  // MARK: Reading

  /// The newest commit that readers see.
  public var lastCommit: UInt64 { versions.published.commit }

  /// The newest commit whose record was appended to the log, whether or not readers see it yet. Never blocks.
  @_spi(Testing) public var newestCommit: UInt64 { shared.newestCommit }

  /// Returns a snapshot of the newest committed version, which can be read as long as the snapshot exists.
  ///
  /// - Parameters:
  ///   - label: the purpose of the snapshot, which ``readers()`` returns.
  ///   - lifetime: how long the snapshot may be read. Soon after, memory and pages that only it reaches are
  ///     reused, and reading from it throws `snapshotExpired`; a cursor may still move within its leaf. Nil
  ///     for no limit.
  public func snapshot(label: String = "", lifetime: Duration? = nil) throws(StoreError) -> Snapshot {
    try checkOpen()
    let snapshot = Snapshot(of: shared, label: label, lifetime: lifetime)
    if lifetime != nil { shared.expireLater() }
    return snapshot
  }

  /// Takes a snapshot of the version on which a running write transaction builds. The commits in that version
  /// may not be durable yet. If their sync fails, the store takes them back, and the transaction fails too.
  /// Called by the thread that runs the transaction.
  package func snapshotOfWriter() throws(StoreError) -> Snapshot {
    try checkOpen()
    return Snapshot(ofLatestIn: shared)
  }

  /// Returns the snapshots that are alive, oldest first, and the bytes that each keeps from being reused.
  /// O(pages that are kept).
  public func readers() throws(StoreError) -> [SnapshotReader] {
    try checkOpen()
    return committer.state.withLock { committer.readers() }
  }

  /// Returns the uses of the file's bytes at this moment. Exact after every commit. O(pages that died and
  /// aren't free yet).
  public func spaceLedger() throws(StoreError) -> SpaceLedger {
    try checkOpen()
    return try shared.spaceLedger()
  }

  /// Reads from the newest committed version.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    let snapshot = try snapshot()
    return try withExtendedLifetime(snapshot) { try body(snapshot) }
  }

  // MARK: Writing

  /// Waits for the writer lock, runs `body` in a write transaction, and commits the transaction if `body`
  /// returns. If `body` throws, nothing of the transaction remains, and the error is passed on.
  ///
  /// When this returns, the commit is as durable as `durability` says. `outcomeUnknown` means that a write or
  /// sync failed, so that it is unknown whether the commit survives. From then on the store shows the last
  /// durable state and refuses to write (`fenced`) until it is reopened. A transaction that `body` begins on
  /// this store throws `nestedWrite`. If other transactions hold the writer lock for longer than `timeout`,
  /// this throws `timedOut` without having run `body`; nil waits for as long as it takes.
  @discardableResult
  public func write<Result>(
    durability: Durability? = nil,
    timeout: Duration? = nil,
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let result = try write(durability: durability, turn: .waiting(timeout: timeout), body)
    guard let result else { fatalError("waiting for the writer lock ends with the lock or an error") }
    return result
  }

  /// Runs `body` as `write(durability:timeout:_:)` does, but gets the writer lock as `turn` says. Returns
  /// nil, without having run `body`, if it doesn't get it.
  @discardableResult
  package func write<Result>(
    durability: Durability? = nil,
    turn request: TurnRequest,
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result? {
    let durability = durability ?? options.durability
    try checkWritable()
    if durability == .none && options.durability != .none {
      throw StoreError(
        .invalidOptions,
        "durability .none can only be chosen for a whole store, when it is opened",
        context: .init(path: path)
      )
    }
    guard try takeTurn(request) else { return nil }
    let base: Version
    let outcome: Outcome<Result>
    do {
      (base, outcome) = try runTurn(durability, body)
      writerLock.release()
    } catch {
      writerLock.release()
      throw error
    }
    switch outcome {
    case .committed(let result, let version):
      try wait(for: version)
      shared.finishLogLater()
      shared.syncIfDue()
      shared.checkpointIfDue()
      shared.tidyLater()
      return result
    case .unchanged(let result):
      // A failed sync must not take back what `body` has read after this returns.
      try wait(for: base)
      return result
    case .abandoned(let error):
      try wait(for: base)
      throw error
    }
  }

  private func takeTurn(_ request: TurnRequest) throws(StoreError) -> Bool {
    switch request {
    case .waiting(let timeout):
      try writerLock.acquire(timeout: timeout)
      return true
    case .ifFree: return writerLock.acquireIfFree()
    case .reserved(let reservation): return writerLock.claim(reservation)
    }
  }

  private enum Outcome<Result> {
    case committed(Result, Version)
    case unchanged(Result)
    case abandoned(any Error)
  }

  private func runTurn<Result>(
    _ durability: Durability,
    _ body: (inout WriteTransaction) throws -> Result
  ) throws(StoreError) -> (base: Version, Outcome<Result>) {
    try checkOpen()
    let state = try committer.begin()
    var transaction = WriteTransaction(state)
    let result: Result
    do {
      result = try body(&transaction)
    } catch {
      committer.abort(state)
      return (state.base, .abandoned(error))
    }
    if state.log.isEmpty {
      committer.abort(state)
      return (state.base, .unchanged(result))
    }
    return (state.base, .committed(result, try committer.commit(state, durability: durability)))
  }

  private func wait(for version: Version) throws(StoreError) {
    try committer.log.wait(for: version.sequence, isDurable: version.durability == .full)
  }

  /// Makes all commits so far durable, whichever durability they had. Waits for the device, not for the
  /// writer lock.
  ///
  /// - Throws: `fileGone` if the file was deleted or replaced; `outcomeUnknown` if a write or sync fails, or
  ///   has failed since the first commit that isn't durable: whether such commits survive is known after
  ///   reopening.
  public func makeDurable() throws(StoreError) {
    try checkWritable()
    try committer.log.makeDurable()
  }

  // MARK: Upkeep

  /// Writes the pages that are only in memory, so that opening the store has nothing to replay. The store
  /// does this by itself when the log has grown by ``StoreOptions/checkpointLogBytes``.
  public func checkpoint() throws(StoreError) {
    try checkWritable()
    try withWriterLock { () throws(StoreError) in try committer.checkpoint(onlyIfNeeded: true) }
  }

  /// Writes a concurrent checkpoint, as the store does by itself, on this thread: other threads can commit
  /// meanwhile.
  @_spi(Testing)
  public func checkpointConcurrently() throws(StoreError) {
    try checkWritable()
    try shared.checkpointConcurrently()
  }

  /// Closes this handle. Afterwards all commits are durable.
  ///
  /// Handles are counted: each opening of the file gives one, and each is closed once. Closing a handle again
  /// does nothing, and a handle that is deallocated without being closed no longer counts. Closing the last
  /// handle closes the store: it writes a checkpoint, waits for calls under way, and releases the process's
  /// lock on the file. Snapshots of a closed handle can be read until the store is closed. If the last handle
  /// is deallocated instead, no checkpoint is written, and the lock is released when no snapshot is left.
  ///
  /// If this throws, the handle is closed nevertheless, and so is the store if the handle was the last; the
  /// next opening finds the commits. After a write or sync that failed (`fenced`, `outcomeUnknown`) relaxed
  /// commits may be missing. Inside a write transaction this throws `nestedWrite` and does nothing.
  public func close() throws(StoreError) {
    guard isCounted, !isClosed.load(ordering: .relaxed) else { return }
    try file.checkForked()
    let othersAreLeft = try shared.withWriterLock { () throws(StoreError) in
      guard !isClosed.exchange(true, ordering: .relaxed) else { return false }
      try file.checkOpen()
      return try !shared.closeHandle()
    }
    if othersAreLeft, !options.isReadOnly { try committer.log.makeDurable() }
  }

  /// Counters of the store's work since it was opened, and its sizes.
  public var statistics: StoreStatistics {
    get throws(StoreError) {
      try checkOpen()
      let fileBytes = try file.byteCount()
      return committer.state.withLock {
        var statistics = StoreStatistics()
        let published = versions.published
        statistics.lastCommit = published.commit
        statistics.checkpointCommit = committer.checkpointCommit
        statistics.checkpoints = committer.work.checkpoints
        statistics.bytesLogged = committer.log.appendedByteCount
        statistics.bytesWritten = file.writtenByteCount
        statistics.syncs = file.syncCount
        statistics.pagesWritten = committer.work.pagesWritten
        statistics.bytesCompacted = committer.work.pagesCompacted * committer.pageSize
        statistics.logBytes = committer.log.bytesSinceCheckpoint
        statistics.logExtentBytes = committer.extents.byteCount
        statistics.fileBytes = fileBytes
        statistics.residentBytes = UInt64(pool.residentByteCount)
        let cache = pool.cache.statistics
        statistics.cachedBytes = UInt64(cache.pageCount) * committer.pageSize
        statistics.cacheMisses = cache.loads
        statistics.cacheHits = pool.readers.visitCount - min(pool.readers.visitCount, cache.loads)
        statistics.cacheEvictions = cache.evictions
        statistics.spilledBytes = committer.spill.byteCount
        statistics.pageSize = Int(committer.identity.pageSize)
        statistics.trees = published.directory.count
        statistics.snapshots = versions.snapshotCount
        return statistics
      }
    }
  }

  func withWriterLock<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try shared.withWriterLock(body)
  }

  func checkWritable() throws(StoreError) {
    try checkOpen()
    if options.isReadOnly {
      throw StoreError(.readOnly, "the store was opened read-only", context: .init(path: path))
    }
  }
}
