/// An operand after its names were found in the schema: the calculation for a row.
package indirect enum ResolvedExpression: Sendable, Hashable {
  case literal(AttributeValue)
  case path(ResolvedPath)
  case function(PredicateFunction, [ResolvedExpression])
  /// The first where the predicate holds, else the second.
  case conditional(ResolvedPredicate, ResolvedExpression, ResolvedExpression)
  case aggregate(PredicateAggregate, ResolvedCollection)
}

/// Several values of one object, found by following to-many relationships one after the other.
package struct ResolvedCollection: Sendable, Hashable {
  /// A step from one object to the elements of a to-many relationship, or of a list.
  package struct Step: Sendable, Hashable {
    enum Elements: Sendable, Hashable {
      /// The objects of the entity that the relationship leads to.
      case objects(ToManyID, EntityID)
      /// Values of the kind.
      case values(AttributeKind)
    }

    /// The path to the object (its own ID or a reference to it), or to the list.
    package var owner: ResolvedPath
    var elements: Elements
    /// The relationship's or attribute's name, for messages and plans.
    var name: String
    /// The scope of paths that start at an element.
    var scope: Int

    init(owner: ResolvedPath, elements: Elements, name: String, scope: Int) {
      self.owner = owner
      self.elements = elements
      self.name = name
      self.scope = scope
    }

    /// The relationship and the entity where it leads; nil for a list.
    package var objects: (relationship: ToManyID, destination: EntityID)? {
      if case .objects(let relationship, let destination) = elements {
        (relationship, destination)
      } else {
        nil
      }
    }

    /// Returns the schema for paths from an element.
    func elementSchema(in schema: some SchemaProviding) -> EntitySchema {
      switch elements {
      case .objects(_, let destination): schema.entitySchema(destination)
      case .values(let kind): .element(of: kind)
      }
    }
  }

  /// The steps, one or more.
  package var steps: [Step]
  /// The condition on the elements of the last step.
  var condition: ResolvedPredicate
  /// The value of an element; nil for the element itself.
  var value: ResolvedPath?
  /// True if equal values count once.
  var isDistinct: Bool
  /// The spelling, for messages and plans: `album.songs.seconds`.
  var name: String

  init(
    steps: [Step],
    condition: ResolvedPredicate = .constant(true),
    value: ResolvedPath? = nil,
    isDistinct: Bool = false,
    name: String
  ) {
    self.steps = steps
    self.condition = condition
    self.value = value
    self.isDistinct = isDistinct
    self.name = name
  }
}

extension ResolvedExpression {
  /// Calls `body` for each path that is read, those of elements among them.
  func forEachPath(_ body: (ResolvedPath) -> Void) {
    switch self {
    case .literal: break
    case .path(let path): body(path)
    case .function(_, let arguments): for argument in arguments { argument.forEachPath(body) }
    case .conditional(let condition, let first, let second):
      condition.forEachPath(body)
      first.forEachPath(body)
      second.forEachPath(body)
    case .aggregate(_, let collection): collection.forEachPath(body)
    }
  }

  /// Calls `body` for each collection that is read.
  func forEachCollection(_ body: (ResolvedCollection) -> Void) {
    switch self {
    case .literal, .path: break
    case .function(_, let arguments): for argument in arguments { argument.forEachCollection(body) }
    case .conditional(let condition, let first, let second):
      condition.forEachCollection(body)
      first.forEachCollection(body)
      second.forEachCollection(body)
    case .aggregate(_, let collection):
      body(collection)
      collection.condition.forEachCollection(body)
    }
  }
}

extension ResolvedCollection {
  /// Returns whether an aggregate counts the elements, and not those of their values that aren't nil.
  func countsElements(_ aggregate: PredicateAggregate) -> Bool { aggregate == .count && value == nil }

  /// Calls `body` for each path that is read.
  func forEachPath(_ body: (ResolvedPath) -> Void) {
    for step in steps { body(step.owner) }
    condition.forEachPath(body)
    if let value { body(value) }
  }
}

extension ResolvedPredicate {
  /// Calls `body` for each collection that is read.
  func forEachCollection(_ body: (ResolvedCollection) -> Void) {
    switch self {
    case .constant, .isNull, .compare, .comparePaths, .among, .within: break
    case .compareValues(let left, _, let right, _):
      left.forEachCollection(body)
      right.forEachCollection(body)
    case .exists(let collection):
      body(collection)
      collection.condition.forEachCollection(body)
    case .not(let child): child.forEachCollection(body)
    case .and(let children), .or(let children): for child in children { child.forEachCollection(body) }
    }
  }
}
