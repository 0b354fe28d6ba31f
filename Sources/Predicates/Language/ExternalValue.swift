import Foundation

/// The content of a record's slot for an attribute that is stored externally and isn't nil.
///
/// The first byte is 0 where the value itself follows, and 1 where an ``ExternalReference`` does.
package enum ExternalValue {
  /// The bytes of the value. They are the record's.
  case inline(UnsafeRawBufferPointer)
  /// The position of the value outside of the record.
  case reference(ExternalReference)

  package static let inlineTag: UInt8 = 0
  package static let referenceTag: UInt8 = 1

  /// Reads the content of a slot, from disk; nil for bytes that are neither.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let tag = bytes.first else { return nil }
    let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch tag {
    case Self.inlineTag: self = .inline(rest)
    case Self.referenceTag:
      guard let reference = ExternalReference(rest) else { return nil }
      self = .reference(reference)
    default: return nil
    }
  }
}

/// The position of a value that is stored outside of its object's record, with its length and checksum.
package struct ExternalReference: Sendable, Hashable {
  /// The commit that stored the value.
  package let commit: UInt64
  /// The index among the commit's values.
  package let ordinal: UInt32
  /// The number of the value's bytes.
  package let byteCount: Int
  /// The XXH64 of these bytes, with the seed 0.
  package let hash: UInt64

  /// The number of bytes of a reference in a record, behind the tag.
  static let encodedByteCount = 28
  /// The longest value, 256 TiB. Calculations with offsets in it don't overflow.
  static let greatestByteCount = 1 << 48

  package init(commit: UInt64, ordinal: UInt32, byteCount: Int, hash: UInt64) {
    (self.commit, self.ordinal, self.byteCount, self.hash) = (commit, ordinal, byteCount, hash)
  }

  /// Reads a reference; nil for bytes that are none.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.encodedByteCount else { return nil }
    let count = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
    guard count > 0, count <= Self.greatestByteCount else { return nil }
    commit = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    ordinal = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    byteCount = Int(count)
    hash = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 20, as: UInt64.self))
  }

  /// The bytes of the reference in a record.
  package var encoded: [UInt8] {
    [commit.bytes, ordinal.bytes, UInt64(byteCount).bytes, hash.bytes].flatMap(\.self)
  }
}

extension FixedWidthInteger {
  fileprivate var bytes: [UInt8] { withUnsafeBytes(of: littleEndian) { [UInt8]($0) } }
}

extension RecordView {
  /// Returns the record's content for an attribute of an external kind; nil if the attribute is nil, of another
  /// kind, or damaged.
  package func external(_ slot: Int) -> ExternalValue? {
    guard field(slot).kind.isExternal, !isNull(slot) else { return nil }
    return ExternalValue(variable(slot))
  }

  /// Returns the reference to the value at a slot; nil if the record has the whole value.
  package func externalReference(_ slot: Int) -> ExternalReference? {
    if case .reference(let reference) = external(slot) { reference } else { nil }
  }
}

extension AttributeKind {
  /// True if long values of the kind lie outside of records.
  public var isExternal: Bool { self == .externalString || self == .externalData }

  /// The kind of the same values that is stored externally; nil where there is none.
  package var external: AttributeKind? {
    switch self {
    case .string, .externalString: .externalString
    case .data, .externalData: .externalData
    default: nil
    }
  }

  /// The kind of the same values that is stored in records.
  package var inline: AttributeKind {
    switch self {
    case .externalString: .string
    case .externalData: .data
    default: self
    }
  }

  /// Returns the value of an external kind that has these bytes.
  package func externalValue(_ bytes: some Collection<UInt8>) -> AttributeValue {
    self == .externalString ? .string(String(decoding: bytes, as: UTF8.self)) : .data(Data(bytes))
  }
}
