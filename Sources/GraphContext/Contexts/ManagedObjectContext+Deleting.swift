import Predicates

extension ManagedObjectContext {
  /// Deletes an object; a save deletes it in the store. Delete rules are applied at once to all objects that the
  /// context knows. With `cascade` the objects at the other end are deleted too; with `nullify` they no longer refer to
  /// the deleted object. The save checks the rule `deny`, and everything that other contexts have saved in the
  /// meantime.
  ///
  /// An object that was never saved leaves the context: no rule can deny that, and nothing leads to it any more. An
  /// object in no context is left alone. So is an object of another context, and the next fetch or save throws
  /// `otherContext`, until the context is rolled back.
  public func delete(_ object: some ManagedObject) { delete(object, callsHooks: true) }

  /// - Parameter callsHooks: whether objects are prepared for their deletion.
  func delete(_ object: any ManagedObject, callsHooks: Bool) {
    tellingChildren { deleteCascading([object], callsHooks: callsHooks) }
  }

  /// Runs `body`, which deletes objects, and then notifies observers of the properties that have other values in
  /// children than before: a child loses the objects that its parent deletes. O(observed properties).
  func tellingChildren<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
    let shown = children.isEmpty ? ShownValues() : shownValues()
    defer { shown.tellOfDifferences() }
    try body()
  }

  /// The origin of a deletion. It decides which objects the deletion takes along by its to-one relationships.
  enum DeletionOrigin {
    /// The context decides, as the delete rules say.
    case program
    /// The save of a child, which has followed the references of the objects that it deletes.
    case child(SaveRequest)
    /// A group that is undone or redone, with its images. A reference that still has the target set by the group takes
    /// nothing along: other objects that the group deletes have images of their own. A reference that was set since
    /// follows its rule.
    case replay([ObjectKey: UndoGroup.Image])
  }

  /// Deletes objects one after the other, each with the objects that its deletion takes along. Must be called in
  /// ``tellingChildren(_:)``.
  ///
  /// - Parameter callsHooks: whether objects are prepared for their deletion; a child has done that for those that it
  ///   deletes.
  func deleteCascading(
    _ objects: [any ManagedObject],
    callsHooks: Bool,
    as origin: DeletionOrigin = .program
  ) {
    if objects.isEmpty { return }
    for object in objects {
      if let host = object._$state.host, host !== self {
        return deferred.note(Self.isOther(object, "deleted"))
      }
    }
    guard checkWritable() else { return }
    var queue = Array(objects.reversed())
    var deleted: [[ObjectNumber]] = children.isEmpty ? [] : entities.map { _ in [] }
    while let next = queue.popLast() {
      guard canBeDeleted(next) else { continue }
      if callsHooks { prepareForDeletion(next) }
      // The hook may have made the first child.
      if deleted.isEmpty, !children.isEmpty { deleted = entities.map { _ in [] } }
      guard canBeDeleted(next) else { continue }
      if !deleted.isEmpty { deleted[entity(of: next).ordinal].append(next._$state.number) }
      delete(next, as: origin, &queue)
    }
    children.forEach { $0.parentDidReplace(deleted) }
  }

  private func canBeDeleted(_ object: any ManagedObject) -> Bool {
    object._$state.host === self && (object._$state.phase == .persistent || object._$state.phase == .inserted)
  }

  /// Calls the object's hook, unless it is the hook that deletes the object.
  private func prepareForDeletion(_ object: any ManagedObject) {
    guard preparedForDeletion.insert(ObjectIdentifier(object)).inserted else { return }
    object.prepareForDeletion()
    preparedForDeletion.remove(ObjectIdentifier(object))
  }

  private func delete(
    _ object: any ManagedObject,
    as origin: DeletionOrigin,
    _ queue: inout [any ManagedObject]
  ) {
    let shown = shownValues(of: object)
    defer { shown.tellOfDifferences() }
    listings.removeAll()
    noteChange(of: object)
    let entity = entity(of: object)
    let number = object._$state.number
    let isSaved = object._$state.phase == .persistent
    children.forEach { $0.loadAttributesIfChanged(number, entity.ordinal) }
    // Below, observers and `releaseUnnamed` may list members while the object is still a member of some lists. Links
    // that are made at that moment would keep it, so they are made now.
    for (position, toOne) in entity.toOnes.enumerated()
    where observation != nil || toOne.destination == entity.ordinal && toOne.inverse == .none {
      workOutReferences(at: position, of: entity)
    }
    // An object may only be deleted if the relationships it leads to can be read.
    let toManys = entity.toManys.map { elements(of: object, toMany: $0.ordinal) }
    entities[entity.ordinal].decidedReferences[number] = origin.decidedReferences(of: object, entity)
    for toOne in entity.toOnes { release(toOne, of: object, entity, as: origin, &queue) }
    for (relationship, elements) in zip(entity.toManys, toManys) {
      release(relationship, elements, of: object, &queue)
    }
    releaseUnnamed(object, entity)
    if isSaved {
      object._$state.phase = .deleted
      object._$state.announcesChange = false
      entities[entity.ordinal].changes.noteDeleted(object)
    } else {
      for position in entity.toManys.indices {
        entities[entity.ordinal].pairs[position].forget(number)
      }
      entities[entity.ordinal].known.remove(number)
      object.detach()
    }
    entities[entity.ordinal].encoded?.noteStale(number)
  }

  /// Removes the link back from the target of a deleted object's to-one relationship, or deletes the target too.
  private func release(
    _ toOne: StoredToOne,
    of object: any ManagedObject,
    _ entity: StoredEntity,
    as origin: DeletionOrigin,
    _ queue: inout [any ManagedObject]
  ) {
    let target = object.reference(at: toOne.slot)
    let number = object._$state.number
    let decided = entities[entity.ordinal].decidedReferences[number]
    let isDecided = decided?.all.contains(toOne.slot) == true
    let isSaved = object._$state.phase == .persistent
    if parent != nil, toOne.deleteRule != .nullify {
      entities[entity.ordinal].ruledReferences[number, default: [:]][toOne.slot] = target
    }
    guard !target.isNone else { return }
    relationships.tellOfRelinking(number, entity, toOne, from: target, to: .none)
    relationships.relink(number, entity, toOne, from: target, to: .none)
    let destination = self.entity(toOne.destination)
    switch toOne.deleteRule {
    case .cascade:
      let follows = origin.follows(toOne, ofDeleted: number, leadingTo: target, entity)
      if follows || isRequiredBack(by: target, toOne, number) {
        queue.append(self.object(target, of: destination))
      }
    case .deny where isSaved && !isDecided: return
    case .deny, .nullify: break
    }
    if case .toOne(let inverse) = toOne.inverse {
      let other = self.object(target, of: destination)
      if other.reference(at: inverse) == number { relationships.set(other, slot: inverse, to: .none) }
    }
  }

  private func release(
    _ relationship: StoredToMany,
    _ elements: [ObjectNumber],
    of object: any ManagedObject,
    _ queue: inout [any ManagedObject]
  ) {
    let destination = entity(relationship.destination)
    let isSaved = object._$state.phase == .persistent
    for number in elements {
      let element = self.object(number, of: destination)
      switch relationship.deleteRule {
      case .cascade:
        if case .pairs = relationship.storage { remove(element, from: object, toMany: relationship.ordinal) }
        queue.append(element)
      case .deny where isSaved: break
      case .deny, .nullify: remove(element, from: object, toMany: relationship.ordinal)
      }
    }
  }

  /// Sets to nil the references to a deleted object that belong to relationships without an inverse.
  private func releaseUnnamed(_ object: any ManagedObject, _ entity: StoredEntity) {
    let number = object._$state.number
    for incoming in entity.incoming where incoming.toOne.inverse == .none {
      let links = incoming.toOne.links
      let stored = deferringError([]) { () throws(ContextError) in try source.elements(of: number, in: links)
      }
      let referrers = pendingLinks(in: links)?.elements(of: number, stored: stored) ?? stored
      let entity = self.entity(incoming.source)
      for referrer in referrers {
        relationships.set(self.object(referrer, of: entity), slot: incoming.toOne.slot, to: .none)
      }
    }
  }
}

