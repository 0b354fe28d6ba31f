import Glibc
import Synchronization

/// An ordered, transactional key-value store in one file: named trees of byte strings.
///
/// Any number of threads read, each from a ``Snapshot``; one at a time writes. A write transaction takes effect as a
/// whole or not at all, in memory and after a crash.
///
/// One process writes a store at a time, and nobody else may have it open meanwhile; any number may read one that nobody
/// writes. Opening a file that this process has open already gives the same store.
public final class Store: Sendable {
  /// Where the store is; empty for one in memory.
  public let path: String
  public let options: StoreOptions
  /// What tells this store from all others, for good.
  public var uuid: StoreUUID { committer.identity.uuid }

  let file: StoreFile
  let pool: PagePool
  let versions: VersionTable
  let turn = WriterTurn()
  let committer: Committer
  let environment: StoreEnvironment
  /// What the process knows the open file by; nil for one that was handed in.
  private let registration: PosixFile.Identity?
  private let isSettling = Atomic(false)
  private let isCheckpointing = Atomic(false)
  private let isSyncing = Atomic(false)
  /// Whether somebody looks later whether the file is too long, and whether it is being made shorter.
  let isTidying = Atomic(false)
  let isCompacting = Atomic(false)

  init(opened: OpenedStore, path: String, options: StoreOptions, registration: PosixFile.Identity?) {
    self.path = path
    self.options = options
    self.registration = registration
    committer = opened.committer
    environment = opened.committer.environment
    file = opened.committer.file
    pool = opened.committer.pool
    versions = opened.committer.versions
  }

  deinit {
    // A store that is let go without being closed leaves what a crash would leave, but keeps its promises: relaxed
    // commits are synced. A failure has nobody to be told to, and recovery copes with it.
    if (try? file.checkOpen()) != nil, !options.isReadOnly, options.durability != .none,
      committer.log.hasUnsynced
    {
      try? committer.log.drain()
    }
    closeFile()
  }

  // MARK: Reading

  /// The newest commit that readers see.
  public var lastCommit: UInt64 { versions.published.commit }

  /// The newest commit that the log has taken up, whether or not readers see it yet. Waits for nobody.
  @_spi(Testing) public var newestCommit: UInt64 { versions.latest.commit }

  /// The newest committed version, to read from for as long as the snapshot is kept.
  ///
  /// - Parameters:
  ///   - label: what the snapshot is for, as ``readers()`` tells it.
  ///   - lifetime: how long it may be read at most. A moment later what only it reaches is used again, and reading from it
  ///     throws `snapshotExpired`; a cursor may come to the end of the leaf that it is in. Nil for as long as it is kept.
  public func snapshot(label: String = "", lifetime: Duration? = nil) throws(StoreError) -> Snapshot {
    try file.checkOpen()
    let snapshot = Snapshot(of: self, label: label, lifetime: lifetime)
    if lifetime != nil { expireLater() }
    return snapshot
  }

  /// The snapshots that are alive, oldest first, and what each keeps from being used again. O(pages that are kept).
  public func readers() throws(StoreError) -> [SnapshotReader] {
    try file.checkOpen()
    return committer.state.withLock { committer.readers() }
  }

  /// What the bytes of the file are used for, at this moment. Exact at every commit. O(pages that died and aren't free yet).
  public func spaceLedger() throws(StoreError) -> SpaceLedger {
    try file.checkOpen()
    return try committer.state.withLock { () throws(StoreError) in try committer.spaceLedger() }
  }

