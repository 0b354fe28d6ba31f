import Glibc

/// Makes a new store in an empty file.
///
/// First an empty log extent is written and synced, so that from then on the file is recognised as a store's.
/// Then everything but the header is written: the checkpoint of the empty store, and an anchor. The header
/// comes last. A crash leaves either a file without a header, which counts as empty, or one that opens.
struct StoreCreation {
  let file: StoreFile
  let options: StoreOptions
  let environment: StoreEnvironment
  /// The identity and commit of the new store; nil for a new identity and commit 0.
  var origin: StoreOrigin?

  /// More bytes than any unfinished creation leaves.
  static let byteLimit: UInt64 = 1 << 20

  func run() throws(StoreError) {
    let now = environment.now()
    let origin =
      origin
      ?? StoreOrigin(
        uuid: StoreUUID(low: environment.random(), high: environment.random()),
        commit: 0,
        timestamp: now
      )
    let identity = FormatIdentity(uuid: origin.uuid, pageSize: UInt32(options.pageSize))
    // Remnants of an unfinished creation must not be taken for parts of this one.
    try file.truncate(to: 0)
    let use = try writeLogExtent(identity, origin)
    try writeCheckpoint(of: origin, in: use, identity)
    // guard: sync-creation-before-header
    try file.synchronize()
    try write(FileHeader.encoded(identity, created: now), at: FileLayout.headerOffset)
    // guard: sync-creation
    try file.synchronize()
  }

  /// Writes the log extent, which marks the file as a store's, and the header of its first use. Syncs the
  /// extent, but not the header of the use.
  private func writeLogExtent(
    _ identity: FormatIdentity,
    _ origin: StoreOrigin
  ) throws(StoreError) -> LogExtentUse {
    let pageSize = UInt64(options.pageSize)
    let extent = Extent(
      offset: FileLayout.firstExtentOffset(pageSize: pageSize),
      byteCount: UInt64(options.initialLogByteCount).roundedUp(to: pageSize)
    )
    let use = LogExtentUse(extent: extent, epoch: 1, salt: environment.random())
    try LogExtentInitialisation(file: file, identity: identity)
      .write(ExtentHeader(kind: .log, extent: extent, salt: environment.random(), commit: origin.commit))
    // guard: sync-creation-mark
    try file.synchronize()
    try LogExtentUseHeader.write(use, firstSequence: 1, previous: nil, to: file, identity)
    return use
  }

  /// Writes the checkpoint of the empty store as the first record of the log, and an anchor that leads to it.
  private func writeCheckpoint(
    of origin: StoreOrigin,
    in use: LogExtentUse,
    _ identity: FormatIdentity
  ) throws(StoreError) {
    let checkpoint = CheckpointRecord(
      commit: origin.commit,
      timestamp: origin.timestamp,
      catalogue: .empty(treeID: Catalogue.treeID),
      nextTreeID: SpaceTree.treeID + 1,
      previousReplayEpoch: 1,
      replayStart: nil,
      end: use.extent.end,
      tailOffset: 0,
      logExtents: [use.extent],
      spaceTree: .empty(treeID: SpaceTree.treeID),
      previousSpaceTree: .empty(treeID: SpaceTree.treeID)
    )
    var record = checkpoint.logRecord
    let header = LogRecordHeader(
      byteCount: UInt32(record.count),
      sequence: 1,
      previousChecksum: 0,
      durableSequence: 0,
      commit: origin.commit,
      timestamp: origin.timestamp,
      epoch: use.epoch,
      kind: .checkpoint,
      durability: .full
    )
    let checksum = header.seal(&record, salt: use.salt)
    let position = LogPosition(use: use, offset: use.firstRecordOffset, sequence: 1)
    try write(record, at: position.offset)
    let anchor = Anchor(
      checkpoint: position,
      recordByteCount: header.byteCount,
      recordChecksum: checksum,
      commit: origin.commit
    )
    try write(anchor.encoded(identity), at: FileLayout.anchorOffsets[0])
  }

  private func write(_ bytes: [UInt8], at offset: UInt64) throws(StoreError) {
    try bytes.withBytes { bytes throws(StoreError) in try file.write(bytes, at: offset) }
  }
}

/// The identity and the first commit of a new store. A copy continues those of its original.
struct StoreOrigin {
  var uuid: StoreUUID
  var commit: UInt64
  /// The time of that commit, in milliseconds since 1970.
  var timestamp: Int64
}

/// Prepares a new log extent by writing all its blocks once, so that syncing a record in them later writes
/// only data, and not the file system's journal.
struct LogExtentInitialisation {
  let file: StoreFile
  let identity: FormatIdentity

  private static let zerosByteCount = 256 << 10

  /// Writes header and zeros. The caller syncs them.
  func write(_ header: ExtentHeader) throws(StoreError) {
    try file.allocate(header.extent.range)
    let block = header.encodedBlock(identity)
    try block.withBytes { bytes throws(StoreError) in try file.write(bytes, at: header.extent.offset) }

    let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.zerosByteCount, alignment: 8)
    defer { zeros.deallocate() }
    if let start = zeros.baseAddress { memset(start, 0, zeros.count) }
    var offset = header.extent.offset + UInt64(block.count)
    while offset < header.extent.end {
      let count = min(zeros.count, Int(header.extent.end - offset))
      try file.write(UnsafeRawBufferPointer(rebasing: zeros[..<count]), at: offset)
      offset += UInt64(count)
    }
  }
}
