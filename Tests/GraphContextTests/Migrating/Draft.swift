import GraphContext
import Predicates

/// A schema that a test changes. Entities and properties have keys of their own, which they keep under every name: what the library has to
/// find out by names, a test knows.
struct Draft {
  struct Attribute {
    var kind: AttributeKind
    var isOptional: Bool
    var defaultValue: AttributeValue?
  }

  struct Relationship {
    /// The key of an entity.
    var destination: Int
    var cardinality: RelationshipDescription.Cardinality
    /// The key of the relationship that leads back.
    var inverse: Int?
    var deleteRule = DeleteRule.nullify

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

    var attribute: Attribute? { if case .attribute(let attribute) = content { attribute } else { nil } }
    var relationship: Relationship? {
      if case .relationship(let relationship) = content { relationship } else { nil }
    }
    var isStored: Bool { relationship?.isToMany != true }
    var isIndexable: Bool { isStored && attribute?.kind.isComparable != false }
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
  }

  var entities: [Entity] = []
  private(set) var lastKey = 0

  mutating func takeKey() -> Int {
    lastKey += 1
    return lastKey
  }

  // MARK: Looking up

  func entityPlace(_ key: Int) -> Int { entities.firstIndex { $0.key == key } ?? 0 }

  /// Where a property is: the places of its entity and its own.
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
      originalName: entity.originalName
    )
  }

  private func description(of property: Property) -> PropertyDescription {
    switch property.content {
    case .attribute(let attribute):
      .attribute(
        AttributeDescription(
          name: property.name,
          kind: attribute.kind,
          isOptional: attribute.isOptional,
          defaultValue: attribute.defaultValue,
          originalName: property.originalName
        )
      )
    case .relationship(let relationship):
      .relationship(
        RelationshipDescription(
          name: property.name,
          destination: entities[entityPlace(relationship.destination)].name,
          cardinality: relationship.cardinality,
          inverse: relationship.inverse.map { self[property: $0].name }
            ?? (relationship.isToMany ? RelationshipDescription.hiddenInverse : nil),
          deleteRule: relationship.deleteRule,
          originalName: property.originalName
        )
      )
    }
  }
}
