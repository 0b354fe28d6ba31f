/// A predicate as the oracle knows it: evaluated over plain rows, one by one, as the words say.
indirect enum PlainPredicate {
  case constant(Bool)
  case compare([String], PlainOperator, Plain, PlainFolding)
  case comparePaths([String], PlainOperator, [String])
  case isMissing([String])
  case among([String], [Plain], includesMissing: Bool, PlainFolding)
  case within([String], lower: (Plain, isIncluded: Bool)?, upper: (Plain, isIncluded: Bool)?)
  case calculated(PlainExpression, PlainOperator, PlainExpression, PlainFolding)
  /// The condition on an element, beside the collection's own.
  case quantified(PlainQuantifier, PlainCollection, PlainPredicate)
  case not(PlainPredicate)
  case all([PlainPredicate])
  case any([PlainPredicate])
}

enum PlainOperator: String, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, beginsWith, endsWith, contains, like,
    matches

  static let comparisons: [PlainOperator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]
  /// The engine has few ways to answer comparisons of folded strings, so they share few names.
  var foldedName: String {
    self == .like ? "folded like" : Self.searches.contains(self) ? "folded search" : "folded comparison"
  }

  /// The name in the table of coverage. Operators that only a filter answers share a name.
  var word: String { self == .endsWith || self == .contains ? "endsWith or contains" : rawValue }

  static let searches: [PlainOperator] = [.beginsWith, .endsWith, .contains]
}

extension PlainPredicate {
  /// Whether the objects of the scene meet the predicate.
  func holds(_ scene: PlainScene) -> Bool {
    switch self {
    case .constant(let constant): return constant
    case .compare(let path, let comparison, let literal, let folding):
      return Self.compare(scene.value(path), comparison, literal, folding)
    case .comparePaths(let left, let comparison, let right):
      return Self.compare(scene.value(left), comparison, scene.value(right), .none)
    case .calculated(let left, let comparison, let right, let folding):
      return Self.compare(left.value(scene), comparison, right.value(scene), folding)
    case .isMissing(let path): return scene.value(path).isMissing
    case .among(let path, let list, let includesMissing, let folding):
      let value = scene.value(path)
      if value.isMissing { return includesMissing }
      return list.contains { Self.compare(value, .equal, $0, folding) }
    case .within(let path, let lower, let upper): return Self.isWithin(scene.value(path), lower, upper)
    case .quantified(let quantifier, let collection, let condition):
      let elements = scene.elements(collection)
      switch quantifier {
      case .any: return elements.contains { condition.holds($0) }
      case .all: return elements.allSatisfy { condition.holds($0) }
      case .none: return !elements.contains { condition.holds($0) }
      }
    case .not(let child): return !child.holds(scene)
    case .all(let children): return children.allSatisfy { $0.holds(scene) }
    case .any(let children): return children.contains { $0.holds(scene) }
    }
  }

  private static func isWithin(
    _ value: Plain,
    _ lower: (value: Plain, isIncluded: Bool)?,
    _ upper: (value: Plain, isIncluded: Bool)?
  ) -> Bool {
    (lower.map { compare(value, $0.isIncluded ? .greaterOrEqual : .greater, $0.value, .none) } ?? true)
      && (upper.map { compare(value, $0.isIncluded ? .lessOrEqual : .less, $0.value, .none) } ?? true)
      && value.isComparable
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
    case .matches:
      guard case .text(let text) = left, case .text(let pattern) = right else { return false }
      return PlainPattern.matches(text, pattern)
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
