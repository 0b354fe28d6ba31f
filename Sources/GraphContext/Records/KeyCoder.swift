import Foundation
import Predicates

/// Order-preserving encodings: the bytes of two keys compare as the values they stand for.
///
/// A key of an index consists of its components, one after the other, and then the object's number. A component begins
/// with a marker, and its bytes show where it ends. So no component's bytes can be taken for those of the next one:
///
/// | value | bytes |
/// |---|---|
/// | nil | `00`, below everything else |
/// | false, true | `01`, `02` |
/// | integer, reference | `20` for zero; `20 + n` and the *n* significant bytes, big-endian, above; `20 − n` and their complement below |
/// | Float, Double, Date | `01` and 8 bytes: the bits of the Double, inverted if negative, else with the sign bit set. −0.0 is 0.0; NaN is eight `FF` |
/// | Decimal | `01` and what ``DecimalKey`` says: the same bytes for every spelling of a number |
/// | UUID | `01` and its 16 bytes |
/// | String, Data | `01`, the bytes with `00` as `01 01` and `01` as `01 02`, and `00` |
///
/// The encoding depends on the value alone, not on the attribute's width: a literal out of the attribute's range still
/// has its place among the keys, and widening an attribute doesn't change its index.
enum KeyCoder {
  static let nilMarker: UInt8 = 0x00
  /// Below the key of every value that isn't nil, and above nil's: the lower bound of "not nil".
  static let presentMarker: UInt8 = 0x01
  private static let zeroMarker: UInt8 = 0x20
  private static let terminator: UInt8 = 0x00
  private static let escape: UInt8 = 0x01
  /// The key of a NaN after its marker: above infinity.
  static let nanBits = UInt64.max

  /// Appends the component for `value`.
  static func append(_ value: AttributeValue, to key: inout [UInt8]) {
    switch value {
    case .null: key.append(nilMarker)
    case .bool(let value): key.append(value ? 2 : 1)
    case .int(let value): append(signed: value, to: &key)
    case .uint(let value): append(unsigned: value, to: &key)
    case .reference(let value): append(unsigned: value.rawValue, to: &key)
    case .double(let value): append(value, to: &key)
    case .decimal(let value): append(value, to: &key)
    case .date(let value): append(value.timeIntervalSinceReferenceDate, to: &key)
    case .uuid(let value): append(value, to: &key)
    case .string(var value): value.withUTF8 { append(text: UnsafeRawBufferPointer($0), to: &key) }
    case .data(let value): value.withUnsafeBytes { append(text: $0, to: &key) }
    }
  }

  /// Appends the component for `value`, a string folded as the options say.
  static func append(_ value: AttributeValue, folding: StringOptions, to key: inout [UInt8]) {
    guard !folding.isEmpty, case .string(var text) = value else { return append(value, to: &key) }
    text.withUTF8 { utf8 in
      FoldedBytes.withFolded(UnsafeRawBufferPointer(utf8), folding) { append(text: $0, to: &key) }
    }
  }

  /// Appends the component for the value that a record holds at `slot`, a string folded as the options say. The bytes
  /// are the same as for its ``AttributeValue``.
  static func append(
    _ slot: Int,
    of record: borrowing RecordView,
    folding: StringOptions = [],
    to key: inout [UInt8]
  ) {
    if record.isNull(slot) { return key.append(nilMarker) }
    switch record.field(slot).kind {
    case .bool: key.append(record.fixed(slot, as: UInt8.self) != 0 ? 2 : 1)
    case .int8: append(signed: Int64(record.fixed(slot, as: Int8.self)), to: &key)
    case .int16: append(signed: Int64(record.fixed(slot, as: Int16.self)), to: &key)
    case .int32: append(signed: Int64(record.fixed(slot, as: Int32.self)), to: &key)
    case .int64: append(signed: record.fixed(slot, as: Int64.self), to: &key)
    case .uint8: append(unsigned: UInt64(record.fixed(slot, as: UInt8.self)), to: &key)
    case .uint16: append(unsigned: UInt64(record.fixed(slot, as: UInt16.self)), to: &key)
    case .uint32: append(unsigned: UInt64(record.fixed(slot, as: UInt32.self)), to: &key)
    case .uint64, .reference: append(unsigned: record.fixed(slot, as: UInt64.self), to: &key)
    case .float: append(Double(Float(bitPattern: record.fixed(slot, as: UInt32.self))), to: &key)
    case .double, .date: append(Double(bitPattern: record.fixed(slot, as: UInt64.self)), to: &key)
    case .decimal: append(record.decimal(slot) ?? .nan, to: &key)
    case .uuid: append(record.uuid(slot), to: &key)
    case .string: FoldedBytes.withFolded(record.variable(slot), folding) { append(text: $0, to: &key) }
    case .data, .place: append(text: record.variable(slot), to: &key)
    // No index is of one: a schema with such an index is refused.
    case .coded, .externalString, .externalData: append(text: record.variable(slot), to: &key)
    }
  }

