import Predicates

// Changes of other contexts to objects that this context has changed too, as it moves from one state of the store to
// the next.

extension ManagedObjectContext {
  /// Compares unsaved changes with the state that the context is about to leave. A change that sets a property to the
  /// value that it had is no change, and is forgotten. For other changes the earlier values are kept, which the merge
  /// policy needs.
  func compareChanges(with changeSets: [ChangeSet]) {
    for changes in changeSets {
      for (entity, objects) in changes.objects {
        guard let entity = coordinator.schema.entity(entity) else { continue }
        if entities[entity.ordinal].changes.isEmpty, children.isEmpty { continue }
        for update in objects.updated { compareChanges(of: update.number, entity, in: update.slots) }
        for number in objects.deleted { noteDeletion(of: number, entity) }
      }
    }
  }

  private func compareChanges(of number: ObjectNumber, _ entity: StoredEntity, in slots: SlotSet) {
    children.forEach { $0.compareChanges(of: number, entity, in: slots) }
    guard let object = knownObject(number, of: entity) else { return }
    if object._$state.phase == .deleted {
      // The values that the object had when the context deleted it.
      let bases = values(in: slots.subtracting(entity.externalSlots), of: number, entity)
      return entities[entity.ordinal].noteConflict(number, ForeignChange(slots: slots, bases: bases))
    }
    guard object._$state.phase == .persistent else { return }
    let both = entity.slotsInBoth(object._$state.changed, slots)
    // Parts of an embedded value that changes as a whole aren't compared one by one: equal parts are a coincidence.
    let wholes = entity.wholeSlots(in: object._$state.changed, slots)
    var bases = values(in: both, of: number, entity)
    var equal = SlotSet.empty
    for (slot, value) in bases where !wholes.contains(slot) {
      if object.attributeValue(at: slot) == value { equal.insert(slot) }
    }
    // So are equal places in two lists.
    equal.subtract(entity.places(of: object._$state.changed.subtracting(equal)))
    if !equal.isEmpty {
      object._$state.forgetChanges(in: equal)
      entities[entity.ordinal].forgetConflict(number, in: equal)
      for slot in equal { bases[slot] = nil }
    }
    let changed = entity.slotsInBoth(object._$state.changed, slots)
    entities[entity.ordinal].noteConflict(number, ForeignChange(slots: changed, bases: bases))
  }

  /// Notes that another context has deleted an object. The object may exist again in the state that this context moves
  /// to, or later.
  private func noteDeletion(of number: ObjectNumber, _ entity: StoredEntity) {
    children.forEach { $0.noteDeletion(of: number, entity) }
    guard let object = knownObject(number, of: entity), object._$state.hasChanges,
      object._$state.phase == .persistent || object._$state.phase == .deleted
    else { return }
    // All values are kept as bases, because the program may still change more of the object. Of the external ones, only
    // those that were changed are read.
    let slots = SlotSet.all.subtracting(entity.externalSlots).union(object._$state.changed)
    let bases = values(in: slots, of: number, entity)
    entities[entity.ordinal].noteConflict(number, ForeignChange(isDeleted: true, bases: bases))
  }

  /// Returns the values that the source has in slots of an object, except for slots that were in conflict before: these
  /// were set on an older state. Values that can't be read are left out.
  private func values(
    in slots: SlotSet,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) -> [Int: AttributeValue] {
    let known = entities[entity.ordinal].conflicts[number]
    let new = known?.isDeleted == true ? .empty : slots.subtracting(known?.slots ?? .empty)
    if new.isEmpty { return [:] }
    let bytes = deferringError(nil) { () throws(ContextError) in try source.record(number, of: entity) }
    guard let bytes else { return [:] }
    let record = RecordView(validated: bytes, layout: entity.layout)
    var values: [Int: AttributeValue] = [:]
    for slot in entity.slots(new) {
      let above = parent?.loadedValue(at: slot, of: number, entity)
      values[slot] = above ?? (try? source.value(of: record, at: slot, entity))
    }
    return values
  }

  /// Returns the value that an object has in memory, here or in the next context above that has it. A parent that has
  /// just saved shows its values, while its snapshot is still the one before the save.
  private func loadedValue(at slot: Int, of number: ObjectNumber, _ entity: StoredEntity) -> AttributeValue? {
    guard let object = knownObject(number, of: entity), object._$state.phase == .persistent,
      object._$state.isLoaded(slot)
    else { return parent?.loadedValue(at: slot, of: number, entity) }
    return object.attributeValue(at: slot)
  }

  // MARK: Changes that are forgotten

  /// Forgets others' changes to slots of an object that lose their unsaved changes. A child may have changed the values
  /// that the context has shown: from now on, others' changes are in conflict with the child's.
  func forgetConflict(of number: ObjectNumber, _ entity: StoredEntity, in slots: SlotSet) {
    tellChildrenOfConflict(of: number, entity, in: slots)
    entities[entity.ordinal].forgetConflict(number, in: slots)
  }

