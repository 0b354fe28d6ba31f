/// One use of a log extent. Extents are reused. Each use has an epoch, greater than all before it, and a
/// random salt that seeds the checksums of its records, so that records of an earlier use are never valid.
struct LogExtentUse: Hashable, Sendable {
  var extent: Extent
  var epoch: UInt32
  var salt: UInt64

  /// The offset of the first record in the file.
  var firstRecordOffset: UInt64 { extent.offset + UInt64(ExtentHeader.byteCount) }
  /// More uses than any store begins. Bytes that claim more are forged, and later epochs would overflow.
  static let epochLimit: UInt32 = 1 << 31
  /// The longest possible log extent.
  static let byteLimit = UInt64(LogRecordHeader.byteLimit) + (64 << 10)
  /// The alignment of records.
  static let recordAlignment: UInt64 = 512
}

/// The position in the log of the record with this sequence number: an existing record, or the next one.
struct LogPosition: Hashable, Sendable {
  var use: LogExtentUse
  /// Bytes from the start of the file.
  var offset: UInt64
  var sequence: UInt64
}

/// The use header of a log extent, in two copies apart from the static header, rewritten at each use.
/// Recovery follows links, and needs this header only to find newer uses, or the newest one if there are no
/// anchors. Docs/FileFormat.md, section 3.
enum LogExtentUseHeader {
  static let offset = 512
  static let copyOffset = 2_560

  enum Offset {
    static let extentOffset = 64
    static let extentByteCount = 72
    static let salt = 80
    static let epoch = 88
    static let firstSequence = 96
    static let previousExtentOffset = 104
    static let previousEpoch = 112
  }

  static func encoded(
    _ use: LogExtentUse,
    firstSequence: UInt64,
    previous: LogExtentUse?,
    _ identity: FormatIdentity
  ) -> [UInt8] {
    identity.block(.logExtentUse) { bytes in
      bytes.setInteger(use.extent.offset, at: Offset.extentOffset)
      bytes.setInteger(use.extent.byteCount, at: Offset.extentByteCount)
      bytes.setInteger(use.salt, at: Offset.salt)
      bytes.setInteger(use.epoch, at: Offset.epoch)
      bytes.setInteger(firstSequence, at: Offset.firstSequence)
      bytes.setInteger(previous?.extent.offset ?? 0, at: Offset.previousExtentOffset)
      bytes.setInteger(previous?.epoch ?? 0, at: Offset.previousEpoch)
    }
  }

  /// Writes both copies, without a sync.
  static func write(
    _ use: LogExtentUse,
    firstSequence: UInt64,
    previous: LogExtentUse?,
    to file: StoreFile,
    _ identity: FormatIdentity
  ) throws(StoreError) {
    let sector = encoded(use, firstSequence: firstSequence, previous: previous, identity)
    for position in [offset, copyOffset] {
      try sector.withBytes { bytes throws(StoreError) in
        try file.write(bytes, at: use.extent.offset + UInt64(position))
      }
    }
  }

  /// Decodes the use in the extent's first block. If both copies are legible, returns the newer use, because
  /// a crash may leave either copy as it was before.
  static func decode(
    block bytes: UnsafeRawBufferPointer,
    at extentOffset: UInt64,
    of identity: FormatIdentity
  ) -> LogExtentUse? {
    let first = copy(at: offset, in: bytes, extentOffset, identity)
    guard let second = copy(at: copyOffset, in: bytes, extentOffset, identity) else { return first }
    guard let first, first.epoch >= second.epoch else { return second }
    return first
  }

  /// Returns the two copies of the use; nil for a copy that isn't legible.
  static func copies(
    in bytes: UnsafeRawBufferPointer,
    at extentOffset: UInt64,
    of identity: FormatIdentity
  ) -> [LogExtentUse?] {
    [offset, copyOffset].map { copy(at: $0, in: bytes, extentOffset, identity) }
  }

  private static func copy(
    at position: Int,
    in bytes: UnsafeRawBufferPointer,
    _ extentOffset: UInt64,
    _ identity: FormatIdentity
  ) -> LogExtentUse? {
    guard bytes.count >= position + FormatIdentity.blockByteCount else { return nil }
    let sector = UnsafeRawBufferPointer(rebasing: bytes[position..<position + FormatIdentity.blockByteCount])
    guard FormatIdentity(block: sector, kind: .logExtentUse) == identity else { return nil }
    let extent = Extent(
      offset: sector.integer(at: Offset.extentOffset, as: UInt64.self),
      byteCount: sector.integer(at: Offset.extentByteCount, as: UInt64.self)
    )
    let epoch = sector.integer(at: Offset.epoch, as: UInt32.self)
    guard extent.offset == extentOffset, extent.isPlausible(pageSize: UInt64(identity.pageSize)),
      extent.byteCount <= LogExtentUse.byteLimit, epoch < LogExtentUse.epochLimit
    else { return nil }
    return LogExtentUse(
      extent: extent,
      epoch: epoch,
      salt: sector.integer(at: Offset.salt, as: UInt64.self)
    )
  }
}
