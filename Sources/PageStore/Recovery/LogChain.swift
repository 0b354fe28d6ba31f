/// A run of the log: from the start of a checkpoint's replay, past the checkpoint's own record, through all
/// records that follow without a gap.
final class LogChain {
  /// A checkpoint of the run.
  struct Checkpoint {
    var content: CheckpointRecord
    var position: LogPosition

    /// The first record that the checkpoint doesn't contain.
    var replaySequence: UInt64 { content.replayStart?.position.sequence ?? position.sequence + 1 }
    /// The epoch of the extent that replay begins in.
    var replayEpoch: UInt32 { content.replayStart?.position.use.epoch ?? position.use.epoch }
  }

  /// A transaction that the last checkpoint doesn't contain.
  struct Transaction {
    var image: LogExtentImage
    var record: LogExtentImage.Record
    var offset: UInt64
  }

  private(set) var checkpoint: Checkpoint
  var transactions: ArraySlice<Transaction> { gathered[firstNeeded...] }
  var hasTransactions: Bool { firstNeeded < gathered.count }
  /// Transactions in the order of the log.
  private var gathered: [Transaction] = []
  /// The first of them that the last checkpoint doesn't contain.
  private var firstNeeded = 0
  /// Bytes of the transactions that the last checkpoint doesn't contain.
  var replayedByteCount: UInt64 { transactions.reduce(0) { $0 + $1.record.header.paddedByteCount } }
  /// The end of the run: position and sequence number of the first record that is missing.
  private(set) var tail: LogTail
  /// Records after the last checkpoint's own, of any kind.
  private(set) var followerCount = 0
  /// The first record of the run.
  private let firstSequence: UInt64
  /// The checkpoint's record that the run must reach.
  private let wanted: LogPosition
  private var isReached = false
  /// The uses of log extents in the run, oldest first.
  private(set) var uses: [LogExtentUse]
  /// The extent in which the run ends.
  private(set) var lastImage: LogExtentImage
  private let budget: LogReadBudget

  /// Follows the log through the checkpoint record at `position`. Nil if there is no such record, or if
  /// records between it and the start of its replay are missing.
  static func follow(
    from position: LogPosition,
    in file: StoreFile,
    _ identity: FormatIdentity,
    _ budget: LogReadBudget
  ) throws(StoreError) -> LogChain? {
    let image = try LogExtentImage(position.use, from: file, budget)
    guard let record = try image.record(at: position.offset), record.header.kind == .checkpoint,
      record.header.sequence == position.sequence
    else { return nil }
    let checkpoint = try Self.checkpoint(record, at: position, identity)
    let own = LogTail(position: position, previousChecksum: record.header.previousChecksum)
    let start = checkpoint.content.replayStart ?? own
    let firstImage =
      start.position.use == position.use ? image : try LogExtentImage(start.position.use, from: file, budget)
    let chain = LogChain(checkpoint, from: start, in: firstImage, budget)
    try chain.extend(in: file, identity)
    return chain.isReached ? chain : nil
  }

  private init(
    _ checkpoint: Checkpoint,
    from start: LogTail,
    in image: LogExtentImage,
    _ budget: LogReadBudget
  ) {
    self.budget = budget
    self.checkpoint = checkpoint
    wanted = checkpoint.position
    firstSequence = start.position.sequence
    tail = start
    uses = [start.position.use]
    lastImage = image
  }

  private func extend(in file: StoreFile, _ identity: FormatIdentity) throws(StoreError) {
    while let record = try lastImage.record(at: tail.position.offset),
      record.header.sequence == tail.position.sequence,
      record.header.previousChecksum == tail.previousChecksum
    {
      let position = tail.position
      followerCount += 1
      pass(record)
      switch record.header.kind {
      case .transaction:
        gathered.append(Transaction(image: lastImage, record: record, offset: position.offset))
      case .checkpoint:
        try rest(on: Self.checkpoint(record, at: position, identity))
      case .watermark:
        break
      case .link:
        try enter(record, at: position, in: file, identity)
      }
    }
  }

  /// Continues from a checkpoint of the run: the transactions that it contains need not be replayed.
  private func rest(on next: Checkpoint) throws(StoreError) {
    let isInRun = next.replaySequence >= firstSequence && next.replaySequence <= next.position.sequence + 1
    guard isInRun, next.replaySequence >= checkpoint.replaySequence else {
      throw Self.impossible("checkpoint", at: next.position)
    }
    if next.position == wanted { isReached = true }
    checkpoint = next
    dropTransactions(before: next.replaySequence)
    followerCount = 0
  }

  /// Drops the transactions before a record. Amortised O(1), because one half of a forged run may be
  /// transactions, and the other half checkpoints.
  private func dropTransactions(before sequence: UInt64) {
    while firstNeeded < gathered.count, gathered[firstNeeded].record.header.sequence < sequence {
      firstNeeded += 1
    }
    guard 2 * firstNeeded > gathered.count else { return }
    gathered.removeFirst(firstNeeded)
    firstNeeded = 0
  }

  private func pass(_ record: LogExtentImage.Record) {
    tail.position.offset += record.header.paddedByteCount
    tail.position.sequence += 1
    tail.previousChecksum = record.checksum
  }

  /// Continues in the extent to which a link leads. Epochs ascend, so every run ends. An extent isn't reused
  /// while a run needs it: so the extents of a run don't overlap, and together take no more memory than the
  /// file has bytes.
  private func enter(
    _ link: LogExtentImage.Record,
    at position: LogPosition,
    in file: StoreFile,
    _ identity: FormatIdentity
  ) throws(StoreError) {
    try budget.spend(UInt64(uses.count * MemoryLayout<LogExtentUse>.stride))
    guard let next = LinkRecord.decode(link.payload, pageSize: UInt64(identity.pageSize)),
      next.epoch > position.use.epoch, !uses.contains(where: { $0.extent.range.overlaps(next.extent.range) })
    else { throw Self.impossible("link", at: position) }
    lastImage = try LogExtentImage(next, from: file, budget)
    uses.append(next)
    tail.position.use = next
    tail.position.offset = next.firstRecordOffset
  }

  private static func checkpoint(
    _ record: LogExtentImage.Record,
    at position: LogPosition,
    _ identity: FormatIdentity
  ) throws(StoreError) -> Checkpoint {
    do throws(StoreError) {
      let content = try CheckpointRecord(record.payload, pageSize: UInt64(identity.pageSize))
      return Checkpoint(content: content, position: position)
    } catch {
      throw error.adding { $0.offset = position.offset }
    }
  }

  /// Returns the error for a record whose checksum is right but whose contents are invalid: it was forged, or
  /// written by a faulty library.
  private static func impossible(_ what: String, at position: LogPosition) -> StoreError {
    StoreError.senselessRecord(what).adding { $0.offset = position.offset }
  }
}

extension StoreError {
  /// Returns the error for a log record whose contents are invalid.
  static func senselessRecord(_ kind: String) -> StoreError {
    StoreError(.corrupt, "a \(kind) record of the log has invalid contents")
  }
}
