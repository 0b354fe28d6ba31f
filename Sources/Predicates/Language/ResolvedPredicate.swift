/// A predicate after its names were found in the schema and its literals were converted to the attributes'
/// types: the input of the normaliser, the planner and both evaluators. The rules on nil, rounding and types
/// are already applied.
///
/// Literals are never null here (``isNull(_:)`` says that) and always in the attribute's own case of
/// `AttributeValue` (`int` or `uint` for integers, `double` for Float and Double, …).
package enum ResolvedPredicate: Sendable, Hashable {
  case constant(Bool)
  /// The value is missing, at the leaf or at a hop before it.
  case isNull(ResolvedPath)
  /// Attribute against literal. False where the attribute is nil, except `notEqual`, which is true there.
  case compare(ResolvedPath, ComparisonOperator, AttributeValue, StringOptions)
  /// Attribute against attribute, compared exactly. nil equals nil; else false with a nil, except `notEqual`.
  indirect case comparePaths(ResolvedPath, ComparisonOperator, ResolvedPath, StringOptions)
  /// The value equals one of these; `includesNull` is true if nil is among them.
  indirect case among(ResolvedPath, [AttributeValue], includesNull: Bool, StringOptions)
  indirect case within(ResolvedPath, ValueRange)
  /// A comparison of two expressions, at least one of which is calculated. nil equals nil; else false with a nil,
  /// except `notEqual`.
  indirect case compareValues(ResolvedExpression, ComparisonOperator, ResolvedExpression, StringOptions)
  /// An element of the collection meets its condition.
  indirect case exists(ResolvedCollection)
  indirect case not(ResolvedPredicate)
  case and([ResolvedPredicate])
  case or([ResolvedPredicate])
}

/// The path to a value, from a record of the fetched entity, or from an element of a collection.
package struct ResolvedPath: Sendable, Hashable {
  /// A step through a to-one relationship.
  package struct Hop: Sendable, Hashable {
    /// The reference's slot in the current record.
    package var slot: Int
    /// The entity whose record is read next.
    package var destination: EntityID
    var isOptional: Bool

    init(slot: Int, destination: EntityID, isOptional: Bool) {
      self.slot = slot
      self.destination = destination
      self.isOptional = isOptional
    }
  }

  /// The value at the end of the path.
  package enum Leaf: Sendable, Hashable {
    case slot(Int, AttributeKind)
    /// The object's own ID (its value is a `reference`).
    case objectID
  }

  /// The start of the path: 0 for the fetched object, else the element of the collection step with this number.
  package var scope: Int
  package var hops: [Hop]
  package var leaf: Leaf
  /// True if the value can be missing, here or at a hop.
  var isOptional: Bool
  /// The spelling, for messages and plans: `origin.name`.
  package var name: String

  package init(scope: Int = 0, hops: [Hop], leaf: Leaf, isOptional: Bool, name: String) {
    self.scope = scope
    self.hops = hops
    self.leaf = leaf
    self.isOptional = isOptional
    self.name = name
  }

  package var kind: AttributeKind {
    switch leaf {
    case .slot(_, let kind): kind
    case .objectID: .reference
    }
  }

  /// Throws where the values of the path can't be compared.
  ///
  /// - Parameter purpose: the use of the values, for messages: “sorted”.
  /// - Throws: `typeMismatch`.
  package func checkComparable(_ purpose: String) throws(QueryError) {
    if kind.isComparable { return }
    let message = "\(name) is \(kind.noun): such values aren't compared, so nothing is \(purpose) by them."
    throw QueryError(.typeMismatch, message, keyPath: name)
  }
}
