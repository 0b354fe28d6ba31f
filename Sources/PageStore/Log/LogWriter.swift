/// Where the log ends: the place, and what the record that goes there must carry.
struct LogTail: Hashable, Sendable {
  /// The place and the sequence number of the next record.
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
/// 2. `pending` holds the records after `writtenSequence` that no leader has taken, in order, contiguous in the
///    file from `pendingOffset`.
/// 3. Once `failure` is set nothing is written any more.
// Safety: mutable state is only touched with `monitor` locked, with two exceptions. `tail` is changed with
// both `Committer.state` and `monitor` locked, and read with either. `closingAnchor` is only touched with
// `Committer.state` locked. Opening a store begins its log before other threads can see it.
final class LogWriter: @unchecked Sendable {
  /// Called with each advance, in order: all records up to `written` are in the file, up to `durable` on the device.
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
  /// The other half of the double buffer, kept for its capacity.
  private var spare: [UInt8] = []
  private var writtenSequence: UInt64
  private var durableSequence: UInt64
  /// The highest sequence that somebody wants durable.
  private var wantedDurable: UInt64 = 0
  private var isLed = false
  /// The batch that is being written goes up to here.
  private var underWaySequence: UInt64 = 0
  private var isUnderWaySynced = false
  /// Where those wait who need no more than the batch that is being written.
  private var underWay = Monitor.Condition()
  /// Where those wait who need the next one.
  private var gathering = Monitor.Condition()
  private var failure: StoreError?
  /// Whether the last record needs nobody to vouch for it: a watermark, or a checkpoint, which its anchor vouches for.
  private var lastIsWatermark = false
  private var loggedByteCount: UInt64 = 0
  /// Bytes of records that were there after the last checkpoint when the store was opened, until there is another checkpoint.
  private var replayedByteCount: UInt64
  /// `loggedByteCount` at the last checkpoint.
  private var checkpointMark: UInt64 = 0

  /// Kept free at the end of an extent: a link.
  private static let linkReserve = LogExtentUse.recordAlignment
  /// Kept free besides by transactions: the records of a few checkpoints, so that a full disk can't prevent one.
  private static let checkpointReserve: UInt64 = 4_096
  /// A buffer that has grown beyond this is let go after use.
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

  /// Whether the file says that nothing follows the last checkpoint.
  var hasClosingMark: Bool { closingAnchor != nil }

  /// Takes the closing mark back, where it is and durably. A crash that tears the anchor leaves the other one, which is
  /// durable and, with the log, leads to the same checkpoint.
  private func removeClosingMark() throws(StoreError) {
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

  /// Whether a record of this length goes into the current extent and leaves room for what must always fit.
  func hasRoom(forRecord byteCount: Int, isCheckpoint: Bool) -> Bool {
    let reserve = Self.linkReserve + (isCheckpoint ? 0 : Self.checkpointReserve)
    let padded = UInt64(byteCount).roundedUp(to: LogExtentUse.recordAlignment)
    return tail.position.offset + padded + reserve <= tail.position.use.extent.end
  }

  /// The length that an extent needs for a record of this length.
  static func extentByteCount(forRecord byteCount: Int) -> UInt64 {
    UInt64(ExtentHeader.byteCount) + UInt64(byteCount).roundedUp(to: LogExtentUse.recordAlignment)
      + linkReserve
      + checkpointReserve
  }

  /// What the caller says of a record; the rest of the header follows from the log.
  struct Description {
    var kind: LogRecordHeader.Kind
    var commit: UInt64
    var timestamp: Int64
    var durability: Durability
  }

  /// Where an appended record is.
  struct Appended {
    var position: LogPosition
    var byteCount: UInt32
    var checksum: UInt64
  }

  /// Whether there are record numbers left: for a transaction, with those that closing and opening the store will need.
  func checkNumbersLeft(forTransaction isTransaction: Bool = false) throws(StoreError) {
    let reserve = isTransaction ? LogRecordHeader.upkeepReserve : 0
    guard tail.position.sequence < LogRecordHeader.sequenceLimit - reserve else {
      throw StoreError.numbersUsedUp("records of its log")
    }
  }

  /// Puts a record, which begins with room for its header, at the end of the log, to be written by whoever waits for
  /// it first. The caller made sure of the room. `queue` is called before anybody can write it.
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
  /// synced. All that came before is durable afterwards, the link and the new extent too.
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
      try writeUseHeader(of: next, firstSequence: link.position.sequence + 1, previous: tail.position.use)
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

  /// Begins a use of an extent that no link leads to: the first of a store, and the first after a recovery, whose
  /// checkpoint is found by its epoch until the anchor says where it is. That checkpoint syncs the extent, with its pages or
  /// before its anchor; nothing is committed earlier.
  func begin(_ use: LogExtentUse) throws(StoreError) {
    try checkNumbersLeft()
    try removeClosingMark()
    try fencing { () throws(StoreError) in
      try writeUseHeader(of: use, firstSequence: tail.position.sequence, previous: nil)
    }
    monitor.withLock {
      tail.position.use = use
      tail.position.offset = use.firstRecordOffset
    }
  }

  private func writeUseHeader(
    of use: LogExtentUse,
    firstSequence: UInt64,
    previous: LogExtentUse?
  ) throws(StoreError) {
    let sector = LogExtentUseHeader.encoded(use, firstSequence: firstSequence, previous: previous, identity)
    for offset in [LogExtentUseHeader.offset, LogExtentUseHeader.copyOffset] {
      try sector.withBytes { bytes throws(StoreError) in
        try file.write(bytes, at: use.extent.offset + UInt64(offset))
      }
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

  /// Appends a record that vouches for all before it, and waits until it is durable. Needs an extent with room.
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

  /// Returns when the record is in the file, and on the device if `isDurable`. Throws `outcomeUnknown` if that failed.
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

  /// Makes all that was appended durable, for somebody who has appended some of it. Throws `outcomeUnknown` if that failed, also if it had
  /// failed before: what was appended may be in the file.
  func settle() throws(StoreError) {
    try wait(for: monitor.withLock { tail.position.sequence - 1 }, isDurable: true)
  }

  /// Returns when nobody writes what has gathered.
  func waitForWriter() {
    monitor.withLock {
      while isLed { monitor.wait(on: underWay) }
    }
  }

  /// Writes and syncs what has gathered. Called with `monitor` locked; unlocks it during the write.
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
      // Fenced meanwhile, and memory has gone back: whoever waits is told so.
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
    // Whoever is woken wants the lock. The conditions change places only when somebody leads again.
    let (done, next, isFenced) = (underWay, gathering, failure != nil)
    monitor.unlock()
    if isFenced { next.wakeAll() } else { next.wakeOne() }
    done.wakeAll()
    monitor.lock()
  }

  /// A full commit covers what came before it: where relaxed records are in the file but not yet on the device, the
  /// sync is of the whole file; otherwise the one durable write is enough.
  private func write(_ batch: [UInt8], at offset: UInt64, syncs: Bool, hasUnsynced: Bool) -> StoreError? {
    do throws(StoreError) {
      // Nothing is said to be durable in a file that nobody finds.
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

  /// Refuses all further writing if `body` fails: nobody knows then what is on the device.
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

  /// Whether anything appended might still be lost to a power failure.
  var hasUnsynced: Bool { monitor.withLock { durableSequence < tail.position.sequence - 1 } }

  /// Whether no later record vouches for the last transaction yet.
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

  /// The first so many bytes appended are not needed for recovery any more.
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

  /// What a commit is told whose record the failure has met.
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
