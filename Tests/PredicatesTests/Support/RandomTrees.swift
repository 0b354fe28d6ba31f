import Foundation
import Predicates
import TestSupport

/// Random trees in canonical form over paths and values of the caller's choice.
struct RandomTrees {
  var random: SeededGenerator
  /// A comparison, membership or range.
  let leaf: (inout SeededGenerator) -> PredicateTree

  /// Returns a tree of at most `depth` levels.
  mutating func tree(depth: Int) -> PredicateTree {
    guard depth > 0, !random.chance(1, in: 3) else {
      return random.chance(1, in: 20) ? .constant(random.chance(1, in: 2)) : leaf(&random)
    }
    switch random.number(in: 0...2) {
    case 0: return .not(tree(depth: depth - 1))
    case 1: return .all(children(depth: depth - 1))
    default: return .any(children(depth: depth - 1))
    }
  }

  private mutating func children(depth: Int) -> [PredicateTree] {
    (0..<random.number(in: 2...4)).map { _ in tree(depth: depth) }
  }
}

/// Values of every kind. Edge cases are frequent.
enum RandomValues {
  static func value(_ random: inout SeededGenerator) -> AttributeValue {
    switch random.number(in: 0...10) {
    case 0: .null
    case 1: .bool(random.chance(1, in: 2))
    case 2: .int(random.pick([0, 1, -1, .max, .min, Int64(bitPattern: random.next())]))
    case 3: .unsigned(random.pick([.max, 1 << 63, random.next()]))
    case 4: .double(double(&random))
    case 5: .date(Date(timeIntervalSinceReferenceDate: double(&random)))
    case 6: .uuid(uuid(&random))
    case 7: .data(Data(random.bytes(random.number(in: 0...20))))
    case 8: .reference(ObjectNumber(rawValue: random.next()))
    case 9: .decimal(random.decimal())
    default: .string(text(&random))
    }
  }

  static func double(_ random: inout SeededGenerator) -> Double {
    random.pick([
      0, -0.0, 0.1, 1e300, -1e-300, .nan, .infinity, -.infinity, .leastNonzeroMagnitude,
      .greatestFiniteMagnitude,
      Double(bitPattern: random.next()), Double(random.number(in: -1000...1000)) / 8,
    ])
  }

  static func uuid(_ random: inout SeededGenerator) -> UUID {
    let bytes = random.bytes(16)
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  static func text(_ random: inout SeededGenerator) -> String {
    let pieces = [
      "", "a", "B", "'", "\"", "\\", "%@", "\n", "\0", "\u{1B}", "é", "e\u{301}", "🎉", "\u{FFFD}", "ß", " ",
      "`", "#",
      "\u{85}", "\u{2028}", "\u{600}", "\u{73B}", "/", "\u{10FFFF}",
    ]
    return (0..<random.number(in: 0...6)).map { _ in random.pick(pieces) }.joined()
  }

  static func names(_ random: inout SeededGenerator) -> [String] {
    let names = [
      "a", "month", "in", "SELF", "first", "größe", "two words", "back`tick\\\u{73B}", "5", "a.b", "_", "🎉",
      "nil",
    ]
    return (0..<random.number(in: 1...3)).map { _ in random.pick(names) }
  }
}
