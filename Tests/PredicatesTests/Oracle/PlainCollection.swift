import Foundation

/// Several objects, or a value of each.
struct PlainCollection {
  struct Step {
    /// Leads to the object that has the relationship.
    var owner: [String]
    var relationship: PlainRelationship
    /// What paths call an element of the step: `$n`.
    var variable: Int
  }

  var steps: [Step]
  /// Which elements of the last step count.
  var condition = PlainPredicate.constant(true)
  /// A path from the last step's variable; nil for the element itself.
  var value: [String]?
  var isDistinct = false
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

  /// Those that are as frequent in predicates as all the others are together with one of these.
  static let usual: [PlainAggregate] = [.count, .sum, .average, .minimum, .maximum]
  static let places: [PlainAggregate] = [.first, .second, .last]

  /// What the table of what was covered calls it.
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
  func value(of all: [Plain]) -> Plain {
    let values = all.filter { !$0.isMissing }
    let comparable = values.filter(\.isComparable)
    switch self {
    case .count: return .whole(Int128(values.count))
    case .sum:
      if let sum = Self.decimals(comparable) { return sum.divided(by: 1) }
      return comparable.reduce(.whole(0)) { Self.sum($0, $1) }.within64Bits
    case .average:
      if comparable.isEmpty { return .missing }
      if let sum = Self.decimals(comparable) { return sum.divided(by: comparable.count) }
      let sum = comparable.reduce(.whole(0)) { Self.sum($0, $1) }
      let count = Plain.whole(Int128(comparable.count))
      if case .whole(let sum) = sum { return .real(Double(sum) / Double(comparable.count)) }
      return PlainFunction.divide.value(of: [sum, count])
    case .minimum: return PlainFunction.minimum.value(of: comparable)
    case .maximum: return PlainFunction.maximum.value(of: comparable)
    case .median: return Self.median(comparable.sorted(by: Plain.precedes))
    case .mode:
      // Of those that occur most often the first, which is the least.
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

  /// Without the bounds of 64 bits, which only the result has.
  private static func sum(_ a: Plain, _ b: Plain) -> Plain {
    switch (a, b) {
    case (.whole(let a), .whole(let b)): .whole(a + b)
    default: .real((a.nearestDouble ?? 0) + (b.nearestDouble ?? 0))
    }
  }
}
