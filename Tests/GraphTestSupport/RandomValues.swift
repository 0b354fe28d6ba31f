import Foundation
import Predicates
import TestSupport

/// Random attribute values of each kind. Edge cases are frequent.
package struct RandomValues {
  package var generator: SeededGenerator

  package init(generator: SeededGenerator) { self.generator = generator }

  package mutating func value(_ kind: AttributeKind, nilOneIn rarity: Int = 8) -> AttributeValue {
    if generator.chance(1, in: rarity) { return .null }
    switch kind {
    case .bool: return .bool(generator.chance(1, in: 2))
    case .int8: return integer(Int8.self)
    case .int16: return integer(Int16.self)
    case .int32: return integer(Int32.self)
    case .int64: return integer(Int64.self)
    case .uint8: return integer(UInt8.self)
    case .uint16: return integer(UInt16.self)
    case .uint32: return integer(UInt32.self)
    case .uint64: return integer(UInt64.self)
    case .float: return .double(Double(Float(double())))
    case .double: return .double(double())
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double()))
    case .uuid:
      let bytes = generator.bytes(16)
      return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
    case .string, .externalString: return .string(text())
    case .data, .externalData, .place: return .data(Data(shortBytes()))
    case .coded: return .string(generator.pick(["null", "{}", "[1,2]", #"{"a":"Ä"}"#, "0.5"]))
    case .reference: return .reference(ObjectNumber(rawValue: magnitude(UInt64.self)))
    case .decimal: return .decimal(generator.decimal())
    }
  }

  private mutating func magnitude<T: FixedWidthInteger>(_ type: T.Type) -> T {
    T(truncatingIfNeeded: generator.next()) >> T(generator.number(in: 0...T.bitWidth - 1))
  }

  private mutating func integer<T: FixedWidthInteger>(_ type: T.Type) -> AttributeValue {
    let edges: [T] = [0, 1, .min, .max, .min + 1, 127, T(truncatingIfNeeded: -1)]
    let value = generator.chance(1, in: 3) ? generator.pick(edges) : magnitude(type)
    return Int64(exactly: value).map(AttributeValue.int) ?? .uint(UInt64(value))
  }

  private mutating func double() -> Double {
    let edges: [Double] = [
      0, -0.0, 1, -1, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 1e300, -1e-300, 0.1,
    ]
    if generator.chance(1, in: 3) { return generator.pick(edges) }
    return generator.chance(1, in: 2)
      ? Double.random(in: -1000...1000, using: &generator) : Double(bitPattern: generator.next())
  }

  /// Few different letters, so that prefixes collide; the bytes that keys escape among them.
  private mutating func text() -> String {
    let letters = ["a", "b", "\0", "\u{1}", "é", "e\u{301}", "𝄞", "\u{FFFD}"]
    return (0..<generator.number(in: 0...generator.pick([2, 5, 40]))).map { _ in generator.pick(letters) }
      .joined()
  }

  private mutating func shortBytes() -> [UInt8] {
    (0..<generator.number(in: 0...5)).map { _ in generator.pick([0, 1, 2, 0x7F, 0xFF, 0xFE]) }
  }
}
