import Foundation

extension PredicateTree {
  /// Finds the tree's names in the schema and converts its literals to the attributes' types.
  ///
  /// The rules for nil, rounding and values out of range are applied here, once, so that everything after
  /// agrees on them.
  ///
  /// - Parameter store: the store that is asked, which the objects of the predicate have to be in.
  /// - Throws: `unknownName`, `typeMismatch` or `tooComplex`; with the key path, and the column if the tree came from text.
  package func resolved(
    for entity: EntitySchema,
    in schema: some SchemaProviding,
    store: UUID? = nil
  ) throws(QueryError) -> ResolvedPredicate {
    try PredicateResolver(paths: PathResolver(entity: entity, schema: schema), store: store).resolve(self)
  }
}

/// The walk behind ``PredicateTree/resolved(for:in:store:)``.
struct PredicateResolver {
  let paths: PathResolver
  let store: UUID?

  /// One side of a comparison, as far as it is known.
  private enum Side {
    case path(PathResolver.Destination)
    case literal(PredicateOperand)
  }

  func resolve(_ tree: PredicateTree, depth: Int = 0) throws(QueryError) -> ResolvedPredicate {
    guard depth <= PredicateTree.maximumDepth else { throw QueryError.nestedTooDeeply }
    switch tree {
    case .constant(let value):
      return .constant(value)
    case .not(let child):
      return .not(try resolve(child, depth: depth + 1))
    case .and(let children):
      return .and(try resolve(children, depth: depth + 1))
    case .or(let children):
      return .or(try resolve(children, depth: depth + 1))
    case .comparison(let left, let comparison, let right, let options):
      try checkStore(of: [left, right])
      return try resolve(left, comparison, right, options)
    case .membership(let operand, let elements, let options):
      try checkStore(of: [operand])
      try checkStore(of: elements)
      return try resolve(operand, in: elements, options)
    case .between(let operand, let lower, let upper):
      return try resolve(operand, from: lower, to: upper)
    }
  }

  private func resolve(
    _ children: [PredicateTree],
    depth: Int
  ) throws(QueryError) -> [ResolvedPredicate] {
    var resolved: [ResolvedPredicate] = []
    resolved.reserveCapacity(children.count)
    for child in children { resolved.append(try resolve(child, depth: depth)) }
    return resolved
  }

  /// Numbers of another store's objects would be taken for those of objects here.
  private func checkStore(of operands: [PredicateOperand]) throws(QueryError) {
    guard let store else { return }
    for operand in operands {
      guard case .reference(let object) = operand.content, let other = object.store, other != store else {
        continue
      }
      let message = "\(object.entity) \(object.number) is an object of another store (\(other))."
      throw QueryError(.typeMismatch, message).at(operand.location)
    }
  }

  private func side(_ operand: PredicateOperand) throws(QueryError) -> Side {
    switch operand.content {
    case .path(let names): .path(try paths.resolve(names, at: operand.location))
    case .object: .path(paths.object)
    case .value, .digits, .reference: .literal(operand)
    }
  }
}

// MARK: - Comparisons

extension PredicateResolver {
  private func resolve(
    _ left: PredicateOperand,
    _ comparison: ComparisonOperator,
    _ right: PredicateOperand,
    _ options: StringOptions
  ) throws(QueryError) -> ResolvedPredicate {
    switch (try side(left), try side(right)) {
    case (.path(let destination), .literal(let literal)):
      return try compare(destination, comparison, literal, options)
    case (.literal(let literal), .path(let destination)):
      guard let mirrored = comparison.mirrored else {
        let message =
          "With \(comparison.rawValue) the attribute stands on the left: \(destination.path.name)."
        throw QueryError(.typeMismatch, message, keyPath: destination.path.name).at(right.location)
      }
      return try compare(destination, mirrored, literal, options)
    case (.path(let first), .path(let second)):
      try check(first, comparison, options, at: left.location)
      guard Self.areComparable(first, second) else {
        let (one, two) = (first.path, second.path)
        let message =
          "\(one.name) is \(one.kind.noun) and \(two.name) is \(two.kind.noun): they can't be compared."
        throw QueryError(.typeMismatch, message, keyPath: two.name).at(right.location)
      }
      return .comparePaths(first.path, comparison, second.path, options)
    case (.literal(let first), .literal(let second)):
      return .constant(try LiteralComparison.holds(first, comparison, second, options))
    }
  }

  private func compare(
    _ destination: PathResolver.Destination,
    _ comparison: ComparisonOperator,
    _ literal: PredicateOperand,
    _ options: StringOptions
  ) throws(QueryError) -> ResolvedPredicate {
    let path = destination.path
    try check(destination, comparison, options, at: literal.location)
    switch try LiteralConversion(to: destination).convert(literal) {
    case .null:
      switch comparison {
      case .equal: return .isNull(path)
      case .notEqual: return .not(.isNull(path))
      default: return .constant(false)
      }
    case .value(let value):
      if value.isNaN { return .constant(comparison == .notEqual) }
      return .compare(path, comparison, value, options)
    case .above(let floor):
      switch comparison {
      case .less, .lessOrEqual: return .compare(path, .lessOrEqual, floor, options)
      case .greater, .greaterOrEqual: return .compare(path, .greater, floor, options)
      default: return .constant(comparison == .notEqual)
      }
    case .aboveAll:
      let isBelow = comparison == .less || comparison == .lessOrEqual
      return isBelow ? path.isPresent : .constant(comparison == .notEqual)
    case .belowAll:
      let isAbove = comparison == .greater || comparison == .greaterOrEqual
      return isAbove ? path.isPresent : .constant(comparison == .notEqual)
    case .unordered:
      return .constant(comparison == .notEqual)
    }
  }