  /// Forgets others' changes to an object, except for its deletion and for changes in conflict with its unsaved changes
  /// in other slots.
  func forgetConflict(
    of object: any ManagedObject,
    _ entity: StoredEntity,
    withoutChangesIn slots: SlotSet = .empty
  ) {
    let number = object._$state.number
    guard let conflict = entities[entity.ordinal].conflicts[number] else { return }
    if conflict.isDeleted { return forgetConflict(of: number, entity, in: slots) }
    // Of an embedded value that changes as a whole, the conflict has all slots.
    let kept = entity.slotsInBoth(object._$state.changed.subtracting(slots), conflict.slots)
    forgetConflict(of: number, entity, in: .all.subtracting(kept))
  }

  /// Tells the children that the context is about to show others' values in slots of an object.
  func tellChildrenOfConflict(of number: ObjectNumber, _ entity: StoredEntity, in slots: SlotSet = .all) {
    guard !children.isEmpty, var change = entities[entity.ordinal].conflicts[number], !change.isDeleted else {
      return
    }
    change.forget(.all.subtracting(slots))
    if let object = knownObject(number, of: entity) {
      if object._$state.phase == .persistent {
        // Parts of an embedded value that the context hasn't changed are shown as others have set them; a value that
        // others have set to nil shows no part.
        let changed = object._$state.changed
        let unchanged = SlotSet.all.subtracting(changed)
        change.forget(unchanged.union(entity.partsOfNil(in: object, setting: changed)))
      }
      change.replaceBases(with: object)
    }
    forgetEqualValues(in: &change, of: number, entity)
    children.forEach { $0.parentDidForget(change, of: number, entity) }
  }

  /// Forgets the slots in which the source has the values that a change began with.
  private func forgetEqualValues(
    in change: inout ForeignChange,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    let bytes = deferringError(nil) { () throws(ContextError) in try source.record(number, of: entity) }
    guard let bytes else { return }
    let record = RecordView(validated: bytes, layout: entity.layout)
    for (slot, base) in change.bases {
      let value = try? source.value(of: record, at: slot, entity)
      if value == base { change.forget(SlotSet(slot)) }
    }
  }

  /// Notes that the parent is about to show others' values of an object. They are in conflict with changes that were
  /// based on the values shown before.
  ///
  /// - Parameter change: the slots that get other values, with the values that the parent has shown.
  func parentDidForget(_ change: ForeignChange, of number: ObjectNumber, _ entity: StoredEntity) {
    guard let object = knownObject(number, of: entity) else {
      return children.forEach { $0.parentDidForget(change, of: number, entity) }
    }
    var shown = change
    switch object._$state.phase {
    // The deletion was based on these values. An undo has brought an inserted object back, and all of its values become
    // changes.
    case .inserted, .deleted: entities[entity.ordinal].noteConflict(number, change)
    case .persistent:
      let both = entity.slotsInBoth(object._$state.changed, change.slots)
      var conflict = change
      conflict.forget(.all.subtracting(both))
      conflict.slots = both
      entities[entity.ordinal].noteConflict(number, conflict)
    default: break
    }
    shown.replaceBases(with: object)
    children.forEach { $0.parentDidForget(shown, of: number, entity) }
  }

  // MARK: Objects that are back

  /// Notes the objects that another context had deleted and has brought back. A value of theirs that differs from
  /// before counts as changed by that context.
  func noteRevivals() {
    for ordinal in entities.indices {
      for (number, change) in entities[ordinal].conflicts where change.isDeleted {
        deferringError(()) { () throws(ContextError) in try noteRevival(of: number, entity(ordinal), change) }
      }
    }
  }

  private func noteRevival(
    of number: ObjectNumber,
    _ entity: StoredEntity,
    _ change: ForeignChange
  ) throws(ContextError) {
    guard let bytes = try source.record(number, of: entity) else { return }
    // A child may have handed over its deletion of an object that is not here: nothing is in conflict with that.
    guard let object = knownObject(number, of: entity) else {
      return entities[entity.ordinal].forgetConflict(number)
    }
    let record = RecordView(validated: bytes, layout: entity.layout)
    let isUpdated = object._$state.phase == .persistent
    // A long value that was set while the object was deleted has no base.
    let changed = isUpdated ? object._$state.changed : .all
    let unknown = SlotSet(entity.externalSlots.filter { change.bases[$0] == nil })
    var slots = SlotSet.empty
    for slot in entity.slots(changed.subtracting(unknown)) {
      let value = try source.value(of: record, at: slot, entity)
      if change.bases[slot] != value { slots.insert(slot) }
    }
    entities[entity.ordinal].revive(number, differingIn: slots)
    if isUpdated { object._$state.forgetUnchangedValues() }
    entities[entity.ordinal].encoded?.noteStale(number)
  }
}

extension ForeignChange {
  /// Makes the unsaved values of a stored object the bases of the slots that it has changed.
  fileprivate mutating func replaceBases(with object: any ManagedObject) {
    guard object._$state.phase == .persistent || object._$state.phase == .deleted else { return }
    for slot in slots.intersection(object._$state.changed) {
      bases[slot] = object.attributeValue(at: slot)
    }
  }
}
