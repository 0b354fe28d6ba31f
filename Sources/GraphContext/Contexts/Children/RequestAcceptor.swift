import Predicates

/// An acceptor of a save request in a context, which makes the changes of the request its own: those of a child, or
/// those of a save that is shown before it is stored.
struct RequestAcceptor {
  private let request: SaveRequest
  private let context: ManagedObjectContext

  init(_ request: SaveRequest, in context: ManagedObjectContext) {
    self.request = request
    self.context = context
  }

  /// Throws `conflict` if an object that the request changes was deleted in the context.
  func checkExistence() throws(ContextError) {
    for changes in request.entities {
      let (entity, ordinal) = (changes.entity, changes.entity.ordinal)
      // The child notes only deletions of objects that it has changed, so no other object can be missing.
      let noted = request.deletedInParent[ordinal].union(request.conflicts[ordinal].keys)
      if noted.isEmpty { continue }
      for patch in changes.updated where noted.contains(patch.number) {
        if patch.slots.isSubset(of: entity.placeSlots) { continue }
        if try !shows(patch.number, entity) { throw .conflict(context.id(patch.number, entity), "deleted") }
      }
    }
  }

  /// Applies the request. If the context can't be read meanwhile, only some changes are applied.
  func apply() throws(ContextError) {
    for changes in request.entities { try noteConflicts(changes) }
    for changes in request.entities where bringsBack(changes) {
      // Before the objects enter: they have their references from then on, but are linked one after the other.
      for position in changes.entity.toOnes.indices {
        context.workOutReferences(at: position, of: changes.entity)
      }
    }
    for changes in request.entities {
      for record in changes.inserted {
        context.enter(UnsafeRawBufferPointer(record.bytes), record.number, changes.entity)
      }
    }
    for changes in request.entities {
      for record in changes.inserted {
        let bytes = UnsafeRawBufferPointer(record.bytes)
        acceptReferences(record.number, bytes, changes.entity, in: .all, isNew: true)
        acceptPlaces(record, changes.entity)
      }
      for patch in changes.updated {
        // An object that was only moved may have been deleted here.
        let isMoved = patch.slots.isSubset(of: changes.entity.placeSlots)
        if isMoved, try !shows(patch.number, changes.entity) { continue }
        accept(patch, changes.entity)
      }
    }
    for pairs in request.pairs { accept(pairs) }
    try deleteObjects()
    for changes in request.entities { announceChanges(changes) }
    try context.checkUsable()
  }

  /// Returns whether an object exists in the context: in its source or among its unsaved changes, and not deleted.
  private func shows(_ number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) -> Bool {
    guard let known = context.knownObject(number, of: entity) else {
      return try context.source.contains(number, of: entity)
    }
    switch known._$state.phase {
    case .inserted: return true
    case .deleted, .gone, .new, .tracer: return false
    case .persistent
    where known._$state.hasChanges && context.entities[entity.ordinal].mayBeMissing(number):
      return true
    // A fault may stand for an object that no longer exists: a reference led to it.
    case .persistent: return try context.source.contains(number, of: entity)
    }
  }

  /// Notes the objects that another context changed in the store after the child had read them: saving them to the
  /// store is a conflict.
  private func noteConflicts(_ changes: EntityChanges) throws(ContextError) {
    let ordinal = changes.entity.ordinal
    var changed = Set(changes.updated.map(\.number))
    // An object that is not here is deleted already.
    for number in changes.deleted where try shows(number, changes.entity) { changed.insert(number) }
    for (number, change) in request.conflicts[ordinal] where changed.contains(number) {
      context.entities[ordinal].noteConflict(number, change)
    }
  }

  /// Returns whether the child inserts an object again that this context has deleted and not saved.
  private func bringsBack(_ changes: EntityChanges) -> Bool {
    changes.inserted.contains { context.entities[changes.entity.ordinal].known[$0.number] != nil }
  }

  private func deleteObjects() throws(ContextError) {
    try context.tellingChildren { () throws(ContextError) in
      var deleted: [any ManagedObject] = []
      for changes in request.entities {
        for number in changes.deleted where try shows(number, changes.entity) {
          deleted.append(context.object(number, of: changes.entity))
        }
      }
      context.deleteCascading(deleted, callsHooks: false, as: .child(request))
    }
  }

  /// Makes the objects announce their next change, because the child keeps the values that it has handed over.
  private func announceChanges(_ changes: EntityChanges) {
    for number in changes.inserted.map(\.number) + changes.updated.map(\.number) {
      context.knownObject(number, of: changes.entity)?._$state.announcesChange = true
    }
  }

