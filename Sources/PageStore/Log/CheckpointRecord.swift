/// The payload of a checkpoint record: everything a store has to know that isn't in a tree. Docs/FileFormat.md,
/// section 7.
struct CheckpointRecord: Hashable {
  var commit: UInt64
  var timestamp: Int64
  var catalogue: TreeRoot
  /// The number that the next tree will get.
  var nextTreeID: UInt32
  /// The epoch in which replay from the checkpoint before this one begins. Log extents of earlier epochs are free:
  /// reclaim lags one checkpoint.
  var previousReplayEpoch: UInt32
  /// The first record that isn't contained in the checkpoint. Nil if that is the one after the checkpoint's own record:
  /// nothing was committed while it was written.
  var replayStart: LogTail?
  /// Where the allocated part of the file ends.
  var end: UInt64
  /// The log extents, in use or free.
  var logExtents: [Extent]
  /// Runs of the file that belong to no extent.
  var gaps: [Extent]
  /// Roots kept for time travel; none in this version.
  var retainedRootCount: UInt32 = 0

  static let fixedByteCount = 144

  enum Offset {
    static let commit = 0
    static let timestamp = 8
    static let catalogueLocation = 16
    static let catalogueChecksum = 24
    static let catalogueBirth = 32
    static let catalogueCount = 40
    static let catalogueTreeID = 48
    static let catalogueHeight = 52
    static let nextTreeID = 56
    static let previousReplayEpoch = 60
    static let end = 64
    static let logExtentCount = 72
    static let gapCount = 76
    static let retainedRootCount = 80
    static let replayEpoch = 84
    static let replayExtentOffset = 88
    static let replayExtentByteCount = 96
    static let replaySalt = 104
    static let replayOffset = 112
    static let replaySequence = 120
    static let replayPreviousChecksum = 128
    static let reserved = 136
  }

  func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.fixedByteCount)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.setInteger(commit, at: Offset.commit)
      bytes.setInteger(timestamp, at: Offset.timestamp)
      bytes.setInteger(catalogue.reference.location.rawValue, at: Offset.catalogueLocation)
      bytes.setInteger(catalogue.reference.checksum, at: Offset.catalogueChecksum)
      bytes.setInteger(catalogue.reference.birth, at: Offset.catalogueBirth)
      bytes.setInteger(catalogue.reference.count, at: Offset.catalogueCount)
      bytes.setInteger(catalogue.treeID, at: Offset.catalogueTreeID)
      bytes.setInteger(UInt32(catalogue.height), at: Offset.catalogueHeight)
      bytes.setInteger(nextTreeID, at: Offset.nextTreeID)
      bytes.setInteger(previousReplayEpoch, at: Offset.previousReplayEpoch)
      bytes.setInteger(end, at: Offset.end)
      bytes.setInteger(UInt32(logExtents.count), at: Offset.logExtentCount)
      bytes.setInteger(UInt32(gaps.count), at: Offset.gapCount)
      bytes.setInteger(retainedRootCount, at: Offset.retainedRootCount)
      if let replayStart { Self.encode(replayStart, in: bytes) }
    }
    for extent in logExtents + gaps {
      bytes.appendInteger(extent.offset)
      bytes.appendInteger(extent.byteCount)
    }
    return bytes
  }

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

  /// The checkpoint in a record's payload; nil if it can't be one.
  init?(_ payload: UnsafeRawBufferPointer, pageSize: UInt64) {
    guard payload.count >= Self.fixedByteCount else { return nil }
    commit = payload.integer(at: Offset.commit, as: UInt64.self)
    timestamp = payload.integer(at: Offset.timestamp, as: Int64.self)
    let height = payload.integer(at: Offset.catalogueHeight, as: UInt32.self)
    let location = PageLocation(rawValue: payload.integer(at: Offset.catalogueLocation, as: UInt64.self))
    guard !location.isFrame, height <= 64, location.isNone == (height == 0) else { return nil }
    catalogue = TreeRoot(
      treeID: payload.integer(at: Offset.catalogueTreeID, as: UInt32.self),
      height: UInt8(height),
      reference: ChildReference(
        location: location,
        checksum: payload.integer(at: Offset.catalogueChecksum, as: UInt64.self),
        birth: payload.integer(at: Offset.catalogueBirth, as: UInt64.self),
        count: payload.integer(at: Offset.catalogueCount, as: UInt64.self)
      )
    )
    nextTreeID = payload.integer(at: Offset.nextTreeID, as: UInt32.self)
    previousReplayEpoch = payload.integer(at: Offset.previousReplayEpoch, as: UInt32.self)
    replayStart = Self.replayStart(in: payload)
    end = payload.integer(at: Offset.end, as: UInt64.self)
    retainedRootCount = payload.integer(at: Offset.retainedRootCount, as: UInt32.self)
    let logExtentCount = Int(payload.integer(at: Offset.logExtentCount, as: UInt32.self))
    let gapCount = Int(payload.integer(at: Offset.gapCount, as: UInt32.self))
    guard payload.count == Self.fixedByteCount + (logExtentCount + gapCount) * 16,
      end % pageSize == 0, end <= Extent.addressLimit(pageSize: pageSize),
      commit < LogRecordHeader.commitLimit, nextTreeID > Catalogue.treeID,
      catalogue.count <= PageLocation.numberMask
    else { return nil }
    let extents = (0..<logExtentCount + gapCount).map { index in
      let offset = Self.fixedByteCount + index * 16
      return Extent(
        offset: payload.integer(at: offset, as: UInt64.self),
        byteCount: payload.integer(at: offset + 8, as: UInt64.self)
      )
    }
    let end = self.end
    let all = extents + [replayStart?.position.use.extent].compactMap(\.self)
    guard all.allSatisfy({ $0.isPlausible(pageSize: pageSize) && $0.end <= end }) else { return nil }
    logExtents = Array(extents[..<logExtentCount])
    gaps = Array(extents[logExtentCount...])
  }

  init(
    commit: UInt64,
    timestamp: Int64,
    catalogue: TreeRoot,
    nextTreeID: UInt32,
    previousReplayEpoch: UInt32,
    replayStart: LogTail?,
    end: UInt64,
    logExtents: [Extent],
    gaps: [Extent]
  ) {
    self.commit = commit
    self.timestamp = timestamp
    self.catalogue = catalogue
    self.nextTreeID = nextTreeID
    self.previousReplayEpoch = previousReplayEpoch
    self.replayStart = replayStart
    self.end = end
    self.logExtents = logExtents
    self.gaps = gaps
  }
}
