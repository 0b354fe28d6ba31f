import Foundation

extension PredicateTree {
  /// Finds the tree's names in the schema and converts its literals to the attributes' types.
  ///
  /// The rules for nil, rounding and values out of range are applied here, once, so that all later stages agree on
  /// them.
  ///
  /// - Parameter store: the queried store, which must contain the objects of the predicate.
  /// - Throws: `unknownName`, `typeMismatch` or `tooComplex`; with the key path, and the column if the tree came
  ///   from text.
  package func resolved(
    for entity: EntitySchema,
    in schema: some SchemaProviding,
    store: UUID? = nil
  ) throws(QueryError) -> ResolvedPredicate {
    var resolver = PredicateResolver(paths: PathResolver(entity: entity, schema: schema), store: store)
    return try resolver.resolve(self)
  }
}

extension PredicateOperand {
  /// Finds the operand's names in the schema, for an operand that has one value for each object.
  ///
  /// - Throws: as ``PredicateTree/resolved(for:in:store:)``.
  package func resolved(
    for entity: EntitySchema,
    in schema: some SchemaProviding,
    store: UUID? = nil
  ) throws(QueryError) -> ResolvedExpression {
    var resolver = PredicateResolver(paths: PathResolver(entity: entity, schema: schema), store: store)
    return try resolver.expression(self, 0).expression
  }
}

/// The walk behind ``PredicateTree/resolved(for:in:store:)``.
struct PredicateResolver {
  let paths: PathResolver
  let store: UUID?
  /// The meanings of variables at this position in the tree.
  var variables: [String: ElementVariable] = [:]
  /// The number of the next collection step.
  var nextScope = 1
  /// The moment that every `now()` of the tree means; nil until the first one is resolved.
  var moment: Date?

  init(paths: PathResolver, store: UUID?) {
    self.paths = paths
    self.store = store
  }

  /// One side of a comparison, as far as it is resolved.
  enum Side {
    case path(PathResolver.Destination)
    case literal(PredicateOperand)
    case expression(TypedExpression)
    /// Several values, and the path to one of them.
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

  /// Resolves a predicate that is no bracket. It is a separate function, so that nested brackets need little stack.
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
      return .literal(
        PredicateOperand(
          .reference(try Self.known(object, at: operand.location, store: store, in: paths.schema)),
          at: operand.location
        )
      )
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

  /// Returns the reference with the name that the root of its entity's hierarchy has in the schema. Numbers of another
  /// store's objects would be mistaken for those of objects in this store.
  static func known(
    _ object: ObjectReference,
    at location: SourceLocation?,
    store: UUID?,
    in schema: some SchemaProviding
  ) throws(QueryError) -> ObjectReference {
    guard let store, let objectStore = object.store else {
      return object.named(schema.rootName(of: object.entity))
    }
    guard objectStore == store else {
      let message = "\(object.entity) \(object.number) is an object of another store (\(objectStore))."
      throw QueryError(.typeMismatch, message).at(location)
    }
    guard let number = object.entityNumber, let names = schema.entityNamesByNumber else {
      return object.named(schema.rootName(of: object.entity))
    }
    guard let name = names[number] else {
      let message =
        "\(object.entity) \(object.number) is an object of an entity that the store doesn't have any more."
      throw QueryError(.typeMismatch, message).at(location)
    }
    return object.named(name)
  }
}

extension ObjectReference {
  /// Returns the same object with another name of its entity.
  fileprivate func named(_ entity: String) -> ObjectReference {
    var object = self
    object.entity = entity
    return object
  }
}

extension ResolvedPath {
  /// The predicate that holds where there is a value that compares: neither nil nor NaN.
  var isComparable: ResolvedPredicate {
    if kind == .decimal { return .within(self, ValueRange(lower: nil, upper: nil)) }
    return isOptional ? .not(.isNull(self)) : .constant(true)
  }
}

extension QueryError {
  static func tooManyJoined(_ limit: Int) -> QueryError {
    QueryError(
      .tooComplex,
      "More than \(limit) conditions are joined by && or ||; use Where.all or Where.any, or IN."
    )
  }

  static var nestedTooDeeply: QueryError {
    QueryError(.tooComplex, "The predicate is nested deeper than \(PredicateTree.maximumDepth) levels.")
  }
}
