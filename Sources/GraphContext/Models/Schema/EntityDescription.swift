import Foundation
import Predicates

/// The schema's description of the objects of one model: their attributes, their relationships, their indexes.
///
/// A plain value. It is stored with the data, so a store can be read without the classes it was written with. Only its
/// ``originalName`` is not stored, and takes no part in equality: it says how a store of an earlier version is
/// converted.
public struct EntityDescription: Sendable, Codable {
  /// The entity's name: for a model, the name of the class.
  public var name: String
  /// The properties, in the order of their declaration, which is the order of the values in a record. Last come the
  /// places of ordered relationships, which the initialiser adds, and the hidden inverses of to-many relationships,
  /// which a ``Schema`` adds.
  public var properties: [PropertyDescription]
  /// The indexes that the model declares, in the order of their declaration. Each to-one relationship has an index of
  /// its own, which isn't declared.
  public var indexes: [IndexDescription]
  /// The entity's name in an earlier version of the schema; nil if it had no other.
  public var originalName: String?
  /// The classes of the entity's objects, the root first and each after its parent; empty where no class inherits from
  /// another.
  public var classes: [ClassDescription] = []
  /// Names for the objects behind the links of to-many relationships. They belong to the program, like
  /// ``AttributeDescription/rules``.
  public var shorthands: [LinkShorthand] = []

  /// Makes a description. A ``Schema`` checks it.
  public init(
    name: String,
    properties: [PropertyDescription],
    indexes: [IndexDescription] = [],
    originalName: String? = nil,
    classes: [ClassDescription] = [],
    shorthands: [LinkShorthand] = []
  ) {
    self.name = name
    self.properties = properties
    self.indexes = indexes
    self.originalName = originalName
    self.classes = classes
    self.shorthands = shorthands
    addPlaces()
  }

  /// The attributes, in the order of their declaration.
  public var attributes: [AttributeDescription] { declaredProperties.compactMap(\.attribute) }

  /// The relationships, in the order of their declaration.
  public var relationships: [RelationshipDescription] { declaredProperties.compactMap(\.relationship) }

  /// Attributes and to-one relationships, in slot order.
  public var storedProperties: [PropertyDescription] { properties.filter { !$0.isToMany } }

  /// The to-many relationships, in declaration order. The position here identifies a to-many relationship. Last come
  /// the hidden inverses.
  public var toManyRelationships: [RelationshipDescription] {
    properties.compactMap(\.relationship).filter(\.isToMany)
  }

  /// Returns the property of this name. O(properties).
  public func property(named name: String) -> PropertyDescription? { properties.first { $0.name == name } }

  /// Returns the attribute of this name. O(properties).
  func attribute(named name: String) -> AttributeDescription? { property(named: name)?.attribute }
}

extension EntityDescription: Hashable {
  public static func == (left: EntityDescription, right: EntityDescription) -> Bool {
    (left.name, left.properties, left.indexes, left.classes)
      == (right.name, right.properties, right.indexes, right.classes)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(properties)
    hasher.combine(indexes)
  }
}

extension EntityDescription {
  private enum CodingKeys: CodingKey { case name, properties, indexes, classes }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    properties = try container.decode([PropertyDescription].self, forKey: .properties)
    indexes = try container.decode([IndexDescription].self, forKey: .indexes)
    classes = try container.decodeIfPresent([ClassDescription].self, forKey: .classes) ?? []
  }

  /// Encodes the description, without the classes where there is no inheritance.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(properties, forKey: .properties)
    try container.encode(indexes, forKey: .indexes)
    if !classes.isEmpty { try container.encode(classes, forKey: .classes) }
  }
}

/// An attribute or a relationship of an entity.
public enum PropertyDescription: Sendable, Hashable, Codable {
  /// A value of the object's own.
  case attribute(AttributeDescription)
  /// A link to objects.
  case relationship(RelationshipDescription)

  /// The property's name.
  public var name: String {
    switch self {
    case .attribute(let attribute): attribute.name
    case .relationship(let relationship): relationship.name
    }
  }

  /// The property's name in an earlier version of the schema; nil if it had no other.
  public var originalName: String? {
    switch self {
    case .attribute(let attribute): attribute.originalName
    case .relationship(let relationship): relationship.originalName
    }
  }

  /// True if the property is a link to objects.
  public var isRelationship: Bool { relationship != nil }

  /// True if the property has no slot in the record.
  public var isToMany: Bool { relationship?.isToMany ?? false }

  var relationship: RelationshipDescription? {
    if case .relationship(let relationship) = self { relationship } else { nil }
  }
}

// MARK: - Descriptions from types

extension PropertyDescription {
  /// Describes an attribute whose kind and optionality are those of a Swift type.
  ///
  /// - Parameters:
  ///   - name: the attribute's name.
  ///   - type: the type of its values.
  ///   - value: the value of an object that was stored before the attribute existed.
  ///   - originalName: the attribute's name in an earlier version of the schema; nil if it had no other.
  ///   - rules: the rules that saves check.
  ///   - preservesValueOnDeletion: whether the history keeps the last value of a deleted object.
  public static func attribute<Value: AttributeType>(
    _ name: String,
    _ type: Value.Type,
    default value: Value? = nil,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false
  ) -> PropertyDescription {
    .attribute(
      AttributeDescription(
        name: name,
        kind: type._attributeKind,
        elementKind: type._elementKind,
        isOptional: type._isOptionalAttribute,
        defaultValue: value?._attributeValue,
        originalName: originalName,
        rules: rules,
        preservesValueOnDeletion: preservesValueOnDeletion
      )
    )
  }

