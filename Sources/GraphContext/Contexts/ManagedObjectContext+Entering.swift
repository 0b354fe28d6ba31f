import Predicates

// Objects that come into the context with a number that they have already.

extension ManagedObjectContext {
  /// Inserts an object with these values, which already has its number: an object of a child, or one that an undo
  /// brings back.
  ///
  /// - Parameters:
  ///   - bytes: the values, which `RecordView(_:layout:)` has accepted.
  ///   - former: the object that had the number in this context, if the program may still hold it.
  func enter(
    _ bytes: UnsafeRawBufferPointer,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    reviving former: (any ManagedObject)? = nil
  ) {
    func make<Object: ManagedObject>(_ type: Object.Type) -> any ManagedObject {
      coordinator.models.makeObject(type, ObjectState(), number: number, entity.ordinal)
    }
    // The program may have asked for the object by its ID before.
    let known = knownObject(number, of: entity)
    let isStored = known?._$state.phase == .deleted
    if let known, isStored { noteChange(of: known) }
    let former = known ?? former.flatMap { $0._$state.host == nil ? $0 : nil }
    former?._$state.becomeNew()
    let object = former ?? make(coordinator.models.type(of: number, entity.ordinal))
    var loader = RecordLoader(bytes, entity.layout)
    for slot in entity.schema.stored.indices {
      // A new object has no derived values until it is saved, even if it had some before its deletion. An object that
      // the store has reads them from the store.
      let isDerived = entity.derivedSlots.contains(slot)
      if isDerived {
        let isRequired = entity.requiredSlots(of: number).contains(slot)
        var unsaved = SlotFiller(value: isRequired ? entity.schema.stored[slot].kind.emptyValue : .null)
        object._$visit(slot, &unsaved)
      } else {
        load(slot, of: object, &loader)
      }
    }
    object._$state.enter(self, number: number)
    if observation?.observes(ObjectKey(entity: entity.ordinal, number: number)) == true {
      object._$state.hearers.insert(.observers)
    }
    if known == nil { register(object, number, entity.ordinal) }
    entities[entity.ordinal].encoded?.noteStale(number)
    if isStored {
      object._$state.becomeSaved(changedIn: entity)
      entities[entity.ordinal].changes.noteUpdated(object)
    } else {
      entities[entity.ordinal].changes.noteInserted(object)
      noteEntry(of: object)
    }
  }

  /// Fills a property that the object's state has as loaded. If the type of the property can't read the value, the
  /// error is noted, and a placeholder takes the value's place.
  func load(_ slot: Int, of object: any ManagedObject, _ loader: inout RecordLoader) {
    loader.isUnreadable = false
    object._$visit(slot, &loader)
    guard loader.isUnreadable else { return }
    var filler = SlotFiller(value: .null)
    object._$visit(slot, &filler)
    unreadableValue(of: object, slot: slot)
  }
}
