/// Turns transactions into log records and versions, and versions into checkpoints.
///
/// Three locks serialise the work. They are always taken in this order:
///
/// 1. The *writer lock* (``WriterLock``), which the store owns: its holder runs a transaction.
/// 2. `checkpointing`: its holder writes a checkpoint, or pages of a transaction that isn't committed yet. A
///    concurrent checkpoint takes it without the writer lock.
/// 3. `state`: its holder appends to the log and takes room in the file. A concurrent checkpoint holds it for
///    short moments only.
// Safety: each mutable property is touched only with the lock held under which it stands below, or before
// other threads can see the store.
final class Committer: @unchecked Sendable {
  let file: StoreFile
  let identity: FormatIdentity
  let pool: PagePool
  let spill: SpillFile
  let log: LogWriter
  let versions: VersionTable
  let environment: StoreEnvironment
  let events: StoreEvents
  /// The limits of log and changed pages that follow from the options.
  let limits: UpkeepLimits
  let isReadOnly: Bool
  let checkpointing = Monitor()
  let state = Monitor()

  // MARK: Guarded by the writer lock

  /// The record buffer of the last transaction, reused by the next one.
  private var spareRecord: [UInt8] = []

  // MARK: Guarded by `checkpointing`

  var anchors: FileAnchors
  /// True if the store is closed.
  var isClosed = false

  // MARK: Written with both `checkpointing` and `state` held, and read with either

  var lastCheckpoint: LastCheckpoint

  // MARK: Guarded by `state`

  var found: FoundFile
  /// The room in the file; nil until it is needed.
  var space: PageSpace?
  var dead = DeadPages()
  /// Memory that the newest version doesn't reach.
  var reclamation: Reclamation
  var dirtyPages: DirtyPages
  var extents: LogExtentTable
  var logReserve = LogReserve()
  var work = WorkCounts()

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
    isReadOnly: Bool,
    anchors: FileAnchors,
    lastCheckpoint: LastCheckpoint,
    found: FoundFile,
    extents: LogExtentTable
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
    self.isReadOnly = isReadOnly
    self.anchors = anchors
    self.lastCheckpoint = lastCheckpoint
    self.found = found
    self.extents = extents
    reclamation = Reclamation(pageSize: pool.geometry.pageSize) {
      Self.spillableByteCount(of: $0, in: pool)
    }
    dirtyPages = DirtyPages(
      pageSize: UInt64(identity.pageSize),
      checkpointCommit: lastCheckpoint.record.commit
    )
  }

  var pageSize: UInt64 { UInt64(identity.pageSize) }
  /// The commit of the last checkpoint.
  var checkpointCommit: UInt64 { lastCheckpoint.record.commit }

  // MARK: Transactions

  /// Begins a transaction on the newest version. Called with the writer lock held.
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

  /// Ends a transaction that takes no effect, and frees its memory and pages. Called with the writer lock
  /// held.
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
      return try freeingRoomIfNeeded(for: transaction) { () throws(StoreError) in
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

  /// Runs `commit`. If the disk is full, writes a checkpoint and restates it, which frees the pages that have
  /// died, and runs `commit` again.
  private func freeingRoomIfNeeded(
    for transaction: TransactionState,
    _ commit: () throws(StoreError) -> Version
  ) throws(StoreError) -> Version {
    do {
      return try commit()
    } catch  where error.code == .diskFull && !log.isFenced && !transaction.dirty.isUsedUp {
      if state.withLock({ dead.count > 0 }) {
        // The checkpoint makes the deaths durable; its restated record frees the pages.
        try checkpointConcurrently()
        try restateConcurrently()
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
      guard try makeLogRoom(forRecordOf: transaction) else { return nil }
      try ensureRoom(forPagesOf: transaction, leaving: transaction.reserveShare)
      let version = try appendRecord(of: transaction, timestamp: timestamp, durability: durability)
      account(for: transaction, in: version)
      return version
    }
  }

  /// Makes sure that the transaction's record can be appended. Returns false if the disk has no room for more
  /// log: the transaction is then written as a checkpoint, whose record always fits, and which frees the
  /// older log. Called with `state` held.
  private func makeLogRoom(forRecordOf transaction: TransactionState) throws(StoreError) -> Bool {
    do {
      try makeLogRoom(forRecord: transaction.log.record.count, isCheckpoint: false)
      return true
    } catch  where error.code == .diskFull && !log.isFenced {
      return false
    }
  }

  /// Appends the record of a transaction, and makes the version that results the newest one. Called with
  /// `state` held.
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

  /// Keeps the record buffer of a transaction for the next one, if it is larger than the kept one.
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
    for item in memory.frames { dirtyPages.removeFrame(madeBy: item.reference.birth) }
    reclamation.add(memory, from: generation)
    reclaimUnread()
    spillIfNeeded()
  }
}
