/// Turns transactions into log records and versions, and versions into checkpoints.
///
/// Three locks serialise the work. They are always taken in this order:
///
/// 1. The *writer lock* (``WriterLock``), which the store owns: its holder runs a transaction.
/// 2. `checkpointing`: its holder writes a checkpoint, or pages of a transaction that isn't committed yet. A
///    concurrent checkpoint takes it without the writer lock.
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

  /// The limits of log and changed pages that follow from the options.
  let limits: UpkeepLimits
  /// The room in the file; nil until it is needed.
  var space: PageSpace?
  var dead = DeadPages()
  /// True if checkpoints keep free log extents for the log.
  var keepsFreeLog = true
  var diedMeanwhile = DiedMeanwhile()
  var extents: LogExtentTable
  /// The record of the last durable checkpoint. Its `replayStart` is never nil here.
  var lastRecord: CheckpointRecord
  /// The end of the extents that recovery found, which may be after the end that the checkpoint knows.
  let foundEnd: UInt64
  let isReadOnly: Bool
  /// True if the store was closed before it was opened, and not left by a crash.
  let wasClosed: Bool
  /// True if the headers of extents in the file are durable. Only used when ``space`` is loaded.
  var areHeadersDurable: Bool
  var catalogued: Catalogue.Content
  var anchors: LegibleAnchors
  var nextAnchorSlot: Int
  /// False while the newest anchor may exist only in the system's page cache, as it may after another process
  /// died.
  var isAnchorDurable = false
  /// True if the store is closed. Guarded by `checkpointing`.
  var isClosed = false
  var checkpointCount: UInt64 = 0
  var pagesWritten: UInt64 = 0
  /// A decaying maximum of the bytes of log between checkpoints.
  var recentLogByteCount: UInt64 = 0
  var pagesCompacted: UInt64 = 0

  /// Memory that the newest version doesn't reach.
  var reclamation: Reclamation
  /// Bytes that the pages changed since the start of the last checkpoint will take in the file.
  var dirtyByteCount: UInt64 = 0
  /// Overflows of several pages among them.
  var dirtyRuns = RunDemand()
  /// Frames whose birth is this commit or an earlier one are written or being written.
  var dirtyAfterCommit: UInt64
  /// The version that a concurrent checkpoint is writing; nil if there is none.
  var beingWritten: BeingWritten?
  /// The record buffer of the last transaction, reused by the next one.
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
    anchors: LegibleAnchors,
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

  /// The version that a concurrent checkpoint is writing, and the counts of dirty pages to restore if it
  /// fails.
  struct BeingWritten {
    var generation: UInt64
    var byteCount: UInt64
    var runs: RunDemand
    var afterCommit: UInt64
  }

  var pageSize: UInt64 { UInt64(identity.pageSize) }
  /// The commit of the last checkpoint.
  var checkpointCommit: UInt64 { lastRecord.commit }
  var catalogue: TreeRoot { lastRecord.catalogue.root }

  // MARK: Transactions

  func begin() throws(StoreError) -> TransactionState {
    try log.checkFence()
    var buffer: [UInt8] = []
    swap(&buffer, &spareRecord)
    let transaction = TransactionState(
      base: versions.latest,
      pool: pool,
      log: TransactionLog(reusing: buffer),
      writingEarlyTo: self
    )
    transaction.dirty.byteLimit = limits.transactionByteCount
    return transaction
  }

  func abort(_ transaction: TransactionState) {
    transaction.end()
    giveBackEarlyPages(of: transaction)
    transaction.dirty.abort()
    keepBuffer(of: transaction)
  }

  /// Commits a transaction, but doesn't wait for its record to be written: the caller does. If it throws,
  /// nothing of the transaction remains. Called with the writer lock held.
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

  /// Throws `numbersUsedUp` if opening would refuse the transaction's record, or if the store couldn't be
  /// closed and opened after it. Called with `state` held.
  func checkNumbersLeft(for transaction: TransactionState) throws(StoreError) {
    guard transaction.commit < LogRecordHeader.commitLimit else { throw StoreError.numbersUsedUp("commits") }
    try log.checkNumbersLeft(forTransaction: true)
    try extents.checkEpochsLeft(forTransaction: true)
  }

  /// Runs `commit`. If the disk is full, writes checkpoints, which free the pages that have died since the
  /// last one, and runs it again.
  private func makingRoom(
    for transaction: TransactionState,
    _ commit: () throws(StoreError) -> Version
  ) throws(StoreError) -> Version {
    do {
      return try commit()
    } catch  where error.code == .diskFull && !log.isFenced && !transaction.dirty.isUsedUp {
      do {
        if state.withLock({ dead.count > 0 }) {
          // The checkpoint makes the deaths durable; its restated record frees the pages.
          try checkpointConcurrently()
          try restateConcurrently()
        }
      } catch  where !log.isFenced {
        throw error
      }
      // Frees memory and pages of snapshots that were released since.
      state.withLock { reclaimUnread() }
      return try commit()
    }
  }

  /// Commits a transaction as a record of the log. Nil, with nothing changed, if it is too large for a
  /// record, or the log can't grow.
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
      account(for: transaction, dirtyAfter: dirtyAfter, in: version)
      return version
    }
  }

  /// Makes sure that the transaction's record can be appended. False if the disk has no room for more log:
  /// the transaction is then written as a checkpoint, whose record always fits, and which frees the older
  /// log. Called with `state` held.
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

  // MARK: Syncs

  /// Makes all commits durable, and frees the memory that waited for that.
  func sync() throws(StoreError) {
    try log.drain()
    state.withLock { reclaimUnread() }
  }

  /// Appends a watermark that vouches for the last record, unless there is one, or unsynced records were
  /// appended since.
  func vouchForLastRecord() throws(StoreError) {
    try state.withLock { () throws(StoreError) in
      if log.lacksWatermark, !log.hasUnsynced { try log.appendWatermark() }
    }
  }

  // MARK: Memory

  /// Notes memory that versions from `generation` on don't reach, and frees memory that no reader reaches any
  /// more. Called with `state` held.
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

  /// Sets the dirty pages after a replay.
  func setDirtyPageCount(_ count: Int) { dirtyByteCount = UInt64(count) * pageSize }
}
