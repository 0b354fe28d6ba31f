/// A predicate as the oracle knows it: evaluated over plain rows, one by one, as the words say.
indirect enum PlainPredicate {
  case constant(Bool)
  case compare([String], PlainOperator, Plain, PlainFolding)
  case comparePaths([String], PlainOperator, [String])
  case isMissing([String])
  case among([String], [Plain], includesMissing: Bool, PlainFolding)
  case within([String], lower: (Plain, isIncluded: Bool)?, upper: (Plain, isIncluded: Bool)?)
  case not(PlainPredicate)
  case all([PlainPredicate])
  case any([PlainPredicate])
}

enum PlainOperator: String, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, beginsWith, endsWith, contains, like

  static let comparisons: [PlainOperator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]
  /// Comparisons of folded strings take few roads, whichever they are.
  var foldedName: String {
    self == .like ? "folded like" : Self.searches.contains(self) ? "folded search" : "folded comparison"
  }

  static let searches: [PlainOperator] = [.beginsWith, .endsWith, .contains]
}

extension PlainPredicate {
  /// Whether the row matches; `value` reads a path of it.
  func holds(_ value: ([String]) -> Plain) -> Bool {
    switch self {
    case .constant(let constant): return constant
    case .compare(let path, let comparison, let literal, let folding):
      return Self.compare(value(path), comparison, literal, folding)
    case .comparePaths(let left, let comparison, let right):
      return Self.compare(value(left), comparison, value(right), .none)
    case .isMissing(let path): return value(path).isMissing
    case .among(let path, let list, let includesMissing, let folding):
      let value = value(path)
      if value.isMissing { return includesMissing }
      return list.contains { Self.compare(value, .equal, $0, folding) }
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
    _ folding: PlainFolding
  ) -> Bool {
    if comparison == .notEqual { return !compare(left, .equal, right, folding) }
    if left.isMissing || right.isMissing { return comparison == .equal && left.isMissing && right.isMissing }
    guard left.isComparable, right.isComparable else { return false }
    if folding != .none { return compare(folding.fold(left), comparison, folding.fold(right), .none) }
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
    case .like:
      guard case .text(let text) = left, case .text(let pattern) = right else { return false }
      return fits(Array(text.unicodeScalars)[...], Array(pattern.unicodeScalars)[...])
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

extension PlainPredicate {
  /// Whether a text fits a pattern with wildcards, by trying every length for each `*`.
  private static func fits(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool
  {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    if first == "*" { return (0...text.count).contains { fits(text.dropFirst($0), rest) } }
    return !text.isEmpty && (first == "?" || first == text.first) && fits(text.dropFirst(), rest)
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
    case .compare(let path, let comparison, _, let folding):
      Set(Self.names(comparison.rawValue, comparison.foldedName, folding) + Self.throughRelationship(path))
    case .comparePaths: ["between attributes"]
    case .isMissing: ["== nil"]
    case .among(let path, _, let includesMissing, let folding):
      Set(
        Self.names(includesMissing ? "in with nil" : "in", "folded in", folding)
          + Self.throughRelationship(path)
      )
    case .within(_, let lower, let upper): [lower != nil && upper != nil ? "between" : "half-open"]
    case .not(let child): child.operators.union(["not"])
    case .all(let children): children.reduce(into: ["and"]) { $0.formUnion($1.operators) }
    case .any(let children): children.reduce(into: ["or"]) { $0.formUnion($1.operators) }
    }
  }

  private static func names(_ plain: String, _ folded: String, _ folding: PlainFolding) -> [String] {
    folding == .none ? [plain] : [folded, folding.rawValue]
  }

  private static func throughRelationship(_ path: [String]) -> [String] {
    path.count > 1 ? ["through a relationship"] : []
  }
}
