import Predicates

// Taking back the changes of one object.

extension ManagedObjectContext {
  /// Restores one object to its state in the context's snapshot. Other unsaved changes stay, as far as they don't
  /// contradict.
  ///
  /// - A new object leaves the context, and the new objects that a delete rule takes along with it. The references of
  ///   stored objects that were linked to it are those of the snapshot.
  /// - The attributes, to-one relationships and many-to-many links of a changed object are those of the snapshot;
  ///   inverses follow. The members of a one-to-many relationship are changes of the members: discard theirs.
  /// - A deleted object exists again. Objects that the deletion has taken along stay deleted: discard their deletion,
  ///   too. A link comes back if the object at its other end exists, and has no other partner by now.
  ///
  /// A relationship that led to an object which is deleted here stays as it is. Calls no hooks.
  ///
  /// - Parameter object: an object of this context; any other is left alone.
  public func discardChanges(of object: some ManagedObject) {
    guard object._$state.host === self, checkWritable() else { return }
    tellingObservers { discard(object) }
  }

  private func discard(_ object: some ManagedObject) {
    let entity = entity(of: object)
    switch object._$state.phase {
    case .inserted: return discard(inserted: object, entity)
    case .persistent:
      refresh(object, mergeChanges: false)
      if object._$state.host === self { restorePairs(of: object, entity) }
    case .deleted:
      undelete(object, entity)
      if object._$state.host === self { restoreLinks(ofUndeleted: object, entity) }
    default: return
    }
    let number = object._$state.number
    children.forEach { child in
      child.parentDidReplace(entities.indices.map { $0 == entity.ordinal ? [number] : [] })
    }
  }

  // MARK: New objects

