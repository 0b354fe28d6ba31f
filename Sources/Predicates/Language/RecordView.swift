import Foundation

/// A reader of stored values in a record's bytes. It checks every bound, because the bytes come from disk.
///
/// The view owns neither the bytes nor the layout; it must not outlive them.
public struct RecordView {
  /// The record's bytes.
  public let bytes: UnsafeRawBufferPointer
  // Safety: memory of the layout. Layouts belong to schemas and models, which live longer than views.
  @usableFromInline let fields: UnsafePointer<RecordLayout.Field>
  /// The number of values in the record. A missing value counts.
  public let slotCount: Int
  @usableFromInline let endsOffset: Int
  @usableFromInline let variableCount: Int

  /// Makes a view of a record. Nil when the bytes are too few to be a record of this layout, or its table of ends is
  /// wrong. O(variable values).
  @inlinable
  public init?(_ bytes: UnsafeRawBufferPointer, layout: RecordLayout) {
    guard bytes.count >= layout.variableOffset else { return nil }
    self.init(validated: bytes, layout: layout)
    var previous: UInt32 = 0
    for ordinal in 0..<variableCount {
      let end = end(ordinal)
      guard end >= previous else { return nil }
      previous = end
    }
    guard variableOffset + Int(previous) == bytes.count else { return nil }
  }

  /// Makes a view of bytes that an `init?` has already accepted.
  @inlinable
  public init(validated bytes: UnsafeRawBufferPointer, layout: RecordLayout) {
    self.bytes = bytes
    fields = layout.fieldsStart
    slotCount = layout.fieldCount
    endsOffset = layout.endsOffset
    variableCount = layout.variableCount
  }

  /// Returns the position of the value at a slot. Traps if the layout has no such slot.
  @inlinable
  public func field(_ slot: Int) -> RecordLayout.Field {
    guard UInt(bitPattern: slot) < UInt(bitPattern: slotCount) else { Self.missing(slot) }
    return fields[slot]
  }

  @usableFromInline static func missing(_ slot: Int) -> Never { fatalError("a record has no slot \(slot)") }

  @inlinable
  var variableOffset: Int { endsOffset + 4 * variableCount }

  @inlinable
  func end(_ ordinal: Int) -> UInt32 {
    UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: endsOffset + 4 * ordinal, as: UInt32.self))
  }

  /// The commit that last changed the record.
  public var commit: UInt64 { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) }

  /// Returns whether the value at a slot is missing. Traps for a slot that the layout doesn't have.
  @inlinable
  public func isNull(_ slot: Int) -> Bool {
    let field = self.field(slot)
    return bytes[Int(field.nullByte)] & field.nullMask != 0
  }

  /// Returns the fixed-width integer at the slot, without interpretation. Meaningless where ``isNull(_:)``.
  @inlinable
  public func fixed<T: FixedWidthInteger & BitwiseCopyable>(_ slot: Int, as type: T.Type) -> T {
    T(littleEndian: bytes.loadUnaligned(fromByteOffset: field(slot).position, as: type))
  }

  /// Returns the number at a to-one relationship's slot; ``ObjectNumber/none`` for nil.
  @inlinable
  package func reference(_ slot: Int) -> ObjectNumber {
    isNull(slot) ? .none : ObjectNumber(rawValue: fixed(slot, as: UInt64.self))
  }

  /// Returns the bytes of a string or data value; empty where nil.
  @inlinable
  public func variable(_ slot: Int) -> UnsafeRawBufferPointer {
    let ordinal = field(slot).position
    let start = ordinal == 0 ? 0 : Int(end(ordinal - 1))
    let end = Int(end(ordinal))
    let base = variableOffset
    return UnsafeRawBufferPointer(rebasing: bytes[base + start..<base + end])
  }

  /// Returns the value at the slot. Allocates for strings over 15 bytes and for data. Bytes that are no decimal are
  /// read as NaN.
  ///
  /// A value that is stored externally reads as `null`: the record doesn't have it.
  public func value(_ slot: Int) -> AttributeValue {
    if isNull(slot) { return .null }
    switch field(slot).kind {
    case .bool: return .bool(fixed(slot, as: UInt8.self) != 0)
    case .int8: return .int(Int64(fixed(slot, as: Int8.self)))
    case .int16: return .int(Int64(fixed(slot, as: Int16.self)))
    case .int32: return .int(Int64(fixed(slot, as: Int32.self)))
    case .int64: return .int(fixed(slot, as: Int64.self))
    case .uint8: return .int(Int64(fixed(slot, as: UInt8.self)))
    case .uint16: return .int(Int64(fixed(slot, as: UInt16.self)))
    case .uint32: return .int(Int64(fixed(slot, as: UInt32.self)))
    case .uint64: return .unsigned(fixed(slot, as: UInt64.self))
    case .float: return .double(Double(Float(bitPattern: fixed(slot, as: UInt32.self))))
    case .double: return .double(Double(bitPattern: fixed(slot, as: UInt64.self)))
    case .date:
      return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: fixed(slot, as: UInt64.self))))
    case .uuid: return .uuid(uuid(slot))
    case .string: return .string(String(decoding: variable(slot), as: UTF8.self))
    case .data, .place: return .data(Data(variable(slot)))
    case .coded: return .string(String(decoding: variable(slot), as: UTF8.self))
    case .externalString, .externalData:
      guard case .inline(let bytes) = external(slot) else { return .null }
      return field(slot).kind.externalValue(bytes)
    case .reference: return .reference(ObjectNumber(rawValue: fixed(slot, as: UInt64.self)))
    case .decimal: return .decimal(decimal(slot) ?? .nan)
    }
  }

  /// Returns the decimal at the slot; nil when the bytes there are no decimal.
  package func decimal(_ slot: Int) -> Decimal? {
    let position = field(slot).position
    return StoredDecimal.read(
      UnsafeRawBufferPointer(rebasing: bytes[position..<position + StoredDecimal.byteCount])
    )
  }

  /// Returns the UUID at the slot, its bytes in the order of its text.
  public func uuid(_ slot: Int) -> UUID {
    UUID(uuid: bytes.loadUnaligned(fromByteOffset: field(slot).position, as: uuid_t.self))
  }
}