  /// Whether the operator and the options go with the attribute's type.
  private func check(
    _ destination: PathResolver.Destination,
    _ comparison: ComparisonOperator,
    _ options: StringOptions,
    at location: SourceLocation?
  ) throws(QueryError) {
    let path = destination.path
    if comparison.isStringOperator, path.kind != .string {
      let message = "\(path.name) is \(path.kind.noun); \(comparison.rawValue) goes with strings."
      throw QueryError(.typeMismatch, message, keyPath: path.name).at(location)
    }
    if !options.isEmpty, path.kind != .string {
      let message = "\(path.name) is \(path.kind.noun); [c] goes with strings."
      throw QueryError(.typeMismatch, message, keyPath: path.name).at(location)
    }
    if comparison.isOrdering, path.kind == .reference {
      let message =
        "\(path.name) is an object; objects have no order, so \(comparison.rawValue) means nothing."
      throw QueryError(.typeMismatch, message, keyPath: path.name).at(location)
    }
  }

  private static func areComparable(
    _ first: PathResolver.Destination,
    _ second: PathResolver.Destination
  ) -> Bool {
    let (one, two) = (first.path.kind, second.path.kind)
    if one.isNumeric && two.isNumeric { return true }
    return one == two && first.entity == second.entity
  }
}

// MARK: - Lists and ranges

extension PredicateResolver {
  private func resolve(
    _ operand: PredicateOperand,
    in elements: [PredicateOperand],
    _ options: StringOptions
  ) throws(QueryError) -> ResolvedPredicate {
    guard case .path(let destination) = try side(operand) else {
      return try anyEqual(operand, elements, options)
    }
    try check(destination, .equal, options, at: operand.location)
    let conversion = LiteralConversion(to: destination)
    var values: [AttributeValue] = []
    values.reserveCapacity(elements.count)
    var includesNull = false
    var others: [PredicateOperand] = []
    for element in elements {
      guard element.isLiteral else {
        others.append(element)
        continue
      }
      switch try conversion.convert(element) {
      case .null: includesNull = true
      case .value(let value): if !value.isNaN { values.append(value) }
      // Equal to no value of the attribute's type.
      case .above, .aboveAll, .belowAll, .unordered: break
      }
    }
    let literals = ResolvedPredicate.among(destination.path, values, includesNull: includesNull, options)
    if others.isEmpty { return literals }
    return .or([literals, try anyEqual(operand, others, options)])
  }

  private func anyEqual(
    _ operand: PredicateOperand,
    _ elements: [PredicateOperand],
    _ options: StringOptions
  ) throws(QueryError) -> ResolvedPredicate {
    var alternatives: [ResolvedPredicate] = []
    for element in elements { alternatives.append(try resolve(operand, .equal, element, options)) }
    return .or(alternatives)
  }

  private func resolve(
    _ operand: PredicateOperand,
    from lower: PredicateOperand,
    to upper: PredicateOperand
  ) throws(QueryError) -> ResolvedPredicate {
    guard case .path(let destination) = try side(operand), lower.isLiteral, upper.isLiteral else {
      return .and([
        try resolve(operand, .greaterOrEqual, lower, []), try resolve(operand, .lessOrEqual, upper, []),
      ])
    }
    let path = destination.path
    try check(destination, .lessOrEqual, [], at: operand.location)
    let conversion = LiteralConversion(to: destination)
    var range = ValueRange(lower: nil, upper: nil)
    let (low, high) = (try conversion.convert(lower), try conversion.convert(upper))
    switch low {
    case .value(let value) where !value.isNaN: range.lower = .init(value, isIncluded: true)
    case .above(let floor): range.lower = .init(floor, isIncluded: false)
    case .belowAll: break
    case .null, .value, .aboveAll, .unordered: return .constant(false)
    }
    switch high {
    case .value(let value) where !value.isNaN: range.upper = .init(value, isIncluded: true)
    case .above(let floor): range.upper = .init(floor, isIncluded: true)
    case .aboveAll: break
    case .null, .value, .belowAll, .unordered: return .constant(false)
    }
    return range.lower == nil && range.upper == nil ? path.isPresent : .within(path, range)
  }
}

extension ResolvedPath {
  /// The predicate that holds where there is a value.
  var isPresent: ResolvedPredicate { isOptional ? .not(.isNull(self)) : .constant(true) }
}

extension QueryError {
  static var nestedTooDeeply: QueryError {
    QueryError(.tooComplex, "The predicate is nested deeper than \(PredicateTree.maximumDepth) levels.")
  }
}
