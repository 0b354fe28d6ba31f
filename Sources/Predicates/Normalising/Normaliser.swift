/// The conversion of predicates into normal form without a change of their meaning.
///
/// NOT moves down to the comparisons; comparisons of a path with literals become sets of values, in which NOT, AND and
/// OR are computed; nested brackets of a kind become one; constants disappear.
package enum Normaliser {
  package static func normalise(_ predicate: ResolvedPredicate) -> NormalPredicate {
    normalise(predicate, isNegated: false)
  }

  static func normalise(_ predicate: ResolvedPredicate, isNegated: Bool) -> NormalPredicate {
    switch predicate {
    case .constant(let value): return .constant(value != isNegated)
    case .not(let child): return normalise(child, isNegated: !isNegated)
    case .and(let children):
      return combine(children.map { normalise($0, isNegated: isNegated) }, isNegated ? .any : .all)
    case .or(let children):
      return combine(children.map { normalise($0, isNegated: isNegated) }, isNegated ? .all : .any)
    case .isNull, .compare, .comparePaths, .among, .within, .compareValues, .exists:
      guard let (path, set) = values(of: predicate) else { return test(predicate, isNegated: isNegated) }
      return simplified(path.shortened, isNegated ? set.complement : set)
    }
  }

  /// Returns the test of a comparison. `!=` is spelled as the complement of `==`, so that a test and its negation
  /// differ in the flag only.
  private static func test(_ predicate: ResolvedPredicate, isNegated: Bool) -> NormalPredicate {
    switch predicate {
    case .comparePaths(let left, .notEqual, let right, let options):
      .test(.comparePaths(left, .equal, right, options), isNegated: !isNegated)
    case .compareValues(let left, .notEqual, let right, let options):
      .test(.compareValues(left, .equal, right, options), isNegated: !isNegated)
    case .compare(let path, .like, .string(let text), let options) where !isNegated:
      combine([prefix(of: text, path, options), .test(predicate, isNegated: false)], .all)
    default: .test(predicate, isNegated: isNegated)
    }
  }

  /// Returns the condition on the literal prefix of a LIKE pattern: a range that an index may serve, and a quick test.
  private static func prefix(
    of pattern: String,
    _ path: ResolvedPath,
    _ options: StringOptions
  ) -> NormalPredicate {
    let prefix = LikePattern(pattern, options.folding).literalPrefix
    guard !prefix.isEmpty, let set = PrefixRange.values(path.kind, beginningWith: .string(prefix)) else {
      return .constant(true)
    }
    return simplified(path.shortened, set.folding(options.folding))
  }

  private static func simplified(_ path: ResolvedPath, _ set: ValueSet) -> NormalPredicate {
    set.isEmpty ? .constant(false) : set.isEverything ? .constant(true) : .values(path, set)
  }
}

// MARK: - Brackets

extension Normaliser {
  enum Bracket {
    case all, any
  }

  /// The subject of sets of values: a path's values, folded in one way or not at all.
  private struct Column: Hashable {
    var path: ResolvedPath.Identity
    var folding: StringOptions
  }

  /// Returns the bracket of normal predicates, in normal form. O(n log n) in its parts.
  static func combine(_ children: [NormalPredicate], _ bracket: Bracket) -> NormalPredicate {
    var parts: [NormalPredicate] = []
    /// For each part that is a set of values, all the sets of the bracket with its path and folding.
    var sets: [Int: [ValueSet]] = [:]
    var placeOfColumn: [Column: Int] = [:]
    var tests: Set<NormalPredicate> = []
    for child in children.flatMap({ $0.parts(of: bracket) }) {
      switch (child, bracket) {
      case (.constant(true), .all), (.constant(false), .any): break
      case (.constant(let value), _): return .constant(value)
      case (.values(let path, let set), _):
        let column = Column(path: path.identity, folding: set.folding)
        let place = placeOfColumn[column, default: parts.count]
        sets[place, default: []].append(set)
        guard place == parts.count else { break }
        placeOfColumn[column] = place
        parts.append(child)
      default:
        if tests.insert(child).inserted { parts.append(child) }
      }
    }
    for (place, sets) in sets {
      guard case .values(let path, _) = parts[place] else { continue }
      parts[place] = simplified(path, merge(sets[...], bracket))
    }
    return closed(parts, bracket, tests)
  }

  /// Merges all sets into one, in pairs, then pairs of pairs: merging one after the other would copy the result each
  /// time.
  private static func merge(_ sets: ArraySlice<ValueSet>, _ bracket: Bracket) -> ValueSet {
    if sets.count == 1 { return sets[sets.startIndex] }
    let middle = sets.startIndex + sets.count / 2
    return merge(merge(sets[..<middle], bracket), merge(sets[middle...], bracket), bracket)
  }

  static func merge(_ left: ValueSet, _ right: ValueSet, _ bracket: Bracket) -> ValueSet {
    bracket == .all ? left.intersection(right) : left.union(right)
  }

