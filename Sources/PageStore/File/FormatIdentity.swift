/// The 64 bytes at the start of the header, of every anchor and of every extent: they identify the format and
/// the store.
///
/// They are repeated so that no single bad sector, not even the first, loses the file. Docs/FileFormat.md,
/// section 1.
struct FormatIdentity: Hashable {
  var version: UInt32
  /// Features that a library may ignore if it doesn't know them.
  var compatibleFeatures: UInt64
  /// Features that a library must know to write the file, but not to read it.
  var readOnlyCompatibleFeatures: UInt64
  /// Features that a library must know to read the file.
  var incompatibleFeatures: UInt64
  var uuid: StoreUUID
  var pageSize: UInt32

  /// "Cambium\0"
  static let magic: UInt64 = 0x006D_7569_626D_6143
  static let currentVersion: UInt32 = 4
  static let byteCount = 64
  /// Bytes in a block: one sector, the smallest unit that a disk writes as a whole.
  static let blockByteCount = 512
  static let checksumOffset = 504

  enum Offset {
    static let magic = 0
    static let kind = 8
    static let version = 12
    static let compatibleFeatures = 16
    static let readOnlyCompatibleFeatures = 24
    static let incompatibleFeatures = 32
    static let uuid = 40
    static let pageSize = 56
    static let reserved = 60
  }

  /// The kind of a block.
  enum BlockKind: UInt32, CaseIterable {
    case header = 1
    case anchor = 2
    case pageExtent = 3
    case logExtent = 4
    case logExtentUse = 5
  }

  init(uuid: StoreUUID, pageSize: UInt32) {
    version = Self.currentVersion
    compatibleFeatures = 0
    readOnlyCompatibleFeatures = 0
    incompatibleFeatures = 0
    self.uuid = uuid
    self.pageSize = pageSize
  }

  /// Returns a sector with this identity at its start, the contents that `fill` writes, and the checksum at
  /// its end.
  func block(_ kind: BlockKind, fill: (UnsafeMutableRawBufferPointer) -> Void) -> [UInt8] {
    var sector = [UInt8](repeating: 0, count: Self.blockByteCount)
    sector.withUnsafeMutableBytes { bytes in
      bytes.setInteger(Self.magic, at: Offset.magic)
      bytes.setInteger(kind.rawValue, at: Offset.kind)
      bytes.setInteger(version, at: Offset.version)
      bytes.setInteger(compatibleFeatures, at: Offset.compatibleFeatures)
      bytes.setInteger(readOnlyCompatibleFeatures, at: Offset.readOnlyCompatibleFeatures)
      bytes.setInteger(incompatibleFeatures, at: Offset.incompatibleFeatures)
      bytes.setInteger(uuid.low, at: Offset.uuid)
      bytes.setInteger(uuid.high, at: Offset.uuid + 8)
      bytes.setInteger(pageSize, at: Offset.pageSize)
      fill(bytes)
      let checksum = XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[..<Self.checksumOffset]), seed: 0)
      bytes.setInteger(checksum, at: Self.checksumOffset)
    }
    return sector
  }

  /// Reads the identity in a sector; nil if the sector isn't of this kind, or is damaged.
  init?(block bytes: UnsafeRawBufferPointer, kind: BlockKind) {
    guard bytes.count >= Self.blockByteCount,
      bytes.integer(at: Offset.magic, as: UInt64.self) == Self.magic,
      bytes.integer(at: Offset.kind, as: UInt32.self) == kind.rawValue
    else { return nil }
    let covered = UnsafeRawBufferPointer(rebasing: bytes[..<Self.checksumOffset])
    // guard: check-block
    guard bytes.integer(at: Self.checksumOffset, as: UInt64.self) == XXH64.hash(covered, seed: 0) else {
      return nil
    }
    version = bytes.integer(at: Offset.version, as: UInt32.self)
    compatibleFeatures = bytes.integer(at: Offset.compatibleFeatures, as: UInt64.self)
    readOnlyCompatibleFeatures = bytes.integer(at: Offset.readOnlyCompatibleFeatures, as: UInt64.self)
    incompatibleFeatures = bytes.integer(at: Offset.incompatibleFeatures, as: UInt64.self)
    uuid = StoreUUID(
      low: bytes.integer(at: Offset.uuid, as: UInt64.self),
      high: bytes.integer(at: Offset.uuid + 8, as: UInt64.self)
    )
    pageSize = bytes.integer(at: Offset.pageSize, as: UInt32.self)
  }

  /// Throws `unsupportedFormat` unless this library knows every feature that it must know to read, or to
  /// write, the file.
  func checkSupported(forWriting: Bool) throws(StoreError) {
    guard version == Self.currentVersion else {
      throw StoreError(
        .unsupportedFormat,
        "the file's format has version \(version); this library reads version \(Self.currentVersion)"
      )
    }
    if incompatibleFeatures != 0 {
      throw StoreError(
        .unsupportedFormat,
        "the file uses features that this library lacks: bits 0x\(hex(incompatibleFeatures))"
      )
    }
    if forWriting && readOnlyCompatibleFeatures != 0 {
      throw StoreError(
        .unsupportedFormat,
        "the file uses features that this library can't write, bits 0x\(hex(readOnlyCompatibleFeatures)): "
          + "open it read-only"
      )
    }
    guard FileLayout.isValidPageSize(Int(pageSize)) else {
      throw StoreError(.corrupt, "the file can't have pages of \(pageSize) bytes")
    }
  }

  private func hex(_ bits: UInt64) -> String { String(bits, radix: 16) }
}

/// The identifier of a store, different from that of every other; chosen at random when the store is made.
public struct StoreUUID: Hashable, Sendable, CustomStringConvertible {
  /// The lower 64 bits.
  public let low: UInt64
  /// The upper 64 bits.
  public let high: UInt64

  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// The 128 bits as 32 hexadecimal digits, the upper half first.
  public var description: String {
    [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// The offsets of the fixed parts of a file.
enum FileLayout {
  static let headerOffset: UInt64 = 0
  /// Each anchor has a block of 4 KiB to itself, so that a torn write of one can't touch the other.
  static let anchorOffsets: [UInt64] = [4_096, 8_192]
  static let fixedByteCount: UInt64 = 12_288
  static let pageSizes = [4_096, 8_192, 16_384, 32_768, 65_536]

  static func isValidPageSize(_ pageSize: Int) -> Bool { pageSizes.contains(pageSize) }

  /// Returns the offset of the first extent: the first page after the fixed parts.
  static func firstExtentOffset(pageSize: UInt64) -> UInt64 { fixedByteCount.roundedUp(to: pageSize) }
}
