/// Turns transactions into log records and versions, and versions into checkpoints.
///
/// Three locks serialise the work. They are always taken in this order:
///
/// 1. The *writer lock* (``WriterLock``), which the store owns: its holder runs a transaction.
/// 2. `checkpointing`: its holder writes a checkpoint. A concurrent checkpoint takes it without the writer
///    lock.
/// 3. `state`: its holder appends to the log and takes room in the file. A concurrent checkpoint holds it for
///    short moments only.
// Safety: mutable state is only touched with `state` held, with these exceptions. `spareRecord` is guarded by
// the writer lock. `anchors`, `nextAnchorSlot`, `isAnchorDurable` and `isClosed` are guarded by
// `checkpointing`. `lastRecord` and `catalogued` are written with both `checkpointing` and `state` held, and
// read with either. Opening a store touches all of it before other threads can see it.
final class Committer: @unchecked Sendable {
  let file: StoreFile
  let identity: FormatIdentity
  let pool: PagePool
  let spill: SpillFile
  let log: LogWriter
  let versions: VersionTable
  let environment: StoreEnvironment
  let events: StoreEvents
  let checkpointing = Monitor()
  let state = Monitor()

  /// How much log, and how much of changed pages, the options let gather.
  let limits: UpkeepLimits
  /// The room in the file; nil until somebody needs it.
  var space: PageSpace?
  var dead = DeadPages()
  /// Whether checkpoints keep free log extents for the log to go on in.
  var keepsFreeLog = true
  var diedMeanwhile = DiedMeanwhile()
  var extents: LogExtentTable
  /// What the last durable checkpoint's record says. Its replay begins where `replayStart` says, which is never nil here.
  var lastRecord: CheckpointRecord
  /// Where what recovery found in the file ends, if that is behind the end that the checkpoint knows.
  let foundEnd: UInt64
  let isReadOnly: Bool
  /// Whether recovery found the store as closing it has left it.
  let wasClosed: Bool
  /// Whether the headers of extents that were found in the file are durable. Only asked when the space is loaded.
  var areHeadersDurable: Bool
  var catalogued: Catalogue.Content
  /// The anchors that are legible, newest first.
  var anchors: [Anchor]
  var nextAnchorSlot: Int
  /// False while the newest anchor may exist in the page cache alone; after a process that died it may from the start.
  var isAnchorDurable = false
  /// Whether the store is closed. Guarded by `checkpointing`.
  var isClosed = false
  var checkpointCount: UInt64 = 0
  var pagesWritten: UInt64 = 0
  /// Bytes of log that there were between checkpoints, the last of them counting most.
  var recentLogByteCount: UInt64 = 0
  var pagesCompacted: UInt64 = 0

  /// Memory that the newest version doesn't reach.
  var reclamation: Reclamation
  /// Bytes that the pages changed since the last checkpoint began will take in the file.
  var dirtyByteCount: UInt64 = 0
  /// Pages among them that have to lie side by side with others.
  var dirtyRunPageCount: UInt64 = 0
  /// Frames born by this commit, or earlier, are written or being written.
  var dirtyAfterCommit: UInt64
  /// What a concurrent checkpoint is writing.
  var beingWritten: BeingWritten?
  /// The last transaction's record buffer, for the next.
  private var spareRecord: [UInt8] = []

  init(
    file: StoreFile,
    identity: FormatIdentity,
    pool: PagePool,
    spill: SpillFile,
    log: LogWriter,
    versions: VersionTable,
    environment: StoreEnvironment,
    events: StoreEvents,
    limits: UpkeepLimits,
    extents: LogExtentTable,
    lastRecord: CheckpointRecord,
    foundEnd: UInt64,
    isReadOnly: Bool,
    wasClosed: Bool,
    catalogued: Catalogue.Content,
    anchors: [Anchor],
    nextAnchorSlot: Int
  ) {
    self.file = file
    self.identity = identity
    self.pool = pool
    self.spill = spill
    self.log = log
    self.versions = versions
    self.environment = environment
    self.events = events
    self.limits = limits
    reclamation = Reclamation(pageSize: pool.geometry.pageSize) {
      Self.spillableByteCount(of: $0, in: pool)
    }
    self.extents = extents
    self.lastRecord = lastRecord
    self.foundEnd = foundEnd
    self.isReadOnly = isReadOnly
    self.wasClosed = wasClosed
    areHeadersDurable = wasClosed
    self.catalogued = catalogued
    self.anchors = anchors
    self.nextAnchorSlot = nextAnchorSlot
    dirtyAfterCommit = lastRecord.commit
  }

  /// The version that a checkpoint is writing, and what is said of dirty pages should it fail.
  struct BeingWritten {
    var generation: UInt64
    var byteCount: UInt64
    var runPageCount: UInt64
    var afterCommit: UInt64
  }