  // MARK: Records

  private func accept(_ patch: EntityChanges.Patch, _ entity: StoredEntity) {
    let object = context.object(patch.number, of: entity)
    var loader = RecordLoader(patch.bytes, entity.layout)
    var slots = patch.slots.subtracting(entity.referenceSlots).subtracting(entity.placeSlots)
    // Derived values are read from the store.
    slots.subtract(entity.derivedSlots)
    // The child's changes to parts of an embedded value are dropped if this context has set the value to nil. If
    // another context has done so, that is a conflict.
    let conflict = context.entities[entity.ordinal].conflicts[patch.number]?.slots ?? .empty
    let foreign = conflict.subtracting(object._$state.changed)
    slots.subtract(entity.partsOfNil(in: object, setting: patch.slots.union(foreign)))
    for slot in slots {
      object._$willSet(slot)
      context.load(slot, of: object, &loader)
    }
    let places = entity.toOnes.compactMap(\.list).map { list in
      let (keeper, slots) = (OrderKeeper(context, list.table), list.slots)
      // A place that the child hasn't changed stays, even if the object has another owner now.
      let isChanged = patch.slots.contains(slots.place)
      let entry = isChanged ? patch.entry(in: slots, entity) : keeper.entry(of: object, in: .none)
      return (keeper, slots, entry.place)
    }
    acceptReferences(patch.number, patch.bytes, entity, in: patch.slots, isNew: false)
    for (keeper, slots, place) in places {
      keeper.setPlace(of: object, in: object.reference(at: slots.reference), place)
    }
  }

  /// - Parameter isNew: whether the object has the references of the record already, and nothing leads back yet.
  private func acceptReferences(
    _ number: ObjectNumber,
    _ bytes: UnsafeRawBufferPointer,
    _ entity: StoredEntity,
    in slots: SlotSet,
    isNew: Bool
  ) {
    let record = RecordView(validated: bytes, layout: entity.layout)
    for toOne in entity.toOnes where slots.contains(toOne.slot) {
      let object = context.object(number, of: entity)
      let new = record.reference(toOne.slot)
      let old = isNew ? .none : object.reference(at: toOne.slot)
      // An equal reference comes with a conflict, and the object is changed here then as it was in the child.
      if !isNew { object.setReference(at: toOne.slot, to: new) }
      guard old != new else { continue }
      context.didSetToOne(of: object, slot: toOne.slot, from: old, to: new)
    }
  }

  /// Gives a new object the places in ordered relationships that it has in the child.
  private func acceptPlaces(_ new: EntityChanges.Record, _ entity: StoredEntity) {
    let record = RecordView(validated: UnsafeRawBufferPointer(new.bytes), layout: entity.layout)
    for list in entity.toOnes.compactMap(\.list) {
      let place = record.listEntry(new.number, in: list.slots).place
      let object = context.object(new.number, of: entity)
      let owner = object.reference(at: list.slots.reference)
      OrderKeeper(context, list.table).setPlace(of: object, in: owner, place)
    }
  }

  // MARK: Pairs

  private func accept(_ pairs: PairChanges) {
    let (source, destination) = (pairs.source, context.entity(pairs.relationship.destination))
    let position = pairs.relationship.ordinal
    for (owner, elements) in pairs.links.removed {
      for number in elements {
        let element = context.object(number, of: destination)
        context.remove(element, from: context.object(owner, of: source), toMany: position)
      }
    }
    for (owner, elements) in pairs.links.added {
      for number in elements {
        let element = context.object(number, of: destination)
        context.add(element, to: context.object(owner, of: source), toMany: position)
      }
    }
    acceptPlaces(pairs)
  }

  /// Gives new links the places that they have in the child, and moves others as the child has. A removed link has no
  /// place.
  private func acceptPlaces(_ pairs: PairChanges) {
    guard let keeper = context.relationships.order(of: pairs.relationship) else { return }
    let (source, destination) = (pairs.source, context.entity(pairs.relationship.destination))
    for (owner, element) in pairs.placedLinks {
      let member = context.object(element, of: destination)
      let list = context.object(owner, of: source)
      if context.relationships.isElement(element, of: list, toMany: pairs.relationship.ordinal) {
        keeper.setPlace(of: member, in: owner, pairs.places[owner, element])
      }
    }
  }
}

extension EntityChanges.Patch {
  /// Returns the entry that the patch gives its object in a list.
  fileprivate func entry(in slots: PlaceSlots, _ entity: StoredEntity) -> ListEntry {
    RecordView(validated: bytes, layout: entity.layout).listEntry(number, in: slots)
  }
}
