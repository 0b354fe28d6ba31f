/// Turns transactions into log records and versions, and versions into checkpoints.
// Safety: used only by the thread that has the writer's turn, or before the store is shared.
final class Committer: @unchecked Sendable {
  let file: StoreFile
  let identity: FormatIdentity
  let pool: PagePool
  let log: LogWriter
  let versions: VersionTable
  let environment: StoreEnvironment

  /// New log extents double in size up to this, a part of the log that gathers between two checkpoints.
  let largestLogExtentByteCount: UInt64
  var space: PageSpace
  var extents: LogExtentTable
  var catalogue: TreeRoot
  /// What the catalogue says, by slot: name and root.
  var catalogued: [CataloguedTree?]
  var nextAnchorSlot: Int
  /// False while the newest anchor may exist in the page cache alone.
  var isAnchorDurable = true
  /// The last checkpoint's commit and log record.
  var checkpointCommit: UInt64
  var checkpointCount: UInt64 = 0
  var pagesWritten: UInt64 = 0

  /// Memory that a version no longer reaches, by the generation from which on that holds. Oldest first.
  private var retired: [(generation: UInt64, memory: RetiredMemory)] = []
  /// Bytes that the pages changed since the last checkpoint will take in the file.
  private(set) var dirtyByteCount: UInt64 = 0
  /// The last transaction's record buffer, for the next.
  private var spareRecord: [UInt8] = []

  struct CataloguedTree: Hashable {
    var name: String
    var root: TreeRoot
  }

  init(
    file: StoreFile,
    identity: FormatIdentity,
    pool: PagePool,
    log: LogWriter,
    versions: VersionTable,
    environment: StoreEnvironment,
    largestLogExtentByteCount: UInt64,
    space: PageSpace,
    extents: LogExtentTable,
    catalogue: TreeRoot,
    catalogued: [CataloguedTree?],
    nextAnchorSlot: Int,
    checkpointCommit: UInt64
  ) {
    self.file = file
    self.identity = identity
    self.pool = pool
    self.log = log
    self.versions = versions
    self.environment = environment
    self.largestLogExtentByteCount = largestLogExtentByteCount
    self.space = space
    self.extents = extents
    self.catalogue = catalogue
    self.catalogued = catalogued
    self.nextAnchorSlot = nextAnchorSlot
    self.checkpointCommit = checkpointCommit
  }

  var pageSize: UInt64 { UInt64(identity.pageSize) }
  /// Bytes of log since the last checkpoint.
  var logBytesSinceCheckpoint: UInt64 { log.bytesSinceCheckpoint }

  // MARK: Transactions

  func begin() throws(StoreError) -> TransactionState {
    try log.checkFence()
    var buffer: [UInt8] = []
    swap(&buffer, &spareRecord)
    return TransactionState(base: versions.latest, pool: pool, log: TransactionLog(reusing: buffer))
  }

  func abort(_ state: TransactionState) {
    state.end()
    state.dirty.abort()
    keepBuffer(of: state)
  }

  /// Commits a transaction as far as its place in the order; the caller then waits for the version's record.
  /// If it throws, nothing of the transaction remains.
  func commit(_ state: TransactionState, durability: Durability) throws(StoreError) -> Version {
    do {
      try state.checkIntact()
      let timestamp = max(environment.now(), state.base.timestamp)
      let goesToLog = state.log.isTooLarge ? false : try hasRoom(forRecordOf: state)
      guard goesToLog else {
        let version = try checkpoint(including: state, timestamp: timestamp)
        keepBuffer(of: state)
        return version
      }
      let dirtyAfter = try admit(state)
      let version = try appendRecord(of: state, timestamp: timestamp, durability: durability)
      dirtyByteCount = dirtyAfter
      retire(state.dirty.finish(), from: version.generation)
      return version
    } catch {
      abort(state)
      throw error
    }
  }

  /// Sees to it that the transaction's record can be appended. False if the disk has no room for more log: the
  /// transaction is then written as a checkpoint, whose record always fits, and which sets the older log free.
  private func hasRoom(forRecordOf state: TransactionState) throws(StoreError) -> Bool {
    let byteCount = state.log.record.count
    if log.hasRoom(forRecord: byteCount, isCheckpoint: false) { return true }
    do {
      try log.moveOn(to: nextLogExtent(forRecord: byteCount))
      return true
    } catch  where error.code == .diskFull && !log.isFenced {
      return false
    }
  }