  var pageSize: UInt64 { UInt64(identity.pageSize) }
  /// The last checkpoint's commit, and the catalogue of it.
  var checkpointCommit: UInt64 { lastRecord.commit }
  var catalogue: TreeRoot { lastRecord.catalogue.root }

  // MARK: Transactions

  func begin() throws(StoreError) -> TransactionState {
    try log.checkFence()
    var buffer: [UInt8] = []
    swap(&buffer, &spareRecord)
    return TransactionState(base: versions.latest, pool: pool, log: TransactionLog(reusing: buffer))
  }

  func abort(_ transaction: TransactionState) {
    transaction.end()
    transaction.dirty.abort()
    keepBuffer(of: transaction)
  }

  /// Commits a transaction as far as its place in the order; the caller then waits for the version's record.
  /// If it throws, nothing of the transaction remains.
  func commit(_ transaction: TransactionState, durability: Durability) throws(StoreError) -> Version {
    do {
      try transaction.checkIntact()
      let timestamp = max(environment.now(), transaction.base.timestamp)
      return try makingRoom(for: transaction) { () throws(StoreError) in
        if let version = try append(transaction, timestamp: timestamp, durability: durability) {
          return version
        }
        let version = try checkpoint(including: transaction, timestamp: timestamp)
        keepBuffer(of: transaction)
        return version
      }
    } catch {
      abort(transaction)
      throw error
    }
  }

  /// Throws `numbersUsedUp` if opening would refuse what the transaction writes, or the store could not be closed and opened after it.
  /// Called with `state` held.
  func checkNumbersLeft(for transaction: TransactionState) throws(StoreError) {
    guard transaction.commit < LogRecordHeader.commitLimit else { throw StoreError.numbersUsedUp("commits") }
    try log.checkNumbersLeft(forTransaction: true)
    try extents.checkEpochsLeft(forTransaction: true)
  }

  /// Runs `commit`; if the disk is full, frees what has died since the last checkpoint by another one, and runs it again.
  private func makingRoom(
    for transaction: TransactionState,
    _ commit: () throws(StoreError) -> Version
  ) throws(StoreError) -> Version {
    do {
      return try commit()
    } catch  where error.code == .diskFull && !log.isFenced && !transaction.dirty.isUsedUp {
      do {
        if state.withLock({ dead.count > 0 }) {
          // One makes the deaths durable, a second record frees the room.
          try checkpointConcurrently()
          try restateConcurrently()
        }
      } catch  where !log.isFenced {
        throw error
      }
      // What snapshots have held that were let go of since.
      state.withLock { reclaimUnread() }
      return try commit()
    }
  }

  /// Commits a transaction as a record of the log. Nil, with nothing done, if it is too large for that, or the log can't
  /// grow.
  private func append(
    _ transaction: TransactionState,
    timestamp: Int64,
    durability: Durability
  ) throws(StoreError) -> Version? {
    guard !transaction.log.isTooLarge else { return nil }
    return try state.withLock { () throws(StoreError) in
      try checkNumbersLeft(for: transaction)
      guard try hasRoom(forRecordOf: transaction) else { return nil }
      let dirtyAfter = try admit(transaction)
      let version = try appendRecord(of: transaction, timestamp: timestamp, durability: durability)
      dirtyByteCount = dirtyAfter
      dirtyRunPageCount += UInt64(transaction.dirty.runPageCount)
      let retired = transaction.dirty.finish()
      noteDeaths(of: retired, from: version.generation)
      retire(retired, from: version.generation)
      return version
    }
  }

  /// Sees to it that the transaction's record can be appended. False if the disk has no room for more log: the
  /// transaction is then written as a checkpoint, whose record always fits, and which sets the older log free.
  private func hasRoom(forRecordOf transaction: TransactionState) throws(StoreError) -> Bool {
    let byteCount = transaction.log.record.count
    if log.hasRoom(forRecord: byteCount, isCheckpoint: false) { return true }
    do {
      try log.moveOn(to: nextLogExtent(forRecord: byteCount))
      return true
    } catch  where error.code == .diskFull && !log.isFenced {
      return false
    }
  }

  private func appendRecord(
    of transaction: TransactionState,
    timestamp: Int64,
    durability: Durability
  ) throws(StoreError) -> Version {
    transaction.end()
    let roots = transaction.roots
    let generation = transaction.base.generation + 1
    var record = transaction.log.takeRecord()
    defer { spareRecord = record }
    let versions = versions
    return try log.append(
      &record,
      .init(kind: .transaction, commit: transaction.commit, timestamp: timestamp, durability: durability)
    ) { appended in
      let version = Version(
        commit: transaction.commit,
        timestamp: timestamp,
        generation: generation,
        directory: transaction.directory,
        roots: roots,
        nextTreeID: transaction.nextTreeID,
        sequence: appended.position.sequence,
        durability: durability,
        link: transaction.link
      )
      versions.append(version)
      return version
    }
  }

