import Predicates

// Child contexts. A child always shows the state of its parent, including the parent's unsaved changes. Before an
// object changes in the parent, the child forgets the values of the object that it has read.

extension ManagedObjectContext {
  /// Makes a context that saves to this one: for a form that can be cancelled, or for a step of an import that can
  /// fail.
  ///
  /// ```swift
  /// let draft = context.makeChild()
  /// let song = try draft.object(Song.self, with: id)
  /// song.title = "Carey"
  /// try draft.save()      // The parent has the change now, unsaved.
  /// try context.save()    // The store has it.
  /// ```
  ///
  /// The child always shows the current state of this context, including its unsaved changes. Properties that were
  /// changed in the child keep their values there. Saving the child makes its changes those of this context: a property
  /// that was changed in both gets the child's value. An object that was deleted here and changed in the child is a
  /// conflict. A child that is not saved changes nothing. The save of the outermost context checks uniqueness and the
  /// rule `deny`, because only the store has all objects.
  ///
  /// A child of a read-only context is read-only for good. If its parent becomes read-only later, the child throws
  /// `readOnlyContext` when it saves.
  ///
  /// New objects have their final IDs. A child can have children. It belongs to the task that this context belongs to.
  /// It lives as long as the program holds it. Afterwards its objects are gone, as after a reset. O(entities).
  ///
  /// - Parameter name: the child's name in messages.
  public func makeChild(name: String? = nil) -> ManagedObjectContext {
    let child = ManagedObjectContext(coordinator, showing: ParentSource(self), parent: self)
    child.cancellation = cancellation
    child.saveTimeout = saveTimeout
    child.isReadOnly = isReadOnly
    child.name = name
    if isObservable { child.setObservable(true) }
    hasObservableChildren = isObservable
    children.add(child)
    return child
  }

  /// Forgets the values of an object that were read from the parent, before the parent changes the object.
  func parentWillChange(_ number: ObjectNumber, _ ordinal: Int) {
    parentLinksWillChange(ofReferencesIn: ordinal)
    if let object = knownObject(number, of: entity(ordinal)), object._$state.phase != .inserted {
      object._$state.forgetUnchangedValues()
      if object._$state.hasChanges { entities[ordinal].encoded?.noteStale(number) }
    }
    children.forEach { $0.parentWillChange(number, ordinal) }
  }

  /// Forgets lists of members, and links that were derived from references of an entity's objects.
  private func parentLinksWillChange(ofReferencesIn ordinal: Int) {
    listings.removeAll()
    entities[ordinal].forgetReferences()
  }

  /// Handles a reference in the parent that is about to lead elsewhere: lists of members change.
  func parentMembersWillChange(ofReferencesIn ordinal: Int) {
    parentLinksWillChange(ofReferencesIn: ordinal)
    children.forEach { $0.parentMembersWillChange(ofReferencesIn: ordinal) }
  }

  /// Handles a pair that the parent has linked or unlinked. An equal unsaved change of this context is no longer a
  /// difference to the parent. A change that was no difference before is one again.
  func parentDidChangePair(_ owner: ObjectNumber, _ element: ObjectNumber, _ table: LinkTable, isLinked: Bool)
  {
    guard case .pairs(let ordinal, let position) = table.origin else { return }
    listings.removeAll()
    entities[ordinal].pairs[position].forgetLists()
    if entities[ordinal].pairs[position].settled.isLinked(owner, element) == !isLinked {
      entities[ordinal].pairs[position].unsettle(owner, element, isLinked: !isLinked)
      // The link is shown as before, but perhaps at another place.
      children.forEach { $0.parentOrderDidChange(ofPairs: position, ordinal) }
      return
    }
    let known = entities[ordinal].pairs[position].links.isLinked(owner, element)
    if known == isLinked { entities[ordinal].pairs[position].settle(owner, element, isLinked: isLinked) }
    // If this context has an unsaved change of the pair, that hides the parent's, so nothing changes for its children.
    if known == nil {
      // If the link no longer exists, its move is forgotten.
      if !isLinked { entities[ordinal].pairs[position].setPlace(nil, of: element, in: owner) }
      children.forEach { $0.parentDidChangePair(owner, element, table, isLinked: isLinked) }
    }
  }

  /// Handles a link that has got another place in the parent.
  func parentOrderDidChange(ofPairs position: Int, _ ordinal: Int) {
    listings.removeAll()
    entities[ordinal].pairs[position].forgetLists()
    children.forEach { $0.parentOrderDidChange(ofPairs: position, ordinal) }
  }

