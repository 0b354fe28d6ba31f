import Foundation
import Predicates
import TestSupport

/// A generated schema and the rows of its two entities, as plain dictionaries.
struct PlainWorld {
  struct Attribute {
    var name: String
    var kind: AttributeKind
    /// The values that rows have; few, so that conditions and sorts meet equals.
    var pool: [Plain]
  }

  /// The entity that is fetched, `Thing`, and the one that it refers to, `Place`, which refers to itself.
  static let fetched = "Thing"
  static let referred = "Place"

  var attributes: [String: [Attribute]] = [:]
  var rows: [String: [(number: UInt64, values: [String: Plain])]] = [:]

  init(
    attributes: [String: [Attribute]],
    rows: [String: [(number: UInt64, values: [String: Plain])]]
  ) {
    self.attributes = attributes
    self.rows = rows
  }

  init(using random: inout SeededGenerator) {
    attributes[Self.referred] = [
      Self.attribute("code", .string, &random), Self.attribute("height", .int32, &random),
      Self.attribute("weight", .double, &random),
    ]
    var kinds = AttributeKind.allCases.filter { $0 != .reference }.shuffled(using: &random)
    kinds.removeLast(3)
    // Two of a kind can be compared with each other, and integers with doubles.
    for kind in [AttributeKind.string, .int16, .double, .decimal] where !kinds.contains(kind) {
      kinds.append(kind)
    }
    attributes[Self.fetched] =
      kinds.map { Self.attribute("\($0)", $0, &random) } + [
        Self.attribute("other string", .string, &random), Self.attribute("other int64", .int64, &random),
      ]
    let placeCount = random.number(in: 1...12)
    rows[Self.referred] = makeRows(Self.referred, placeCount, link: "next", placeCount, &random)
    rows[Self.fetched] = makeRows(
      Self.fetched,
      random.number(in: 20...120),
      link: "place",
      placeCount,
      &random
    )
  }

  private func makeRows(
    _ entity: String,
    _ count: Int,
    link: String,
    _ placeCount: Int,
    _ random: inout SeededGenerator
  ) -> [(number: UInt64, values: [String: Plain])] {
    var number: UInt64 = 0
    return (0..<count).map { _ in
      number += UInt64(random.number(in: 1...3))
      var values: [String: Plain] = [:]
      for attribute in attributes[entity] ?? [] { values[attribute.name] = random.pick(attribute.pool) }
      // One in ten of what a link names does not exist.
      let target = UInt64(random.number(in: 1...placeCount * 2 + 1))
      values[link] = random.chance(1, in: 4) ? .missing : .link(target)
      return (number, values)
    }
  }

  /// The value at a path of a row of the fetched entity.
  func value(_ path: [String], of number: UInt64, _ row: [String: Plain]) -> Plain {
    if path == ["SELF"] { return .link(number) }
    let value = row[path[0]] ?? .missing
    // What a relationship names is its own value, whether or not there is such an object.
    if path.count == 1 || path[1] == "SELF" { return value }
    guard case .link(let target) = value,
      let next = rows[Self.referred]?.first(where: { $0.number == target })
    else { return .missing }
    return self.value(Array(path.dropFirst()), of: target, next.values)
  }

  // MARK: Values

  private static func attribute(
    _ name: String,
    _ kind: AttributeKind,
    _ random: inout SeededGenerator
  ) -> Attribute {
    let count = random.number(in: 2...9)
    var pool = (0..<count).map { _ in value(kind, &random) }
    if random.chance(3, in: 4) { pool.append(.missing) }
    return Attribute(name: name, kind: kind, pool: pool)
  }

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
    case .date: .moment(random.pick(reals))
    case .uuid:
      .uuid((0..<16).map { _ in random.pick([0, 1, 127, 128, 255]) })
    case .string: .text(text(&random))
    case .data: .bytes(random.pick([[], [0], [0, 0], [1], [0, 1], [255], [255, 255], [97, 0, 98]]))
    case .decimal: .decimal(random.pick(decimals))
    case .reference: .link(UInt64(random.number(in: 1...12)))
    }
  }

  private static let reals: [Double] = [
    0, -0.0, 1, -1, 1.5, 0.1, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude,
    .greatestFiniteMagnitude,
    0x1p53, -0x1p63,
  ]

  /// Beside doubles and integers: a tenth, the 64-bit integers' ends and what is between them and their neighbours.
  private static let decimals: [Decimal] =
    [
      "0", "1", "-1", "1.5", "2.5", "0.1", "0.1000000000000000055511151231257827021", "-1.00001", "1e-30",
      "9007199254740992",
      "9007199254740992.5", "-9223372036854775808.5", "9223372036854775807", "18446744073709551615.5",
      "1e100", "-1e100",
    ].compactMap { Decimal(string: $0) } + [.nan, .nan, .greatestFiniteMagnitude]

  static func text(_ random: inout SeededGenerator) -> String {
    let letters = [
      "a", "A", "b", "B", "é", "É", "e\u{301}", "ß", "σ", "ς", "Σ", "😀", "\u{10FFFF}", "\u{D7FF}", "\u{0}",
      "\u{1}",
      " ", "\u{301}",
    ]
    return (0..<random.number(in: 0...3)).map { _ in random.pick(letters) }.joined()
  }
}
