import Predicates

// Types of attributes that have no `tracerValue`. If such an attribute can't be read, its getter has no value to
// return, and a key path through such an attribute can't be followed. So neither containers nor queries accept these
// types.

extension AttributeType {
  /// The problem of the type if it has no ``tracerValue``, as the end of a sentence.
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
  /// The problems of attribute types that have no ``AttributeType/tracerValue``, in the class and in those that inherit
  /// from it.
  static var attributeTypesWithoutTracerValue: [String] {
    _$model.types(or: self).flatMap { $0.ownTypesWithoutTracerValue }
  }

  /// The problems of attribute types that have no ``AttributeType/tracerValue``, in the class alone. They are found
  /// without the model, which may need to follow a key path.
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
