/// The end of the log: the position of the next record, and the checksum that it must contain.
struct LogTail: Hashable, Sendable {
  /// The position and the sequence number of the next record.
  var position: LogPosition
  /// The checksum of the last record.
  var previousChecksum: UInt64
}

/// Appends records to the log and makes them durable, many at a time.
///
/// A thread that holds ``Committer/state`` appends, which only puts the record into a buffer. A thread that
/// waits for a record while no other writes becomes the leader: it takes all gathered records and writes them
/// with one call. Then it wakes one of the threads whose records have gathered meanwhile, to lead next, and
/// all threads whose records it has written. There is no artificial delay.
///
/// Invariants:
/// 1. `durableSequence` ≤ `writtenSequence` < the tail's sequence.
/// 2. `pending` holds the records after `writtenSequence` that no leader has taken, in order, contiguous in
///    the file from `pendingOffset`.
/// 3. Once `failure` is set, nothing more is written.
// Safety: mutable state is only touched with `monitor` locked, with two exceptions. `tail` is changed with
// both `Committer.state` and `monitor` locked, and read with either. `closingAnchor` is only touched with
// `Committer.state` locked. Opening a store begins its log before other threads can see it.
final class LogWriter: @unchecked Sendable {
  /// Called after each write, in order: all records up to `written` are in the file, and those up to
  /// `durable` are on the device.
  typealias Advance = @Sendable (_ written: UInt64, _ durable: UInt64) -> Void

  private let file: StoreFile
  private let identity: FormatIdentity
  private let onAdvance: Advance
  private let onFailure: @Sendable (StoreError) -> Void
  private let monitor = Monitor()

  private(set) var tail: LogTail
  /// The anchor with the closing mark and its offset, as long as the mark is set. Guarded by
  /// ``Committer/state``.
  private var closingAnchor: (anchor: Anchor, offset: UInt64)?
  private var pending: [UInt8] = []
  private var pendingOffset: UInt64 = 0
  /// The other buffer of the two, kept for its capacity.
  private var spare: [UInt8] = []
  private var writtenSequence: UInt64
  private var durableSequence: UInt64
  /// The highest sequence that a thread wants durable.
  private var wantedDurable: UInt64 = 0
  private var isLed = false
  /// The last sequence of the batch that is being written.
  private var underWaySequence: UInt64 = 0
  private var isUnderWaySynced = false
  /// For threads that wait for the batch that is being written.
  private var underWay = Monitor.Condition()
  /// For threads that wait for the next batch.
  private var gathering = Monitor.Condition()
  private var failure: StoreError?
  /// True if no later record need vouch for the last one: it is a watermark, or a checkpoint, for which its
  /// anchor vouches.
  private var lastIsWatermark = false
  private var loggedByteCount: UInt64 = 0
  /// Bytes of the records that followed the last checkpoint when the store was opened; 0 after the next
  /// checkpoint.
  private var replayedByteCount: UInt64
  /// `loggedByteCount` at the last checkpoint.
  private var checkpointMark: UInt64 = 0

  /// Bytes kept free at the end of an extent, for a link.
  private static let linkReserve = LogExtentUse.recordAlignment
  /// Bytes that transactions also keep free, for the records of a few checkpoints: so a full disk can't
  /// prevent a checkpoint.
  private static let checkpointReserve: UInt64 = 4_096
  /// A buffer with more capacity is freed after use.
  private static let keptCapacity = 1 << 20

  init(
    file: StoreFile,
    identity: FormatIdentity,
    tail: LogTail,
    replayedByteCount: UInt64,
    closingAnchor: (anchor: Anchor, offset: UInt64)?,
    onAdvance: @escaping Advance,
    onFailure: @escaping @Sendable (StoreError) -> Void
  ) {
    self.file = file
    self.identity = identity
    self.tail = tail
    self.replayedByteCount = replayedByteCount
    self.closingAnchor = closingAnchor
    self.onAdvance = onAdvance
    self.onFailure = onFailure
    writtenSequence = tail.position.sequence - 1
    durableSequence = writtenSequence
  }

  // MARK: Appending, with `Committer.state` held

  /// True if an anchor says that nothing follows the last checkpoint.
  var hasClosingMark: Bool { closingAnchor != nil }

