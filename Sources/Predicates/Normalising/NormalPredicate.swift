/// A predicate in normal form: no negated brackets, nothing nested in its own kind, no constants inside, and for each
/// path and folding at most one set of values in a bracket.
package enum NormalPredicate: Sendable, Hashable {
  case constant(Bool)
  /// The path's value is one of the set; comparisons with literals become this.
  indirect case values(ResolvedPath, ValueSet)
  /// A comparison that no set of values expresses, or its complement.
  indirect case test(ResolvedPredicate, isNegated: Bool)
  /// All of two or more predicates.
  case and([NormalPredicate])
  /// Any of two or more predicates.
  case or([NormalPredicate])
}

extension NormalPredicate {
  /// The predicates that must all hold: those of an `and`, none for a predicate that always holds, else this one
  /// alone.
  var conjuncts: [NormalPredicate] {
    switch self {
    case .and(let children): children
    case .constant(true): []
    default: [self]
    }
  }

  /// Returns the predicate that holds where all of the predicates hold.
  package static func all(_ predicates: [NormalPredicate]) -> NormalPredicate {
    Normaliser.combine(predicates, .all)
  }

  /// Returns the predicate that holds where any of the predicates holds.
  static func any(_ predicates: [NormalPredicate]) -> NormalPredicate {
    Normaliser.combine(predicates, .any)
  }

  /// Calls `body` for each path that is read.
  package func forEachPath(_ body: (ResolvedPath) -> Void) {
    switch self {
    case .constant: break
    case .values(let path, _): body(path)
    case .test(let test, _): test.forEachPath(body)
    case .and(let children), .or(let children): for child in children { child.forEachPath(body) }
    }
  }
}

extension NormalPredicate {
  /// Calls `body` for each collection that the predicate reads.
  package func forEachCollection(_ body: (ResolvedCollection) -> Void) {
    switch self {
    case .constant, .values: break
    case .test(let test, _): test.forEachCollection(body)
    case .and(let children), .or(let children): for child in children { child.forEachCollection(body) }
    }
  }
}

extension ResolvedPredicate {
  /// Calls `body` for each path that is read.
  package func forEachPath(_ body: (ResolvedPath) -> Void) {
    switch self {
    case .constant: break
    case .isNull(let path), .compare(let path, _, _, _), .among(let path, _, _, _), .within(let path, _):
      body(path)
    case .comparePaths(let left, _, let right, _):
      body(left)
      body(right)
    case .compareValues(let left, _, let right, _):
      left.forEachPath(body)
      right.forEachPath(body)
    case .exists(let collection): collection.forEachPath(body)
    case .not(let child): child.forEachPath(body)
    case .and(let children), .or(let children): for child in children { child.forEachPath(body) }
    }
  }
}
