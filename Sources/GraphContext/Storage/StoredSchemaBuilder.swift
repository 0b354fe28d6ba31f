import Predicates

/// Looks up every name in a schema once, and turns it into what saving and faulting need.
struct StoredSchemaBuilder {
  private let schema: Schema
  private let names: SchemaNames
  var ordinals: [String: Int] { names.ordinals }

  init(_ schema: Schema) {
    self.schema = schema
    names = SchemaNames(schema.entities)
  }

  /// O(entities, properties and indexes).
  func build() throws(ContextError) -> [StoredEntity] {
    var toOnes: [[StoredToOne]] = []
    var toManys: [[StoredToMany]] = []
    for entity in names.entities {
      toOnes.append(try self.toOnes(of: entity))
      toManys.append(try self.toManys(of: entity))
    }
    let incoming = incoming(toOnes, toManys)
    let incomingPairs = incomingPairs(toManys)
    var built: [StoredEntity] = []
    for (ordinal, entity) in schema.entities.enumerated() {
      guard let entitySchema = schema.entitySchema(named: entity.name) else {
        throw unknown(entity.name, in: entity)
      }
      built.append(
        StoredEntity(
          ordinal: ordinal,
          schema: entitySchema,
          toOnes: toOnes[ordinal],
          toManys: toManys[ordinal],
          incoming: incoming[ordinal],
          incomingPairs: incomingPairs[ordinal]
        )
      )
    }
    return built
  }

  private func toOnes(of entity: EntityNames) throws(ContextError) -> [StoredToOne] {
    var result: [StoredToOne] = []
    for (slot, property) in entity.storedProperties.enumerated() {
      guard case .relationship(let relationship) = property else { continue }
      let (destination, inverse) = try destination(of: relationship, in: entity.description)
      var way = StoredToOne.Inverse.none
      if let inverse, inverse.isToMany {
        way =
          names.entities[destination].toManyPlace(named: inverse.name).map(StoredToOne.Inverse.toMany)
          ?? .none
      } else if let inverse {
        way = names.entities[destination].slot(named: inverse.name).map(StoredToOne.Inverse.toOne) ?? .none
      }
      result.append(
        StoredToOne(
          name: relationship.name,
          slot: slot,
          destination: destination,
          treeName: TreeName.references(relationship.name, of: entity.description.name),
          isRequired: relationship.cardinality == .required,
          deleteRule: relationship.deleteRule,
          inverse: way
        )
      )
    }
    return result
  }

  private func toManys(of entity: EntityNames) throws(ContextError) -> [StoredToMany] {
    var result: [StoredToMany] = []
    for (ordinal, relationship) in entity.toManyRelationships.enumerated() {
      let (destination, inverse) = try destination(of: relationship, in: entity.description)
      result.append(
        StoredToMany(
          name: relationship.name,
          ordinal: ordinal,
          destination: destination,
          deleteRule: relationship.deleteRule,
          storage: storage(of: relationship, in: entity.description, inverse: inverse)
        )
      )
    }
    return result
  }

  private func storage(
    of relationship: RelationshipDescription,
    in entity: EntityDescription,
    inverse: RelationshipDescription?
  ) -> StoredToMany.Storage {
    let target = relationship.destination
    let forward = TreeName.pairs(relationship.name, of: entity.name)
    guard let inverse, let other = names.entity(named: target) else {
      let backward = TreeName.reversedPairs(relationship.name, of: entity.name)
      return .pairs(PairTrees(forward: forward, backward: backward, inverse: nil))
    }
    if let slot = other.slot(named: inverse.name), !inverse.isToMany {
      return .references(slot: slot, treeName: TreeName.references(inverse.name, of: target))
    }
    // A relationship that is its own inverse (friends) has one tree, which holds each pair both ways.
    let backward = TreeName.pairs(inverse.name, of: target)
    let ordinal = other.toManyPlace(named: inverse.name)
    return .pairs(PairTrees(forward: forward, backward: backward, inverse: ordinal))
  }

  private func destination(
    of relationship: RelationshipDescription,
    in entity: EntityDescription
  ) throws(ContextError) -> (ordinal: Int, inverse: RelationshipDescription?) {
    guard let ordinal = ordinals[relationship.destination] else {
      throw unknown(relationship.destination, in: entity)
    }
    guard let name = relationship.inverse else { return (ordinal, nil) }
    guard case .relationship(let inverse)? = names.entities[ordinal].property(named: name) else {
      throw unknown("\(relationship.destination).\(name)", in: entity)
    }
    return (ordinal, inverse)
  }

  private func unknown(_ name: String, in entity: EntityDescription) -> ContextError {
    ContextError(
      .unknownEntity,
      "\(entity.name) has a relationship to \(name), which the schema doesn't have",
      context: .init(entity: entity.name)
    )
  }

  // MARK: The other direction

  /// By the ordinal of the entity that they lead to.
  private func incoming(_ toOnes: [[StoredToOne]], _ toManys: [[StoredToMany]]) -> [[IncomingToOne]] {
    var incoming: [[IncomingToOne]] = toOnes.map { _ in [] }
    for (source, relationships) in toOnes.enumerated() {
      for toOne in relationships {
        let rule = rule(of: toOne, at: toOne.destination, toOnes, toManys)
        incoming[toOne.destination].append(IncomingToOne(source: source, toOne: toOne, rule: rule))
      }
    }
    return incoming
  }

  private func rule(
    of toOne: StoredToOne,
    at destination: Int,
    _ toOnes: [[StoredToOne]],
    _ toManys: [[StoredToMany]]
  ) -> DeleteRule {
    switch toOne.inverse {
    case .none: .nullify
    case .toMany(let ordinal): toManys[destination][ordinal].deleteRule
    case .toOne(let slot): toOnes[destination].first { $0.slot == slot }?.deleteRule ?? .nullify
    }
  }

  /// By the ordinal of the entity that they lead to.
  private func incomingPairs(_ toManys: [[StoredToMany]]) -> [[IncomingPairs]] {
    var incoming: [[IncomingPairs]] = toManys.map { _ in [] }
    for (source, relationships) in toManys.enumerated() {
      for toMany in relationships {
        guard case .pairs(let trees) = toMany.storage, trees.inverse == nil else { continue }
        incoming[toMany.destination].append(IncomingPairs(source: source, trees: trees))
      }
    }
    return incoming
  }
}
