import Predicates

// Objects by number and by ID.

// MARK: - Faulting

extension ManagedObjectContext {
  /// Gives the memory of kept records back if they have become many.
  func releaseKeptIfMany() {
    if kept.areMany(source.keptByteCount) { releaseKept() }
  }

  func releaseKept() {
    source.releaseKept()
    expectNothingKept()
  }

  /// Forgets pointers to records, which are stale: the source keeps no records yet, or no longer keeps them.
  func expectNothingKept() {
    generation &+= 1
    kept = KeptRecords()
    memberReading.forgetRecords()
  }

  /// Returns whether unsaved changes, of an object or of references to it, explain why the context knows an object that
  /// the source lacks. Another context has deleted the object then, and the save throws `conflict`; the store is not
  /// damaged.
  func isKeptByChanges(_ number: ObjectNumber, _ entity: StoredEntity) -> Bool {
    if entities[entity.ordinal].mayBeMissing(number) { return true }
    if let parent, parent.knownObject(number, of: entity)?._$state.phase == .deleted { return true }
    if let parent, parent.isKeptByChanges(number, entity) { return true }
    if entities[entity.ordinal].pairs.contains(where: { $0.links.added[number] != nil }) { return true }
    return entity.incoming.contains { pendingLinks(in: $0.toOne.links)?.added[number] != nil }
  }

  func notFound(_ number: ObjectNumber, _ entity: StoredEntity) -> ContextError {
    ContextError(
      .objectNotFound,
      "there is no \(entity.name) \(number)",
      context: .init(entity: entity.name, objectID: id(number, entity))
    )
  }

  func id(_ number: ObjectNumber, _ entity: StoredEntity) -> ManagedObjectID {
    entity.objectID(number, in: storeID)
  }

  /// Returns the one object of this number: the object that is already here, or a fault. O(1).
  func object<Object: ManagedObject>(_ type: Object.Type, number: ObjectNumber) -> Object {
    object(type, number: number, entity(of: type).ordinal)
  }

  /// Returns the object of a number of the entity of this ordinal, whose class is given.
  func object<Object: ManagedObject>(_ type: Object.Type, number: ObjectNumber, _ ordinal: Int) -> Object {
    guard isClass(of: number, type, ordinal) else { return missing(type, number, ordinal) }
    // The map of an entity holds objects of its one class, or of the class that the number gives.
    if let known = entities[ordinal].known[number] { return unsafeDowncast(known, to: type) }
    var state = ObjectState(fault: number, in: self)
    if let record = memberReading.record(number, of: ordinal) {
      state.setRecord(record, generation: generation)
    }
    return added(state, ordinal)
  }

  private func added<Object: ManagedObject>(_ state: consuming ObjectState, _ ordinal: Int) -> Object {
    let number = state.number
    let object = coordinator.models.makeObject(Object.self, state, number: number, ordinal)
    register(object, number, ordinal)
    return object
  }

  /// Enters an object into the identity map of its entity. O(1) on average.
  func register(_ object: some ManagedObject, _ number: ObjectNumber, _ ordinal: Int) {
    if entities[ordinal].known.needsSweep(for: 1) { releaseUnheld(ordinal) }
    entities[ordinal].known.insert(object, number: number)
  }

  /// Makes room in the identity map of an entity for the objects of a query.
  func makeRoom(for count: Int, _ ordinal: Int) {
    guard entities[ordinal].known.needsSweep(for: count) else { return }
    releaseUnheld(ordinal)
    entities[ordinal].known.reserve(count)
  }

  /// Frees the objects of an entity that nothing but the context holds.
  func releaseUnheld(_ ordinal: Int) {
    let unheld = entities[ordinal].known.takeUnheld()
    leave(unheld, ordinal)
  }

  /// Makes objects leave that the identity map of an entity has given up. The caller frees them afterwards, while
  /// nothing accesses ``entities``: a model's `deinit` may read properties, which must neither look into the context
  /// nor keep the object.
  func leave(_ objects: [AnyObject], _ ordinal: Int) {
    let number = entity(ordinal).number
    func open<Object: ManagedObject>(_ type: Object.Type) {
      for object in objects { unsafeDowncast(object, to: type)._$state.leave(number) }
    }
    open(coordinator.models.types[ordinal])
  }

  /// Returns the object of a number, and gives it its record, so that it needn't look the record up. The bytes were
  /// accepted by `RecordView(_:layout:)` and belong to ``source``.
  func object<Object: ManagedObject>(
    _ type: Object.Type,
    number: ObjectNumber,
    record: UnsafeRawBufferPointer,
    _ ordinal: Int
  ) -> Object {
    guard isClass(of: number, type, ordinal) else { return missing(type, number, ordinal) }
    if let known = entities[ordinal].known[number] {
      let known = unsafeDowncast(known, to: type)
      if known._$state.phase == .persistent { known._$state.setRecord(record, generation: generation) }
      return known
    }
    var state = ObjectState(fault: number, in: self)
    state.setRecord(record, generation: generation)
    return added(state, ordinal)
  }

  /// Returns the object of a number, of an entity whose class isn't known statically.
  func object(_ number: ObjectNumber, of entity: StoredEntity) -> any ManagedObject {
    object(coordinator.models.types[entity.ordinal], number: number, entity.ordinal)
  }

