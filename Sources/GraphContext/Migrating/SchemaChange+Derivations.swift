import Predicates

// Derived attributes: a new one, and one that is computed from something else after the change, is filled from the
// data in the store.

extension CataloguedDerivation {
  /// Makes the catalogue's entry of a rule; nil for a rule that a schema refuses.
  init?(
    _ derivation: AttributeDerivation,
    of entity: SchemaMatching.Entity,
    _ matching: SchemaMatching
  ) {
    switch derivation.form {
    case .folded(let name, let folding):
      guard let source = entity.property(named: name) else { return nil }
      self.init(attribute: source.number, folding: folding)
    case .count(let name):
      guard let relationship = entity.property(named: name) else { return nil }
      self.init(relationship: relationship.number)
    case .aggregate(let function, let name, let attribute):
      guard let relationship = entity.property(named: name),
        case .relationship(let described) = relationship.description,
        let source = matching.entity(named: described.destination)?.property(named: attribute)
      else { return nil }
      self.init(function: function, relationship: relationship.number, attribute: source.number)
    case nil: return nil
    }
  }
}

extension SchemaChange {
  /// Notes the entities whose derived values have to be computed, and gives indexes of these values new trees.
  mutating func noteDerivedAnew(isEmpty: (CataloguedEntity) -> Bool) {
    for place in target.entities.indices {
      let entity = target.entities[place]
      guard let known = old.entity(entity.number), !isEmpty(known) else { continue }
      let anew = entity.properties.filter { isDerivedAnew($0, entity, known) }.map(\.number)
      if anew.isEmpty { continue }
      derivedAnew.insert(entity.number)
      let trees = Set(known.indexes.map(\.tree))
      for (index, description) in entity.indexes.enumerated()
      where trees.contains(description.tree) && description.properties.contains(where: anew.contains) {
        target.entities[place].indexes[index].tree = target.takeTree(.index)
        work.append(.index(entity: entity.number, description.number))
      }
    }
  }

  private func isDerivedAnew(
    _ property: CataloguedProperty,
    _ entity: CataloguedEntity,
    _ known: CataloguedEntity
  ) -> Bool {
    guard let derivation = property.derivation else { return false }
    guard let before = known.property(property.number), before.derivation == derivation,
      before.content == property.content
    else { return true }
    if derivation.folding != nil, isRefolding { return true }
    return isReadAnew(derivation, entity, known)
  }

  /// Returns whether the change gives the objects in the store other values in the properties that an attribute is
  /// computed from.
  private func isReadAnew(
    _ derivation: CataloguedDerivation,
    _ entity: CataloguedEntity,
    _ known: CataloguedEntity
  ) -> Bool {
    var (now, before): (CataloguedEntity?, CataloguedEntity?) = (entity, known)
    if let number = derivation.relationship {
      let (new, old) = (entity.property(number)?.relationship, known.property(number)?.relationship)
      guard let new, let old, new.destination == old.destination, new.inverse == old.inverse else {
        return true
      }
      (now, before) = (target.entity(new.destination), self.old.entity(old.destination))
    }
    guard let number = derivation.attribute else { return false }
    guard let now, let before, let source = now.property(number), let former = before.property(number) else {
      return true
    }
    return !source.hasValues(of: former) || now.nilValues(of: number) != before.nilValues(of: number)
  }

  /// Returns whether objects of the entities to be rebuilt take part in derived attributes of an entity.
  func ownsValuesOfRebuilt(_ entity: CataloguedEntity) -> Bool {
    entity.properties.contains { property in
      guard let number = property.derivation?.relationship,
        let relationship = entity.property(number)?.relationship,
        let members = target.entity(relationship.destination)
      else { return false }
      return rebuilt.contains(members.name)
    }
  }

  /// Adds steps that copy the records of entities with new derived values to separate trees, in which the values
  /// are computed.
  mutating func fillDerived() {
    let numbers = target.entities.map(\.number).filter(derivedAnew.contains)
    fillRecords(of: derivedAnew, by: numbers.map { .derived(entity: $0) })
  }
}

extension CataloguedProperty {
  /// Returns true if the values that are read of both properties are the same. Names and optionality don't count.
  fileprivate func hasValues(of other: CataloguedProperty) -> Bool {
    (storedKind, elementKind, absentValue, derivation)
      == (other.storedKind, other.elementKind, other.absentValue, other.derivation)
  }
}

extension CataloguedEntity {
  /// Returns the values that are read for nil, by layout.
  fileprivate func nilValues(of property: PropertyNumber) -> [AttributeValue?] {
    layouts.map { layout in layout.fields.first { $0.property == property }?.nilValue }.filter { $0 != nil }
  }
}
