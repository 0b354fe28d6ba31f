import Predicates

// The descriptions of attributes that `@Model` writes.

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
}