  /// Makes a new object leave the context, with the new objects that it owns. Delete rules reach no stored object: the
  /// links to stored objects are removed first.
  private func discard(inserted object: any ManagedObject, _ entity: StoredEntity) {
    var queue: [(any ManagedObject, StoredEntity)] = [(object, entity)]
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(object)]
    while let (next, entity) = queue.popLast() {
      for (owned, entity) in releaseStored(of: next, entity)
      where seen.insert(ObjectIdentifier(owned)).inserted {
        queue.append((owned, entity))
      }
    }
    // Linking stored objects again has put them last in ordered lists; the snapshot has other places.
    forgetDerivedLinks()
    delete(object, callsHooks: false)
  }

  /// Takes back the links between a new object and stored ones. Returns the new objects that would be deleted with it.
  private func releaseStored(
    of object: any ManagedObject,
    _ entity: StoredEntity
  ) -> [(any ManagedObject, StoredEntity)] {
    var owned: [(any ManagedObject, StoredEntity)] = []
    for toOne in entity.toOnes {
      let (target, destination) = (object.reference(at: toOne.slot), self.entity(toOne.destination))
      if target.isNone { continue }
      let other = self.object(target, of: destination)
      if other._$state.phase == .inserted {
        if toOne.deleteRule == .cascade { owned.append((other, destination)) }
        continue
      }
      relationships.set(object, slot: toOne.slot, to: .none)
      if case .toOne(let inverse) = toOne.inverse { takeBack(inverse, of: other, destination) }
    }
    for toMany in entity.toManys {
      let destination = self.entity(toMany.destination)
      for number in elements(of: object, toMany: toMany.ordinal) {
        let element = self.object(number, of: destination)
        if element._$state.phase == .inserted {
          if toMany.deleteRule == .cascade { owned.append((element, destination)) }
          continue
        }
        switch toMany.storage {
        case .references(let slot, _): takeBack(slot, of: element, destination)
        case .pairs: remove(element, from: object, toMany: toMany.ordinal)
        }
      }
    }
    for incoming in entity.incoming where incoming.toOne.inverse == .none {
      let source = self.entity(incoming.source)
      let referrers = pendingLinks(in: incoming.toOne.links)?.elements(of: object._$state.number, stored: [])
      for number in referrers ?? [] {
        let referrer = self.object(number, of: source)
        if referrer._$state.phase == .persistent { takeBack(incoming.toOne.slot, of: referrer, source) }
      }
    }
    return owned
  }

  /// Takes back the unsaved change of a stored object's reference. The reference becomes nil if its target is deleted
  /// here, or has another partner. A deleted object keeps its references: its deletion can be taken back.
  private func takeBack(_ slot: Int, of object: any ManagedObject, _ entity: StoredEntity) {
    guard object._$state.phase == .persistent, let toOne = entity.toOne(slot: slot) else { return }
    relationships.set(object, slot: slot, to: .none)
    restore(toOne, of: object, entity, to: storedReference(of: object._$state.number, entity, toOne))
  }

  // MARK: After a deletion

  private func restoreLinks(ofUndeleted object: some ManagedObject, _ entity: StoredEntity) {
    let number = object._$state.number
    listings.removeAll()
    for toOne in entity.toOnes {
      // The deletion has removed the link, but left the reference in its slot.
      object.setReference(at: toOne.slot, to: .none)
      let stored = storedReference(of: number, entity, toOne)
      restore(toOne, of: object, entity, to: stored)
    }
    for toMany in entity.toManys {
      guard case .references(let slot, _) = toMany.storage else { continue }
      let source = self.entity(toMany.destination)
      guard let toOne = source.toOne(slot: slot) else { continue }
      restoreReferences(to: number, toOne, of: source)
    }
    for incoming in entity.incoming where incoming.toOne.inverse == .none {
      restoreReferences(to: number, incoming.toOne, of: self.entity(incoming.source))
    }
    restorePairs(of: object, entity)
    forgetConflict(of: number, entity, in: .all.subtracting(entity.referenceSlots))
    object._$state.forgetChanges(in: .all.subtracting(entity.referenceSlots))
    entities[entity.ordinal].forgetDerived()
  }

  /// Sets the references that led to an object in the snapshot and lead nowhere now.
  private func restoreReferences(to number: ObjectNumber, _ toOne: StoredToOne, of entity: StoredEntity) {
    let referrers = deferringError([]) { () throws(ContextError) in
      try source.elements(of: number, in: toOne.links)
    }
    for referrer in referrers {
      let object = object(referrer, of: entity)
      guard object._$state.phase != .deleted, object.reference(at: toOne.slot).isNone else { continue }
      restore(toOne, of: object, entity, to: number)
    }
    entities[entity.ordinal].forgetDerived()
  }

  /// Sets a reference that is nil to its target in the snapshot, unless that object is deleted or has another partner.
  private func restore(
    _ toOne: StoredToOne,
    of object: any ManagedObject,
    _ entity: StoredEntity,
    to target: ObjectNumber
  ) {
    if target.isNone {
      let reference = SlotSet(toOne.slot)
      return forgetChanges(of: object, in: reference.union(entity.places(of: reference)))
    }
    let destination = self.entity(toOne.destination)
    let other = self.object(target, of: destination)
    if other._$state.phase == .deleted { return object._$willSet(toOne.slot) }
    if case .toOne(let inverse) = toOne.inverse {
      let rival = other.reference(at: inverse)
      if !rival.isNone, rival != object._$state.number { return object._$willSet(toOne.slot) }
      if rival.isNone {
        relationships.set(other, slot: inverse, to: object._$state.number)
        forgetChangeIfStored(of: other, destination, inverse)
      }
    }
    relationships.set(object, slot: toOne.slot, to: target)
    forgetChangeIfStored(of: object, entity, toOne.slot)
  }

  /// Forgets a change of a reference that has the target of the snapshot's.
  private func forgetChangeIfStored(of object: any ManagedObject, _ entity: StoredEntity, _ slot: Int) {
    guard object._$state.phase == .persistent, let toOne = entity.toOne(slot: slot) else { return }
    let stored = storedReference(of: object._$state.number, entity, toOne)
    guard stored == object.reference(at: slot) else { return }
    // Linking has also given the object the last place in an ordered list: forget that change, too.
    let reference = SlotSet(slot)
    forgetChanges(of: object, in: reference.union(entity.places(of: reference)))
  }

  private func storedReference(
    of number: ObjectNumber,
    _ entity: StoredEntity,
    _ toOne: StoredToOne
  ) -> ObjectNumber {
    deferringError(.none) { () throws(ContextError) in
      try source.reference(at: toOne.slot, of: number, entity)
    }
  }

  // MARK: Pairs

  /// Makes the many-to-many links of an object those of the snapshot, except for links to objects that are deleted
  /// here.
  private func restorePairs(of object: some ManagedObject, _ entity: StoredEntity) {
    for toMany in entity.toManys {
      guard case .pairs(let trees) = toMany.storage else { continue }
      let destination = self.entity(toMany.destination)
      forgetAgreedPairs(of: object._$state.number, entity, toMany, inverse: trees.inverse)
      let stored = deferringError([]) { () throws(ContextError) in
        Set(try source.elements(of: object._$state.number, in: toMany.links))
      }
      let shown = Set(elements(of: object, toMany: toMany.ordinal))
      for number in shown.subtracting(stored).sorted() {
        remove(self.object(number, of: destination), from: object, toMany: toMany.ordinal)
      }
      for number in stored.subtracting(shown).sorted() {
        let element = self.object(number, of: destination)
        if element._$state.phase != .deleted { relationships.restorePair(element, of: object, in: toMany) }
      }
      restoreOrder(of: object, toMany, destination)
    }
    normalisePairs()
  }

  /// Forgets the changes of an object's links that the parent has made as well, at both ends: otherwise they would come
  /// back when the parent takes its own changes back. A link that the deletion of the object at its other end has
  /// removed stays removed.
  private func forgetAgreedPairs(
    of number: ObjectNumber,
    _ entity: StoredEntity,
    _ toMany: StoredToMany,
    inverse: Int?
  ) {
    let destination = self.entity(toMany.destination)
    func isDeleted(_ element: ObjectNumber) -> Bool {
      knownObject(element, of: destination)?._$state.phase == .deleted
    }
    // `isDeleted` reads `entities`, so nothing changes them meanwhile.
    var forward = entities[entity.ordinal].pairs[toMany.ordinal]
    forward.filterAgreed { owner, element in owner != number || isDeleted(element) }
    entities[entity.ordinal].pairs[toMany.ordinal] = forward
    guard let inverse else { return }
    var backward = entities[destination.ordinal].pairs[inverse]
    backward.filterAgreed { owner, element in element != number || isDeleted(owner) }
    entities[destination.ordinal].pairs[inverse] = backward
  }
}

