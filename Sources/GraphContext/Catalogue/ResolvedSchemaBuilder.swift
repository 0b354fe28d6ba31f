import Predicates

/// Looks up every name in a schema once, and makes the entities that saving and faulting need.
struct ResolvedSchemaBuilder {
  private let schema: Schema
  let names: SchemaNames
  /// The store's entities, by the entity's position in the schema; nil for an entity that the store doesn't have.
  private let catalogued: [CataloguedEntity?]
  /// The properties, by the entity's position and by name.
  private let properties: [[String: CataloguedProperty]]
  var ordinals: [String: Int] { names.ordinals }

  init(_ schema: Schema, _ catalogue: CataloguedSchema) {
    self.schema = schema
    names = SchemaNames(schema.entities)
    let known = catalogue.entitiesByName
    catalogued = schema.entities.map { known[$0.name] }
    properties = catalogued.map { $0?.propertiesByName ?? [:] }
  }

  /// Makes the entities. O(entities, properties and indexes).
  func build() throws(ContextError) -> [StoredEntity] {
    var toOnes: [[StoredToOne]] = []
    var toManys: [[StoredToMany]] = []
    for entity in names.entities {
      toOnes.append(try self.toOnes(of: entity))
      toManys.append(try self.toManys(of: entity))
    }
    let incoming = incoming(toOnes, toManys)
    var built: [StoredEntity] = []
    for (ordinal, entity) in schema.entities.enumerated() {
      guard let entitySchema = schema.entitySchema(named: entity.name), let known = catalogued[ordinal] else {
        throw unknown(entity.name, in: entity)
      }
      built.append(
        StoredEntity(
          ordinal: ordinal,
          schema: entitySchema,
          catalogued: known,
          toOnes: toOnes[ordinal],
          toManys: toManys[ordinal],
          incoming: incoming[ordinal],
          derivations: derivations(of: names.entities[ordinal], toManys[ordinal])
        )
      )
    }
    return built
  }

  private func toOnes(of entity: EntityNames) throws(ContextError) -> [StoredToOne] {
    var result: [StoredToOne] = []
    guard let ordinal = ordinals[entity.description.name] else { return [] }
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
          links: LinkTable(
            origin: .reference(entity: ordinal, slot: slot),
            treeName: try tree(of: relationship.name, entity.description.name)
          ),
          deleteRule: relationship.deleteRule,
          inverse: way,
          list: try list(of: relationship, at: slot, in: entity, ordinal)
        )
      )
    }
    return result
  }

  /// Returns the order of the objects that a to-one relationship leads from; nil for none.
  private func list(
    of relationship: RelationshipDescription,
    at slot: Int,
    in entity: EntityNames,
    _ ordinal: Int
  ) throws(ContextError) -> ReferenceList? {
    guard relationship.isOrdered else { return nil }
    let index = IndexDescription([relationship.name, relationship.placeName])
    guard let placeSlot = entity.slot(named: relationship.placeName),
      let treeName = catalogued[ordinal]?.treesOfIndexes[index.name]
    else { throw unknownRelationship(relationship.placeName, entity.description.name) }
    let slots = PlaceSlots(reference: slot, place: placeSlot)
    return ReferenceList(entity: ordinal, slots: slots, treeName: treeName)
  }

  private func toManys(of entity: EntityNames) throws(ContextError) -> [StoredToMany] {
    var result: [StoredToMany] = []
    guard let owner = ordinals[entity.description.name] else { return [] }
    for (ordinal, relationship) in entity.toManyRelationships.enumerated() {
      let (destination, inverse) = try destination(of: relationship, in: entity.description)
      let storage = try storage(of: relationship, in: entity.description, inverse: inverse)
      result.append(
        StoredToMany(
          name: relationship.name,
          ordinal: ordinal,
          destination: destination,
          deleteRule: relationship.deleteRule,
          storage: storage,
          isHidden: relationship.isHiddenInverse,
          hasHiddenInverse: relationship.hasHiddenInverse,
          links: storage.links(from: owner, ordinal, to: destination),
          list: try list(of: storage, from: owner, ordinal, inverse, to: destination)
        )
      )
    }
    return result
  }

  /// Returns the order of the elements of a to-many relationship; nil for none.
  private func list(
    of storage: StoredToMany.Storage,
    from owner: Int,
    _ position: Int,
    _ inverse: RelationshipDescription?,
    to destination: Int
  ) throws(ContextError) -> ListTable? {
    switch storage {
    case .references(let slot, _):
      guard let inverse else { return nil }
      return try list(of: inverse, at: slot, in: names.entities[destination], destination)?.table
    case .pairs(let trees):
      guard let tree = trees.forwardOrder else { return nil }
      let places = PairPlaces(entity: owner, position: position, linkTreeName: trees.forward)
      return ListTable(entity: destination, treeName: tree, origin: .pairs(places))
    }
  }

  private func storage(
    of relationship: RelationshipDescription,
    in entity: EntityDescription,
    inverse: RelationshipDescription?
  ) throws(ContextError) -> StoredToMany.Storage {
    let target = relationship.destination
    guard let inverse, let other = names.entity(named: target) else {
      throw unknown("\(target).\(relationship.inverse ?? "an inverse")", in: entity)
    }
    if let slot = other.slot(named: inverse.name), !inverse.isToMany {
      return .references(slot: slot, treeName: try tree(of: inverse.name, target))
    }
    // A relationship that is its own inverse (friends) has one tree, which holds each pair both ways.
    let ordinal = other.toManyPlace(named: inverse.name)
    let known = try property(named: relationship.name, of: entity.name)
    let back = try property(named: inverse.name, of: target)
    return .pairs(
      PairTrees(
        relationship: ChangeSet.Relationship(entity: known.entity, property: known.property.number),
        forward: try tree(of: relationship.name, entity.name),
        backward: try tree(of: inverse.name, target),
        inverse: ordinal,
        forwardOrder: known.property.relationship?.orderTree,
        backwardOrder: back.property.relationship?.orderTree
      )
    )
  }

  /// Returns the tree that a relationship owns.
  private func tree(of relationship: String, _ entity: String) throws(ContextError) -> String {
    guard let tree = try property(named: relationship, of: entity).property.relationship?.tree else {
      throw unknownRelationship(relationship, entity)
    }
    return tree
  }

  private func property(
    named name: String,
    of entity: String
  ) throws(ContextError) -> (entity: EntityNumber, property: CataloguedProperty) {
    guard let ordinal = ordinals[entity], let number = catalogued[ordinal]?.number,
      let property = properties[ordinal][name]
    else { throw unknownRelationship(name, entity) }
    return (number, property)
  }

  private func unknownRelationship(_ name: String, _ entity: String) -> ContextError {
    ContextError(
      .unknownEntity,
      "the store has no relationship \(entity).\(name)",
      context: .init(entity: entity, properties: [name])
    )
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

  /// Returns the to-one relationships by the ordinal of the entity that they lead to.
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
}

extension StoredToMany.Storage {
  /// - Parameters:
  ///   - owner: the ordinal of the entity that has the relationship.
  ///   - position: of the relationship among the entity's to-many relationships.
  ///   - destination: the ordinal of the entity at the other end.
  fileprivate func links(from owner: Int, _ position: Int, to destination: Int) -> LinkTable {
    switch self {
    case .references(let slot, let treeName):
      LinkTable(origin: .reference(entity: destination, slot: slot), treeName: treeName)
    case .pairs(let trees):
      LinkTable(origin: .pairs(entity: owner, position: position), treeName: trees.forward)
    }
  }
}
