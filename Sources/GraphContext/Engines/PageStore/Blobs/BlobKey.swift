import PageStore
import Predicates

/// The key of a part in the tree of an attribute's long values: commit, 8 bytes, ordinal, 4 bytes, and the part's
/// index, 4 bytes, all big-endian → the part.
enum BlobKey {
  static let byteCount = 16
  /// The number of bytes of ``prefix(_:)``.
  static let prefixByteCount = 12
  /// The number of bytes of each part except a value's last one. With its header such a part fills whole pages.
  static let partByteCount = (64 << 10) - 64
  /// The number of bytes up to which a value lies in the record. Longer values lie in a separate tree.
  static let inlineByteCount = 512

  /// Returns the bytes that the keys of all parts of a value begin with.
  static func prefix(_ reference: ExternalReference) -> [UInt8] {
    prefix(reference.commit, reference.ordinal)
  }

  static func prefix(_ commit: UInt64, _ ordinal: UInt32) -> [UInt8] { bytes(commit) + bytes(ordinal) }

  static func key(_ reference: ExternalReference, part: Int) -> [UInt8] {
    key(reference.commit, reference.ordinal, part: part)
  }

  static func key(_ commit: UInt64, _ ordinal: UInt32, part: Int) -> [UInt8] {
    prefix(commit, ordinal) + bytes(UInt32(truncatingIfNeeded: part))
  }

  private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { [UInt8]($0) }
  }
}

extension ExternalReference {
  /// The number of parts that the value has.
  var partCount: Int { (byteCount + BlobKey.partByteCount - 1) / BlobKey.partByteCount }

  /// Returns the number of bytes of a part.
  func byteCount(ofPart part: Int) -> Int {
    min(BlobKey.partByteCount, byteCount - part * BlobKey.partByteCount)
  }
}
