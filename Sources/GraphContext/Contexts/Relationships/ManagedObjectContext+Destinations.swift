import Predicates

// The entities that relationships lead to.

extension ManagedObjectContext {
  /// Returns the entity that a relationship of an object in this context leads to.
  func destination(of object: any ManagedObject, property: Int) -> StoredEntity {
    let entity = entity(of: object)
    let place = property - entity.schema.stored.count
    if place >= 0 { return self.entity(entity.toManys[place].destination) }
    guard let toOne = entity.toOne(slot: property) else {
      fatalError("\(entity.name) has no relationship at slot \(property)")
    }
    return self.entity(toOne.destination)
  }

  /// Throws an error when the relationship of an object in this context can't lead to the other object.
  func checkLink(
    from owner: any ManagedObject,
    property: Int,
    to object: any ManagedObject
  ) throws(ContextError) {
    guard let host = object._$state.host else { throw Self.isOutside(object) }
    guard host === self else { throw Self.isOther(object, "linked") }
    let (destination, found) = (destination(of: owner, property: property), entity(of: object))
    let (entity, name) = (entity(of: owner), owner._$objectModel.visitedNames[property])
    let number = object._$state.number
    if destination === found, coordinator.models.canLead(entity, by: name, to: number, of: found),
      coordinator.models.hasInverse(of: owner._$objectModel.visitedProperties[property], number, found)
    {
      return
    }
    throw ContextError(
      .wrongDestination,
      "\(entity.name).\(name) leads to \(destination.name), and not to \(found.label(of: number).name)",
      context: .init(entity: entity.name, objectID: id(owner._$state.number, entity), properties: [name])
    )
  }
}
