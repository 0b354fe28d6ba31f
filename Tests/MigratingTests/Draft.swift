import Predicates

@testable import GraphContext

/// A schema that a test changes. Entities and properties have keys of their own, which they keep under every name.
/// The library has to match them by name; the test knows them by key.
struct Draft {
  struct Attribute {
    var kind: AttributeKind
    /// The kind of a list's elements; nil for an attribute that is no list.
    var elementKind: AttributeKind?
    var isOptional: Bool
    var defaultValue: AttributeValue?
    var derivation: Derivation?
    /// The role of the attribute in an embedded value that may be nil; nil for any other attribute.
    var role: EmbeddedRole?
  }

  /// The role of an attribute in an embedded value that may be nil.
  enum EmbeddedRole: Equatable {
    /// True where the value is there, else nil.
    case flag
    case part(isRequired: Bool)
  }

  /// The sources of a derived attribute, by the keys of properties.
  enum Derivation {
    case count(of: Int)
    case aggregate(Function, over: Int, of: Int)
    case folded(Int)

    enum Function: String, CaseIterable { case sum, min, max }
  }

  struct Relationship {
    /// The key of an entity.
    var destination: Int
    /// The key of the class that it leads to; nil for all objects of the entity.
    var destinationClass: Int?
    var cardinality: RelationshipDescription.Cardinality
    /// The key of the relationship that leads back.
    var inverse: Int?
    var deleteRule = DeleteRule.nullify
    /// If one end leads to one object, both ends have the same value.
    var isOrdered = false

    var isToMany: Bool { cardinality == .many }
  }

  enum Content {
    case attribute(Attribute)
    case relationship(Relationship)
  }

  struct Property {
    let key: Int
    var name: String
    var originalName: String?
    var content: Content
    /// The key of the class below the root that declares the property; nil for the root.
    var classKey: Int?

    var attribute: Attribute? { if case .attribute(let attribute) = content { attribute } else { nil } }
    var relationship: Relationship? {
      if case .relationship(let relationship) = content { relationship } else { nil }
    }
    var isStored: Bool { relationship?.isToMany != true }
    var isIndexable: Bool { isStored && attribute?.kind.isComparable != false && !isFlag }
    var isFlag: Bool { attribute?.role == .flag }
    /// Whether it belongs to an embedded value that may be nil.
    var isEmbedded: Bool { attribute?.role != nil }
    var isList: Bool { attribute?.elementKind != nil }
    var isDerived: Bool { attribute?.derivation != nil }
  }

  struct Index {
    var properties: [Int]
    var isUnique = false
    var folding: IndexFolding = []
  }

  struct Entity {
    let key: Int
    var name: String
    var originalName: String?
    var properties: [Property] = []
    var indexes: [Index] = []
    /// The classes below the root; empty where no class inherits from another.
    var classes: [Class] = []

    /// Returns true if a class is equal to another class, or below it.
    ///
    /// - Parameter member: the key of a class; nil for the root.
    func isClass(_ member: Int?, _ other: Int?) -> Bool {
      guard let other else { return true }
      var member = member
      while let key = member {
        if key == other { return true }
        member = classes.first { $0.key == key }?.parent
      }
      return false
    }
  }

  /// A class of an entity's objects.
  struct Class {
    let key: Int
    var name: String
    /// Nil for the root.
    var parent: Int?
    var originalName: String?
  }

  var entities: [Entity] = []
  private(set) var lastKey = 0

  mutating func takeKey() -> Int {
    lastKey += 1
    return lastKey
  }

  // MARK: Looking up

  func entityPlace(_ key: Int) -> Int { entities.firstIndex { $0.key == key } ?? 0 }

  /// Returns the positions of a property and of its entity.
  func place(of property: Int) -> (entity: Int, property: Int) {
    for (place, entity) in entities.enumerated() {
      if let own = entity.properties.firstIndex(where: { $0.key == property }) { return (place, own) }
    }
    preconditionFailure("no property has the key \(property)")
  }

  subscript(property key: Int) -> Property {
    get {
      let (entity, property) = place(of: key)
      return entities[entity].properties[property]
    }
    set {
      let (entity, property) = place(of: key)
      entities[entity].properties[property] = newValue
    }
  }

  func relationship(_ key: Int) -> Relationship {
    guard let relationship = self[property: key].relationship else {
      preconditionFailure("\(key) is no relationship")
    }
    return relationship
  }

  mutating func changeRelationship(_ key: Int, _ body: (inout Relationship) -> Void) {
    var relationship = relationship(key)
    body(&relationship)
    self[property: key].content = .relationship(relationship)
  }

  // MARK: As a schema

  func schema() throws(SchemaError) -> Schema { try Schema(entities: entities.map(description)) }

  private func description(of entity: Entity) -> EntityDescription {
    EntityDescription(
      name: entity.name,
      properties: entity.properties.map(description),
      indexes: entity.indexes.map { index in
        IndexDescription(
          index.properties.map { self[property: $0].name },
          isUnique: index.isUnique,
          folding: index.folding
        )
      },
      originalName: entity.originalName,
      classes: classes(of: entity)
    )
  }

  private func classes(of entity: Entity) -> [ClassDescription] {
    if entity.classes.isEmpty { return [] }
    func own(_ key: Int?) -> [String] { entity.properties.filter { $0.classKey == key }.map(\.name) }
    return [ClassDescription(name: entity.name, properties: own(nil))]
      + entity.classes.map { member in
        ClassDescription(
          name: member.name,
          parent: className(member.parent, of: entity),
          properties: own(member.key),
          originalName: member.originalName
        )
      }
  }

  private func rule(_ derivation: Derivation) -> AttributeDerivation {
    switch derivation {
    case .count(let key): AttributeDerivation("\(name(key)).@count")
    case .aggregate(let function, let key, let attribute):
      AttributeDerivation("\(name(key)).@\(function.rawValue).\(name(attribute))")
    case .folded(let key): AttributeDerivation("\(name(key))[c]")
    }
  }

  /// Returns the name of a property; an empty name if the property was removed. The schema then refuses the rule.
  private func name(_ key: Int) -> String {
    entities.lazy.flatMap(\.properties).first { $0.key == key }?.name ?? ""
  }

  private func className(_ key: Int?, of entity: Entity) -> String {
    entity.classes.first { $0.key == key }?.name ?? entity.name
  }

  private func description(of property: Property) -> PropertyDescription {
    switch property.content {
    case .attribute(let attribute): .attribute(description(of: attribute, property))
    case .relationship(let relationship):
      .relationship(
        RelationshipDescription(
          name: property.name,
          destination: className(
            relationship.destinationClass,
            of: entities[entityPlace(relationship.destination)]
          ),
          cardinality: relationship.cardinality,
          inverse: relationship.inverse.map { self[property: $0].name }
            ?? (relationship.isToMany ? RelationshipDescription.hiddenInverse : nil),
          deleteRule: relationship.deleteRule,
          isOrdered: relationship.isOrdered,
          originalName: property.originalName
        )
      )
    }
  }

  private func description(of attribute: Attribute, _ property: Property) -> AttributeDescription {
    var description = AttributeDescription(
      name: property.name,
      kind: attribute.kind,
      elementKind: attribute.elementKind,
      isOptional: attribute.isOptional,
      defaultValue: attribute.defaultValue,
      originalName: property.originalName,
      derivation: attribute.derivation.map(rule)
    )
    if case .part(let isRequired)? = attribute.role {
      description.isRequiredPart = isRequired
      description.partDefault = attribute.defaultValue
      description.defaultValue = nil
    }
    return description
  }
}
