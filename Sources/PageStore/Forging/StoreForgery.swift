/// A forged store with chosen numbers: every checksum is right, but the numbers may be absurd. With the
/// defaults it is an empty store.
struct StoreForgery {
  var pageSize: UInt32 = 4_096
  var sequence: UInt64 = 1
  var epoch: UInt32 = 1
  var commit: UInt64 = 0
  var timestamp: Int64 = 0
  var nextTreeID: UInt32 = 3
  var catalogue = StoredTree.empty(treeID: Catalogue.treeID)
  /// Bytes of the first extent, which holds the log.
  var logByteCount: UInt64 = 65_536
  /// The end of the file according to the checkpoint; nil for the end of the first extent.
  var end: UInt64?
  var tailOffset: UInt64 = 0
  var hasHeader = true
  /// The payload of a record after the checkpoint; nil for no record.
  var operations: [UInt8]?
  var kind = LogRecordHeader.Kind.transaction
  var replayStart: LogTail?
  /// True if the checkpoint lists the extent that holds the log.
  var listsItsLog = true
  /// Other log extents that the checkpoint lists.
  var moreLogExtents: [Extent] = []
  /// Other blocks of the file.
  var more: [Block] = []

  /// Bytes at an offset of the file.
  struct Block {
    var offset: UInt64
    var bytes: [UInt8]
  }

  var identity: FormatIdentity { FormatIdentity(uuid: StoreUUID(low: 1, high: 2), pageSize: pageSize) }
  /// The extent that holds the log.
  var logExtent: Extent {
    // No offset follows from an invalid page size.
    let isValid = FileLayout.isValidPageSize(Int(pageSize))
    let offset =
      isValid ? FileLayout.firstExtentOffset(pageSize: UInt64(pageSize)) : FileLayout.fixedByteCount
    return Extent(offset: offset, byteCount: logByteCount)
  }
  var use: LogExtentUse { LogExtentUse(extent: logExtent, epoch: epoch, salt: 3) }

  /// The blocks of the file; the rest is zeros.
  var blocks: [Block] {
    var blocks: [Block] = []
    if hasHeader {
      blocks.append(Block(offset: FileLayout.headerOffset, bytes: FileHeader.encoded(identity, created: 0)))
    }
    blocks += logExtentHeaders(of: use)
    let content = checkpointPayload
    let position = LogPosition(use: use, offset: use.firstRecordOffset, sequence: sequence)
    let (record, checksum) = sealed(content, .checkpoint, sequence, previous: 0, commit)
    blocks.append(Block(offset: position.offset, bytes: record))
    let anchor = Anchor(
      checkpoint: position,
      recordByteCount: UInt32(record.count),
      recordChecksum: checksum,
      commit: commit
    )
    blocks.append(Block(offset: FileLayout.anchorOffsets[0], bytes: anchor.encoded(identity)))
    if let operations {
      let (next, _) = sealed(operations, kind, sequence &+ 1, previous: checksum, commit &+ 1)
      blocks.append(Block(offset: position.offset + UInt64(record.count).roundedUp(to: 512), bytes: next))
    }
    return blocks + more
  }

  /// The payload of the checkpoint's record.
  var checkpointPayload: [UInt8] { checkpoint.encoded() }

  private var checkpoint: CheckpointRecord {
    CheckpointRecord(
      commit: commit,
      timestamp: timestamp,
      catalogue: catalogue,
      nextTreeID: nextTreeID,
      previousReplayEpoch: 1,
      replayStart: replayStart,
      end: end ?? logExtent.end,
      tailOffset: tailOffset,
      logExtents: (listsItsLog ? [logExtent] : []) + moreLogExtents,
      spaceTree: .empty(treeID: SpaceTree.treeID),
      previousSpaceTree: .empty(treeID: SpaceTree.treeID)
    )
  }

