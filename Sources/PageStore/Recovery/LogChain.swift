/// A run of the log: from a checkpoint through every record that follows it unbroken.
struct LogChain {
  /// The last checkpoint in the run: where replay begins.
  struct Checkpoint {
    var content: CheckpointRecord
    var position: LogPosition
    var byteCount: UInt32
    var checksum: UInt64
  }

  /// A transaction after the last checkpoint.
  struct Transaction {
    var image: LogExtentImage
    var record: LogExtentImage.Record
    var offset: UInt64
  }

  private(set) var checkpoint: Checkpoint
  private(set) var transactions: [Transaction] = []
  /// Where the run ends: the place and number of the first record that isn't there.
  private(set) var tail: LogTail
  /// Records after the last checkpoint, of any kind.
  private(set) var followerCount = 0
  /// Every use that the run touches, oldest first.
  private(set) var uses: [LogExtentUse]
  /// The extent with the end of the run.
  private(set) var lastImage: LogExtentImage

  /// Follows the log from the checkpoint record at `position`. Nil if there is none.
  static func follow(
    from position: LogPosition,
    in file: StoreFile,
    _ identity: FormatIdentity
  ) throws(StoreError) -> LogChain? {
    let image = try LogExtentImage(position.use, from: file)
    guard let record = image.record(at: position.offset), record.header.kind == .checkpoint,
      record.header.sequence == position.sequence
    else { return nil }
    var chain = try LogChain(first: record, at: position, in: image, identity)
    try chain.extend(in: file, identity)
    return chain
  }

  private init(
    first record: LogExtentImage.Record,
    at position: LogPosition,
    in image: LogExtentImage,
    _ identity: FormatIdentity
  ) throws(StoreError) {
    checkpoint = try Self.checkpoint(record, at: position, identity)
    tail = LogTail(position: position, previousChecksum: record.header.previousChecksum)
    uses = [position.use]
    lastImage = image
    pass(record)
  }

  private mutating func extend(in file: StoreFile, _ identity: FormatIdentity) throws(StoreError) {
    while let record = lastImage.record(at: tail.position.offset),
      record.header.sequence == tail.position.sequence,
      record.header.previousChecksum == tail.previousChecksum
    {
      let position = tail.position
      followerCount += 1
      pass(record)
      switch record.header.kind {
      case .transaction:
        transactions.append(Transaction(image: lastImage, record: record, offset: position.offset))
      case .checkpoint:
        checkpoint = try Self.checkpoint(record, at: position, identity)
        transactions = []
        followerCount = 0
      case .watermark:
        break
      case .link:
        try enter(record, at: position, in: file, identity)
      }
    }
  }

  private mutating func pass(_ record: LogExtentImage.Record) {
    tail.position.offset += record.header.paddedByteCount
    tail.position.sequence += 1
    tail.previousChecksum = record.checksum
  }

  /// Goes on in the extent that a link leads to. Epochs ascend, so a run comes to an end. An extent isn't used again while
  /// a run needs it, so extents of a run lie apart, and their bytes take no more memory than the file is long.
  private mutating func enter(
    _ link: LogExtentImage.Record,
    at position: LogPosition,
    in file: StoreFile,
    _ identity: FormatIdentity
  ) throws(StoreError) {
    guard let next = LinkRecord.decode(link.payload, pageSize: UInt64(identity.pageSize)),
      next.epoch > position.use.epoch, !uses.contains(where: { $0.extent.range.overlaps(next.extent.range) })
    else { throw Self.impossible("link", at: position) }
    lastImage = try LogExtentImage(next, from: file)
    uses.append(next)
    tail.position.use = next
    tail.position.offset = next.firstRecordOffset
  }

  private static func checkpoint(
    _ record: LogExtentImage.Record,
    at position: LogPosition,
    _ identity: FormatIdentity
  ) throws(StoreError) -> Checkpoint {
    guard let content = CheckpointRecord(record.payload, pageSize: UInt64(identity.pageSize)) else {
      throw impossible("checkpoint", at: position)
    }
    return Checkpoint(
      content: content,
      position: position,
      byteCount: record.header.byteCount,
      checksum: record.checksum
    )
  }

  /// A record whose checksum is right but whose content makes no sense: made by hand, or by a faulty library.
  private static func impossible(_ what: String, at position: LogPosition) -> StoreError {
    StoreError(
      .corrupt,
      "a \(what) record of the log makes no sense",
      context: .init(offset: position.offset)
    )
  }
}
