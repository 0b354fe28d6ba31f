import Predicates

// Reading objects anew, at the context's snapshot.

extension ManagedObjectContext {
  /// All objects that the context has in memory: those that the program holds, and some that it doesn't hold any more. In no order.
  public var registeredObjects: [any ManagedObject] {
    entities.indices.flatMap { ordinal in entities[ordinal].known.all.map { knownObject($0, ordinal) } }
  }

  /// Reads the object's values anew when they are touched. The context stays at its snapshot.
  ///
  /// - Parameters:
  ///   - object: an object of this context; any other is left alone.
  ///   - mergeChanges: whether unsaved changes of the object stay. If not, its attributes and to-one relationships are as the snapshot
  ///     has them, and inverses follow; a relationship that led to an object which is deleted here stays as it is. An object that was inserted or
  ///     deleted here is not affected: roll back, or delete it.
  public func refresh(_ object: some ManagedObject, mergeChanges: Bool = true) {
    guard object._$state.host === self, object._$state.phase == .persistent else { return }
    noteChange(of: object, isEdited: !mergeChanges && object._$state.hasChanges)
    if !mergeChanges { discardChanges(of: object) }
    // The values of an object that was deleted below are nowhere else.
    guard object._$state.host === self,
      !entities[entity(of: object).ordinal].mayBeMissing(object._$state.number)
    else { return }
    object._$state.forgetUnchangedValues()
    if object._$state.hasChanges { willChange(object) }
  }

  /// Reads the values of all objects in memory anew when they are touched, except those with unsaved changes. The context stays at its
  /// snapshot.
  public func refreshAllObjects() {
    for object in registeredObjects { refresh(object) }
  }

  private func discardChanges(of object: some ManagedObject) {
    let entity = entity(of: object)
    listings.removeAll()
    children.forEach { $0.parentWillChange(object._$state.number, entity.ordinal) }
    var kept: UInt64 = 0
    for toOne in entity.toOnes where object._$state.changed & 1 << UInt64(toOne.slot) != 0 {
      if !restoreReference(of: object, toOne, entity) { kept |= 1 << UInt64(toOne.slot) }
    }
    object._$state.forgetChanges(in: ~kept)
    entities[entity.ordinal].forgetDerived()
    let mayBeMissing = entities[entity.ordinal].mayBeMissing(object._$state.number)
    entities[entity.ordinal].forgetConflict(object._$state.number, in: ~kept)
    if mayBeMissing, kept == 0 {
      entities[entity.ordinal].deletedInParent.remove(object._$state.number)
      leaveIfDeleted(object, entity.ordinal)
    }
  }

  /// Sets a reference to what the source has. Returns false if that leads to an object that is deleted here.
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
      object.setReference(at: toOne.slot, to: new)
      didSetToOne(of: object, slot: toOne.slot, from: old, to: new)
      try restorePartner(of: old, toOne, entity)
      return true
    }
  }

  /// Gives an object that was the partner in a one-to-one relationship back to the one that the source has for it, if that still leads to it.
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
    entities[destination.ordinal].forgetConflict(number, in: 1 << UInt64(inverse))
  }
}