  /// Returns the headers of a log extent of `byteCount` bytes. If `byteCount` is nil, the extent has as many
  /// bytes as its use claims.
  func logExtentHeaders(of use: LogExtentUse, byteCount: UInt64? = nil) -> [Block] {
    let extent = Extent(offset: use.extent.offset, byteCount: byteCount ?? use.extent.byteCount)
    let header = ExtentHeader(kind: .log, extent: extent, salt: 4, commit: 0)
    let useHeader = LogExtentUseHeader.encoded(use, firstSequence: sequence, previous: nil, identity)
    return [
      Block(offset: extent.offset, bytes: header.encodedBlock(identity)),
      Block(offset: extent.offset + UInt64(LogExtentUseHeader.offset), bytes: useHeader),
    ]
  }

  /// Returns a complete record of ``use``, and its checksum.
  func sealed(
    _ payload: [UInt8],
    _ kind: LogRecordHeader.Kind,
    _ sequence: UInt64,
    previous: UInt64,
    _ commit: UInt64
  ) -> ([UInt8], UInt64) {
    var record = [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + payload
    let header = LogRecordHeader(
      byteCount: UInt32(record.count),
      sequence: sequence,
      previousChecksum: previous,
      durableSequence: 0,
      commit: commit,
      timestamp: timestamp,
      epoch: epoch,
      kind: kind,
      durability: .full
    )
    let checksum = header.seal(&record, salt: use.salt)
    return (record, checksum)
  }

  // MARK: Pages

  /// Adds a leaf or a branch to the file, and returns the reference to it.
  ///
  /// - Parameters:
  ///   - number: the page's number.
  ///   - entries: keys in ascending order, with values, or with references to pages of the level below.
  mutating func addPage(
    _ number: UInt64,
    treeID: UInt32,
    level: Int,
    entries: [(key: [UInt8], payload: [UInt8])]
  ) throws(StoreError) -> ChildReference {
    let (bytes, reference) = try Self.page(
      number,
      treeID: treeID,
      level: level,
      pageSize: Int(pageSize),
      entries: entries
    )
    more.append(Block(offset: number * UInt64(pageSize), bytes: bytes))
    return reference
  }

  private static func page(
    _ number: UInt64,
    treeID: UInt32,
    level: Int,
    pageSize: Int,
    entries: [(key: [UInt8], payload: [UInt8])]
  ) throws(StoreError) -> ([UInt8], ChildReference) {
    let arena = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, entries.count) * 512, alignment: 8)
    defer { arena.deallocate() }
    let page = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 16)
    defer { page.deallocate() }
    page.initializeMemory(as: UInt8.self, repeating: 0)
    let laidOut = entries.enumerated().map { index, entry in
      let room = UnsafeMutableRawBufferPointer(rebasing: arena[index * 512..<(index + 1) * 512])
      room.copyBytes(from: entry.key + entry.payload)
      let bytes = UnsafeRawBufferPointer(room)
      return PageEntry(
        key: UnsafeRawBufferPointer(rebasing: bytes[..<entry.key.count]),
        payload: UnsafeRawBufferPointer(rebasing: bytes[entry.key.count..<(entry.key + entry.payload).count])
      )
    }
    let count = entries.reduce(UInt64(0)) { sum, entry in
      sum + (level == 0 ? 1 : entry.payload.withUnsafeBytes { ChildReference(loading: $0.start).count })
    }
    let builder = PageBuilder(geometry: PageGeometry(pageSize: pageSize), isLeaf: level == 0)
    let target = UnsafeMutableRawPointer(mutating: UnsafeRawBufferPointer(page).start)
    do {
      try laidOut.withUnsafeBufferPointer {
        try builder.build(target, treeID: treeID, level: UInt8(level), birth: 0, entries: $0, lonePrefix: 0)
      }
    } catch let error as StoreError { throw error } catch {
      throw StoreError(.corrupt, "\(error)")
    }
    target.storeLittle(number, PageHeader.number)
    let checksum = XXH64.hash(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(page)[8...]))
    target.storeLittle(checksum, PageHeader.checksum)
    let reference = ChildReference(location: .page(number), checksum: checksum, birth: 0, count: count)
    return ([UInt8](page), reference)
  }
}

extension ChildReference {
  /// The bytes of the reference in a branch.
  var encoded: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.setInteger(location.rawValue, at: 0)
      bytes.setInteger(checksum, at: 8)
      bytes.setInteger(birth, at: 16)
      bytes.setInteger(count, at: 24)
    }
    return bytes
  }
}