  /// Appends the beginning that the components of all strings (or data) starting with `prefix` share.
  static func append(prefix: some Sequence<UInt8>, to key: inout [UInt8]) {
    key.append(presentMarker)
    for byte in prefix { append(escaped: byte, to: &key) }
  }
}

// MARK: - Components

extension KeyCoder {
  private static func append(signed value: Int64, to key: inout [UInt8]) {
    if value >= 0 { return append(unsigned: UInt64(value), to: &key) }
    // The complement of −1 is 0, which needs no bytes; one is kept, so that the marker differs from zero's.
    let bits = UInt64(bitPattern: value)
    let count = max(1, significantBytes(~bits))
    key.append(zeroMarker - UInt8(count))
    appendLow(count, of: bits, to: &key)
  }

  private static func append(unsigned value: UInt64, to key: inout [UInt8]) {
    let count = significantBytes(value)
    key.append(zeroMarker + UInt8(count))
    appendLow(count, of: value, to: &key)
  }

  private static func significantBytes(_ value: UInt64) -> Int { (64 - value.leadingZeroBitCount + 7) / 8 }

  /// Appends the `count` low bytes, the highest first.
  private static func appendLow(_ count: Int, of value: UInt64, to key: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { key.append(contentsOf: $0.suffix(count)) }
  }

  private static func append(_ value: Double, to key: inout [UInt8]) {
    key.append(presentMarker)
    withUnsafeBytes(of: orderedBits(value).bigEndian) { key.append(contentsOf: $0) }
  }

  /// Bits that compare, as unsigned integers, as the numbers do.
  private static func orderedBits(_ value: Double) -> UInt64 {
    if value.isNaN { return nanBits }
    let bits = (value == 0 ? 0.0 : value).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  private static func append(_ value: Decimal, to key: inout [UInt8]) {
    key.append(presentMarker)
    DecimalKey.withBytes(of: value) { key.append(contentsOf: $0) }
  }

  private static func append(_ value: UUID, to key: inout [UInt8]) {
    key.append(presentMarker)
    withUnsafeBytes(of: value.uuid) { key.append(contentsOf: $0) }
  }

  private static func append(text: UnsafeRawBufferPointer, to key: inout [UInt8]) {
    key.append(presentMarker)
    if text.contains(where: { $0 <= escape }) {
      for byte in text { append(escaped: byte, to: &key) }
    } else {
      key.append(contentsOf: text)
    }
    key.append(terminator)
  }

  private static func append(escaped byte: UInt8, to key: inout [UInt8]) {
    guard byte <= escape else { return key.append(byte) }
    key.append(escape)
    key.append(byte + 1)
  }
}

// MARK: - Object numbers

extension KeyCoder {
  /// The bytes an object's number takes in keys.
  static let numberByteCount = 8

  /// Appends an object's number as 8 bytes, big-endian: the key of its record, and the end of every index key.
  static func append(number: ObjectNumber, to key: inout [UInt8]) {
    withUnsafeBytes(of: number.rawValue.bigEndian) { key.append(contentsOf: $0) }
  }

  /// The key of an object's record.
  static func key(of number: ObjectNumber) -> [UInt8] {
    withUnsafeBytes(of: number.rawValue.bigEndian) { [UInt8]($0) }
  }

  /// Whether a key begins with the number of an object.
  static func begins(_ key: UnsafeRawBufferPointer, with number: ObjectNumber) -> Bool {
    key.count >= numberByteCount && Self.number(beginning: key) == number
  }

  /// The number that a key begins with. The key has the bytes of one at least.
  static func number(beginning key: UnsafeRawBufferPointer) -> ObjectNumber {
    ObjectNumber(rawValue: UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)))
  }

  /// The number that a key ends with. Nil when the key is too short.
  @inline(__always)
  static func number(ending key: UnsafeRawBufferPointer) -> ObjectNumber? {
    guard key.count >= numberByteCount else { return nil }
    return ObjectNumber(
      rawValue: UInt64(
        bigEndian: key.loadUnaligned(fromByteOffset: key.count - numberByteCount, as: UInt64.self)
      )
    )
  }
}

extension KeyCoder {
  /// The two numbers of a pair; nil for bytes of another length.
  static func numbers(ofPair key: UnsafeRawBufferPointer) -> (ObjectNumber, ObjectNumber)? {
    guard key.count == 2 * numberByteCount, let second = number(ending: key) else { return nil }
    return (number(beginning: key), second)
  }

  /// A key of two object numbers: of a to-one relationship's tree, destination first; of a pair.
  static func pair(_ first: ObjectNumber, _ second: ObjectNumber) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(2 * numberByteCount)
    append(number: first, to: &key)
    append(number: second, to: &key)
    return key
  }
}
