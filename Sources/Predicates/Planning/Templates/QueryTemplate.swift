import Foundation

/// What of a query doesn't depend on its values: names found in the schema, NOT moved down to the comparisons, conditions sorted by the
/// columns that they are about. A query of the shape gets its normal form by putting in its values.
///
/// Values decide more than sets: one that no value of the attribute equals makes a condition constant, and nil takes options away. A
/// template doesn't decide that. Each value is converted, and each set computed, by the code that does it for a query without a
/// template; where a condition turns out constant, or is about another column, or two brackets turn out equal, the query goes without.
package final class QueryTemplate: Sendable {
  let shape: QueryShape
  let sort: [ResolvedSort]
  /// Nil where queries of the shape always go without a template.
  private let root: TemplatePart?

  /// - Parameter resolved: what the query came to.
  init(_ query: NamedQuery, resolved: ResolvedQuery, in schema: some SchemaProviding) {
    shape = QueryShape(query, resolved.entity)
    sort = resolved.sort
    let maker = TemplateMaker(paths: PathResolver(entity: resolved.entity, schema: schema))
    root = maker.part(query.predicate, at: [], isNegated: false)
  }

  /// The normal form of a predicate of this shape; nil where its values need a closer look.
  func predicate(
    for tree: PredicateTree,
    in schema: some SchemaProviding,
    store: UUID?
  ) -> NormalPredicate? {
    guard let root else { return nil }
    return TemplateValues(tree: tree, schema: schema, store: store).predicate(root)
  }
}

/// A part of a predicate in normal form, with values left out.
indirect enum TemplatePart: Sendable {
  /// What has no values in it.
  case fixed(NormalPredicate)
  case values(ResolvedPath, TemplateSet)
  /// What no set of values expresses.
  case test(TemplateCondition)
  /// Two or more parts, none of them a bracket of the same kind.
  case bracket(Normaliser.Bracket, [TemplatePart], areAllValues: Bool)
}

/// A set of values of one column: that of a condition, or of several conditions in a bracket.
indirect enum TemplateSet: Sendable {
  case condition(TemplateCondition)
  case merged(Normaliser.Bracket, [TemplateSet])
}

/// A comparison of a path with values.
struct TemplateCondition: Sendable {
  /// Which child of each bracket on the way leads to the comparison in the tree.
  let place: [Int]
  let destination: PathResolver.Destination
  let isNegated: Bool
  /// How strings are folded, unless the value is nil.
  let folding: StringOptions

  /// The comparison, with a query's values.
  func comparison(in tree: PredicateTree) -> PredicateTree {
    var tree = tree
    for child in place {
      switch tree {
      case .not(let inner): tree = inner
      case .and(let children), .or(let children): tree = children[child]
      case .constant, .comparison, .membership, .between, .quantified: return tree
      }
    }
    return tree
  }
}

/// Puts a query's values into the parts of a template.
private struct TemplateValues<Schema: SchemaProviding> {
  let tree: PredicateTree
  let schema: Schema
  let store: UUID?

  func predicate(_ part: TemplatePart) -> NormalPredicate? {
    switch part {
    case .fixed(let predicate): return predicate
    case .values(let path, let set): return values(set).map { .values(path, $0) }
    case .test(let condition):
      guard let resolved = resolved(condition),
        case .test(let test, let isNegated) = Normaliser.normalise(resolved, isNegated: condition.isNegated)
      else { return nil }
      return .test(test, isNegated: isNegated)
    case .bracket(let bracket, let parts, let areAllValues):
      var children: [NormalPredicate] = []
      children.reserveCapacity(parts.count)
      for part in parts {
        guard let child = predicate(part) else { return nil }
        children.append(child)
      }
      return areAllValues || Self.areApart(children, bracket)
        ? bracket == .all ? .and(children) : .or(children) : nil
    }
  }

  /// Whether the normaliser would leave them all as they are.
  private static func areApart(_ children: [NormalPredicate], _ bracket: Normaliser.Bracket) -> Bool {
    switch (Normaliser.combine(children, bracket), bracket) {
    case (.and(let combined), .all), (.or(let combined), .any): combined.count == children.count
    default: false
    }
  }

  /// The set of values; nil where it is that of a constant, or of other strings than the template's.
  private func values(_ set: TemplateSet) -> ValueSet? {
    switch set {
    case .condition(let condition):
      guard let resolved = resolved(condition),
        let values = Normaliser.values(of: resolved, isNegated: condition.isNegated),
        values.folding == condition.folding, !values.isConstant
      else { return nil }
      return values
    case .merged(let bracket, let parts):
      guard let merged = merged(parts[...], bracket), !merged.isConstant else { return nil }
      return merged
    }
  }

  /// Merges pairs first, then pairs of results, as the normaliser does.
  private func merged(_ parts: ArraySlice<TemplateSet>, _ bracket: Normaliser.Bracket) -> ValueSet? {
    if parts.count == 1 { return values(parts[parts.startIndex]) }
    let middle = parts.startIndex + parts.count / 2
    guard let left = merged(parts[..<middle], bracket), let right = merged(parts[middle...], bracket) else {
      return nil
    }
    return Normaliser.merge(left, right, bracket)
  }

  /// The comparison with the query's values converted; nil where they are of no type that goes with it.
  private func resolved(_ condition: TemplateCondition) -> ResolvedPredicate? {
    let destination = condition.destination
    switch condition.comparison(in: tree) {
    case .comparison(let left, let comparison, let right, let options):
      let isMirrored = left.isLiteral
      guard let comparison = isMirrored ? comparison.mirrored : comparison,
        let literal = literal(isMirrored ? left : right)
      else { return nil }
      return try? PredicateResolver.compare(destination, comparison, literal, options)
    case .membership(_, let elements, let options):
      var literals: [PredicateOperand] = []
      literals.reserveCapacity(elements.count)
      for element in elements {
        guard let literal = literal(element) else { return nil }
        literals.append(literal)
      }
      return try? PredicateResolver.among(destination, literals, options)
    case .between(_, let lower, let upper):
      guard let lower = literal(lower), let upper = literal(upper) else { return nil }
      return try? PredicateResolver.between(destination, lower, upper)
    case .constant, .quantified, .not, .and, .or: return nil
    }
  }

  /// The literal, an object with the name that its entity has in the schema.
  private func literal(_ operand: PredicateOperand) -> PredicateOperand? {
    guard case .reference(let object) = operand.content else { return operand }
    return (try? PredicateResolver.known(object, at: nil, store: store, in: schema)).map {
      .reference($0)
    }
  }
}

extension ValueSet {
  fileprivate var isConstant: Bool { isEmpty || isEverything }
}