extension ManagedObjectContext {
  /// Returns whether the target of a reference leads back to its owner by a relationship that can't be nil.
  private func isRequiredBack(by target: ObjectNumber, _ toOne: StoredToOne, _ owner: ObjectNumber) -> Bool {
    guard case .toOne(let slot) = toOne.inverse else { return false }
    let destination = entity(toOne.destination)
    guard destination.requiredSlots(of: target).contains(slot) else { return false }
    return object(target, of: destination).reference(at: slot) == owner
  }
}

extension ManagedObjectContext.DeletionOrigin {
  /// Returns whether a cascading rule applies to the target of a deleted object's reference. A child's request has the
  /// objects that the child has deleted with the object.
  fileprivate func follows(
    _ toOne: StoredToOne,
    ofDeleted number: ObjectNumber,
    leadingTo target: ObjectNumber,
    _ entity: StoredEntity
  ) -> Bool {
    switch self {
    case .program: return true
    case .replay(let images):
      return images[ObjectKey(entity: entity.ordinal, number: number)]?.leftReferences[toOne.slot] != target
    case .child(let request):
      let changes = request.entities[entity.ordinal]
      return !changes.deletes(number) || changes.followed[number]?.contains(toOne.slot) == true
    }
  }

  /// Returns the references of an object that were decided on before its deletion; nil for none.
  fileprivate func decidedReferences(
    of object: any ManagedObject,
    _ entity: StoredEntity
  ) -> DecidedReferences? {
    let number = object._$state.number
    switch self {
    case .program: return nil
    case .child(let request): return request.entities[entity.ordinal].ownReferences[number]
    case .replay(let images):
      guard let image = images[ObjectKey(entity: entity.ordinal, number: number)] else { return nil }
      var decided = DecidedReferences()
      for (slot, target) in image.leftReferences where object.reference(at: slot) == target {
        if image.decidedReferences.contains(slot) { decided.byReplay.insert(slot) }
      }
      return decided
    }
  }
}

extension ManagedObjectContext {
  /// Returns the slots of the references of a deleted object that led nowhere at its deletion, or that were decided on
  /// before.
  func decidedReferences(ofDeleted object: any ManagedObject) -> SlotSet {
    let entity = entity(of: object)
    var decided = entities[entity.ordinal].decidedReferences[object._$state.number]?.all ?? .empty
    for toOne in entity.toOnes where object.reference(at: toOne.slot).isNone {
      decided.insert(toOne.slot)
    }
    return decided
  }
}
