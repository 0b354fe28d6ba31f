import Foundation
import Predicates

/// A schema in a form that people write and programs exchange, such as JSON: `cambium schema --json` prints it, and
/// `cambium migrate` reads it.
///
/// It contains everything that a ``Schema`` has, original names and defaults included. A value that is left
/// out is the value of a new description.
public struct SchemaDocument: Sendable, Hashable, Codable {
  /// The version of the schema, if it has one.
  public var version: Schema.Version?
  /// The entities, in the order of the schema.
  public var entities: [Entity]

  /// An entity, as ``EntityDescription`` says it.
  public struct Entity: Sendable, Hashable, Codable {
    /// The entity's name.
    public var name: String
    /// The entity's name in an earlier version of the schema.
    public var originalName: String?
    /// The attributes and relationships, in the order of their declaration.
    public var properties: [Property]
    /// The indexes; nil is none.
    public var indexes: [Index]?
    /// The classes that inherit from each other, the root first; nil where there is one class.
    public var classes: [Class]?
  }

  /// A class, as ``ClassDescription`` says it.
  public struct Class: Sendable, Hashable {
    /// The class's name.
    public var name: String
    /// The class that it inherits from; nil for the root.
    public var parent: String?
    /// True if only its subclasses have objects.
    public var isAbstract: Bool
    /// The names of the properties that the class declares itself.
    public var properties: [String]
    /// The names of the properties of a subclass for which its objects need a value.
    public var required: [String]
    /// The class's name in an earlier version of the schema.
    public var originalName: String?
  }

  /// An attribute or a relationship, as ``PropertyDescription`` says it.
  public struct Property: Sendable, Hashable {
    /// The property's name.
    public var name: String
    /// An attribute's kind, such as `int64`; for a relationship `toOne` or `toMany`.
    public var kind: String
    /// True if nil is a value; nil is no. Not given for a to-many relationship.
    public var isOptional: Bool?
    /// For a part of an embedded value that may be nil: true if the part may not be nil where the value is there. Nil
    /// for any other attribute.
    public var isRequiredPart: Bool?
    /// The value for objects that were stored before the attribute existed. A number, a string, true or false; a date
    /// in ISO 8601, data in Base64.
    public var defaultValue: AttributeValue?
    /// The property's name in an earlier version of the schema.
    public var originalName: String?
    /// The entity that a relationship leads to.
    public var destination: String?
    /// The relationship of the destination that leads back.
    public var inverse: String?
    /// The effect of an object's deletion on the objects at the other end; nil is nullify.
    public var deleteRule: DeleteRule?
    /// True if a relationship is ordered; nil is no.
    public var isOrdered: Bool?
    /// The rule by which the store makes an attribute's value; nil for an attribute that programs set.
    public var derivation: AttributeDerivation?
  }

  /// An index, as ``IndexDescription`` says it.
  public struct Index: Sendable, Hashable, Codable {
    /// The names of the properties, in the order in which entries are sorted by them.
    public var properties: [String]
    /// True if no two objects have equal values; nil is no.
    public var isUnique: Bool?
    /// The folding: `c`, `d` or `cd`.
    public var folding: IndexFolding?
  }

  /// Makes the document of a schema. O(properties and indexes).
  public init(_ schema: Schema, version: Schema.Version? = nil) {
    self.version = version
    entities = schema.entities.map(Entity.init)
  }

  /// Returns the schema that the document describes.
  ///
  /// - Throws: `SchemaError`, which names everything that is wrong.
  public func schema() throws(SchemaError) -> Schema {
    let problems = entities.flatMap { entity in
      entity.properties.compactMap { $0.problem.map { "\(entity.name).\($0)" } }
    }
    guard problems.isEmpty else { throw SchemaError(problems: problems) }
    return try Schema(entities: entities.map(\.description))
  }
}

// MARK: - Entities

extension SchemaDocument.Entity {
  fileprivate init(_ entity: EntityDescription) {
    name = entity.name
    originalName = entity.earlierName
    properties = entity.declaredProperties.map(SchemaDocument.Property.init)
    let indexes = entity.declaredIndexes
    self.indexes = indexes.isEmpty ? nil : indexes.map(SchemaDocument.Index.init)
    classes = entity.classes.isEmpty ? nil : entity.classes.map(SchemaDocument.Class.init)
  }

  fileprivate var description: EntityDescription {
    EntityDescription(
      name: name,
      properties: properties.compactMap(\.description),
      indexes: (indexes ?? []).map {
        IndexDescription($0.properties, isUnique: $0.isUnique ?? false, folding: $0.folding ?? [])
      },
      originalName: originalName,
      classes: (classes ?? []).map(\.description)
    )
  }
}

extension SchemaDocument.Class {
  fileprivate init(_ member: ClassDescription) {
    name = member.name
    parent = member.parent
    isAbstract = member.isAbstract
    properties = member.properties
    required = member.required
    originalName = member.originalName == member.name ? nil : member.originalName
  }

  fileprivate var description: ClassDescription {
    ClassDescription(
      name: name,
      parent: parent,
      isAbstract: isAbstract,
      properties: properties,
      required: required,
      originalName: originalName
    )
  }
}

extension SchemaDocument.Index {
  fileprivate init(_ index: IndexDescription) {
    properties = index.properties
    isUnique = index.isUnique ? true : nil
    folding = index.folding.isEmpty ? nil : index.folding
  }
}

// MARK: - Properties

extension SchemaDocument.Property {
  private static let toOne = "toOne"
  private static let toMany = "toMany"