  /// Drops parts without effect, and replaces the bracket by a constant if a part decides it or contradicts another.
  private static func closed(
    _ parts: [NormalPredicate],
    _ bracket: Bracket,
    _ tests: Set<NormalPredicate>
  ) -> NormalPredicate {
    let decided = NormalPredicate.constant(bracket == .any)
    var kept: [NormalPredicate] = []
    for part in parts {
      if part == decided { return decided }
      if case .constant = part { continue }
      if case .test(let test, let isNegated) = part, tests.contains(.test(test, isNegated: !isNegated)) {
        return decided
      }
      kept.append(part)
    }
    switch kept.count {
    case 0: return .constant(bracket == .all)
    case 1: return kept[0]
    default: return bracket == .all ? .and(kept) : .or(kept)
    }
  }
}

extension NormalPredicate {
  /// Returns the parts of a bracket of the kind; anything else is its own only part.
  fileprivate func parts(of bracket: Normaliser.Bracket) -> [NormalPredicate] {
    switch (self, bracket) {
    case (.and(let inner), .all), (.or(let inner), .any): inner
    default: [self]
    }
  }
}

// MARK: - Comparisons as sets of values

extension Normaliser {
  /// Returns the set of values for which a comparison of a path with literals, or its opposite, holds; nil if no set
  /// expresses it.
  static func values(of predicate: ResolvedPredicate, isNegated: Bool) -> ValueSet? {
    if case .not(let child) = predicate { return values(of: child, isNegated: !isNegated) }
    guard let (_, set) = values(of: predicate) else { return nil }
    return isNegated ? set.complement : set
  }

  /// Returns the set of values for which a comparison of a path with literals holds; nil if no set expresses it.
  static func values(of predicate: ResolvedPredicate) -> (ResolvedPath, ValueSet)? {
    switch predicate {
    case .isNull(let path): return (path, .null(path.kind))
    case .compare(let path, .like, .string(let text), let options):
      let folding = options.folding
      return values(path.kind, like: LikePattern(text, folding)).map { (path, $0.folding(folding)) }
    case .compare(let path, let comparison, let value, let options):
      let folding = options.folding
      return values(path.kind, comparison, value.folded(by: folding)).map { (path, $0.folding(folding)) }
    case .among(let path, let values, let includesNull, let options):
      let folding = options.folding
      let set = ValueSet(path.kind, anyOf: values.filter { !$0.isNaN }.map { $0.folded(by: folding) })
      return (path, (includesNull ? set.union(.null(path.kind)) : set).folding(folding))
    case .within(let path, let range): return (path, values(path.kind, in: range))
    case .constant, .comparePaths, .compareValues, .exists, .not, .and, .or: return nil
    }
  }

  private static func values(
    _ kind: AttributeKind,
    _ comparison: ComparisonOperator,
    _ value: AttributeValue
  ) -> ValueSet? {
    // NaN equals nothing and is neither less nor greater.
    if value.isNaN { return comparison == .notEqual ? .all(kind) : .empty(kind) }
    switch comparison {
    case .equal: return ValueSet(kind, only: value)
    case .notEqual: return ValueSet(kind, only: value).complement
    case .less: return ValueSet(kind, from: .afterNull, to: .before(value))
    case .lessOrEqual: return ValueSet(kind, from: .afterNull, to: .after(value))
    case .greater: return ValueSet(kind, from: .after(value), to: kind.comparableEnd)
    case .greaterOrEqual: return ValueSet(kind, from: .before(value), to: kind.comparableEnd)
    case .beginsWith: return PrefixRange.values(kind, beginningWith: value)
    case .endsWith, .contains, .like, .matches: return nil
    }
  }

  /// Returns the values that fit a pattern. A pattern without wildcards asks for a value, and a pattern whose only
  /// wildcard is a `*` at its end asks for a prefix.
  private static func values(_ kind: AttributeKind, like pattern: LikePattern) -> ValueSet? {
    switch pattern.shape {
    case .literal: ValueSet(kind, only: .string(pattern.literalPrefix))
    case .prefix: PrefixRange.values(kind, beginningWith: .string(pattern.literalPrefix))
    case .other: nil
    }
  }

  private static func values(_ kind: AttributeKind, in range: ValueRange) -> ValueSet {
    let bounds = [range.lower, range.upper].compactMap { $0 }
    if bounds.contains(where: { $0.value.isNaN || $0.value.isNull }) { return .empty(kind) }
    return ValueSet(
      kind,
      from: range.lower.map { $0.isIncluded ? .before($0.value) : .after($0.value) } ?? .afterNull,
      to: range.upper.map { $0.isIncluded ? .after($0.value) : .before($0.value) } ?? kind.comparableEnd
    )
  }
}

extension AttributeValue {
  /// Returns a string folded; any other value as it is.
  package func folded(by options: StringOptions) -> AttributeValue {
    if case .string(let text) = self { .string(StringFolding.fold(text, options)) } else { self }
  }
}

extension ResolvedPath {
  /// The part of a path that determines the value; all spellings of a path have the same identity.
  struct Identity: Hashable {
    var scope: Int
    var hops: [Int]
    var leaf: Leaf
  }

  var identity: Identity { Identity(scope: scope, hops: hops.map(\.slot), leaf: leaf) }

  /// A shorter path to the same value: the ID of an object that a relationship leads to is the relationship's own
  /// value.
  package var shortened: ResolvedPath {
    guard leaf == .objectID, let last = hops.last else { return self }
    var path = self
    path.hops.removeLast()
    path.leaf = .slot(last.slot, .reference)
    return path
  }
}
