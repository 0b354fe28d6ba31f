/// The payload of a checkpoint record: all state of a store that isn't in a tree. Docs/FileFormat.md, section
/// 7.
struct CheckpointRecord: Hashable {
  var commit: UInt64
  var timestamp: Int64
  var catalogue: StoredTree
  /// The number of the next new tree.
  var nextTreeID: UInt32
  /// The epoch in which replay from the checkpoint before this one begins. Log extents of earlier epochs are
  /// free: they are reused one checkpoint later than this checkpoint alone would allow.
  var previousReplayEpoch: UInt32
  /// The first record that the checkpoint doesn't contain. Nil if nothing was committed while the checkpoint
  /// was written: that record is then the one after the checkpoint's own.
  var replayStart: LogTail?
  /// The end of the allocated part of the file, in bytes.
  var end: UInt64
  /// The log extents, in use or free.
  var logExtents: [Extent]
  /// The offset of the last page extent, which ends at `end`; 0 if the file ends with a log extent.
  var tailOffset: UInt64
  /// The tree that records which pages the checkpoint reaches (``SpaceTree``).
  var spaceTree: StoredTree
  /// The space tree of the checkpoint before this one, whose pages must not be overwritten yet either.
  var previousSpaceTree: StoredTree
  /// The number of roots kept for reading old states; none in this version.
  var retainedRootCount: UInt32 = 0

  static let fixedByteCount = 248

  enum Offset {
    static let commit = 0
    static let timestamp = 8
    static let catalogue = 16
    static let nextTreeID = 64
    static let previousReplayEpoch = 68
    static let end = 72
    static let tailOffset = 80
    static let logExtentCount = 88
    static let retainedRootCount = 92
    static let replayEpoch = 96
    static let reserved = 100
    static let replayExtentOffset = 104
    static let replayExtentByteCount = 112
    static let replaySalt = 120
    static let replayOffset = 128
    static let replaySequence = 136
    static let replayPreviousChecksum = 144
    static let spaceTree = 152
    static let previousSpaceTree = 200
  }

