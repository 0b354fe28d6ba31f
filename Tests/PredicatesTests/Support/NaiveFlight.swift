import Foundation
import Predicates
import TestSupport

/// A flight as a plain value, with a second, simple implementation of predicates over it. It shares nothing with
/// the evaluator: numbers are Decimals, strings are arrays of scalars, folding is a table.
struct NaiveFlight: Sendable {
  enum Value: Equatable, Sendable {
    case missing, notANumber
    case number(Decimal)
    case text([UInt32])
    case object(ObjectNumber)
    case truth(Bool)
  }

  var values: [String: Value]

  static let months: [Int64] = [-2, 0, 1, 2, 3, 12, .max, .min]
  static let delays: [Double] = [-1.5, 0, 0.5, 1, 2, 2.25, 1e15, .nan]
  static let texts = ["", "a", "A", "ab", "Ab", "b", "é", "É", "e\u{301}", "ß", "SS", "bab"]
  static let patterns = [
    "*", "?", "a*", "A?", "*b", "é*", "e", "E?", "?a?", "s*", "*s*", "ß", "*a*b*", "b?b", "",
  ]

  static func random(_ random: inout SeededGenerator) -> (flight: NaiveFlight, row: Row) {
    var flight = NaiveFlight(values: [:])
    var row = Row(values: [:])
    func set(_ name: String, _ value: AttributeValue) {
      row.values[name] = value
      flight.values[name] = NaiveFlight.value(value)
    }
    set("month", .int(random.pick(months)))
    set("day", .int(Int64(random.number(in: -3...3))))
    set("seats", .unsigned(random.pick([0, 1, 2, .max])))
    set("depTime", random.chance(1, in: 3) ? .null : .int(random.pick(months)))
    set("delay", random.chance(1, in: 4) ? .null : .double(random.pick(delays)))
    set("fare", .double(Double(Float(random.pick(delays)))))
    set("title", .string(random.pick(texts)))
    set("tailnum", random.chance(1, in: 3) ? .null : .string(random.pick(texts)))
    set("isLate", .bool(random.chance(1, in: 2)))
    let hasOrigin = random.chance(2, in: 3)
    set("origin", hasOrigin ? .reference(ObjectNumber(rawValue: UInt64(random.number(in: 1...2)))) : .null)
    set("origin.name", hasOrigin ? .string(random.pick(texts)) : .null)
    set(
      "dest",
      random.chance(1, in: 3) ? .null : .reference(ObjectNumber(rawValue: UInt64(random.number(in: 1...2))))
    )
    return (flight, row)
  }

  static func value(_ value: AttributeValue) -> Value {
    switch value {
    case .bool(let truth): .truth(truth)
    case .int(let number): .number(Decimal(number))
    case .uint(let number): .number(Decimal(number))
    case .double(let number): number.isNaN ? .notANumber : .number(Decimal(number))
    case .decimal(let number): number.isNaN ? .notANumber : .number(number)
    case .string(let text): .text(text.unicodeScalars.map(\.value))
    case .reference(let number): .object(number)
    default: .missing
    }
  }
}

/// The same flight as the evaluator sees it.
struct Row: Sendable {
  var values: [String: AttributeValue]
}

// MARK: - Meaning

extension NaiveFlight {
  func matches(_ tree: PredicateTree) -> Bool {
    switch tree {
    case .constant(let value): value
    // The tests that compare with this code have no quantified conditions.
    case .quantified: false
    case .not(let child): !matches(child)
    case .and(let children): children.allSatisfy(matches)
    case .or(let children): children.contains(where: matches)
    case .comparison(let left, let comparison, let right, let options):
      Self.holds(value(left), comparison, value(right), options)
    case .membership(let operand, let elements, let options):
      elements.contains { Self.holds(value(operand), .equal, value($0), options) }
    case .between(let operand, let lower, let upper):
      Self.holds(value(operand), .greaterOrEqual, value(lower), [])
        && Self.holds(value(operand), .lessOrEqual, value(upper), [])
    }
  }

  private func value(_ operand: PredicateOperand) -> Value {
    switch operand.content {
    case .path(let names): values[names.joined(separator: ".")] ?? .missing
    case .value(let value): Self.value(value)
    default: .missing
    }
  }

  private static func holds(
    _ a: Value,
    _ comparison: ComparisonOperator,
    _ b: Value,
    _ options: StringOptions
  ) -> Bool {
    if !options.isEmpty { return holds(folded(a, options), comparison, folded(b, options), []) }
    let isEqual = a == b && a != .notANumber
    switch comparison {
    case .equal: return isEqual
    case .notEqual: return !isEqual
    case .less: return isLess(a, b)
    case .greater: return isLess(b, a)
    case .lessOrEqual: return isLess(a, b) || (isEqual && a != .missing)
    case .greaterOrEqual: return isLess(b, a) || (isEqual && a != .missing)
    case .beginsWith, .endsWith, .contains:
      guard case .text(let text) = a, case .text(let part) = b else { return false }
      if comparison == .beginsWith { return text.starts(with: part) }
      if comparison == .endsWith { return text.reversed().starts(with: part.reversed()) }
      return (0...text.count).contains { text[$0...].starts(with: part) }
    case .like:
      guard case .text(let text) = a, case .text(let pattern) = b else { return false }
      return fits(text[...], pattern[...])
    case .matches: return false
    }
  }

  /// Whether a text fits a pattern with wildcards, by trying every length for each `*`.
  private static func fits(_ text: ArraySlice<UInt32>, _ pattern: ArraySlice<UInt32>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    if first == 0x2A { return (0...text.count).contains { fits(text.dropFirst($0), rest) } }
    return !text.isEmpty && (first == 0x3F || first == text.first) && fits(text.dropFirst(), rest)
  }

  private static func isLess(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    case (.number(let x), .number(let y)): x < y
    case (.text(let x), .text(let y)): x.lexicographicallyPrecedes(y)
    case (.truth(let x), .truth(let y)): !x && y
    default: false
    }
  }

  private static func folded(_ value: Value, _ options: StringOptions) -> Value {
    guard case .text(let scalars) = value else { return value }
    let small: [UInt32: [UInt32]] = [0x41: [0x61], 0x45: [0x65], 0x53: [0x73], 0xDF: [0x73, 0x73]]
    // The text is decomposed, folded and composed again.
    var parts = scalars.flatMap { $0 == 0xE9 ? [0x65, 0x301] : $0 == 0xC9 ? [0x45, 0x301] : [$0] }
    if options.contains(.diacriticInsensitive) { parts.removeAll { $0 == 0x301 } }
    if options.contains(.caseInsensitive) { parts = parts.flatMap { small[$0] ?? [$0] } }
    var whole: [UInt32] = []
    for part in parts {
      switch (part, whole.last) {
      case (0x301, 0x65): whole[whole.count - 1] = 0xE9
      case (0x301, 0x45): whole[whole.count - 1] = 0xC9
      default: whole.append(part)
      }
    }
    return .text(whole)
  }
}
