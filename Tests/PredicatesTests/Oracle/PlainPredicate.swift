/// A predicate as the oracle knows it: evaluated over plain rows, one by one, as the words say.
indirect enum PlainPredicate {
  case constant(Bool)
  case compare([String], PlainOperator, Plain, isFolded: Bool)
  case comparePaths([String], PlainOperator, [String])
  case isMissing([String])
  case among([String], [Plain], includesMissing: Bool, isFolded: Bool)
  case within([String], lower: (Plain, isIncluded: Bool)?, upper: (Plain, isIncluded: Bool)?)
  case not(PlainPredicate)
  case all([PlainPredicate])
  case any([PlainPredicate])
}

enum PlainOperator: String, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, beginsWith, endsWith, contains

  static let comparisons: [PlainOperator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]
  /// Comparisons of folded strings take one road, whichever they are.
  var foldedName: String { Self.searches.contains(self) ? "search[c]" : "comparison[c]" }

  static let searches: [PlainOperator] = [.beginsWith, .endsWith, .contains]
}

extension PlainPredicate {
  /// Whether the row matches; `value` reads a path of it.
  func holds(_ value: ([String]) -> Plain) -> Bool {
    switch self {
    case .constant(let constant): return constant
    case .compare(let path, let comparison, let literal, let isFolded):
      return Self.compare(value(path), comparison, literal, isFolded)
    case .comparePaths(let left, let comparison, let right):
      return Self.compare(value(left), comparison, value(right), false)
    case .isMissing(let path): return value(path).isMissing
    case .among(let path, let list, let includesMissing, let isFolded):
      let value = value(path)
      if value.isMissing { return includesMissing }
      return list.contains { Self.compare(value, .equal, $0, isFolded) }
    case .within(let path, let lower, let upper):
      let value = value(path)
      guard value.isComparable else { return false }
      if let lower {
        guard lower.0.isComparable else { return false }
        if Plain.precedes(value, lower.0) || (!lower.isIncluded && Plain.areEqual(value, lower.0)) {
          return false
        }
      }
      if let upper {
        guard upper.0.isComparable else { return false }
        if Plain.precedes(upper.0, value) || (!upper.isIncluded && Plain.areEqual(value, upper.0)) {
          return false
        }
      }
      return true
    case .not(let child): return !child.holds(value)
    case .all(let children): return children.allSatisfy { $0.holds(value) }
    case .any(let children): return children.contains { $0.holds(value) }
    }
  }

  private static func compare(
    _ left: Plain,
    _ comparison: PlainOperator,
    _ right: Plain,
    _ isFolded: Bool
  ) -> Bool {
    if comparison == .notEqual { return !compare(left, .equal, right, isFolded) }
    if left.isMissing || right.isMissing { return comparison == .equal && left.isMissing && right.isMissing }
    guard left.isComparable, right.isComparable else { return false }
    if isFolded, case .text(let a) = left, case .text(let b) = right {
      return compare(.text(PlainFolding.fold(a)), comparison, .text(PlainFolding.fold(b)), false)
    }
    switch comparison {
    case .equal: return Plain.areEqual(left, right)
    case .notEqual: return !Plain.areEqual(left, right)
    case .less: return Plain.precedes(left, right)
    case .lessOrEqual: return !Plain.precedes(right, left)
    case .greater: return Plain.precedes(right, left)
    case .greaterOrEqual: return !Plain.precedes(left, right)
    case .beginsWith, .endsWith, .contains:
      guard case .text(let text) = left, case .text(let pattern) = right else { return false }
      return search(Array(text.utf8), comparison, Array(pattern.utf8))
    }
  }

  private static func search(_ text: [UInt8], _ comparison: PlainOperator, _ pattern: [UInt8]) -> Bool {
    switch comparison {
    case .beginsWith: return text.starts(with: pattern)
    case .endsWith: return text.reversed().starts(with: pattern.reversed())
    default: return (0...text.count).contains { text.dropFirst($0).starts(with: pattern) }
    }
  }
}

/// A sort of the oracle's: keys, then the object's number in the direction of the last key.
struct PlainSort {
  var path: [String]
  var isAscending: Bool
}

extension PlainPredicate {
  /// What the predicate is made of, for the table of what was covered.
  var operators: Set<String> {
    switch self {
    case .constant: ["constant"]
    case .compare(let path, let comparison, _, let isFolded):
      Set([isFolded ? comparison.foldedName : comparison.rawValue] + Self.throughRelationship(path))
    case .comparePaths: ["between attributes"]
    case .isMissing: ["== nil"]
    case .among(let path, _, let includesMissing, let isFolded):
      Set(["in" + (isFolded ? "[c]" : includesMissing ? " with nil" : "")] + Self.throughRelationship(path))
    case .within(_, let lower, let upper): [lower != nil && upper != nil ? "between" : "half-open"]
    case .not(let child): child.operators.union(["not"])
    case .all(let children): children.reduce(into: ["and"]) { $0.formUnion($1.operators) }
    case .any(let children): children.reduce(into: ["or"]) { $0.formUnion($1.operators) }
    }
  }

  private static func throughRelationship(_ path: [String]) -> [String] {
    path.count > 1 ? ["through a relationship"] : []
  }
}