  /// Reads from the newest committed version.
  public func read<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    let snapshot = try snapshot()
    return try withExtendedLifetime(snapshot) { try body(snapshot) }
  }

  // MARK: Writing

  /// Waits for its turn, runs `body` in a write transaction, and commits it if `body` returns. If it throws, nothing of
  /// it remains, and the error is passed on.
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
    guard let result else { fatalError("whoever waits for the writer's turn has it, or an error") }
    return result
  }

  /// ``write(durability:timeout:_:)`` that comes by its turn as `turn` says. Nil, without having run `body`, when it
  /// has no turn.
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
      turn.release()
    } catch {
      turn.release()
      throw error
    }
    switch outcome {
    case .committed(let result, let version):
      try wait(for: version)
      settleLater()
      syncIfDue()
      checkpointIfDue()
      tidyLater()
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
      try turn.acquire(timeout: timeout)
      return true
    case .ifFree: return turn.acquireIfFree()
    case .reserved(let reservation): return turn.claim(reservation)
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
    try file.checkOpen()
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

  /// Makes durable what was committed so far, at whatever level. Waits for the device, not for the writer's turn.
  ///
  /// - Throws: `outcomeUnknown` if a write or sync failed, now or since something was committed that isn't durable: whether that survives is
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
    try withTurn { () throws(StoreError) in
      if !committer.isCheckpointed { try committer.checkpoint() }
    }
  }

  /// The checkpoint that the store makes by itself, now and on this thread: commits can go on beside it.
  @_spi(Testing)
  public func checkpointBeside() throws(StoreError) {
    try checkWritable()
    isCheckpointing.store(true, ordering: .releasing)
    defer { isCheckpointing.store(false, ordering: .releasing) }
    try committer.checkpointBeside()
  }

  /// Checkpoints and closes the store: whatever was committed is durable afterwards. Snapshots can't read any more what
  /// they haven't read yet. Of several handles on the same file, the last one's `close` counts.
  ///
  /// If it throws, the store is closed all the same, and what was committed is found by the next opening; after a write or
  /// sync that failed (`fenced`, `outcomeUnknown`) relaxed commits may be missing. Only inside a write transaction it throws
  /// `nestedWrite` and does nothing.
  public func close() throws(StoreError) {
    try file.checkOpen()
    try withTurn { () throws(StoreError) in
      try file.checkOpen()
      if let registration,
        !ProcessRegistry.shared.releaseHandle(of: ObjectIdentifier(self), registration)
      {
        return
      }
      defer { closeFile() }
      if !options.isReadOnly { try committer.close() }
    }
  }

  private func closeFile() {
    file.close()
    if let registration { ProcessRegistry.shared.remove(registration, of: ObjectIdentifier(self)) }
  }

  /// What the store has done since it was opened, and how large it is.
  public var statistics: StoreStatistics {
    get throws(StoreError) {
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

  func withTurn<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try turn.acquire()
    defer { turn.release() }
    return try body()
  }

  func checkWritable() throws(StoreError) {
    try file.checkOpen()
    if options.isReadOnly {
      throw StoreError(.readOnly, "the store was opened read-only", context: .init(path: path))
    }
  }

  /// A commit that made the log long enough, or changed enough pages, starts a checkpoint. If there was none for so long
  /// that memory would grow without bound, the commit waits for one.
  ///
  /// The commit is done, so a failure isn't its own; if it was serious the store is fenced, otherwise the next commit
  /// tries again.
  private func checkpointIfDue() {
    switch committer.checkpointNeed() {
    case .none: break
    case .overdue: try? committer.checkpointBeside(if: .overdue)
    case .due:
      guard !isCheckpointing.exchange(true, ordering: .acquiringAndReleasing) else { return }
      environment.runBeside { [weak self] in
        guard let self else { return }
        try? committer.checkpointBeside(if: .due)
        isCheckpointing.store(false, ordering: .releasing)
      }
    }
  }

  /// Syncs relaxed commits when what they have replaced takes much memory: beside the commits that follow, or, if they
  /// are quicker than that, in this one. A failure isn't this commit's own: it fences the store.
  private func syncIfDue() {
    switch committer.syncNeed() {
    case .none: break
    case .overdue: try? committer.sync()
    case .due:
      guard !isSyncing.exchange(true, ordering: .acquiringAndReleasing) else { return }
      environment.runBeside { [weak self] in
        guard let self else { return }
        try? committer.sync()
        isSyncing.store(false, ordering: .releasing)
      }
    }
  }

  /// Relaxed commits are synced, and a store that goes idle gets a watermark, within a second.
  private func settleLater() {
    guard options.durability != .none, !isSettling.exchange(true, ordering: .acquiringAndReleasing) else {
      return
    }
    environment.schedule(Self.settlingMilliseconds) { [weak self] in self?.settle() }
  }

  private static let settlingMilliseconds = 500

  /// Syncs what is unsynced. If nothing was committed since the last time, the last records get a watermark that vouches
  /// for them; otherwise this happens again later. A failure fences, which every later call reports.
  ///
  /// It never waits for the writer's turn: a transaction that takes long must not hold up the sync that those before it
  /// were promised, or that of another store, and while somebody writes the store isn't idle.
  private func settle() {
    isSettling.store(false, ordering: .releasing)
    let log = committer.log
    guard (try? file.checkOpen()) != nil, !log.isFenced, log.lacksWatermark else { return }
    guard !log.hasUnsynced else {
      if (try? log.drain()) != nil { settleLater() }
      return
    }
    guard turn.acquireIfFree() else { return settleLater() }
    defer { turn.release() }
    if (try? file.checkOpen()) != nil { try? committer.vouchForLastRecord() }
  }
}