  /// Handles objects that the parent has deleted, whose changes it has rolled back, or of which it has saved other
  /// values than it showed.
  func parentDidReplace(_ numbers: [[ObjectNumber]]) {
    listings.removeAll()
    for (ordinal, numbers) in numbers.enumerated() where !numbers.isEmpty {
      entities[ordinal].forgetReferences()
      for number in numbers { update(number, entity(ordinal), changedBy: .parent) }
    }
    normalisePairs()
    children.forEach { $0.parentDidReplace(numbers) }
  }
}

extension EntityChanges.Patch {
  /// Returns the entry that the patch gives its object in a list.
  fileprivate func entry(in slots: PlaceSlots, _ entity: StoredEntity) -> ListEntry {
    RecordView(validated: bytes, layout: entity.layout).listEntry(number, in: slots)
  }
}

// MARK: - Saving to the parent

extension ManagedObjectContext {
  /// Applies the changes of a child to this context: all of them, or none. If the store can't be read meanwhile, only
  /// some are applied, and this context throws until it is rolled back.
  ///
  /// - Parameter finish: notes the child's objects as saved. Called before listeners are.
  /// - Throws: `conflict` for an object that the child has changed and that was deleted here; `readOnlyContext` if this
  ///   context only reads.
  func accept(
    _ request: SaveRequest,
    _ handedOver: HandedOver,
    _ finish: () -> Void
  ) throws(ContextError) {
    if isReadOnly { throw .readOnlyContext() }
    try checkUsable()
    try checkExistence(request)
    self.handedOver = handedOver
    defer { self.handedOver = nil }
    try tellingChanges(from: .child, handedOver: handedOver) { () throws(ContextError) in
      try apply(request)
      finish()
    }
  }

  /// Shows the changes of a save that is yet to be stored, in a context that has no other use.
  func preview(_ request: SaveRequest) throws(ContextError) {
    try apply(request)
    isReadOnly = true
  }

  /// Returns whether the child inserts an object again that this context has deleted and not saved.
  private func bringsBack(_ changes: EntityChanges) -> Bool {
    changes.inserted.contains { entities[changes.entity.ordinal].known[$0.number] != nil }
  }

