import Predicates

// Inserting, changing, and what there is to save.

extension ManagedObjectContext {
  /// Puts a new object into the context, and every new object that its relationships lead to. It has its final ID from
  /// now on. Does nothing for an object that is in the context.
  ///
  /// Numbers come in blocks that are leased in the store, most of them by saves. Where a block is used up, and for the first object after
  /// the store was opened, this waits for its turn to write as ``save(durability:)`` does, and for the disk. In a store that is open for reading only
  /// the object has an ID as well, which is of use in this process alone; the save throws.
  ///
  /// If the object can't be inserted, the context inserts nothing, and its next fetch or save throws, until it is rolled back: `otherContext` for
  /// an object that is in another context, `objectNotFound` for one that is gone, `unknownEntity` for a model that the container was made
  /// without; `tooManyObjects` or what a save throws, when no number can be leased for the object. The same goes for a relationship that is set to such an object.
  public func insert(_ object: some ManagedObject) { _ = enter(object) }

  /// Returns whether the object is in the context now.
  func enter(_ object: any ManagedObject) -> Bool {
    if let host = object._$state.host {
      if host !== self { noteOther(object, "inserted or linked") }
      return host === self
    }
    guard object._$state.phase == .new else {
      noteGone(object)
      return false
    }
    guard let entity = noting(nil, { () throws(ContextError) in try modelEntity(of: object) })
    else { return false }
    guard let number = number(of: entity) else { return false }
    object._$state.enter(self, number: number)
    objects[entity.ordinal].insert(object, number: number)
    changes[entity.ordinal].noteInserted(object)
    encodedChanges[entity.ordinal]?.noteStale(number)
    adopted.append(object)
    attachAdopted()
    return true
  }

  /// The number for a new object; nil, with the error noted, when there is none.
  private func number(of entity: StoredEntity) -> ObjectNumber? {
    noting(nil) { () throws(ContextError) in
      try coordinator.takeNumber(of: entity, timeout: saveTimeout)
    }
  }

  /// Notes the error `otherContext` for an object that this context can't insert, link or delete.
  func noteOther(_ object: any ManagedObject, _ what: String) { note(Self.isOther(object, what)) }

  /// The error for an object of another context.
  static func isOther(_ object: any ManagedObject, _ what: String) -> ContextError {
    let id = object.objectID
    return ContextError(
      .otherContext,
      "\(id.entityName) \(id.number) is in another context and can't be \(what) in this one; send its objectID instead",
      context: .init(entity: id.entityName, objectID: id)
    )
  }

  /// Somebody may have deleted the object between two turns of the program that holds it; that is no mistake of the
  /// program's, but what it asked for can't be done.
  func noteGone(_ object: any ManagedObject) { note(Self.isGone(object)) }

  /// The error for an object that is gone.
  static func isGone(_ object: any ManagedObject) -> ContextError {
    let (name, number) = (object._$objectModel.entity.name, object._$state.number)
    let id = object._$state.storeID.map {
      ManagedObjectID(entity: object.entityLabel, number: number, storeID: $0)
    }
    return ContextError(
      .objectNotFound,
      "\(number.isNone ? "a \(name)" : "\(name) \(number)") is gone: it was deleted, or its context was reset; nothing can lead to it",
      context: .init(entity: name, objectID: number.isNone ? nil : id)
    )
  }

  /// Looks at the relationships of objects that came in, one after the other: a chain of new objects needs no stack.
  private func attachAdopted() {
    guard !isAdopting else { return }
    isAdopting = true
    defer { isAdopting = false }
    while let object = adopted.popLast() { object.attachRelationships() }
  }

  // MARK: What there is to save

  /// Whether there is anything to save. O(unsaved changes).
  public var hasChanges: Bool {
    changes.contains { $0.hasAny }
      || pendingPairs.contains { $0.contains { !$0.isEmpty } }
  }

  /// Objects that were inserted and not saved yet.
  public var insertedObjects: [any ManagedObject] { changes.flatMap(\.inserted) }
  /// Saved objects with unsaved changes.
  public var updatedObjects: [any ManagedObject] { changes.flatMap(\.updated) }
  /// Saved objects whose deletion is not saved yet.
  public var deletedObjects: [any ManagedObject] { changes.flatMap(\.deleted) }

  /// An object with unsaved changes is about to be changed, or one without them for the first time.
  func noteChange(of object: any ManagedObject) {
    let ordinal = entity(of: object).ordinal
    if !object._$state.hasChanges { changes[ordinal].noteUpdated(object) }
    encodedChanges[ordinal]?.noteStale(object._$state.number)
  }

  /// What a query has to look at besides the snapshot, up to date; nil for nothing.
  func encodedChanges(of entity: StoredEntity) -> EncodedChanges? {
    let pending = changes[entity.ordinal]
    if pending.isEmpty { return nil }
    if encodedChanges[entity.ordinal]?.isWasteful ?? true {
      encodedChanges[entity.ordinal] = EncodedChanges(entity, pending)
    }
    encodedChanges[entity.ordinal]?.update(from: self)
    return encodedChanges[entity.ordinal]
  }

  /// Unsaved objects are encoded anew by the next query that asks for them: their changes were saved or dropped, or their
  /// other values may be new ones.
  func forgetEncodedChanges() {
    for ordinal in encodedChanges.indices { encodedChanges[ordinal] = nil }
  }
}
