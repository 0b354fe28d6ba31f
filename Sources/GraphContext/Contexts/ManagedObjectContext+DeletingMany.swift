import Predicates

// Deleting many objects of a context at once: the next save deletes them, as if they were deleted one by one. Batches
// delete in the store: ``PersistentContainer/batchDelete(_:)``.

extension ManagedObjectContext {
  /// Deletes objects as ``delete(_:)`` does. Those that are in no context any more are left alone. O(objects).
  public func delete(contentsOf objects: some Sequence<some ManagedObject>) {
    tellingChildren { for object in objects { deleteCascading([object], callsHooks: true) } }
  }

  /// Deletes the objects of these IDs that exist in the context.
  ///
  /// - Returns: the number of these objects.
  /// - Throws: `unknownEntity` when an ID is of another store, or the container was made without its model; `store`
  ///   when the store can't be read. Nothing is deleted then.
  @discardableResult
  public func delete<Object: ManagedObject>(
    _ type: Object.Type,
    with ids: some Sequence<ManagedObjectID>
  ) throws(ContextError) -> Int {
    let objects = try existingObjects(type, with: ids)
    delete(contentsOf: objects)
    // An ID may occur twice.
    return Set(objects.map(ObjectIdentifier.init)).count
  }

  /// Deletes the objects that a request describes, its limit and offset included, unsaved ones too. Those that are
  /// deleted already don't count.
  ///
  /// - Returns: the number of these objects.
  /// - Throws: what ``fetch(_:)-(From<Root>)`` throws. Nothing is deleted then.
  @discardableResult
  public func deleteAll<Object: ManagedObject>(_ request: From<Object>) throws(ContextError) -> Int {
    // A request without unsaved changes also finds objects that are deleted here already.
    let objects = try fetch(request).filter { $0._$state.phase != .deleted }
    delete(contentsOf: objects)
    return objects.count
  }

  /// Returns the objects of these IDs that exist in the context, in the order of the IDs; an ID that occurs twice gives
  /// its object twice.
  ///
  /// The objects that the context doesn't have yet are read in one pass in the order of their numbers.
  ///
  /// - Throws: as ``object(_:with:)``; `store` when the store can't be read.
  public func existingObjects<Object: ManagedObject>(
    _ type: Object.Type = Object.self,
    with ids: some Sequence<ManagedObjectID>
  ) throws(ContextError) -> [Object] {
    var keys: [ObjectKey] = []
    for id in ids {
      let id = storedID(id)
      keys.append(ObjectKey(entity: try entity(of: id, as: type).ordinal, number: id.number))
    }
    try checkUsable()
    // Records may be of several entities.
    var read: [[any ManagedObject]] = []
    for (ordinal, keys) in Dictionary(grouping: keys, by: \.entity) {
      read.append(try readRecords(of: Set(keys.map(\.number)).sorted(), entity(ordinal)))
    }
    return try withExtendedLifetime(read) { () throws(ContextError) in
      var existing: [Object] = []
      for key in keys {
        if let object = try objectIfExists(type, number: key.number, entity(key.entity)) {
          existing.append(object)
        }
      }
      return existing
    }
  }

  /// Returns ``existingObject(_:number:_:)``, or nil if there is none.
  func objectIfExists<Object: ManagedObject>(
    _ type: Object.Type,
    number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> Object? {
    do throws(ContextError) { return try existingObject(type, number: number, entity) } catch {
      if error.code == .objectNotFound { return nil }
      throw error
    }
  }

  /// Returns the object of a number that existed before. An object that others have deleted is gone, and has only its
  /// ID.
  func objectOrGone<Object: ManagedObject>(_ number: ObjectNumber, _ entity: StoredEntity) -> Object {
    let isKnown = entities[entity.ordinal].known[number] != nil
    let object = object(Object.self, number: number, entity.ordinal)
    if !isKnown, isMissingBelow(object, entity.ordinal) { letGo(of: object, entity.ordinal) }
    return object
  }
}
