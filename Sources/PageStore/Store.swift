import Glibc
import Synchronization

/// An ordered, transactional key-value store in one file: named trees of byte strings.
///
/// Any number of threads read, each from a ``Snapshot``; one at a time writes. A write transaction takes effect as a
/// whole or not at all, in memory and after a crash.
///
/// One process writes a store at a time, and nobody else may have it open meanwhile; any number may read one that nobody
/// writes. A `Store` is a *handle*: opening a file that this process has open already gives another one on the same store, with the
/// same cache and one lock. Each is closed for itself, by `close()`.
public final class Store: Sendable {
  let shared: SharedStore
  /// Whether the store stays open for this handle.
  private let isCounted: Bool
  private let isClosed = Atomic(false)

  /// Where the store is; empty for one in memory.
  public var path: String { shared.path }
  /// The options that the store was opened with.
  public var options: StoreOptions { shared.options }
  /// What tells this store from all others, for good.
  public var uuid: StoreUUID { committer.identity.uuid }

  var file: StoreFile { shared.file }
  var pool: PagePool { shared.pool }
  var versions: VersionTable { shared.versions }
  var writerLock: WriterLock { shared.writerLock }
  var committer: Committer { shared.committer }
  var environment: StoreEnvironment { shared.environment }

  /// A handle; it has been counted if `isCounted`.
  init(_ shared: SharedStore, isCounted: Bool = true) {
    self.shared = shared
    self.isCounted = isCounted
  }

  deinit { if isCounted, !isClosed.load(ordering: .relaxed) { shared.dropHandle() } }

  /// The same for all handles on one open store.
  package var identifier: ObjectIdentifier { ObjectIdentifier(shared) }

  /// A handle for what all handles of a process share: it is of use until the last of the others is closed, and doesn't keep the store open
  /// for itself. Closing it does nothing.
  package func uncounted() -> Store { Store(shared, isCounted: false) }

  /// Throws `closed` if this handle has been closed, or the store, or if the process is a fork of the one that opened it.
  package func checkOpen() throws(StoreError) {
    try file.checkOpen()
    if isClosed.load(ordering: .relaxed) {
      throw StoreError(.closed, "this handle of the store is closed", context: .init(path: path))
    }
  }

  // MARK: Reading

  /// The newest commit that readers see.
  public var lastCommit: UInt64 { versions.published.commit }

  /// The newest commit that the log has taken up, whether or not readers see it yet. Waits for nobody.
  @_spi(Testing) public var newestCommit: UInt64 { shared.newestCommit }

  /// The newest committed version, to read from for as long as the snapshot is kept.
  ///
  /// - Parameters:
  ///   - label: what the snapshot is for, as ``readers()`` tells it.
  ///   - lifetime: how long it may be read at most. A moment later what only it reaches is used again, and reading from it
  ///     throws `snapshotExpired`; a cursor may come to the end of the leaf that it is in. Nil for as long as it is kept.
  public func snapshot(label: String = "", lifetime: Duration? = nil) throws(StoreError) -> Snapshot {
    try checkOpen()
    let snapshot = Snapshot(of: shared, label: label, lifetime: lifetime)
    if lifetime != nil { shared.expireLater() }
    return snapshot
  }

  /// The snapshots that are alive, oldest first, and what each keeps from being used again. O(pages that are kept).
  public func readers() throws(StoreError) -> [SnapshotReader] {
    try checkOpen()
    return committer.state.withLock { committer.readers() }
  }

  /// What the bytes of the file are used for, at this moment. Exact at every commit. O(pages that died and aren't free yet).
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
  /// When it returns, the commit is as durable as asked for. `outcomeUnknown` says that the system failed to say
  /// whether it is; then, and from then on, the store shows the last durable state, refuses to write (`fenced`) and wants
  /// to be reopened. `body` must not begin another transaction of this store: `nestedWrite`. If others write for longer than
  /// `timeout`, it throws `timedOut` without having run `body`; nil waits for as long as it takes.
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

  /// `write(durability:timeout:_:)` that gets the writer lock as `turn` says. Returns nil, without having run
  /// `body`, if it doesn't get it.
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
        "that nothing is synced can only be chosen for a whole store, when it is opened",
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
      shared.settleLater()
      shared.syncIfDue()
      shared.checkpointIfDue()
      shared.tidyLater()
      return result
    case .unchanged(let result):
      // What was read must not be taken back after this returns.
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

  /// Makes durable what was committed so far, at whatever level. Waits for the device, not for the writer
  /// lock.
  ///
  /// - Throws: `fileGone` if the file was deleted or replaced; `outcomeUnknown` if a write or sync failed, now or since something was committed that isn't durable: whether that survives is
  ///   known after reopening.
  public func makeDurable() throws(StoreError) {
    try checkWritable()
    try committer.log.settle()
  }

  // MARK: Upkeep

  /// Writes what is only in memory and in the log as pages, so that opening has nothing to replay. The store does this
  /// by itself when the log has grown by ``StoreOptions/checkpointLogBytes``.
  public func checkpoint() throws(StoreError) {
    try checkWritable()
    try withWriterLock { () throws(StoreError) in try committer.checkpoint(onlyIfNeeded: true) }
  }

  /// The checkpoint that the store makes by itself, now and on this thread: commits can go on beside it.
  @_spi(Testing)
  public func checkpointConcurrently() throws(StoreError) {
    try checkWritable()
    try shared.checkpointConcurrently()
  }

  /// Closes this handle. Whatever was committed is durable afterwards.
  ///
  /// Handles are counted: each opening of the file gives one, and each is closed once. Closing it again does nothing, and a handle that is let
  /// go of without being closed counts no more. Closing the last one closes the store: it writes a checkpoint, waits for the calls
  /// under way, and gives the process's lock on the file back. From then on snapshots can't read what they haven't read yet; until then
  /// those of a closed handle can be read. If the last handle is let go of instead, there is no checkpoint, and the lock is given back
  /// when the snapshots are gone as well.
  ///
  /// If it throws, the handle is closed all the same, and so is the store if it was the last; what was committed is found by the next opening; after a
  /// write or sync that failed (`fenced`, `outcomeUnknown`) relaxed commits may be missing. Only inside a write transaction it throws
  /// `nestedWrite` and does nothing.
  public func close() throws(StoreError) {
    guard isCounted, !isClosed.load(ordering: .relaxed) else { return }
    try file.checkForked()
    let othersAreLeft = try shared.withWriterLock { () throws(StoreError) in
      guard !isClosed.exchange(true, ordering: .relaxed) else { return false }
      try file.checkOpen()
      return try !shared.closeHandle()
    }
    if othersAreLeft, !options.isReadOnly { try committer.log.settle() }
  }

  /// What the store has done since it was opened, and how large it is.
  public var statistics: StoreStatistics {
    get throws(StoreError) {
      try checkOpen()
      let fileBytes = try file.byteCount()
      return committer.state.withLock {
        var statistics = StoreStatistics()
        let published = versions.published
        statistics.lastCommit = published.commit
        statistics.checkpointCommit = committer.checkpointCommit
        statistics.checkpoints = committer.checkpointCount
        statistics.bytesLogged = committer.log.appendedByteCount
        statistics.bytesWritten = file.writtenByteCount
        statistics.syncs = file.syncCount
        statistics.pagesWritten = committer.pagesWritten
        statistics.bytesCompacted = committer.pagesCompacted * committer.pageSize
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