  /// Returns an object of the identity map of the entity of this ordinal.
  func knownObject(_ object: AnyObject, _ ordinal: Int) -> any ManagedObject {
    func open<Object: ManagedObject>(_ type: Object.Type) -> any ManagedObject {
      unsafeDowncast(object, to: type)
    }
    return open(coordinator.models.types[ordinal])
  }

  /// Returns the object of a number if it is in the context already.
  func knownObject(_ number: ObjectNumber, of entity: StoredEntity) -> (any ManagedObject)? {
    entities[entity.ordinal].known[number] == nil ? nil : object(number, of: entity)
  }
}

// MARK: - Objects by ID

extension ManagedObjectContext {
  /// Returns the object of an ID, as a fault: reading a value finds out if it exists. Use ``existingObject(_:with:)``
  /// to know at once.
  ///
  /// Records of entities without classes have IDs, too: `object(ManagedRecord.self, with: id)`.
  ///
  /// - Throws: `unknownEntity` when the ID is of another store or another entity, or the container was made without the
  ///   model; `provisionalID` when it was taken from an object before its insertion; `objectNotFound` for an ID that
  ///   never had an object.
  public func object<Object: ManagedObject>(
    _ type: Object.Type = Object.self,
    with id: ManagedObjectID
  ) throws(ContextError) -> Object {
    let id = storedID(id)
    return object(type, number: id.number, try entity(of: id, as: type).ordinal)
  }

  /// Returns the object of an ID, if it exists in the context's snapshot or among its unsaved objects. An object with
  /// unsaved changes that another context has deleted counts as existing, as it does for a fetch: the next save
  /// resolves that by ``mergePolicy``.
  ///
  /// - Throws: `objectNotFound` when there is none, or it was deleted in this context; else as ``object(_:with:)``.
  public func existingObject<Object: ManagedObject>(
    _ type: Object.Type = Object.self,
    with id: ManagedObjectID
  ) throws(ContextError) -> Object {
    let id = storedID(id)
    return try existingObject(type, number: id.number, entity(of: id, as: type))
  }

  /// Returns the object of a number of an entity whose class is given, if it exists.
  func existingObject<Object: ManagedObject>(
    _ type: Object.Type,
    number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> Object {
    try checkUsable()
    guard isClass(of: number, type, entity.ordinal) else { throw wrongClass(type, number, entity) }
    if let known = entities[entity.ordinal].known[number].map({ unsafeDowncast($0, to: type) }) {
      switch known._$state.phase {
      case .inserted: return known
      case .deleted, .gone: throw notFound(number, entity)
      case .persistent where known._$state.currentRecord != nil: return known
      case .persistent where known._$state.hasChanges && entities[entity.ordinal].mayBeMissing(number):
        return known
      default: break
      }
    }
    releaseKeptIfMany()
    guard let record = try source.record(number, of: entity) else { throw notFound(number, entity) }
    return object(type, number: number, record: record, entity.ordinal)
  }

  /// Returns the object of an ID if the context has it in memory, and nil otherwise.
  public func registeredObject<Object: ManagedObject>(
    _ type: Object.Type = Object.self,
    with id: ManagedObjectID
  ) -> Object? {
    let id = storedID(id)
    guard let entity = try? entity(of: id, as: type) else { return nil }
    return entities[entity.ordinal].known[id.number].map { unsafeDowncast($0, to: Object.self) }
  }

  /// Returns the ID of the existing object that a save of the context, or of its parent, has unified a new object with;
  /// any other ID as it is.
  func storedID(_ id: ManagedObjectID) -> ManagedObjectID {
    let id = parent?.storedID(id) ?? id
    return unifiedIDs.aliases[id] ?? id
  }

  /// Returns the entity of the object of an ID, which must be of a class. For records it is the entity of the ID: all
  /// records have one class.
  func entity(
    of id: ManagedObjectID,
    as type: any ManagedObject.Type
  ) throws(ContextError) -> StoredEntity {
    if type == ManagedRecord.self { return try recordEntity(of: id) }
    let entity = try modelEntity(of: type)
    try check(id, entity)
    guard coordinator.schema.entity(id.entity) === entity, isClass(of: id.number, type, entity.ordinal) else {
      throw ContextError(
        .unknownEntity,
        "\(id) is no \(type.entityName)",
        context: .init(entity: type.entityName, objectID: id)
      )
    }
    return entity
  }

  /// Throws an error for an ID of another store, or for one that names no object of any store.
  func check(_ id: ManagedObjectID, _ entity: StoredEntity) throws(ContextError) {
    if id.number.isNone { throw notFound(.none, entity) }
    try checkStore(of: id)
  }

  func checkStore(of id: ManagedObjectID) throws(ContextError) {
    if id.isProvisional {
      throw ContextError(
        .provisionalID,
        "\(id) is provisional: use the ID that the object has after its insertion",
        context: .init(entity: id.entityName, objectID: id)
      )
    }
    guard id.storeID == storeID else {
      throw ContextError(.unknownEntity, "\(id) is of another store", context: .init(objectID: id))
    }
  }
}