  private func keepBuffer(of transaction: TransactionState) {
    let buffer = transaction.log.takeRecord()
    if buffer.capacity > spareRecord.capacity { spareRecord = buffer }
  }

  /// Sets room aside for the pages that the transaction has changed; returns what will then be dirty. Throws
  /// `diskFull`.
  func admit(_ transaction: TransactionState) throws(StoreError) -> UInt64 {
    let grown = dirtyByteCount + UInt64(transaction.dirty.filePageCount) * pageSize
    let reserve = transaction.log.hasAdditions ? PageSpace.removalReserve(pageSize: pageSize) : 0
    try withSpace { (space) throws(StoreError) in
      let pages =
        (grown + reserve) / pageSize
        + checkpointOverhead(end: space.map.end, treeCount: transaction.directory.names.count)
      try space.ensure(pages, run: dirtyRunPageCount + UInt64(transaction.dirty.runPageCount))
    }
    return grown
  }

  /// Pages that a checkpoint may write besides those that transactions have changed: of the catalogue and the space tree.
  private func checkpointOverhead(end: UInt64, treeCount: Int) -> UInt64 {
    UInt64(4 + treeCount / 16) + SpaceTree.largestPageCount(end: end)
  }

  /// Pages that are kept free in a file with `end` pages.
  func reservedPageCount(end: UInt64) -> UInt64 {
    (dirtyByteCount + PageSpace.removalReserve(pageSize: pageSize)) / pageSize
      + checkpointOverhead(end: end, treeCount: versions.latest.directory.names.count)
  }

  // MARK: Upkeep

  /// How much a checkpoint or a sync is needed.
  enum UpkeepNeed: Comparable {
    case none
    case due
    /// So much that commits have to wait for it.
    case overdue
  }

  /// Whether the log, or what is only in memory, has grown enough for a checkpoint.
  func checkpointNeed() -> UpkeepNeed {
    let log = log.bytesSinceCheckpoint
    state.lock()
    let dirty = dirtyByteCount
    let beingWritten = beingWritten?.byteCount
    let stored = storedPageCount * pageSize
    let pinned = reclamation.heldPageCount * pageSize
    let unsettled = UInt64(reclamation.unsettledByteCount)
    state.unlock()
    let logLimit = limits.logByteCount(storing: stored)
    let dueLimit = limits.dirtyByteCount(storing: stored, pinning: pinned)
    let meanwhileLimit = limits.dirtyByteCountMeanwhile(storing: stored, pinning: pinned)
    let overdueLimit = beingWritten != nil ? meanwhileLimit : dueLimit + meanwhileLimit
    if log / UpkeepLimits.overdueLogShare >= logLimit || dirty >= overdueLimit { return .overdue }
    if dirty + (beingWritten ?? 0) + unsettled >= limits.memoryByteCount { return .overdue }
    return log >= logLimit || dirty >= dueLimit ? .due : .none
  }

  /// Whether so much memory waits for a sync that there should be one: a relaxed commit keeps what it replaces until it is
  /// durable itself.
  func syncNeed() -> UpkeepNeed {
    let due = limits.unsettledByteCount / 2
    let byteCount = state.withLock {
      // Some of it may have become durable since.
      if reclamation.unsettledByteCount > due { reclaimUnread() }
      return reclamation.unsettledByteCount
    }
    if byteCount > limits.unsettledByteCount { return .overdue }
    return byteCount > due ? .due : .none
  }

  /// Makes all commits durable, and gives back the memory that waited for that.
  func sync() throws(StoreError) {
    try log.drain()
    state.withLock { reclaimUnread() }
  }

  /// Appends a watermark that vouches for the last record, unless somebody has appended more since or one is there.
  func vouchForLastRecord() throws(StoreError) {
    try state.withLock { () throws(StoreError) in
      if log.lacksWatermark, !log.hasUnsynced { try log.appendWatermark() }
    }
  }

  // MARK: Memory

  /// Notes memory that versions from `generation` on don't reach, and gives back what nobody reaches any more.
  func retire(_ memory: RetiredMemory, from generation: UInt64) {
    for item in memory.frames {
      let birth = item.reference.birth
      if birth > dirtyAfterCommit {
        dirtyByteCount -= min(dirtyByteCount, pageSize)
      } else if let written = beingWritten, birth > written.afterCommit {
        beingWritten?.byteCount = written.byteCount - min(written.byteCount, pageSize)
      }
    }
    reclamation.add(memory, from: generation)
    reclaimUnread()
    spillIfNeeded()
  }

  /// What was dirty is in the file now, or, after a replay, is so many pages.
  func setDirtyPageCount(_ count: Int) { dirtyByteCount = UInt64(count) * pageSize }
}
