/// A maker of templates: it finds a predicate's names, and brings the predicate into normal form as far as this doesn't
/// depend on values.
struct TemplateMaker {
  let paths: PathResolver

  /// Returns the template's part for a tree.
  ///
  /// - Parameter place: the index of the child in each bracket on the way to `tree`.
  /// - Returns: nil for a tree that a template can't represent.
  func part(_ tree: PredicateTree, at place: [Int], isNegated: Bool) -> TemplatePart? {
    switch tree {
    case .constant, .quantified: return nil
    case .not(let child): return part(child, at: place + [0], isNegated: !isNegated)
    case .and(let children): return bracket(children, at: place, isNegated ? .any : .all, isNegated)
    case .or(let children): return bracket(children, at: place, isNegated ? .all : .any, isNegated)
    case .comparison(let left, let comparison, let right, let options):
      if !left.isLiteral, !right.isLiteral { return fixed(tree, isNegated: isNegated) }
      guard let destination = destination(of: left.isLiteral ? right : left) else { return nil }
      let condition = TemplateCondition(
        place: place,
        destination: destination,
        isNegated: isNegated,
        folding: options.folding
      )
      switch comparison {
      case .endsWith, .contains: return .test(condition)
      case .like, .matches: return nil
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith:
        return .values(destination.path.shortened, .condition(condition))
      }
    case .membership(let operand, _, let options): return values(of: operand, at: place, isNegated, options)
    case .between(let operand, _, _): return values(of: operand, at: place, isNegated, [])
    }
  }

  private func values(
    of operand: PredicateOperand,
    at place: [Int],
    _ isNegated: Bool,
    _ options: StringOptions
  ) -> TemplatePart? {
    guard let destination = destination(of: operand) else { return nil }
    let condition = TemplateCondition(
      place: place,
      destination: destination,
      isNegated: isNegated,
      folding: options.folding
    )
    return .values(destination.path.shortened, .condition(condition))
  }

  /// Returns the destination of a path; nil for several values.
  private func destination(of operand: PredicateOperand) -> PathResolver.Destination? {
    switch operand.content {
    case .path(let names):
      // A condition on a class is no set of values of a column, and not found here.
      return try? paths.resolve(names)
    case .object: return paths.object
    case .variable, .value, .digits, .reference, .function, .conditional, .collection, .aggregate: return nil
    }
  }

  /// Returns a comparison of two paths of the object's own.
  private func fixed(_ tree: PredicateTree, isNegated: Bool) -> TemplatePart? {
    var resolver = PredicateResolver(paths: paths, store: nil)
    guard let resolved = try? resolver.resolve(tree), case .comparePaths = resolved,
      case .test(let test, let isNegated) = Normaliser.normalise(resolved, isNegated: isNegated)
    else { return nil }
    return .fixed(.test(test, isNegated: isNegated))
  }

  // MARK: Brackets

  private func bracket(
    _ children: [PredicateTree],
    at place: [Int],
    _ bracket: Normaliser.Bracket,
    _ isNegated: Bool
  ) -> TemplatePart? {
    var parts = BracketParts(bracket: bracket)
    for (child, tree) in children.enumerated() {
      guard let part = part(tree, at: place + [child], isNegated: isNegated) else { return nil }
      if case .bracket(bracket, let inner, _) = part {
        for part in inner { parts.add(part) }
      } else {
        parts.add(part)
      }
    }
    return parts.whole
  }
}

/// The parts of a bracket, for each column one set.
private struct BracketParts {
  let bracket: Normaliser.Bracket
  /// The sets of the bracket's conditions on a column, or another part without sets.
  private var parts: [(part: TemplatePart, sets: [TemplateSet])] = []

  init(bracket: Normaliser.Bracket) { self.bracket = bracket }

  /// Adds a part: to the existing sets of its column, or at the end.
  mutating func add(_ part: TemplatePart) {
    guard case .values(let path, let set) = part else { return parts.append((part, [])) }
    for (place, known) in parts.enumerated() {
      guard case .values(let first, let firstSet) = known.part, first.identity == path.identity,
        firstSet.folding == set.folding
      else { continue }
      return parts[place].sets.append(set)
    }
    parts.append((part, [set]))
  }

  /// All the parts; nil for none.
  var whole: TemplatePart? {
    let merged = parts.map { part, sets in
      if case .values(let path, _) = part, sets.count > 1 {
        TemplatePart.values(path, .merged(bracket, sets))
      } else {
        part
      }
    }
    if merged.count < 2 { return merged.first }
    let areAllValues = merged.allSatisfy { if case .values = $0 { true } else { false } }
    return .bracket(bracket, merged, areAllValues: areAllValues)
  }
}

extension TemplateSet {
  /// The folding of all conditions of the set.
  fileprivate var folding: StringOptions {
    switch self {
    case .condition(let condition): condition.folding
    case .merged(_, let sets): sets[0].folding
    }
  }
}