  /// Removes the closing mark from its anchor, durably. A crash that tears the anchor leaves the other one,
  /// which is durable and, with the log, leads to the same checkpoint. Called before the first write behind
  /// the anchors.
  func removeClosingMark() throws(StoreError) {
    guard let (closed, offset) = closingAnchor else { return }
    var anchor = closed
    anchor.isClosed = false
    try fencing { () throws(StoreError) in
      try anchor.encoded(identity).withBytes { bytes throws(StoreError) in
        // guard: sync-closing-mark-removed, without it: try file.write(bytes, at: offset)
        try file.writeDurably(bytes, at: offset)
      }
    }
    closingAnchor = nil
  }

  /// Returns whether a record of this length fits into the current extent and leaves the reserves free.
  func hasRoom(forRecord byteCount: Int, isCheckpoint: Bool) -> Bool {
    let reserve = Self.linkReserve + (isCheckpoint ? 0 : Self.checkpointReserve)
    let padded = UInt64(byteCount).roundedUp(to: LogExtentUse.recordAlignment)
    return tail.position.offset + padded + reserve <= tail.position.use.extent.end
  }

  /// Returns the number of bytes that an extent must have for a record of this length.
  static func extentByteCount(forRecord byteCount: Int) -> UInt64 {
    UInt64(ExtentHeader.byteCount) + UInt64(byteCount).roundedUp(to: LogExtentUse.recordAlignment)
      + linkReserve
      + checkpointReserve
  }

  /// The fields of a record's header that the caller sets; the others follow from the log.
  struct Description {
    var kind: LogRecordHeader.Kind
    var commit: UInt64
    var timestamp: Int64
    var durability: Durability
  }

  /// The position of an appended record.
  struct Appended {
    var position: LogPosition
    var byteCount: UInt32
    var checksum: UInt64
  }

  /// Throws `numbersUsedUp` if no record numbers are left. For a transaction, the numbers that closing and
  /// opening the store will need must be left as well.
  func checkNumbersLeft(forTransaction isTransaction: Bool = false) throws(StoreError) {
    let reserve = isTransaction ? LogRecordHeader.upkeepReserve : 0
    guard tail.position.sequence < LogRecordHeader.sequenceLimit - reserve else {
      throw StoreError.numbersUsedUp("records of its log")
    }
  }

  /// Appends a record, which begins with room for its header. The first thread that waits for it will write
  /// it. The caller has made sure that it fits. `queue` is called before the record can be written.
  func append<Result>(
    _ record: inout [UInt8],
    _ description: Description,
    queue: (Appended) -> Result
  ) throws(StoreError) -> Result {
    try checkNumbersLeft()
    try removeClosingMark()
    let durable = try monitor.withLock { () throws(StoreError) in
      try checkNotFenced()
      return durableSequence
    }
    let appended = seal(&record, description, durableSequence: durable)
    return monitor.withLock {
      if pending.isEmpty { pendingOffset = appended.position.offset }
      pending.append(contentsOf: record)
      let padding = Int(UInt64(record.count).roundedUp(to: LogExtentUse.recordAlignment)) - record.count
      pending.append(contentsOf: repeatElement(0, count: padding))
      advanceTail(over: appended)
      let isWatermark = description.kind == .watermark || description.kind == .checkpoint
      lastIsWatermark = isWatermark && durable == appended.position.sequence - 1
      if description.durability == .full { wantedDurable = max(wantedDurable, appended.position.sequence) }
      return queue(appended)
    }
  }

