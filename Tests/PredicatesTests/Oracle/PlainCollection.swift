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
}

extension PlainAggregate {
  /// One value of several, in the order of the objects.
  func value(of all: [Plain]) -> Plain {
    let values = all.filter { !$0.isMissing }
    let comparable = values.filter(\.isComparable)
    switch self {
    case .count: return .whole(Int128(values.count))
    case .sum: return comparable.reduce(.whole(0)) { Self.sum($0, $1) }.within64Bits
    case .average:
      if comparable.isEmpty { return .missing }
      let sum = comparable.reduce(.whole(0)) { Self.sum($0, $1) }
      let count = Plain.whole(Int128(comparable.count))
      if case .whole(let sum) = sum { return .real(Double(sum) / Double(comparable.count)) }
      return PlainFunction.divide.value(of: [sum, count])
    case .minimum: return PlainFunction.minimum.value(of: comparable)
    case .maximum: return PlainFunction.maximum.value(of: comparable)
    }
  }

  /// Without the bounds of 64 bits, which only the result has.
  private static func sum(_ a: Plain, _ b: Plain) -> Plain {
    switch (a, b) {
    case (.whole(let a), .whole(let b)): .whole(a + b)
    case (.decimal, _), (_, .decimal): PlainFunction.add.value(of: [a, b])
    default: .real((a.nearestDouble ?? 0) + (b.nearestDouble ?? 0))
    }
  }
}
