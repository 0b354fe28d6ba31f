import Predicates

/// A redirector of a child's unsaved references and links: those to new objects that the parent's save has unified with
/// existing ones lead to the existing objects from then on.
struct AliasRedirector {
  private let context: ManagedObjectContext
  /// The existing objects that the new ones stand for, by the entity's ordinal.
  private let owners: [[ObjectNumber: ObjectNumber]]

  init(_ context: ManagedObjectContext, _ owners: [[ObjectNumber: ObjectNumber]]) {
    self.context = context
    self.owners = owners
  }

  func redirect() {
    context.listings.removeAll()
    for entity in context.coordinator.schema.entities {
      for toOne in entity.toOnes { redirect(toOne, of: entity) }
    }
    context.forgetDerivedLinks()
    redirectPairs()
    context.listings.removeAll()
  }

  private func redirect(_ toOne: StoredToOne, of entity: StoredEntity) {
    let destination = context.entity(toOne.destination)
    if owners[destination.ordinal].isEmpty { return }
    let changes = context.entities[entity.ordinal].changes
    for object in changes.inserted + changes.updated
    where owners[entity.ordinal][object._$state.number] == nil && object.hasSet(toOne.slot) {
      let unified = object.reference(at: toOne.slot)
      guard let owner = owners[destination.ordinal].owner(of: unified) else { continue }
      // Members of a list keep their order.
      let keeper = toOne.list.map { OrderKeeper(context, $0.table) }
      let place = keeper?.entry(of: object, in: unified).place
      object.setReference(at: toOne.slot, to: owner)
      context.relationships.didSetToOne(of: object, slot: toOne.slot, from: .none, to: owner)
      keeper?.setPlace(of: object, in: owner, place)
      // The other end of a one-to-one relationship was changed with it.
      if case .toOne(let inverse) = toOne.inverse {
        context.knownObject(unified, of: destination)?._$state.forgetChanges(in: SlotSet(inverse))
      }
    }
  }

  /// A link of a unified object, as one of the existing object.
  private struct RedirectedLink {
    let entity: StoredEntity
    let toMany: StoredToMany
    let owner: ObjectNumber
    let element: ObjectNumber
    /// The place of the link; nil where the relationship has no order.
    let place: ListPlace?
    /// True for a link that was added, false for one that was moved.
    let isAdded: Bool
  }

  private func redirectPairs() {
    var redirected: [RedirectedLink] = []
    for entity in context.coordinator.schema.entities {
      for toMany in entity.toManys { redirected += takeLinks(of: entity, toMany) }
    }
    for link in redirected where link.isAdded {
      let element = context.object(link.element, of: context.entity(link.toMany.destination))
      context.add(element, to: context.object(link.owner, of: link.entity), toMany: link.toMany.ordinal)
    }
    // Members of a list keep their order. `redirected` has an entry for each end of a link, so each call gives the link
    // its place at one end.
    for link in redirected {
      guard let place = link.place, let keeper = context.relationships.order(of: link.toMany) else {
        continue
      }
      let owner = context.object(link.owner, of: link.entity)
      if context.relationships.isElement(link.element, of: owner, toMany: link.toMany.ordinal) {
        let element = context.object(link.element, of: context.entity(link.toMany.destination))
        keeper.setPlace(of: element, in: link.owner, place)
      }
    }
  }

  /// Takes the unsaved links of unified objects, and the places of links, out of one end of a relationship.
  ///
  /// - Returns: the links that they become, by the places that they had.
  private func takeLinks(of entity: StoredEntity, _ toMany: StoredToMany) -> [RedirectedLink] {
    let (sources, targets) = (owners[entity.ordinal], owners[toMany.destination])
    if sources.isEmpty, targets.isEmpty { return [] }
    func isElsewhere(_ owner: ObjectNumber, _ element: ObjectNumber) -> Bool {
      sources[owner] == nil && targets[element] == nil
    }
    let pairs = context.entities[entity.ordinal].pairs[toMany.ordinal]
    let (links, places) = (pairs.links, pairs.places)
    var taken: [RedirectedLink] = []
    func take(_ owner: ObjectNumber, _ element: ObjectNumber, _ place: ListPlace?, isAdded: Bool) {
      if isElsewhere(owner, element) { return }
      taken.append(
        RedirectedLink(
          entity: entity,
          toMany: toMany,
          owner: sources.owner(of: owner) ?? owner,
          element: targets.owner(of: element) ?? element,
          place: place,
          isAdded: isAdded
        )
      )
    }
    for (owner, elements) in links.added {
      for element in elements {
        let place = toMany.list.map { _ in places[owner, element] ?? ListPlace(of: element) }
        take(owner, element, place, isAdded: true)
      }
    }
    for (owner, moved) in places.byOwner {
      for (element, place) in moved where links.isLinked(owner, element) == nil {
        take(owner, element, place, isAdded: false)
      }
    }
    context.entities[entity.ordinal].pairs[toMany.ordinal].filter(isElsewhere)
    return taken.sorted { left, right in
      guard let (first, second) = left.place.flatMap({ place in right.place.map { (place, $0) } }) else {
        return (left.owner, left.element) < (right.owner, right.element)
      }
      return (left.owner, first, left.element) < (right.owner, second, right.element)
    }
  }
}

extension ManagedObject {
  /// Returns true if the object is new, or a slot has an unsaved change.
  fileprivate func hasSet(_ slot: Int) -> Bool {
    _$state.phase == .inserted || _$state.changed.contains(slot)
  }
}
