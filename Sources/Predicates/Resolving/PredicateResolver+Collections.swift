/// The meaning of a variable in a condition on the elements of a collection.
struct ElementVariable {
  /// The resolver of names from the element.
  let paths: PathResolver
  /// Names from the element to the variable's object: none, or those of to-one relationships.
  let prefix: [String]
  /// The variable as it is written.
  let text: String

  /// Returns names that start from the variable.
  func names(_ names: [String], _ location: SourceLocation?) -> PathNames {
    PathNames(
      prefix + names,
      location,
      impliedCount: prefix.count - 1,
      text: ([text] + names).joined(separator: ".")
    )
  }
}

extension PredicateResolver {
  func elementVariable(_ name: String, at location: SourceLocation?) throws(QueryError) -> ElementVariable {
    if let variable = variables[name] { return variable }
    throw QueryError(.arguments, "The variable $\(name) has no value.").at(location)
  }

  /// Finds the collection, and the path to the value of one of its elements.
  mutating func resolve(
    _ collection: PredicateCollection,
    _ operand: PredicateOperand,
    _ depth: Int
  ) throws(QueryError) -> (ResolvedCollection, PathResolver.Destination) {
    let root = try collection.variable.map { name throws(QueryError) in
      try elementVariable(name, at: operand.location)
    }
    let start = root?.paths ?? paths
    func spelled(_ names: [String]) -> PathNames {
      root?.names(names, operand.location) ?? PathNames(names, operand.location)
    }
    guard let filter = collection.filter else {
      let all = spelled(collection.names + collection.element)
      return try several(start.target(of: all, nextScope: &nextScope), collection, operand)
    }
    let names = start.expanding(spelled(collection.names))
    var (found, element) = try several(
      start.target(of: names, nextScope: &nextScope),
      collection,
      operand
    )
    let last = found.steps[found.steps.count - 1]
    let isList = last.objects == nil
    let prefix = isList ? [] : names.suffix(found.value.map { $0.hops.count + 1 } ?? 0)
    guard isList || element.path.kind == .reference,
      prefix.last != PathResolver.objectIDName || found.value == nil
    else {
      throw QueryError(.typeMismatch, "SUBQUERY takes a path to objects.", keyPath: found.name).at(
        operand.location
      )
    }
    let variable = ElementVariable(
      paths: PathResolver(elementOf: last, in: paths.schema),
      prefix: prefix,
      text: "$" + filter.variable
    )
    found.condition = try resolve(filter, as: variable, depth)
    found.isDistinct = collection.isDistinct
    if !collection.element.isEmpty {
      element = try variable.paths.resolve(
        prefix + collection.element,
        at: operand.location,
        allowsClass: true
      )
      found.value = element.path
    }
    return (found, element)
  }

  /// Returns the condition of a filter, in which the variable stands for an element.
  private mutating func resolve(
    _ filter: PredicateCollection.Filter,
    as variable: ElementVariable,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    let shadowed = variables.updateValue(variable, forKey: filter.variable)
    defer { variables[filter.variable] = shadowed }
    return try resolve(filter.condition, depth: depth + NestingWeight.elements)
  }

  private mutating func several(
    _ target: PathResolver.Target,
    _ collection: PredicateCollection,
    _ operand: PredicateOperand
  ) throws(QueryError) -> (ResolvedCollection, PathResolver.Destination) {
    let side: Side =
      switch target {
      case .value(let destination): .path(destination)
      case .collection(let collection, let destination): .collection(collection, destination)
      }
    guard case .collection(var found, let value) = elements(of: side) else {
      let name = (collection.names + collection.element).joined(separator: ".")
      let message = "\(name) leads to one value, not to several."
      throw QueryError(.typeMismatch, message, keyPath: name).at(operand.location)
    }
    found.isDistinct = collection.isDistinct
    return (found, value)
  }

  /// Returns the elements of a side that is one or several lists; returns any other side unchanged.
  mutating func elements(of side: Side) -> Side {
    var (steps, list): ([ResolvedCollection.Step], PathResolver.Destination)
    switch side {
    case .path(let destination): (steps, list) = ([], destination)
    case .collection(let collection, let value): (steps, list) = (collection.steps, value)
    case .literal, .expression: return side
    }
    guard let kind = list.elementKind else { return side }
    let name = list.path.name
    steps.append(.init(owner: list.path, elements: .values(kind), name: name, scope: nextScope))
    let element = PathResolver(elementOf: steps[steps.count - 1], in: paths.schema).object(named: name)
    nextScope += 1
    return .collection(ResolvedCollection(steps: steps, value: element.path, name: name), element)
  }

  // MARK: Quantifiers

  /// Resolves a comparison with a quantifier. `ANY` asks for an element that meets the comparison, `ALL` for none that
  /// doesn't, `NONE` for none that does.
  mutating func resolve(
    _ quantifier: PredicateQuantifier,
    _ tree: PredicateTree,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    guard let operand = tree.comparedOperand else {
      throw QueryError(.syntax, "\(quantifier.rawValue) goes before one comparison.")
    }
    guard case .collection(let collection, let value) = elements(of: try side(operand, depth)) else {
      let message =
        "\(quantifier.rawValue) goes before a path to several objects or to a list; \(operand.noun) is one value."
      throw QueryError(.typeMismatch, message).at(operand.location)
    }
    let element = Side.path(value)
    let inner: ResolvedPredicate
    switch tree {
    case .comparison(_, let comparison, let right, let options):
      inner = try compare(
        element,
        comparison,
        try side(right, depth),
        options,
        at: (operand.location, right.location)
      )
    case .membership(_, let elements, let options):
      inner = try resolve(element, operand, in: elements, options, depth)
    case .between(_, let lower, let upper):
      inner = try resolve(element, operand, from: lower, to: upper, depth)
    case .and(let bounds):
      var conditions: [ResolvedPredicate] = []
      for case .comparison(_, let comparison, let bound, let options) in bounds {
        let side = try side(bound, depth)
        let locations = (operand.location, bound.location)
        conditions.append(try compare(element, comparison, side, options, at: locations))
      }
      inner = .and(conditions)
    case .constant, .quantified, .not, .or:
      throw QueryError(.syntax, "\(quantifier.rawValue) goes before one comparison.")
    }
    switch quantifier {
    case .any: return .exists(in: collection, where: inner)
    case .none: return .not(.exists(in: collection, where: inner))
    case .all: return .not(.exists(in: collection, where: .not(inner)))
    }
  }
}

extension PredicateTree {
  /// The left side of a comparison, or of the two that are a range; nil for everything else.
  fileprivate var comparedOperand: PredicateOperand? {
    switch self {
    case .comparison(let operand, _, _, _), .membership(let operand, _, _), .between(let operand, _, _):
      operand
    case .and: operandOfRange
    case .constant, .quantified, .not, .or: nil
    }
  }
}

extension ResolvedPredicate {
  /// Returns the predicate that an element of the filtered collection meets another condition, too.
  static func exists(
    in collection: ResolvedCollection,
    where condition: ResolvedPredicate
  ) -> ResolvedPredicate {
    var collection = collection
    switch (collection.condition, condition) {
    case (_, .constant(false)), (.constant(false), _): return .constant(false)
    case (.constant(true), _): collection.condition = condition
    case (_, .constant(true)): break
    case (let first, _): collection.condition = .and([first, condition])
    }
    collection.value = nil
    collection.isDistinct = false
    return .exists(collection)
  }
}