  /// Describes an attribute that a new object gets a value for at its insertion, unless it was given one:
  /// ``AttributeDescription/insertionDefault``.
  ///
  /// - Parameters:
  ///   - name: the attribute's name.
  ///   - type: the type of its values.
  ///   - originalName: the attribute's name in an earlier version of the schema; nil if it had no other.
  ///   - rules: the rules that saves check.
  ///   - preservesValueOnDeletion: whether the history keeps the last value of a deleted object.
  ///   - makeValue: makes the value of one object. It is called on whichever thread inserts.
  public static func attribute<Value: AttributeType>(
    _ name: String,
    _ type: Value.Type,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false,
    perInsert makeValue: @escaping @Sendable () -> Value
  ) -> PropertyDescription {
    var property = attribute(
      name,
      type,
      originalName: originalName,
      rules: rules,
      preservesValueOnDeletion: preservesValueOnDeletion
    )
    property.setInsertionDefault(makeValue)
    return property
  }

  /// Describes an attribute that the store makes from other values.
  ///
  /// - Parameters:
  ///   - name: the attribute's name.
  ///   - type: the type of its values.
  ///   - derivation: the rule by which the values are made.
  ///   - originalName: the attribute's name in an earlier version of the schema; nil if it had no other.
  ///   - preservesValueOnDeletion: whether the history keeps the last value of a deleted object.
  public static func attribute<Value: AttributeType>(
    _ name: String,
    _ type: Value.Type,
    derived derivation: AttributeDerivation,
    originalName: String? = nil,
    preservesValueOnDeletion: Bool = false
  ) -> PropertyDescription {
    var property = attribute(
      name,
      type,
      originalName: originalName,
      preservesValueOnDeletion: preservesValueOnDeletion
    )
    property.derive(from: derivation)
    // A new object shows this until it is saved: nil, 0, an empty string.
    property.setInsertionDefault { Value(_attributeValue: .null) ?? Value.anyValue }
    return property
  }

  /// Describes an attribute whose long values are stored outside of records. Its values are data.
  ///
  /// - Parameters:
  ///   - name: the attribute's name.
  ///   - type: `Data` or `Data?`.
  ///   - value: the value of an object that was stored before the attribute existed.
  ///   - originalName: the attribute's name in an earlier version of the schema; nil if it had no other.
  ///   - rules: the rules that saves check.
  public static func externalAttribute<Value: AttributeType>(
    _ name: String,
    _ type: Value.Type,
    default value: Value? = nil,
    originalName: String? = nil,
    rules: [AttributeRule] = []
  ) -> PropertyDescription where Value._Present == Data {
    var property = attribute(name, type, default: value, originalName: originalName, rules: rules)
    property.storeExternally()
    return property
  }

  /// Describes an attribute whose long values are stored outside of records. Its values are strings.
  ///
  /// - Parameters:
  ///   - name: the attribute's name.
  ///   - type: `String` or `String?`.
  ///   - value: the value of an object that was stored before the attribute existed.
  ///   - originalName: the attribute's name in an earlier version of the schema; nil if it had no other.
  ///   - rules: the rules that saves check.
  public static func externalAttribute<Value: AttributeType>(
    _ name: String,
    _ type: Value.Type,
    default value: Value? = nil,
    originalName: String? = nil,
    rules: [AttributeRule] = []
  ) -> PropertyDescription where Value._Present == String {
    var property = attribute(name, type, default: value, originalName: originalName, rules: rules)
    property.storeExternally()
    return property
  }

  /// Makes an attribute of strings or data one that is stored externally.
  mutating func storeExternally() {
    guard case .attribute(var attribute) = self else { return }
    guard let kind = attribute.kind.external else {
      fatalError(
        "the attribute \(name) has values of the kind \(attribute.kind), which aren't stored externally"
      )
    }
    attribute.kind = kind
    self = .attribute(attribute)
  }

  /// Makes an attribute a derived one.
  private mutating func derive(from derivation: AttributeDerivation) {
    guard case .attribute(var attribute) = self else { return }
    attribute.derivation = derivation
    self = .attribute(attribute)
  }

  /// Sets the closure that makes the initial value of an attribute.
  mutating func setInitialValue(_ makeValue: @escaping @Sendable () -> any AttributeType) {
    guard case .attribute(var attribute) = self else { return }
    attribute.initialValue = makeValue
    self = .attribute(attribute)
  }

  /// Sets the closure that makes the value of an attribute at an insertion.
  mutating func setInsertionDefault(_ makeValue: @escaping @Sendable () -> any AttributeType) {
    guard case .attribute(var attribute) = self else { return }
    attribute.insertionDefault = makeValue
    self = .attribute(attribute)
  }
}
