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
    var resolver = PredicateResolver(paths: PathResolver(entity: entity, schema: schema), store: store)
    return try resolver.resolve(self)
  }
}

/// The walk behind ``PredicateTree/resolved(for:in:store:)``.
struct PredicateResolver {
  let paths: PathResolver
  let store: UUID?
  /// What variables stand for at this place in the tree.
  var variables: [String: ElementVariable] = [:]
  /// The number of the next collection step.
  var nextScope = 1

  init(paths: PathResolver, store: UUID?) {
    self.paths = paths
    self.store = store
  }

  /// One side of a comparison, as far as it is known.
  enum Side {
    case path(PathResolver.Destination)
    case literal(PredicateOperand)
    case expression(TypedExpression)
    /// Several values, and where one of them is.
    case collection(ResolvedCollection, PathResolver.Destination)
  }

  mutating func resolve(_ tree: PredicateTree, depth: Int = 0) throws(QueryError) -> ResolvedPredicate {
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
    case .comparison, .membership, .between, .quantified:
      return try resolve(comparison: tree, depth)
    }
  }

  /// What is no bracket. A function of its own, so that brackets in brackets take little of the stack.
  private mutating func resolve(
    comparison tree: PredicateTree,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    switch tree {
    case .comparison(let left, let comparison, let right, let options):
      let sides = (try side(left, depth), try side(right, depth))
      return try compare(sides.0, comparison, sides.1, options, at: (left.location, right.location))
    case .membership(let operand, let elements, let options):
      return try resolve(try side(operand, depth), operand, in: elements, options, depth)
    case .between(let operand, let lower, let upper):
      return try resolve(try side(operand, depth), operand, from: lower, to: upper, depth)
    case .quantified(let quantifier, let comparison):
      return try resolve(quantifier, comparison, depth)
    case .constant, .not, .and, .or:
      return try resolve(tree, depth: depth)
    }
  }

  private mutating func resolve(
    _ children: [PredicateTree],
    depth: Int
  ) throws(QueryError) -> [ResolvedPredicate] {
    var resolved: [ResolvedPredicate] = []
    resolved.reserveCapacity(children.count)
    for child in children { resolved.append(try resolve(child, depth: depth)) }
    return resolved
  }

  mutating func side(_ operand: PredicateOperand, _ depth: Int) throws(QueryError) -> Side {
    switch operand.content {
    case .path(let names):
      return try side(paths, PathNames(names, operand.location))
    case .object:
      return .path(paths.object)
    case .variable(let name, let names):
      let variable = try elementVariable(name, at: operand.location)
      return try side(variable.paths, variable.names(names, operand.location))
    case .value, .digits:
      return .literal(operand)
    case .reference(let object):
      try checkStore(of: object, at: operand.location)
      return .literal(operand)
    case .collection(let collection):
      let (resolved, value) = try resolve(collection, operand, depth)
      return .collection(resolved, value)
    case .function, .conditional, .aggregate:
      let expression = try expression(operand, depth)
      guard case .literal(let value) = expression.expression else { return .expression(expression) }
      return .literal(PredicateOperand(.value(value), at: operand.location))
    }
  }

  private mutating func side(_ paths: PathResolver, _ names: PathNames) throws(QueryError) -> Side {
    switch try paths.target(of: names, nextScope: &nextScope) {
    case .value(let destination): .path(destination)
    case .collection(let collection, let destination): .collection(collection, destination)
    }
  }

  /// Numbers of another store's objects would be taken for those of objects here.
  private func checkStore(of object: ObjectReference, at location: SourceLocation?) throws(QueryError) {
    guard let store, let other = object.store, other != store else { return }
    let message = "\(object.entity) \(object.number) is an object of another store (\(other))."
    throw QueryError(.typeMismatch, message).at(location)
  }
}

// MARK: - Comparisons

extension PredicateResolver {
  func compare(
    _ left: Side,
    _ comparison: ComparisonOperator,
    _ right: Side,
    _ options: StringOptions,
    at locations: (left: SourceLocation?, right: SourceLocation?)
  ) throws(QueryError) -> ResolvedPredicate {
    if comparison.takesPattern { try checkPattern(left, comparison, right, options, at: locations.right) }
    switch (left, right) {
    case (.path(let destination), .literal(let literal)):
      return try compare(destination, comparison, literal, options)
    case (.literal(let literal), .path(let destination)):
      guard let mirrored = comparison.mirrored else {
        return try compareExpressions(left, comparison, right, options, at: locations)
      }
      return try compare(destination, mirrored, literal, options)
    case (.path(let first), .path(let second)):
      try check(first, comparison, options, at: locations.left)
      guard Self.areComparable(first, second) else {
        let (one, two) = (first.path, second.path)
        let message =
          "\(one.name) is \(first.noun) and \(two.name) is \(second.noun): they can't be compared."
        throw QueryError(.typeMismatch, message, keyPath: two.name).at(locations.right)
      }
      return .comparePaths(first.path, comparison, second.path, options)
    case (.literal(let first), .literal(let second)):
      return .constant(try LiteralComparison.holds(first, comparison, second, options))
    case (.collection(let collection, let value), _) where comparison == .contains:
      let inner = try compare(.path(value), .equal, right, options, at: locations)
      return .exists(in: collection, where: inner)
    case (.collection(let collection, _), _):
      throw Self.severalValues(collection, at: locations.left)
    case (_, .collection(let collection, _)):
      throw Self.severalValues(collection, at: locations.right)
    case (.expression, _), (_, .expression):
      return try compareExpressions(left, comparison, right, options, at: locations)
    }
  }

