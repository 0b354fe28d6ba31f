import Predicates

/// Looks up every name in a schema once, and turns it into what saving and faulting need.
struct StoredSchemaBuilder {
  private let schema: Schema
  let ordinals: [String: Int]

  init(_ schema: Schema) {
    self.schema = schema
    ordinals = Dictionary(
      schema.entities.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  mutating func build() throws(ContextError) -> [StoredEntity] {
    var toOnes: [[StoredToOne]] = []
    var toManys: [[StoredToMany]] = []
    for entity in schema.entities {
      toOnes.append(try self.toOnes(of: entity))
      toManys.append(try self.toManys(of: entity))
    }
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
          incoming: incoming(to: ordinal, toOnes, toManys),
          incomingPairs: incomingPairs(to: ordinal, toManys)
        )
      )
    }
    return built
  }

  private func toOnes(of entity: EntityDescription) throws(ContextError) -> [StoredToOne] {
    var result: [StoredToOne] = []
    for (slot, property) in entity.storedProperties.enumerated() {
      guard case .relationship(let relationship) = property else { continue }
      let (destination, inverse) = try destination(of: relationship, in: entity)
      var way = StoredToOne.Inverse.none
      if let inverse, inverse.isToMany {
        way =
          schema.entities[destination].toManyRelationships.firstIndex { $0.name == inverse.name }
          .map(StoredToOne.Inverse.toMany) ?? .none
      } else if let inverse {
        way =
          self.slot(named: inverse.name, in: schema.entities[destination]).map(StoredToOne.Inverse.toOne)
          ?? .none
      }
      result.append(
        StoredToOne(
          name: relationship.name,
          slot: slot,
          destination: destination,
          treeName: TreeName.references(relationship.name, of: entity.name),
          isRequired: relationship.cardinality == .required,
          deleteRule: relationship.deleteRule,
          inverse: way
        )
      )
    }
    return result
  }

  private func toManys(of entity: EntityDescription) throws(ContextError) -> [StoredToMany] {
    var result: [StoredToMany] = []
    for (ordinal, relationship) in entity.toManyRelationships.enumerated() {
      let (destination, inverse) = try destination(of: relationship, in: entity)
      result.append(
        StoredToMany(
          name: relationship.name,
          ordinal: ordinal,
          destination: destination,
          deleteRule: relationship.deleteRule,
          storage: storage(of: relationship, in: entity, inverse: inverse)
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
    guard let inverse, let other = schema.entities.first(where: { $0.name == target }) else {
      let backward = TreeName.reversedPairs(relationship.name, of: entity.name)
      return .pairs(PairTrees(forward: forward, backward: backward, inverse: nil))
    }
    if let slot = slot(named: inverse.name, in: other), !inverse.isToMany {
      return .references(slot: slot, treeName: TreeName.references(inverse.name, of: target))
    }
    // A relationship that is its own inverse (friends) has one tree, which holds each pair both ways.
    let backward = TreeName.pairs(inverse.name, of: target)
    let ordinal = other.toManyRelationships.firstIndex { $0.name == inverse.name }
    return .pairs(PairTrees(forward: forward, backward: backward, inverse: ordinal))
  }

  private func slot(named name: String, in entity: EntityDescription) -> Int? {
    entity.storedProperties.firstIndex { $0.name == name }
  }

  private func destination(
    of relationship: RelationshipDescription,
    in entity: EntityDescription
  ) throws(ContextError) -> (ordinal: Int, inverse: RelationshipDescription?) {
    guard let ordinal = ordinals[relationship.destination] else {
      throw unknown(relationship.destination, in: entity)
    }
    guard let name = relationship.inverse else { return (ordinal, nil) }
    guard case .relationship(let inverse)? = schema.entities[ordinal].property(named: name) else {
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

  private func incoming(
    to ordinal: Int,
    _ toOnes: [[StoredToOne]],
    _ toManys: [[StoredToMany]]
  ) -> [IncomingToOne] {
    toOnes.enumerated().flatMap { source, relationships in
      relationships.filter { $0.destination == ordinal }.map { toOne in
        IncomingToOne(source: source, toOne: toOne, rule: rule(of: toOne, at: ordinal, toOnes, toManys))
      }
    }
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

  private func incomingPairs(to ordinal: Int, _ toManys: [[StoredToMany]]) -> [IncomingPairs] {
    toManys.enumerated().flatMap { source, relationships in
      relationships.compactMap { toMany in
        guard toMany.destination == ordinal, case .pairs(let trees) = toMany.storage, trees.inverse == nil
        else {
          return nil
        }
        return IncomingPairs(source: source, trees: trees)
      }
    }
  }
}
