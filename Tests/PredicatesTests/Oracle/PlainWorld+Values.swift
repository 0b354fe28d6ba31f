import Foundation
import Predicates
import TestSupport

// Values of every kind. Edge cases are frequent.
extension PlainWorld {
  static func value(_ kind: AttributeKind, _ random: inout SeededGenerator) -> Plain {
    switch kind {
    case .bool: .flag(random.chance(1, in: 2))
    case .int8: .whole(Int128(random.pick([.min, .max, 0, -1, 1, 2, 3, 4, 5] as [Int8])))
    case .int16: .whole(Int128(random.pick([.min, .max, 0, -1, 1, 2, 255, 256, 257] as [Int16])))
    case .int32: .whole(Int128(random.pick([.min, .max, 0, -1, 1, 2, 3, 4, 65_536] as [Int32])))
    case .int64:
      .whole(Int128(random.pick([.min, .max, .max - 1, 0, -1, 1, 2, 3, 1 << 53, 1 << 53 + 1] as [Int64])))
    case .uint8: .whole(Int128(random.pick([0, 1, 2, 127, 128, 254, 255] as [UInt8])))
    case .uint16: .whole(Int128(random.pick([0, 1, 2, 255, 256, .max] as [UInt16])))
    case .uint32: .whole(Int128(random.pick([0, 1, 2, 1 << 31, .max] as [UInt32])))
    case .uint64:
      .whole(
        Int128(random.pick([0, 1, 2, 3, 1 << 63 - 1, 1 << 63, 1 << 63 + 1, .max - 1, .max] as [UInt64]))
      )
    case .float:
      .real(
        Double(
          random.pick(
            [0, -0.0, 1.5, -1.5, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, 0.1] as [Float]
          )
        )
      )
    case .double: .real(random.pick(reals))
    case .date: .moment(random.pick(random.chance(1, in: 2) ? reals : moments))
    case .uuid:
      .uuid((0..<16).map { _ in random.pick([0, 1, 127, 128, 255]) })
    case .string, .coded, .externalString: .text(text(&random))
    case .data, .externalData, .place:
      .bytes(random.pick([[], [0], [0, 0], [1], [0, 1], [255], [255, 255], [97, 0, 98]]))
    case .decimal: .decimal(random.pick(decimals))
    case .reference: .link(UInt64(random.number(in: 1...12)))
    }
  }

  private static let reals: [Double] = [
    0, -0.0, 1, -1, 1.5, 0.1, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude,
    .greatestFiniteMagnitude,
    0x1p53, -0x1p63,
  ]

  /// Seconds since 2001: around midnight, a leap day, days of other centuries, the ends of the calendar.
  private static let moments: [Double] = [
    -0.5, 86_399.5, 86_400, -86_400, 36_610.25, -26_481_600, -1, 4e9, -4e9, -1.3e10, 378_691_200, 9.9e13,
    1e14, -1e14,
  ]

  /// Values that differ from doubles and integers: a tenth, the ends of the 64-bit integers, and values between them
  /// and their neighbours.
  static let decimals: [Decimal] =
    [
      "0", "1", "-1", "1.5", "2.5", "0.1", "0.1000000000000000055511151231257827021", "-1.00001", "1e-30",
      "9007199254740992",
      "9007199254740992.5", "-9223372036854775808.5", "9223372036854775807", "18446744073709551615.5",
      "1e100", "-1e100",
    ].compactMap { Decimal(string: $0) } + [.nan, .nan, .greatestFiniteMagnitude]

  /// The letters of texts. ``PlainFolding`` needs an entry for all forms of each letter.
  static let letters = [
    "a", "A", "b", "B", "é", "É", "e\u{301}", "ß", "σ", "ς", "Σ", "😀", "\u{10FFFF}", "\u{D7FF}", "\u{0}",
    "\u{1}",
    " ", "\u{301}",
  ]

  static func text(_ random: inout SeededGenerator) -> String {
    (0..<random.number(in: 0...3)).map { _ in random.pick(letters) }.joined()
  }
}
