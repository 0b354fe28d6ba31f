// A to-many relationship without an inverse has a hidden one: a to-many relationship of the destination that is in the
// catalogue, and in no class. So its links are those of a many-to-many relationship, and a deleted object leaves the
// lists that it is in.

extension RelationshipDescription {
  /// The ``inverse`` of a to-many relationship to which no relationship leads back, although the destination has
  /// relationships to the entity without an inverse. A ``Schema`` puts the name of the hidden inverse in its place.
  public static let hiddenInverse = ".inverse"

  /// Returns the name of the hidden inverse of a relationship. Because of its points, no property in Swift has this
  /// name.
  fileprivate static func hiddenInverse(of relationship: String, in entity: String) -> String {
    "\(entity).\(relationship)\(hiddenInverse)"
  }

  /// True if the relationship is the hidden inverse of another, which the library keeps.
  public var isHiddenInverse: Bool { name.hasSuffix(Self.hiddenInverse) }

  /// True if no relationship that a model declares leads back.
  var hasHiddenInverse: Bool { inverse?.hasSuffix(Self.hiddenInverse) ?? false }
}

extension PropertyDescription {
  /// True if the property is the hidden inverse of a to-many relationship, which the library keeps.
  public var isHiddenInverse: Bool { relationship?.isHiddenInverse ?? false }
}

extension Schema {
  /// Gives each to-many relationship without an inverse a hidden one, behind all properties of its destination. Hidden
  /// inverses that are there are made anew: entities and relationships may have got other names.
  static func addingHiddenInverses(_ entities: [EntityDescription]) -> [EntityDescription] {
    var entities = entities
    var added: [String: [PropertyDescription]] = [:]
    for place in entities.indices {
      let name = entities[place].name
      entities[place].properties = entities[place].declaredOrPlaced.map { property in
        guard var relationship = property.relationship,
          relationship.inverse == nil || relationship.hasHiddenInverse
        else { return property }
        relationship.inverse = nil
        if relationship.isToMany {
          let inverse = RelationshipDescription.hiddenInverse(of: relationship.name, in: name)
          relationship.inverse = inverse
          added[relationship.destination, default: []].append(
            .toMany(inverse, to: name, inverse: relationship.name)
          )
        }
        return .relationship(relationship)
      }
    }
    for place in entities.indices { entities[place].properties += added[entities[place].name] ?? [] }
    return entities
  }

  /// Returns the problems of relationships without an inverse that look like two ends of a pair: a to-many
  /// relationship, and one that leads back.
  static func unpairedProblems(in entities: [EntityDescription]) -> [String] {
    let unpaired = Dictionary(
      grouping: entities.flatMap { entity in
        entity.relationships.filter { $0.inverse == nil }.map { (entity: entity.name, relationship: $0) }
      }
    ) { [$0.entity, $0.relationship.destination] }
    return entities.flatMap { entity in
      entity.relationships.filter { $0.isToMany && $0.inverse == nil }.compactMap { relationship in
        let others = unpaired[[relationship.destination, entity.name]] ?? []
        guard
          let other = others.first(where: {
            $0.entity != entity.name || $0.relationship.name != relationship.name
          })
        else { return nil }
        return
          "\(entity.name).\(relationship.name) and \(other.entity).\(other.relationship.name) lead to each other, "
          + "and neither is named as the other's inverse: name it at one end, or say that "
          + "\(entity.name).\(relationship.name) has a hidden one"
      }
    }
  }
}

extension EntityDescription {
  /// All properties but the hidden inverses.
  fileprivate var declaredOrPlaced: [PropertyDescription] { properties.filter { !$0.isHiddenInverse } }
}