  func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.fixedByteCount)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.setInteger(commit, at: Offset.commit)
      bytes.setInteger(timestamp, at: Offset.timestamp)
      catalogue.encode(in: bytes, at: Offset.catalogue)
      bytes.setInteger(nextTreeID, at: Offset.nextTreeID)
      bytes.setInteger(previousReplayEpoch, at: Offset.previousReplayEpoch)
      bytes.setInteger(end, at: Offset.end)
      bytes.setInteger(UInt32(logExtents.count), at: Offset.logExtentCount)
      bytes.setInteger(tailOffset, at: Offset.tailOffset)
      spaceTree.encode(in: bytes, at: Offset.spaceTree)
      previousSpaceTree.encode(in: bytes, at: Offset.previousSpaceTree)
      bytes.setInteger(retainedRootCount, at: Offset.retainedRootCount)
      if let replayStart { Self.encode(replayStart, in: bytes) }
    }
    for extent in logExtents {
      bytes.appendInteger(extent.offset)
      bytes.appendInteger(extent.byteCount)
    }
    return bytes
  }

  /// The bytes of a log record with this payload. They begin with room for the record's header.
  var logRecord: [UInt8] { [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + encoded() }

  private static func encode(_ start: LogTail, in bytes: UnsafeMutableRawBufferPointer) {
    let position = start.position
    bytes.setInteger(position.use.epoch, at: Offset.replayEpoch)
    bytes.setInteger(position.use.extent.offset, at: Offset.replayExtentOffset)
    bytes.setInteger(position.use.extent.byteCount, at: Offset.replayExtentByteCount)
    bytes.setInteger(position.use.salt, at: Offset.replaySalt)
    bytes.setInteger(position.offset, at: Offset.replayOffset)
    bytes.setInteger(position.sequence, at: Offset.replaySequence)
    bytes.setInteger(start.previousChecksum, at: Offset.replayPreviousChecksum)
  }

  private static func replayStart(in payload: UnsafeRawBufferPointer) -> LogTail? {
    let use = LogExtentUse(
      extent: Extent(
        offset: payload.integer(at: Offset.replayExtentOffset, as: UInt64.self),
        byteCount: payload.integer(at: Offset.replayExtentByteCount, as: UInt64.self)
      ),
      epoch: payload.integer(at: Offset.replayEpoch, as: UInt32.self),
      salt: payload.integer(at: Offset.replaySalt, as: UInt64.self)
    )
    guard use.epoch > 0 else { return nil }
    return LogTail(
      position: LogPosition(
        use: use,
        offset: payload.integer(at: Offset.replayOffset, as: UInt64.self),
        sequence: payload.integer(at: Offset.replaySequence, as: UInt64.self)
      ),
      previousChecksum: payload.integer(at: Offset.replayPreviousChecksum, as: UInt64.self)
    )
  }

  /// Decodes a record's payload. Throws `corrupt` if the payload can't be a checkpoint's. Throwing takes less
  /// time than returning nil here, because the type of an optional record would be made at run time.
  init(_ payload: UnsafeRawBufferPointer, pageSize: UInt64) throws(StoreError) {
    guard payload.count >= Self.fixedByteCount else { throw .senselessRecord("checkpoint") }
    commit = payload.integer(at: Offset.commit, as: UInt64.self)
    timestamp = payload.integer(at: Offset.timestamp, as: Int64.self)
    guard let catalogue = StoredTree(payload, at: Offset.catalogue, treeID: Catalogue.treeID),
      let spaceTree = StoredTree(payload, at: Offset.spaceTree, treeID: SpaceTree.treeID),
      let previousSpaceTree = StoredTree(payload, at: Offset.previousSpaceTree, treeID: SpaceTree.treeID)
    else { throw .senselessRecord("checkpoint") }
    self.catalogue = catalogue
    self.spaceTree = spaceTree
    self.previousSpaceTree = previousSpaceTree
    nextTreeID = payload.integer(at: Offset.nextTreeID, as: UInt32.self)
    previousReplayEpoch = payload.integer(at: Offset.previousReplayEpoch, as: UInt32.self)
    replayStart = Self.replayStart(in: payload)
    end = payload.integer(at: Offset.end, as: UInt64.self)
    retainedRootCount = payload.integer(at: Offset.retainedRootCount, as: UInt32.self)
    let logExtentCount = Int(payload.integer(at: Offset.logExtentCount, as: UInt32.self))
    tailOffset = payload.integer(at: Offset.tailOffset, as: UInt64.self)
    guard payload.count == Self.fixedByteCount + logExtentCount * 16,
      tailOffset % pageSize == 0, tailOffset <= end,
      tailOffset == 0 || tailOffset >= FileLayout.firstExtentOffset(pageSize: pageSize),
      end % pageSize == 0, end >= FileLayout.firstExtentOffset(pageSize: pageSize),
      end <= Extent.addressLimit(pageSize: pageSize),
      commit < LogRecordHeader.commitLimit, nextTreeID > SpaceTree.treeID
    else { throw .senselessRecord("checkpoint") }
    logExtents = (0..<logExtentCount).map { index in
      let offset = Self.fixedByteCount + index * 16
      return Extent(
        offset: payload.integer(at: offset, as: UInt64.self),
        byteCount: payload.integer(at: offset + 8, as: UInt64.self)
      )
    }
    let end = self.end
    // Replay may begin in an extent that is newer than the record's table, and so lies after `end`.
    let replayExtents = [replayStart?.position.use.extent].compactMap(\.self)
    guard
      (logExtents + replayExtents).allSatisfy({
        $0.isPlausible(pageSize: pageSize) && $0.byteCount <= LogExtentUse.byteLimit
      }),
      logExtents.allSatisfy({ $0.end <= end }),
      replayExtents.allSatisfy({ $0.end <= end || $0.offset >= end })
    else { throw .senselessRecord("checkpoint") }
    // The extents don't overlap, so that together they are no longer than the file.
    let ordered = logExtents.sorted { $0.offset < $1.offset }
    guard zip(ordered, ordered.dropFirst()).allSatisfy({ $0.end <= $1.offset }) else {
      throw .senselessRecord("checkpoint")
    }
  }

  /// Throws `corrupt` if a tree claims more than a file of `filePageCount` pages can hold.
  func check(filePageCount: UInt64, pageSize: Int) throws(StoreError) {
    for tree in [catalogue, spaceTree, previousSpaceTree] {
      guard tree.pageCount <= filePageCount, tree.canBe(pageSize: pageSize) else {
        throw StoreError(
          .corrupt,
          "a tree of the checkpoint can't have \(tree.root.count) entries in \(tree.pageCount) pages"
            + " of a file of \(filePageCount)"
        )
      }
    }
  }

  init(
    commit: UInt64,
    timestamp: Int64,
    catalogue: StoredTree,
    nextTreeID: UInt32,
    previousReplayEpoch: UInt32,
    replayStart: LogTail?,
    end: UInt64,
    tailOffset: UInt64,
    logExtents: [Extent],
    spaceTree: StoredTree,
    previousSpaceTree: StoredTree
  ) {
    self.commit = commit
    self.timestamp = timestamp
    self.catalogue = catalogue
    self.nextTreeID = nextTreeID
    self.previousReplayEpoch = previousReplayEpoch
    self.replayStart = replayStart
    self.end = end
    self.tailOffset = tailOffset
    self.logExtents = logExtents
    self.spaceTree = spaceTree
    self.previousSpaceTree = previousSpaceTree
  }
}