  private func appendRecord(
    of state: TransactionState,
    timestamp: Int64,
    durability: Durability
  ) throws(StoreError) -> Version {
    state.end()
    let roots = state.roots
    let generation = state.base.generation + 1
    var record = state.log.takeRecord()
    defer { spareRecord = record }
    let versions = versions
    return try log.append(
      &record,
      .init(kind: .transaction, commit: state.commit, timestamp: timestamp, durability: durability)
    ) { appended in
      let version = Version(
        commit: state.commit,
        timestamp: timestamp,
        generation: generation,
        directory: state.directory,
        roots: roots,
        nextTreeID: state.nextTreeID,
        sequence: appended.position.sequence,
        durability: durability
      )
      versions.append(version)
      return version
    }
  }

  private func keepBuffer(of state: TransactionState) {
    let buffer = state.log.takeRecord()
    if buffer.capacity > spareRecord.capacity { spareRecord = buffer }
  }

  /// Sets room aside for the pages that the transaction has changed; returns what will then be dirty. Throws
  /// `diskFull`.
  private func admit(_ state: TransactionState) throws(StoreError) -> UInt64 {
    let grown = dirtyByteCount + UInt64(state.dirty.filePageCount) * pageSize
    // The header's page, and the catalogue's pages that the checkpoint will change besides.
    let overhead = UInt64(4 + state.directory.names.count / 16) * pageSize
    let reserve = state.log.hasAdditions ? PageSpace.removalReserve(pageSize: pageSize) : 0
    try space.ensure(grown + overhead + reserve)
    return grown
  }

  // MARK: Memory

  /// Notes memory that versions from `generation` on don't reach, and gives back what nobody reaches any more.
  func retire(_ memory: RetiredMemory, from generation: UInt64) {
    dirtyByteCount -= min(dirtyByteCount, UInt64(memory.frames.count) * pageSize)
    if !memory.isEmpty { retired.append((generation, memory)) }
    reclaim()
  }

  /// What was dirty is in the file now, or, after a replay, is so many pages.
  func setDirtyPageCount(_ count: Int) { dirtyByteCount = UInt64(count) * pageSize }

  private func reclaim() {
    guard let first = retired.first else { return }
    let oldest = versions.oldestGeneration
    guard first.generation <= oldest else { return }
    let count = retired.firstIndex { $0.generation > oldest } ?? retired.count
    for entry in retired[..<count] { pool.free(entry.memory) }
    retired.removeFirst(count)
  }

  // MARK: The log's extents

  /// A free log extent, or a new one, ready for its next use. New ones double in size when `isGrowing`.
  func nextLogExtent(forRecord byteCount: Int, isGrowing: Bool = true) throws(StoreError) -> LogExtentUse {
    let needed = LogWriter.extentByteCount(forRecord: byteCount)
    let current = min(log.tail.position.use.extent.byteCount, largestLogExtentByteCount)
    if let free = extents.freeExtent(byteCount: max(needed, current)) {
      return extents.beginUse(of: free, salt: environment.random())
    }
    let doubled = isGrowing ? min(2 * current, largestLogExtentByteCount) : current
    do {
      return try newLogExtent(byteCount: max(needed, doubled))
    } catch  where error.code == .diskFull {
      guard let free = extents.freeExtent(byteCount: needed) else { throw error }
      return extents.beginUse(of: free, salt: environment.random())
    }
  }

  private func newLogExtent(byteCount: UInt64) throws(StoreError) -> LogExtentUse {
    var space = space
    let extent = try space.takeLogExtent(byteCount: byteCount)
    let header = ExtentHeader(
      kind: .log,
      extent: extent,
      salt: environment.random(),
      commit: versions.latest.commit
    )
    try LogExtentInitialisation(file: file, identity: identity).write(header)
    // A link must not lead to an extent that isn't there.
    // guard: sync-new-log-extent
    try log.fencing { () throws(StoreError) in try file.synchronize() }
    self.space = space
    return extents.beginUse(of: extent, salt: environment.random())
  }
}