  private func apply(_ request: SaveRequest) throws(ContextError) {
    for changes in request.entities { try accept(conflicts: request, changes) }
    for changes in request.entities where bringsBack(changes) {
      // Before the objects enter: they have their references from then on, but are linked one after the other.
      for position in changes.entity.toOnes.indices { workOutReferences(at: position, of: changes.entity) }
    }
    for changes in request.entities {
      for record in changes.inserted {
        enter(UnsafeRawBufferPointer(record.bytes), record.number, changes.entity)
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
    try deleteObjects(of: request)
    for changes in request.entities { announceChanges(changes) }
    try checkUsable()
  }

  private func deleteObjects(of request: SaveRequest) throws(ContextError) {
    try tellingChildren { () throws(ContextError) in
      var deleted: [any ManagedObject] = []
      for changes in request.entities {
        for number in changes.deleted where try shows(number, changes.entity) {
          deleted.append(object(number, of: changes.entity))
        }
      }
      deleteCascading(deleted, callsHooks: false, as: .child(request))
    }
  }

  private func checkExistence(_ request: SaveRequest) throws(ContextError) {
    for changes in request.entities {
      let ordinal = changes.entity.ordinal
      // The child notes only deletions of objects that it has changed, so no other object can be missing.
      let noted = request.deletedInParent[ordinal].union(request.conflicts[ordinal].keys)
      if noted.isEmpty { continue }
      for patch in changes.updated where noted.contains(patch.number) {
        let number = patch.number
        if patch.slots.isSubset(of: changes.entity.placeSlots) { continue }
        if try !shows(number, changes.entity) { throw .conflict(id(number, changes.entity), "deleted") }
      }
    }
  }

  /// Returns whether an object exists in the context: in its source or among its unsaved changes, and not deleted.
  private func shows(_ number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) -> Bool {
    guard let known = knownObject(number, of: entity) else { return try source.contains(number, of: entity) }
    switch known._$state.phase {
    case .inserted: return true
    case .deleted, .gone, .new, .tracer: return false
    case .persistent where known._$state.hasChanges && entities[entity.ordinal].mayBeMissing(number):
      return true
    // A fault may stand for an object that no longer exists: a reference led to it.
    case .persistent: return try source.contains(number, of: entity)
    }
  }

  /// Notes the objects that another context changed in the store after the child had read them: saving them to the
  /// store is a conflict.
  private func accept(conflicts request: SaveRequest, _ changes: EntityChanges) throws(ContextError) {
    let ordinal = changes.entity.ordinal
    var changed = Set(changes.updated.map(\.number))
    // An object that is not here is deleted already.
    for number in changes.deleted where try shows(number, changes.entity) { changed.insert(number) }
    for (number, change) in request.conflicts[ordinal] where changed.contains(number) {
      entities[ordinal].noteConflict(number, change)
    }
  }

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
      coordinator.makeObject(type, ObjectState(), number: number, entity.ordinal)
    }
    // The program may have asked for the object by its ID before.
    let known = knownObject(number, of: entity)
    let isStored = known?._$state.phase == .deleted
    if let known, isStored { noteChange(of: known) }
    let former = known ?? former.flatMap { $0._$state.host == nil ? $0 : nil }
    former?._$state.becomeNew()
    let object = former ?? make(coordinator.type(of: number, entity.ordinal))
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
  private func load(_ slot: Int, of object: any ManagedObject, _ loader: inout RecordLoader) {
    loader.isUnreadable = false
    object._$visit(slot, &loader)
    guard loader.isUnreadable else { return }
    var filler = SlotFiller(value: .null)
    object._$visit(slot, &filler)
    unreadableValue(of: object, slot: slot)
  }

  private func accept(_ patch: EntityChanges.Patch, _ entity: StoredEntity) {
    let object = object(patch.number, of: entity)
    var loader = RecordLoader(patch.bytes, entity.layout)
    var slots = patch.slots.subtracting(entity.referenceSlots).subtracting(entity.placeSlots)
    // Derived values are read from the store.
    slots.subtract(entity.derivedSlots)
    // The child's changes to parts of an embedded value are dropped if this context has set the value to nil. If
    // another context has done so, that is a conflict.
    let conflict = entities[entity.ordinal].conflicts[patch.number]?.slots ?? .empty
    let foreign = conflict.subtracting(object._$state.changed)
    slots.subtract(entity.partsOfNil(in: object, setting: patch.slots.union(foreign)))
    for slot in slots {
      object._$willSet(slot)
      load(slot, of: object, &loader)
    }
    let places = entity.toOnes.compactMap(\.list).map { list in
      let (keeper, slots) = (OrderKeeper(self, list.table), list.slots)
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

  /// Gives a new object the places in ordered relationships that it has in the child.
  private func acceptPlaces(_ new: EntityChanges.Record, _ entity: StoredEntity) {
    let record = RecordView(validated: UnsafeRawBufferPointer(new.bytes), layout: entity.layout)
    for list in entity.toOnes.compactMap(\.list) {
      let place = record.listEntry(new.number, in: list.slots).place
      let object = object(new.number, of: entity)
      let owner = object.reference(at: list.slots.reference)
      OrderKeeper(self, list.table).setPlace(of: object, in: owner, place)
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
      let object = object(number, of: entity)
      let new = record.reference(toOne.slot)
      let old = isNew ? .none : object.reference(at: toOne.slot)
      // An equal reference comes with a conflict, and the object is changed here then as it was in the child.
      if !isNew { object.setReference(at: toOne.slot, to: new) }
      guard old != new else { continue }
      didSetToOne(of: object, slot: toOne.slot, from: old, to: new)
    }
  }

  private func accept(_ pairs: PairChanges) {
    let (source, destination) = (pairs.source, entity(pairs.relationship.destination))
    let position = pairs.relationship.ordinal
    for (owner, elements) in pairs.links.removed {
      for element in elements {
        remove(object(element, of: destination), from: object(owner, of: source), toMany: position)
      }
    }
    for (owner, elements) in pairs.links.added {
      for element in elements {
        add(object(element, of: destination), to: object(owner, of: source), toMany: position)
      }
    }
    acceptPlaces(pairs)
  }

  /// Gives new links the places that they have in the child, and moves others as the child has. A removed link has no
  /// place.
  private func acceptPlaces(_ pairs: PairChanges) {
    guard let keeper = relationships.order(of: pairs.relationship) else { return }
    let (source, destination) = (pairs.source, entity(pairs.relationship.destination))
    for (owner, element) in pairs.placedLinks {
      let member = object(element, of: destination)
      let list = object(owner, of: source)
      if relationships.isElement(element, of: list, toMany: pairs.relationship.ordinal) {
        keeper.setPlace(of: member, in: owner, pairs.places[owner, element])
      }
    }
  }

  /// Makes the objects announce their next change, because the child keeps the values that it has handed over.
  private func announceChanges(_ changes: EntityChanges) {
    for number in changes.inserted.map(\.number) + changes.updated.map(\.number) {
      knownObject(number, of: changes.entity)?._$state.announcesChange = true
    }
  }
}
