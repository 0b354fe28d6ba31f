import Foundation

/// The part of a query that doesn't depend on its values: names found in the schema, NOT moved down to the
/// comparisons, conditions grouped by their columns. A query of the shape gets its normal form by inserting its
/// values.
///
/// Values don't only determine sets: a value that no attribute value equals makes a condition constant, and nil
/// removes options. A template doesn't handle these cases. Each value is converted, and each set computed, by the
/// same code as for a query without a template. If a condition becomes constant or concerns another column, or if
/// two brackets become equal, the query is resolved without the template.
package final class QueryTemplate: Sendable {
  let shape: QueryShape
  let sort: [ResolvedSort]
  /// The root of the parts; nil if queries of the shape are always resolved without a template.
  private let root: TemplatePart?

  /// Makes the template of a query's shape.
  ///
  /// - Parameter resolved: the resolved query.
  init(_ query: NamedQuery, resolved: ResolvedQuery, in schema: some SchemaProviding) {
    shape = QueryShape(query, resolved.entity)
    sort = resolved.sort
    let maker = TemplateMaker(paths: PathResolver(entity: resolved.entity, schema: schema))
    root = maker.part(query.predicate, at: [], isNegated: false)
  }

  /// Returns the normal form of a predicate of this shape; nil if the template can't handle its values.
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
  /// A part without values.
  case fixed(NormalPredicate)
  case values(ResolvedPath, TemplateSet)
  /// A condition that no set of values expresses.
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
  /// The path to the comparison in the tree: the index of the child in each bracket.
  let place: [Int]
  let destination: PathResolver.Destination
  let isNegated: Bool
  /// The folding of strings, unless the value is nil.
  let folding: StringOptions

  /// Returns the comparison, with a query's values.
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

/// The insertion of a query's values into the parts of a template.
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

  /// Returns whether the normaliser would leave all children unchanged.
  private static func areApart(_ children: [NormalPredicate], _ bracket: Normaliser.Bracket) -> Bool {
    switch (Normaliser.combine(children, bracket), bracket) {
    case (.and(let combined), .all), (.or(let combined), .any): combined.count == children.count
    default: false
    }
  }

  /// Returns the set of values; nil if the condition is constant, or has another folding than the template.
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

  /// Returns the comparison with the query's values converted; nil if their types don't fit.
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

  /// Returns the literal, an object with the name that its entity has in the schema.
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
