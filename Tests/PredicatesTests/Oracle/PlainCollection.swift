import Foundation
import Predicates

/// Several objects, or a value of each.
struct PlainCollection {
  struct Step {
    /// The path to the object that has the relationship.
    var owner: [String]
    var relationship: PlainRelationship
    /// The number of the variable by which paths name an element of the step: `$n`.
    var variable: Int
  }

  var steps: [Step]
  /// The condition on the elements of the last step.
  var condition = PlainPredicate.constant(true)
  /// A path from the last step's variable; nil for the element itself.
  var value: [String]?
  var isDistinct = false
  /// The kind of the values.
  var kind = AttributeKind.int64
}

/// A to-many relationship, and the to-one relationship at the other end that it is made of.
struct PlainRelationship {
  var entity: String
  var name: String
  var destination: String
  var inverse: String
}

enum PlainQuantifier: String, CaseIterable {
  case any = "ANY"
  case all = "ALL"
  case none = "NONE"
}

enum PlainAggregate: String, CaseIterable {
  case count = "@count"
  case sum = "@sum"
  case average = "@avg"
  case minimum = "@min"
  case maximum = "@max"
  case median = "@median"
  case mode = "@mode"
  case first = "[FIRST]"
  case second = "[1]"
  case last = "[LAST]"

  /// The usual aggregates. In predicates, each of them is as frequent as all unusual aggregates together.
  static let usual: [PlainAggregate] = [.count, .sum, .average, .minimum, .maximum]
  static let places: [PlainAggregate] = [.first, .second, .last]

  /// The name in the table of coverage.
  var word: String {
    switch self {
    case .median, .mode: "@median or @mode"
    case .first, .second, .last: "place"
    default: rawValue
    }
  }
}

extension PlainAggregate {
  /// One value of several, in the order of the objects.
  func value(of all: [Plain], _ kind: AttributeKind) -> Plain {
    let values = all.filter { !$0.isMissing }
    let comparable = values.filter(\.isComparable)
    switch self {
    case .count: return .whole(Int128(values.count))
    case .sum:
      if kind == .decimal { return Self.decimals(comparable)?.divided(by: 1) ?? .decimal(0) }
      guard kind.isInteger, let sum = Self.whole(comparable) else { return PlainReals(comparable).sum }
      return kind == .uint64 || Int64(exactly: sum) != nil ? Plain.whole(sum).within64Bits : .missing
    case .average:
      if comparable.isEmpty { return .missing }
      if let sum = Self.decimals(comparable) { return sum.divided(by: comparable.count) }
      if let sum = Self.whole(comparable) { return .real(Double(sum) / Double(comparable.count)) }
      return PlainReals(comparable).average
    case .minimum: return PlainFunction.minimum.value(of: comparable)
    case .maximum: return PlainFunction.maximum.value(of: comparable)
    case .median: return Self.median(comparable.sorted(by: Plain.precedes))
    case .mode:
      // Of the most frequent values, the first one, which is the least.
      let sorted = comparable.sorted(by: Plain.precedes)
      let counts = sorted.map { value in sorted.count { Plain.areEqual(value, $0) } }
      return counts.max().flatMap { most in counts.firstIndex(of: most).map { sorted[$0] } } ?? .missing
    case .first: return all.first ?? .missing
    case .second: return all.count > 1 ? all[1] : .missing
    case .last: return all.last ?? .missing
    }
  }

  private static func median(_ sorted: [Plain]) -> Plain {
    if sorted.isEmpty { return .missing }
    let middle = [sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2]]
    if let sum = decimals(middle) { return sum.divided(by: 2) }
    if case .whole(let a) = middle[0], case .whole(let b) = middle[1] { return .real(Double(a + b) / 2) }
    guard let a = middle[0].nearestDouble, let b = middle[1].nearestDouble else { return .missing }
    if a == b { return .real(a) }
    return .real((a + b).isFinite ? (a + b) / 2 : a / 2 + b / 2)
  }

  /// The sum of values that are decimals; nil for others and for none.
  private static func decimals(_ values: [Plain]) -> PlainDecimals? {
    let decimals = values.compactMap { value -> Decimal? in
      if case .decimal(let value) = value { value } else { nil }
    }
    return decimals.isEmpty ? nil : PlainDecimals(sumOf: decimals)
  }

  /// The sum of integers, without the bounds of 64 bits, which only the result has; nil for others.
  private static func whole(_ values: [Plain]) -> Int128? {
    values.reduce(0) { sum, value in
      guard let sum, case .whole(let value) = value else { return nil }
      return sum + value
    }
  }
}