// MARK: - Order

extension ManagedObjectContext {
  /// Gives the links of an object, which are those of the snapshot, the places that they have there.
  private func restoreOrder(
    of object: some ManagedObject,
    _ toMany: StoredToMany,
    _ destination: StoredEntity
  ) {
    guard let list = toMany.list, case .pairs(let places) = list.origin else { return }
    let (owner, position) = (object._$state.number, places.position)
    guard let moved = entities[places.entity].pairs[position].places.byOwner[owner] else { return }
    let keeper = OrderKeeper(self, list)
    for number in moved.keys.sorted() {
      let stored = deferringError(nil) { () throws(ContextError) in
        try source.place(of: number, in: owner, places)
      }
      keeper.setPlace(of: self.object(number, of: destination), in: owner, stored)
      entities[places.entity].pairs[position].setPlace(nil, of: number, in: owner)
    }
  }
}

// MARK: - Values

extension ManagedObjectContext {
  /// Makes the attributes and to-one relationships of a saved object those of the snapshot.
  func discardValues(of object: some ManagedObject) {
    let entity = entity(of: object)
    listings.removeAll()
    children.forEach { $0.parentWillChange(object._$state.number, entity.ordinal) }
    tellChildrenOfConflict(of: object._$state.number, entity)
    var kept = SlotSet.empty
    for toOne in entity.toOnes where object._$state.changed.contains(toOne.slot) {
      if !restoreReference(of: object, toOne, entity) { kept.insert(toOne.slot) }
    }
    // Behind the references: each that leads elsewhere makes the children forget values.
    keepInChildren(object, entity.ordinal)
    // A place is kept or dropped with the reference that it was given for.
    kept.formUnion(entity.places(of: kept))
    let mayBeMissing = entities[entity.ordinal].mayBeMissing(object._$state.number)
    // If others have deleted the object and only a link keeps it here, it keeps all its changes: its values exist
    // nowhere else.
    if mayBeMissing, !kept.isEmpty { kept = object._$state.changed }
    let forgotten = SlotSet.all.subtracting(kept)
    entities[entity.ordinal].forgetConflict(object._$state.number, in: forgotten)
    object._$state.forgetChanges(in: forgotten)
    entities[entity.ordinal].forgetDerived()
    if mayBeMissing, kept.isEmpty {
      entities[entity.ordinal].deletedInParent.remove(object._$state.number)
      leaveIfDeleted(object, entity.ordinal)
    }
  }

  /// Sets a reference to its target in the source. Returns false if that object is deleted here.
  private func restoreReference(
    of object: some ManagedObject,
    _ toOne: StoredToOne,
    _ entity: StoredEntity
  ) -> Bool {
    deferringError(false) { () throws(ContextError) in
      let old = object.reference(at: toOne.slot)
      let new = try source.reference(at: toOne.slot, of: object._$state.number, entity)
      let destination = self.entity(toOne.destination)
      if !new.isNone, knownObject(new, of: destination)?._$state.phase == .deleted { return false }
      guard old != new else { return true }
      if case .toOne(let inverse) = toOne.inverse, !old.isNone {
        tellChildrenOfConflict(of: old, destination, in: SlotSet(inverse))
      }
      object.setReference(at: toOne.slot, to: new)
      didSetToOne(of: object, slot: toOne.slot, from: old, to: new)
      try restorePartner(of: old, toOne, entity)
      return true
    }
  }

  /// Links an object that was the partner in a one-to-one relationship to the partner that it has in the source, if
  /// that one still leads to it.
  private func restorePartner(
    of number: ObjectNumber,
    _ toOne: StoredToOne,
    _ entity: StoredEntity
  ) throws(ContextError) {
    guard case .toOne(let inverse) = toOne.inverse, !number.isNone else { return }
    let destination = self.entity(toOne.destination)
    let partner = try source.reference(at: inverse, of: number, destination)
    guard !partner.isNone, object(partner, of: entity).reference(at: toOne.slot) == number else { return }
    relationships.set(object(number, of: destination), slot: inverse, to: partner)
    entities[destination.ordinal].forgetConflict(number, in: SlotSet(inverse))
  }
}
