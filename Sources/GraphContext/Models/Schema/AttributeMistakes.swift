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
  /// Describes an attribute of a model that `@Model` wrote; the getter has made sure of the type.
  public static func _$attribute(
    _ name: String,
    _ type: Any.Type,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false,
    isExternal: Bool = false
  ) -> PropertyDescription {
    attribute(name, type, nil, originalName, rules, preservesValueOnDeletion, isExternal)
  }

  /// Makes a description with the initial value that the declaration gives.
  public static func _$attribute<Value>(
    _ name: String,
    _ type: Value.Type,
    default value: Value,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false,
    isExternal: Bool = false
  ) -> PropertyDescription {
    attribute(name, type, value, originalName, rules, preservesValueOnDeletion, isExternal)
  }

  /// Makes a description with an initial value that is made for each new object, and once for those that are older than
  /// the attribute.
  public static func _$attribute<Value>(
    _ name: String,
    _ type: Value.Type,
    eachTime makeValue: @escaping @Sendable () -> Value,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false,
    isExternal: Bool = false
  ) -> PropertyDescription {
    var property = attribute(
      name,
      type,
      makeValue(),
      originalName,
      rules,
      preservesValueOnDeletion,
      isExternal
    )
    property.setInitialValue { (makeValue() as? any AttributeType) ?? Optional<Bool>.none }
    return property
  }

  /// Makes a description of an attribute that gets its first value at the insertion.
  public static func _$attribute<Value>(
    _ name: String,
    _ type: Value.Type,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false,
    isExternal: Bool = false,
    perInsert makeValue: @escaping @Sendable () -> Value
  ) -> PropertyDescription {
    var property = attribute(name, type, nil, originalName, rules, preservesValueOnDeletion, isExternal)
    property.setInsertionDefault { (makeValue() as? any AttributeType) ?? Optional<Bool>.none }
    return property
  }

  /// Makes a description of an attribute that the store makes from other values.
  public static func _$attribute(
    _ name: String,
    _ type: Any.Type,
    derived derivation: AttributeDerivation,
    originalName: String? = nil,
    preservesValueOnDeletion: Bool = false
  ) -> PropertyDescription {
    func attribute<Attribute: AttributeType>(_ type: Attribute.Type) -> PropertyDescription {
      .attribute(
        name,
        type,
        derived: derivation,
        originalName: originalName,
        preservesValueOnDeletion: preservesValueOnDeletion
      )
    }
    guard let type = type as? any AttributeType.Type else {
      fatalError("the attribute \(name) has the type \(type), which is no AttributeType")
    }
    return attribute(type)
  }

  /// - Parameter value: One of the type, or nil.
  private static func attribute(
    _ name: String,
    _ type: Any.Type,
    _ value: Any?,
    _ originalName: String?,
    _ rules: [AttributeRule],
    _ preservesValueOnDeletion: Bool,
    _ isExternal: Bool
  ) -> PropertyDescription {
    func attribute<Attribute: AttributeType>(_ type: Attribute.Type) -> PropertyDescription {
      .attribute(
        name,
        type,
        default: value as? Attribute,
        originalName: originalName,
        rules: rules,
        preservesValueOnDeletion: preservesValueOnDeletion
      )
    }
    guard let type = type as? any AttributeType.Type else {
      fatalError("the attribute \(name) has the type \(type), which is no AttributeType")
    }
    var property = attribute(type)
    if isExternal { property.storeExternally() }
    return property
  }

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