  fileprivate init(_ property: PropertyDescription) {
    name = property.name
    originalName = property.earlierName
    switch property {
    case .attribute(let attribute):
      kind = attribute.typeText
      isOptional = attribute.isOptional ? true : nil
      isRequiredPart = attribute.isRequiredPart
      defaultValue = attribute.partDefault ?? attribute.defaultValue
      derivation = attribute.derivation
    case .relationship(let relationship):
      kind = relationship.isToMany ? Self.toMany : Self.toOne
      isOptional = relationship.cardinality == .optional ? true : nil
      destination = relationship.destination
      inverse = relationship.inverse
      deleteRule = relationship.deleteRule == .nullify ? nil : relationship.deleteRule
      isOrdered = relationship.isOrdered ? true : nil
    }
  }

  fileprivate var attributeKind: AttributeKind? { elementKind == nil ? Self.kind(named: kind) : .coded }

  /// The kind of the elements of a list, such as `[string]`.
  private var elementKind: AttributeKind? {
    guard kind.hasPrefix("["), kind.hasSuffix("]") else { return nil }
    return Self.kind(named: String(kind.dropFirst().dropLast())).flatMap { $0 == .coded ? nil : $0 }
  }

  private static func kind(named name: String) -> AttributeKind? {
    AttributeKind.allCases.first { $0 != .reference && $0 != .place && "\($0)" == name }
  }

  private var isRelationship: Bool { kind == Self.toOne || kind == Self.toMany }

  /// The reason why this describes no valid property; nil if it does.
  fileprivate var problem: String? {
    if isRelationship { return destination == nil ? "\(name) has no destination" : nil }
    return attributeKind == nil ? "\(name) is of the kind \(kind), which doesn't exist" : nil
  }

  /// The description; nil if there is a ``problem``.
  fileprivate var description: PropertyDescription? {
    if let attributeKind {
      var attribute = AttributeDescription(
        name: name,
        kind: attributeKind,
        elementKind: elementKind,
        isOptional: isOptional ?? false,
        defaultValue: isRequiredPart == nil ? defaultValue : nil,
        originalName: originalName,
        derivation: derivation
      )
      attribute.isRequiredPart = isRequiredPart
      if isRequiredPart != nil { attribute.partDefault = defaultValue }
      return .attribute(attribute)
    }
    guard isRelationship, let destination else { return nil }
    return .relationship(
      RelationshipDescription(
        name: name,
        destination: destination,
        cardinality: kind == Self.toMany ? .many : isOptional ?? false ? .optional : .required,
        inverse: inverse,
        deleteRule: deleteRule ?? .nullify,
        isOrdered: isOrdered ?? false,
        originalName: originalName
      )
    )
  }
}

// MARK: - Coding

extension SchemaDocument.Class: Codable {
  private enum CodingKeys: CodingKey { case name, parent, isAbstract, properties, required, originalName }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      ClassDescription(
        name: try container.decode(String.self, forKey: .name),
        parent: try container.decodeIfPresent(String.self, forKey: .parent),
        isAbstract: try container.decodeIfPresent(Bool.self, forKey: .isAbstract) ?? false,
        properties: try container.decodeIfPresent([String].self, forKey: .properties) ?? [],
        required: try container.decodeIfPresent([String].self, forKey: .required) ?? [],
        originalName: try container.decodeIfPresent(String.self, forKey: .originalName)
      )
    )
  }
}

extension SchemaDocument.Property: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, kind, isOptional, isRequiredPart
    case defaultValue = "default"
    case originalName, destination, inverse, deleteRule, isOrdered
    case derivation = "derived"
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    kind = try container.decode(String.self, forKey: .kind)
    isOptional = try container.decodeIfPresent(Bool.self, forKey: .isOptional)
    isRequiredPart = try container.decodeIfPresent(Bool.self, forKey: .isRequiredPart)
    originalName = try container.decodeIfPresent(String.self, forKey: .originalName)
    destination = try container.decodeIfPresent(String.self, forKey: .destination)
    inverse = try container.decodeIfPresent(String.self, forKey: .inverse)
    deleteRule = try container.decodeIfPresent(DeleteRule.self, forKey: .deleteRule)
    isOrdered = try container.decodeIfPresent(Bool.self, forKey: .isOrdered)
    derivation = try container.decodeIfPresent(AttributeDerivation.self, forKey: .derivation)
    if let attributeKind {
      let plain = try container.decodeIfPresent(PlainValue.self, forKey: .defaultValue)
      defaultValue = try plain.map { plain in
        if let value = plain.value(of: attributeKind) { return value }
        throw DecodingError.dataCorruptedError(
          forKey: .defaultValue,
          in: container,
          debugDescription: "the default of \(name) is no \(kind)"
        )
      }
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(kind, forKey: .kind)
    try container.encodeIfPresent(isOptional, forKey: .isOptional)
    try container.encodeIfPresent(isRequiredPart, forKey: .isRequiredPart)
    if let defaultValue {
      guard let plain = PlainValue(defaultValue) else {
        let context = EncodingError.Context(
          codingPath: container.codingPath,
          debugDescription: "the default of \(name) can't be written as text"
        )
        throw EncodingError.invalidValue(defaultValue, context)
      }
      try container.encode(plain, forKey: .defaultValue)
    }
    try container.encodeIfPresent(originalName, forKey: .originalName)
    try container.encodeIfPresent(destination, forKey: .destination)
    try container.encodeIfPresent(inverse, forKey: .inverse)
    try container.encodeIfPresent(deleteRule, forKey: .deleteRule)
    try container.encodeIfPresent(isOrdered, forKey: .isOrdered)
    try container.encodeIfPresent(derivation, forKey: .derivation)
  }
}