  /// Ends the current extent with a link to `next`, whose static header and zeros are written but perhaps not
  /// synced. Afterwards all earlier records, the link and the new extent are durable.
  func moveOn(to next: LogExtentUse) throws(StoreError) {
    try checkNumbersLeft()
    try drain()
    try removeClosingMark()
    var record = [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + LinkRecord.encoded(next)
    let link = seal(
      &record,
      Description(kind: .link, commit: 0, timestamp: 0, durability: .full),
      durableSequence: tail.position.sequence - 1
    )
    try fencing { () throws(StoreError) in
      try LogExtentUseHeader.write(
        next,
        firstSequence: link.position.sequence + 1,
        previous: tail.position.use,
        to: file,
        identity
      )
      record.append(contentsOf: repeatElement(0, count: Int(LogExtentUse.recordAlignment) - record.count))
      try record.withBytes { bytes throws(StoreError) in
        try file.write(bytes, at: link.position.offset)
      }
      // guard: sync-link
      try file.synchronize()
    }
    monitor.withLock {
      advanceTail(over: link)
      tail.position.use = next
      tail.position.offset = next.firstRecordOffset
      writtenSequence = link.position.sequence
      durableSequence = link.position.sequence
    }
  }

  /// Begins a use of an extent to which no link leads: the first use after a recovery. Until an anchor leads
  /// to the checkpoint in this extent, recovery finds that checkpoint by the epoch of the use. The checkpoint
  /// syncs the extent, with its pages or before its anchor; nothing is committed earlier.
  func begin(_ use: LogExtentUse) throws(StoreError) {
    try checkNumbersLeft()
    try removeClosingMark()
    try fencing { () throws(StoreError) in
      let first = tail.position.sequence
      try LogExtentUseHeader.write(use, firstSequence: first, previous: nil, to: file, identity)
    }
    monitor.withLock {
      tail.position.use = use
      tail.position.offset = use.firstRecordOffset
    }
  }

  private func seal(_ record: inout [UInt8], _ description: Description, durableSequence: UInt64) -> Appended
  {
    let header = LogRecordHeader(
      byteCount: UInt32(record.count),
      sequence: tail.position.sequence,
      previousChecksum: tail.previousChecksum,
      durableSequence: durableSequence,
      commit: description.commit,
      timestamp: description.timestamp,
      epoch: tail.position.use.epoch,
      kind: description.kind,
      durability: description.durability
    )
    let checksum = header.seal(&record, salt: tail.position.use.salt)
    return Appended(position: tail.position, byteCount: header.byteCount, checksum: checksum)
  }

  private func advanceTail(over record: Appended) {
    let padded = UInt64(record.byteCount).roundedUp(to: LogExtentUse.recordAlignment)
    tail.position.offset += padded
    tail.position.sequence += 1
    tail.previousChecksum = record.checksum
    loggedByteCount += padded
  }

  /// Appends a record that vouches for all before it, and waits until it is durable. Does nothing if the
  /// current extent has no room.
  func appendWatermark() throws(StoreError) {
    var record = [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount)
    guard hasRoom(forRecord: record.count, isCheckpoint: true) else { return }
    let sequence = try append(
      &record,
      Description(kind: .watermark, commit: 0, timestamp: 0, durability: .full)
    ) { $0.position.sequence }
    try wait(for: sequence, isDurable: true)
  }

  // MARK: Waiting

  /// Waits until the record is in the file, and, if `isDurable`, on the device. Throws `outcomeUnknown` if
  /// that failed.
  func wait(for sequence: UInt64, isDurable: Bool) throws(StoreError) {
    monitor.lock()
    defer { monitor.unlock() }
    if isDurable { wantedDurable = max(wantedDurable, sequence) }
    while (isDurable ? durableSequence : writtenSequence) < sequence {
      if let failure { throw Self.outcomeUnknown(failure) }
      if !isLed {
        lead()
      } else if sequence <= underWaySequence && (isUnderWaySynced || !isDurable) {
        monitor.wait(on: underWay)
      } else {
        monitor.wait(on: gathering)
      }
    }
  }

  /// Makes all appended records durable. The caller needs no lock. Throws `fenced` if nothing more may be
  /// written.
  func drain() throws(StoreError) {
    let newest = try monitor.withLock { () throws(StoreError) in
      try checkNotFenced()
      return tail.position.sequence - 1
    }
    try wait(for: newest, isDurable: true)
  }

  /// Makes all appended records durable, for a caller that has appended some of them. Throws `outcomeUnknown`
  /// if that fails or has failed before, because the records may be in the file.
  func makeDurable() throws(StoreError) {
    try wait(for: monitor.withLock { tail.position.sequence - 1 }, isDurable: true)
  }

  /// Waits until no thread is writing a batch.
  func waitForWriter() {
    monitor.withLock {
      while isLed { monitor.wait(on: underWay) }
    }
  }

  /// Writes and syncs the gathered records. Called with `monitor` locked; unlocks it during the write.
  private func lead() {
    isLed = true
    var batch = spare
    spare = []
    swap(&batch, &pending)
    let offset = pendingOffset
    let through = tail.position.sequence - 1
    let syncs = wantedDurable > durableSequence
    let hasUnsynced = writtenSequence > durableSequence
    underWaySequence = through
    isUnderWaySynced = syncs
    swap(&underWay, &gathering)
    monitor.unlock()
    let problem = write(batch, at: offset, syncs: syncs, hasUnsynced: hasUnsynced)
    monitor.lock()
    isLed = false
    if failure != nil {
      // The log was fenced meanwhile, and the versions have fallen back: the waiting threads throw.
    } else if let problem {
      failure = problem
      onFailure(problem)
    } else {
      writtenSequence = through
      if syncs { durableSequence = through }
      batch.removeAll(keepingCapacity: batch.capacity <= Self.keptCapacity)
      spare = batch
      onAdvance(writtenSequence, durableSequence)
    }
    // `monitor` is unlocked first, because the woken threads lock it. The conditions are swapped only when
    // the next thread leads.
    let (done, next, isFenced) = (underWay, gathering, failure != nil)
    monitor.unlock()
    if isFenced { next.wakeAll() } else { next.wakeOne() }
    done.wakeAll()
    monitor.lock()
  }

  /// Writes a batch, and syncs it if `syncs`. A full commit covers the commits before it: if relaxed records
  /// are in the file and not yet on the device, the whole file is synced; otherwise one durable write is
  /// enough.
  private func write(_ batch: [UInt8], at offset: UInt64, syncs: Bool, hasUnsynced: Bool) -> StoreError? {
    do throws(StoreError) {
      // A deleted or replaced file must not report durable records.
      if syncs { try file.checkPath() }
      try batch.withBytes { bytes throws(StoreError) in
        if syncs && !hasUnsynced && !bytes.isEmpty {
          // guard: sync-record, without it: try file.write(bytes, at: offset)
          try file.writeDurably(bytes, at: offset)
        } else {
          if !bytes.isEmpty { try file.write(bytes, at: offset) }
          // guard: sync-records-written-before
          if syncs { try file.synchronize() }
        }
      }
      return nil
    } catch {
      return error
    }
  }

  // MARK: State

  /// Fences the log if `body` fails, because the contents of the device are unknown then.
  func fencing<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    do {
      return try body()
    } catch {
      fence(error)
      throw Self.outcomeUnknown(error)
    }
  }

