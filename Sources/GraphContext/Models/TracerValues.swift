import Predicates

// Types of attributes that can name none of their values. A getter that can't read one has nothing to return, and a key path through one
// can't be followed; so no container takes them, and no query.

extension AttributeType {
  /// What is wrong with the type if it has no ``tracerValue``: a sentence's end.
  static var withoutTracerValue: String? {
    guard tracerValue == nil else { return nil }
    return (_Present.self as? any TransformedAttribute.Type)?.withoutPlaceholder
      ?? "\(_Present.self) refuses empty values; give it a static tracerValue"
  }

  /// A value, of a type that a container or a query has accepted.
  static var anyValue: Self {
    guard let value = tracerValue else {
      fatalError("\(Self.self) has no tracerValue, and a value of it is needed")
    }
    return value
  }
}

extension ManagedObject {
  /// What is wrong with the types of attributes that have no ``AttributeType/tracerValue``, in the class and in those that inherit from it.
  static var attributeTypesWithoutTracerValue: [String] {
    _$model.types(or: self).flatMap { $0.ownTypesWithoutTracerValue }
  }

  /// The same in the class alone. The model, which may need a key path to be followed, isn't asked for.
  static var ownTypesWithoutTracerValue: [String] {
    var visitor = TracerValueVisitor()
    withSample { $0.visitAll(&visitor) }
    return visitor.problems
  }
}

private struct TracerValueVisitor: PropertyVisitor {
  var problems: [String] = []

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    if let problem = Value.withoutTracerValue { problems.append(problem) }
  }
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}
