/// Finds the entities of a schema, and their properties, by name: each in O(1), so that checking a schema and working
/// it out take time in proportion to its length.
struct SchemaNames {
  /// Positions of the entities, by name. Of two of the same name, the first.
  let ordinals: [String: Int]
  /// The entities, by their position.
  let entities: [EntityNames]

  init(_ entities: [EntityDescription]) {
    ordinals = Dictionary(
      entities.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
    self.entities = entities.map(EntityNames.init)
  }

  func entity(named name: String) -> EntityNames? { ordinals[name].map { entities[$0] } }
}

/// Finds the properties of an entity by name. Of two of the same name, the first.
struct EntityNames {
  let description: EntityDescription
  /// The stored properties, in slot order.
  let storedProperties: [PropertyDescription]
  /// The to-many relationships, in the order of their declaration.
  let toManyRelationships: [RelationshipDescription]
  private let properties: [String: PropertyDescription]
  private let slots: [String: Int]
  private let toManyPlaces: [String: Int]

  init(_ entity: EntityDescription) {
    description = entity
    storedProperties = entity.storedProperties
    toManyRelationships = entity.toManyRelationships
    properties = Self.first(entity.properties.map { ($0.name, $0) })
    slots = Self.first(storedProperties.enumerated().map { ($1.name, $0) })
    toManyPlaces = Self.first(toManyRelationships.enumerated().map { ($1.name, $0) })
  }

  private static func first<Value>(_ pairs: [(String, Value)]) -> [String: Value] {
    Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  func property(named name: String) -> PropertyDescription? { properties[name] }
  func slot(named name: String) -> Int? { slots[name] }
  func toManyPlace(named name: String) -> Int? { toManyPlaces[name] }
}