  func fence(_ error: StoreError) {
    monitor.withLock {
      guard failure == nil else { return }
      failure = error
      onFailure(error)
      underWay.wakeAll()
      gathering.wakeAll()
    }
  }

  var isFenced: Bool { monitor.withLock { failure != nil } }

  /// True if a power failure might lose records that were appended.
  var hasUnsynced: Bool { monitor.withLock { durableSequence < tail.position.sequence - 1 } }

  /// True if no record vouches for the last transaction yet.
  var lacksWatermark: Bool { monitor.withLock { !lastIsWatermark } }

  /// Bytes of records appended since the store was opened.
  var appendedByteCount: UInt64 { monitor.withLock { loggedByteCount } }

  func checkFence() throws(StoreError) {
    try monitor.withLock { () throws(StoreError) in try checkNotFenced() }
  }

  /// Bytes of records appended since the last checkpoint.
  var bytesSinceCheckpoint: UInt64 {
    monitor.withLock { replayedByteCount + loggedByteCount - checkpointMark }
  }

  /// Notes that recovery no longer needs the first `byteCount` bytes that were appended.
  func markCheckpoint(at byteCount: UInt64) {
    monitor.withLock {
      checkpointMark = byteCount
      replayedByteCount = 0
    }
  }

  private func checkNotFenced() throws(StoreError) {
    guard let failure else { return }
    if failure.code == .fileGone { throw failure }
    throw StoreError(
      .fenced,
      "an earlier write or sync of the store failed; reopen it to write again: \(failure.message)",
      context: failure.context,
      systemError: failure.systemError
    )
  }

  /// Returns the error for a commit whose record may or may not be in the file.
  private static func outcomeUnknown(_ cause: StoreError) -> StoreError {
    if cause.code == .fileGone { return cause }
    return StoreError(
      .outcomeUnknown,
      "whether the commit survives is known after reopening: \(cause.message)",
      context: cause.context,
      systemError: cause.systemError
    )
  }
}
