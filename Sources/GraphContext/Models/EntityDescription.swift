import Predicates

/// What the schema says of the objects of one model: their attributes, their relationships, their indexes.
///
/// A plain value. It is stored with the data, so a store can be read without the classes it was written with.
public struct EntityDescription: Sendable, Hashable, Codable {
  public var name: String
  /// In the order of their declaration, which is the order of the values in a record.
  public var properties: [PropertyDescription]
  public var indexes: [IndexDescription]

  public init(name: String, properties: [PropertyDescription], indexes: [IndexDescription] = []) {
    self.name = name
    self.properties = properties
    self.indexes = indexes
  }

  public var attributes: [AttributeDescription] {
    properties.compactMap { if case .attribute(let attribute) = $0 { attribute } else { nil } }
  }

  public var relationships: [RelationshipDescription] {
    properties.compactMap { if case .relationship(let relationship) = $0 { relationship } else { nil } }
  }

  /// Attributes and to-one relationships, in slot order.
  public var storedProperties: [PropertyDescription] { properties.filter { !$0.isToMany } }

  /// In declaration order: a to-many relationship is known by its place here.
  public var toManyRelationships: [RelationshipDescription] { relationships.filter(\.isToMany) }

  /// The property of this name. O(properties).
  public func property(named name: String) -> PropertyDescription? { properties.first { $0.name == name } }
}

/// An attribute or a relationship of an entity.
public enum PropertyDescription: Sendable, Hashable, Codable {
  case attribute(AttributeDescription)
  case relationship(RelationshipDescription)

  public var name: String {
    switch self {
    case .attribute(let attribute): attribute.name
    case .relationship(let relationship): relationship.name
    }
  }

  public var isRelationship: Bool { if case .relationship = self { true } else { false } }

  /// Whether the property has no slot in the record.
  public var isToMany: Bool {
    if case .relationship(let relationship) = self { relationship.isToMany } else { false }
  }
}

// MARK: - Descriptions from types

extension PropertyDescription {
  /// An attribute whose kind and optionality are those of a Swift type.
  public static func attribute(_ name: String, _ type: (some AttributeType).Type) -> PropertyDescription {
    .attribute(
      AttributeDescription(name: name, kind: type.attributeKind, isOptional: type.isOptionalAttribute)
    )
  }

  /// A to-one relationship that can be nil.
  public static func toOne(
    _ name: String,
    _ target: (some ManagedObject).Type,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destination: target.entityName,
        cardinality: .optional,
        inverse: inverse,
        deleteRule: deleteRule
      )
    )
  }

  /// A to-one relationship that always leads to an object.
  public static func requiredToOne(
    _ name: String,
    _ target: (some ManagedObject).Type,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destination: target.entityName,
        cardinality: .required,
        inverse: inverse,
        deleteRule: deleteRule
      )
    )
  }

  /// A to-many relationship.
  public static func toMany(
    _ name: String,
    _ target: (some ManagedObject).Type,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destination: target.entityName,
        cardinality: .many,
        inverse: inverse,
        deleteRule: deleteRule
      )
    )
  }
}