/// A tree in a checkpoint record: 48 bytes.
struct StoredTree: Hashable {
  var root: TreeRoot
  /// The number of the tree's pages in the file.
  var pageCount: UInt64

  enum Offset {
    static let location = 0
    static let checksum = 8
    static let birth = 16
    static let count = 24
    static let treeID = 32
    static let height = 36
    static let pageCount = 40
  }

  /// Returns a tree without entries.
  static func empty(treeID: UInt32) -> StoredTree {
    StoredTree(root: .empty(treeID: treeID), pageCount: 0)
  }

  /// Returns whether the tree's pages can have as many entries as it claims. A forged tree whose pages are
  /// shared claims more: a walk through it would be longer than the file.
  func canBe(pageSize: Int) -> Bool {
    root.count <= TreeLimits.entryCount(ofPages: pageCount, pageSize: pageSize)
  }

  /// Updates the number of pages: a checkpoint has written `written` pages of the tree, and replaced
  /// `replaced` others.
  mutating func note(written: UInt64, replaced: Int) {
    pageCount = pageCount + written - min(pageCount + written, UInt64(replaced))
  }

  fileprivate func encode(in bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    bytes.setInteger(root.reference.location.rawValue, at: offset + Offset.location)
    bytes.setInteger(root.reference.checksum, at: offset + Offset.checksum)
    bytes.setInteger(root.reference.birth, at: offset + Offset.birth)
    bytes.setInteger(root.reference.count, at: offset + Offset.count)
    bytes.setInteger(root.treeID, at: offset + Offset.treeID)
    bytes.setInteger(UInt32(root.height), at: offset + Offset.height)
    bytes.setInteger(pageCount, at: offset + Offset.pageCount)
  }

  init(root: TreeRoot, pageCount: UInt64) {
    self.root = root
    self.pageCount = pageCount
  }

  /// Decodes the tree with this number; nil if the bytes can't be a tree.
  fileprivate init?(_ bytes: UnsafeRawBufferPointer, at offset: Int, treeID: UInt32) {
    let height = bytes.integer(at: offset + Offset.height, as: UInt32.self)
    let location = PageLocation(rawValue: bytes.integer(at: offset + Offset.location, as: UInt64.self))
    let count = bytes.integer(at: offset + Offset.count, as: UInt64.self)
    pageCount = bytes.integer(at: offset + Offset.pageCount, as: UInt64.self)
    guard !location.isFrame, height <= 64, location.isNone == (height == 0),
      count <= PageLocation.numberMask, pageCount <= PageTable.count,
      bytes.integer(at: offset + Offset.treeID, as: UInt32.self) == treeID
    else { return nil }
    root = TreeRoot(
      treeID: treeID,
      height: UInt8(height),
      reference: ChildReference(
        location: location,
        checksum: bytes.integer(at: offset + Offset.checksum, as: UInt64.self),
        birth: bytes.integer(at: offset + Offset.birth, as: UInt64.self),
        count: count
      )
    )
  }
}
