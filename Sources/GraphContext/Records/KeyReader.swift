import Foundation
import Predicates

/// Takes a key apart into its components again: what ``KeyCoder`` wrote, checked byte by byte.
struct KeyReader {
  private let key: UnsafeRawBufferPointer
  private var position = 0

  /// The bytes must outlive the reader.
  init(_ key: UnsafeRawBufferPointer) { self.key = key }

  /// The bytes not read yet.
  var remaining: Int { key.count - position }

  /// The next component, for an attribute of this kind. Nil when the bytes are not one.
  ///
  /// −0.0 comes back as 0.0, every NaN as the same one, a decimal without zeros at its end: keys hold canonical values.
  mutating func next(_ kind: AttributeKind) -> AttributeValue? {
    guard let marker = nextByte() else { return nil }
    if marker == KeyCoder.nilMarker { return .null }
    switch kind {
    case .bool: return marker <= 2 ? .bool(marker == 2) : nil
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: return integer(marker)
    case .reference:
      switch integer(marker) {
      case .int(let value)? where value >= 0: return .reference(ObjectNumber(rawValue: UInt64(value)))
      case .uint(let value)?: return .reference(ObjectNumber(rawValue: value))
      default: return nil
      }
    default: break
    }
    guard marker == KeyCoder.presentMarker else { return nil }
    switch kind {
    case .float, .double: return double().map(AttributeValue.double)
    case .date: return double().map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .decimal: return decimal().map(AttributeValue.decimal)
    case .uuid: return take(16).map { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
    case .string: return text().map { .string(String(decoding: $0, as: UTF8.self)) }
    default: return text().map { .data(Data($0)) }
    }
  }

  private mutating func nextByte() -> UInt8? { take(1)?[0] }

  private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard remaining >= count else { return nil }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: key[position..<position + count])
  }

  private mutating func integer(_ marker: UInt8) -> AttributeValue? {
    let distance = Int(marker) - 0x20
    guard (-8...8).contains(distance), let bytes = take(abs(distance)) else { return nil }
    var bits: UInt64 = distance < 0 ? .max : 0
    for byte in bytes { bits = bits << 8 | UInt64(byte) }
    if distance >= 0 { return .unsigned(bits) }
    let value = Int64(bitPattern: bits)
    return value < 0 ? .int(value) : nil
  }

  private mutating func double() -> Double? {
    guard let bytes = take(8) else { return nil }
    let bits = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    if bits == KeyCoder.nanBits { return .nan }
    return Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
  }

  private mutating func decimal() -> Decimal? {
    guard let (value, byteCount) = DecimalKey.read(UnsafeRawBufferPointer(rebasing: key[position...])) else {
      return nil
    }
    position += byteCount
    return value
  }

  private mutating func text() -> [UInt8]? {
    var bytes: [UInt8] = []
    while let byte = nextByte() {
      switch byte {
      case 0: return bytes
      case 1:
        guard let escaped = nextByte(), escaped == 1 || escaped == 2 else { return nil }
        bytes.append(escaped - 1)
      default: bytes.append(byte)
      }
    }
    return nil
  }
}
