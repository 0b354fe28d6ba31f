import Predicates

/// Links from or to objects whose deletion isn't saved yet, made after the deletion. A save that finds such a link
/// fails.
///
/// The save finds references to a deleted object anyway. It doesn't store references of a deleted object, nor pairs
/// with a deleted end. Those links are remembered here, so that none is lost silently. The save checks whether they
/// still exist.
struct DeletedLinks {
  struct Link: Hashable {
    /// The entity's ordinal and the number of the object that the link leads from.
    let entity: Int
    let source: ObjectNumber
    let property: Property
    /// The number at the other end.
    let target: ObjectNumber
  }
  enum Property: Hashable {
    case toOne(slot: Int)
    case toMany(Int)
  }
  private(set) var links: Set<Link> = []

  mutating func note(_ link: Link) { links.insert(link) }

  mutating func removeAll() { links = [] }
}

extension ManagedObjectContext {
  /// Notes that a deleted object leads to another one by a reference, which isn't saved.
  func noteReference(
    ofDeleted object: any ManagedObject,
    _ entity: StoredEntity,
    slot: Int,
    to target: ObjectNumber
  ) {
    let number = object._$state.number
    deletedLinks.note(
      .init(entity: entity.ordinal, source: number, property: .toOne(slot: slot), target: target)
    )
  }

  func notePairIfDeleted(
    _ object: any ManagedObject,
    _ element: any ManagedObject,
    _ entity: StoredEntity,
    toMany: Int
  ) {
    guard object._$state.phase == .deleted || element._$state.phase == .deleted else { return }
    let (source, target) = (object._$state.number, element._$state.number)
    deletedLinks.note(
      .init(entity: entity.ordinal, source: source, property: .toMany(toMany), target: target)
    )
  }

  /// Returns `missingDestination` for each link with one deleted end and one that isn't deleted.
  func deletedLinkFailures() -> [ContextError] {
    deletedLinks.links.compactMap { link in
      let entity = entity(link.entity)
      let (name, destination, isThere) =
        switch link.property {
        case .toOne(let slot): reference(link, entity, slot)
        case .toMany(let place): pair(link, entity, place)
        }
      let ends = [(link.source, entity), (link.target, self.entity(destination))]
      let deletedCount = ends.count { knownObject($0, of: $1)?._$state.phase == .deleted }
      guard isThere, deletedCount == 1, !ends.contains(where: isGone) else { return nil }
      let (source, target) = (id(link.source, entity), id(link.target, self.entity(destination)))
      return ContextError(
        .missingDestination,
        "\(source.entityName) \(source.number) is linked by \(name) to \(target.entityName) \(target.number),"
          + " and one of them is deleted",
        context: .init(entity: entity.name, objectID: source, otherID: target, properties: [name])
      )
    }
  }

  /// Returns true if neither the context nor its source has the object. That is so for a new object that the program
  /// has discarded.
  private func isGone(_ number: ObjectNumber, _ entity: StoredEntity) -> Bool {
    if knownObject(number, of: entity) != nil { return false }
    return deferringError(false) { () throws(ContextError) in try !source.contains(number, of: entity) }
  }

  private func reference(
    _ link: DeletedLinks.Link,
    _ entity: StoredEntity,
    _ slot: Int
  ) -> (String, Int, Bool) {
    guard let toOne = entity.toOne(slot: slot) else { return ("", link.entity, false) }
    let isThere = knownObject(link.source, of: entity)?.reference(at: slot) == link.target
    return (toOne.name, toOne.destination, isThere)
  }

  private func pair(_ link: DeletedLinks.Link, _ entity: StoredEntity, _ place: Int) -> (String, Int, Bool) {
    let relationship = entity.toManys[place]
    let isThere = entities[entity.ordinal].pairs[place].links.isLinked(link.source, link.target) == true
    return (relationship.name, relationship.destination, isThere)
  }
}
