import Predicates

// Compiler messages for a property whose type can't be stored. A macro sees only the spelling of a type, so the
// getter's call of `_$load` causes the message. The compiler chooses these overloads where the type is no
// `AttributeType`, and they say what to do. The other members that `@Model` writes take any type, so that there is one
// message.

extension ManagedObject {
  @available(
    *,
    unavailable,
    message: """
      the type of an attribute conforms to 'AttributeType': add the conformance to its declaration, as in \
      'enum Genre: String, AttributeType'
      """
  )
  public func _$load<Value: RawRepresentable>(_ slot: Int, _ cache: inout Cached<Value>) -> Value {
    fatalError("\(Value.self) is no AttributeType")
  }

  @available(
    *,
    unavailable,
    message: """
      the type of an attribute conforms to 'AttributeType': add the conformance to its declaration, as in \
      'enum Genre: String, AttributeType'
      """
  )
  public func _$load<Value: RawRepresentable>(_ slot: Int, _ cache: inout Cached<Value?>) -> Value? {
    fatalError("\(Value.self) is no AttributeType")
  }

  @available(*, unavailable, message: "a model is no attribute: mark the property '@Relationship'")
  public func _$load<Target: ManagedObject>(_ slot: Int, _ cache: inout Cached<Target>) -> Target {
    fatalError("\(Target.self) is no AttributeType")
  }

  @available(*, unavailable, message: "a model is no attribute: mark the property '@Relationship'")
  public func _$load<Target: ManagedObject>(_ slot: Int, _ cache: inout Cached<Target?>) -> Target? {
    fatalError("\(Target.self) is no AttributeType")
  }

  @available(
    *,
    unavailable,
    message: """
      a value of this type can't be stored: give the type a raw value and add 'AttributeType' to its declaration, \
      add 'CodableAttribute' if it is Codable and no query compares it, or make the type a model
      """
  )
  public func _$load<Value>(_ slot: Int, _ cache: inout Cached<Value>) -> Value {
    fatalError("\(Value.self) is no AttributeType")
  }
}

extension PropertyDescription {
  /// Stands in for an attribute whose initial value is not of its type, which the compiler reports at the property's
  /// declaration.
  @_disfavoredOverload
  public static func _$attribute(
    _ name: String,
    _ type: Any.Type,
    default value: Any,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false,
    isExternal: Bool = false
  ) -> PropertyDescription {
    fatalError("the attribute \(name) has the initial value \(value), which is no \(type)")
  }

  /// Stands in for an attribute whose initial value is not of its type, which the compiler reports at the property's
  /// declaration.
  @_disfavoredOverload
  public static func _$attribute(
    _ name: String,
    _ type: Any.Type,
    eachTime makeValue: () -> Any,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false,
    isExternal: Bool = false
  ) -> PropertyDescription {
    fatalError("the attribute \(name) has the initial value \(makeValue()), which is no \(type)")
  }
}

extension PropertyVisitor {
  /// Stands in for the visit of an attribute whose type can't be stored. The compiler reports the mistake at the
  /// getter.
  @_disfavoredOverload
  public mutating func visit<Value>(attribute slot: Int, _ cache: inout Cached<Value>) {
    fatalError("\(Value.self) is no AttributeType")
  }
}