  /// Whether what stands on the right is a pattern.
  private func checkPattern(
    _ left: Side,
    _ comparison: ComparisonOperator,
    _ right: Side,
    _ options: StringOptions,
    at location: SourceLocation?
  ) throws(QueryError) {
    var keyPath: String?
    if case .path(let destination) = left { keyPath = destination.path.name }
    guard case .literal(let literal) = right else {
      let message = "The pattern of \(comparison.rawValue) is a literal or an argument."
      throw QueryError(.typeMismatch, message, keyPath: keyPath).at(location)
    }
    guard comparison == .matches, case .string(let pattern) = literal.literalValue else { return }
    do throws(QueryError) {
      _ = try RegexPattern(pattern, options)
    } catch {
      var error = error.at(location)
      error.keyPath = keyPath
      throw error
    }
  }

  private static func severalValues(
    _ collection: ResolvedCollection,
    at location: SourceLocation?
  ) -> QueryError {
    let message =
      "\(collection.name) leads to many objects, not to one value: say ANY, ALL or NONE, or make one value of them (@count, @sum, …)."
    return QueryError(.typeMismatch, message, keyPath: collection.name).at(location)
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
      return isBelow ? path.isComparable : .constant(comparison == .notEqual)
    case .belowAll:
      let isAbove = comparison == .greater || comparison == .greaterOrEqual
      return isAbove ? path.isComparable : .constant(comparison == .notEqual)
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
      let message = "\(path.name) is \(path.kind.noun); \(options.formatText) goes with strings."
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
  mutating func resolve(
    _ side: Side,
    _ operand: PredicateOperand,
    in elements: [PredicateOperand],
    _ options: StringOptions,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    guard case .path(let destination) = side else {
      return try anyEqual(side, operand, elements, options, depth)
    }
    try check(destination, .equal, options, at: operand.location)
    let conversion = LiteralConversion(to: destination)
    var values: [AttributeValue] = []
    values.reserveCapacity(elements.count)
    var includesNull = false
    var others: [PredicateOperand] = []
    for element in elements {
      guard case .literal(let literal) = try self.side(element, depth) else {
        others.append(element)
        continue
      }
      switch try conversion.convert(literal) {
      case .null: includesNull = true
      case .value(let value): if !value.isNaN { values.append(value) }
      // Equal to no value of the attribute's type.
      case .above, .aboveAll, .belowAll, .unordered: break
      }
    }
    let literals = ResolvedPredicate.among(destination.path, values, includesNull: includesNull, options)
    if others.isEmpty { return literals }
    return .or([literals, try anyEqual(side, operand, others, options, depth)])
  }

  private mutating func anyEqual(
    _ side: Side,
    _ operand: PredicateOperand,
    _ elements: [PredicateOperand],
    _ options: StringOptions,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    var alternatives: [ResolvedPredicate] = []
    for element in elements {
      let other = try self.side(element, depth)
      alternatives.append(
        try compare(side, .equal, other, options, at: (operand.location, element.location))
      )
    }
    return .or(alternatives)
  }

  mutating func resolve(
    _ side: Side,
    _ operand: PredicateOperand,
    from lower: PredicateOperand,
    to upper: PredicateOperand,
    _ depth: Int
  ) throws(QueryError) -> ResolvedPredicate {
    let bounds = (try self.side(lower, depth), try self.side(upper, depth))
    guard case .path(let destination) = side, case .literal(let lower) = bounds.0,
      case .literal(let upper) = bounds.1
    else {
      return .and([
        try compare(side, .greaterOrEqual, bounds.0, [], at: (operand.location, lower.location)),
        try compare(side, .lessOrEqual, bounds.1, [], at: (operand.location, upper.location)),
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
    return range.lower == nil && range.upper == nil ? path.isComparable : .within(path, range)
  }
}

extension PathResolver.Destination {
  /// What the path leads to, in a sentence: “a string”, “an object (Flight)”.
  fileprivate var noun: String { path.kind.noun + (entity.map { " (\($0))" } ?? "") }
}

extension ResolvedPath {
  /// The predicate that holds where there is a value that compares: neither nil nor NaN.
  var isComparable: ResolvedPredicate {
    if kind == .decimal { return .within(self, ValueRange(lower: nil, upper: nil)) }
    return isOptional ? .not(.isNull(self)) : .constant(true)
  }
}

extension QueryError {
  static var nestedTooDeeply: QueryError {
    QueryError(.tooComplex, "The predicate is nested deeper than \(PredicateTree.maximumDepth) levels.")
  }
}
