import Predicates

// Inserting and changing objects, and the unsaved changes.

extension ManagedObjectContext {
  /// Puts a new object into the context, and every new object that its relationships lead to. It has its final ID from
  /// now on. Does nothing for an object that is in the context and not deleted there.
  ///
  /// Numbers come in blocks that are leased in the store, most of them by saves. When a block is used up, and for the
  /// first object after the store was opened, this waits for its turn to write as ``save(ifExists:durability:)`` does,
  /// and for the disk. In a store that is open for reading only the object has an ID as well, which is valid in this
  /// process only; the save throws.
  ///
  /// If the object can't be inserted, the context inserts nothing, and its next fetch or save throws, until it is
  /// rolled back. It throws `otherContext` for an object that is in another context, `objectNotFound` for one that is
  /// gone (it was deleted, or its context was reset), `unknownEntity` for a model that the container was made without;
  /// `tooManyObjects` or what a save throws, when no number can be leased for the object. The same goes for a
  /// relationship that is set to such an object.
  ///
  /// It also throws `objectNotFound` for an object whose deletion in this context isn't saved: the object stays deleted.
  /// To take the deletion back, call ``discardChanges(of:)`` instead.
  public func insert(_ object: some ManagedObject) {
    if adopt(object), object._$state.phase == .deleted { deferred.note(Self.isDeletedHere(object)) }
    awakeInserted()
  }

  /// Inserts a new object without calling an initialiser of its class. Attributes begin as in their declaration, else
  /// as nil, or as an empty value if they can't be nil. It is for callers that set the values afterwards, by name or
  /// from a source.
  ///
  /// - Throws: `unknownEntity` when the container was made without the model; the error that the context has noted when
  ///   the object can't be inserted.
  package func insertNew<Object: ManagedObject>(_ type: Object.Type) throws(ContextError) -> Object {
    try checkUsable()
    _ = try modelEntity(of: type)
    let object = type._$makeNew()
    insert(object)
    try checkUsable()
    return object
  }

  /// Returns the place behind the last unsaved new object of a class, for ``insertedObjects(of:since:)``.
  package func insertionPlace<Object: ManagedObject>(
    of type: Object.Type
  ) throws(ContextError) -> InsertionPlace {
    try entities[modelEntity(of: type).ordinal].changes.insertionPlace
  }

  /// Returns the unsaved new objects of a class that were inserted behind a place, in the order of their insertion; nil
  /// if the context was saved, rolled back or reset meanwhile. O(objects of the entity inserted since).
  ///
  /// - Parameter place: a place of this class in this context. Receives the place behind the last object.
  package func insertedObjects<Object: ManagedObject>(
    of type: Object.Type,
    since place: inout InsertionPlace
  ) throws(ContextError) -> [Object]? {
    try entities[modelEntity(of: type).ordinal].changes.inserted(since: &place)?.compactMap { $0 as? Object }
  }

  /// Returns the unsaved new objects of a class, and its saved objects with unsaved changes of their own, and not of
  /// many-to-many links alone. O(unsaved objects of the entity).
  package func unsavedObjects<Object: ManagedObject>(of type: Object.Type) throws(ContextError) -> [Object] {
    let changes = try entities[modelEntity(of: type).ordinal].changes
    return (changes.inserted + changes.updated).compactMap { $0 as? Object }
  }

  /// Makes the error for an object of another context.
  static func isOther(_ object: any ManagedObject, _ what: String) -> ContextError {
    let id = object.objectID
    return ContextError(
      .otherContext,
      "\(id.entityName) \(id.number) is in another context and can't be \(what) in this one; send its objectID instead",
      context: .init(entity: id.entityName, objectID: id)
    )
  }

  /// Makes the error for an object that is gone: it was deleted, or its context was reset.
  static func isGone(_ object: any ManagedObject) -> ContextError {
    let (name, number) = (object._$objectModel.entity.name, object._$state.number)
    let id = object._$state.storeID.map {
      ManagedObjectID(entity: object.entityLabel, number: number, storeID: $0)
    }
    return ContextError(
      .objectNotFound,
      "\(number.isNone ? "a \(name)" : "\(name) \(number)") no longer exists: it was deleted,"
        + " or its context was reset; no relationship can lead to it",
      context: .init(entity: name, objectID: number.isNone ? nil : id)
    )
  }

  /// Makes the error for the insertion of an object whose deletion in its context isn't saved.
  private static func isDeletedHere(_ object: any ManagedObject) -> ContextError {
    let id = object.objectID
    return ContextError(
      .objectNotFound,
      "\(id.entityName) \(id.number) is deleted in this context and can't be inserted: roll back, and call"
        + " discardChanges(of:) instead, which takes a deletion back",
      context: .init(entity: id.entityName, objectID: id)
    )
  }

  // MARK: Unsaved changes

  /// True if there is anything to save. O(unsaved changes).
  public var hasChanges: Bool {
    for ordinal in entities.indices where entities[ordinal].mayHaveChanges {
      // A copy of the lists alone: asking the entity in place would copy all that the context has of it.
      let changes = entities[ordinal].changes
      if changes.hasAny || entities[ordinal].hasRelinks { return true }
    }
    return false
  }

  /// Objects that were inserted and not saved yet.
  public var insertedObjects: [any ManagedObject] { entities.flatMap(\.changes.inserted) }
  /// Saved objects with unsaved changes: of attributes, of to-one relationships, or of the links of a many-to-many
  /// relationship, which change the objects at both ends. Adding a member to a one-to-many relationship, or removing
  /// it, is a change of the member.
  public var updatedObjects: [any ManagedObject] { entities.indices.flatMap { updatedObjects(of: $0) } }
  /// Saved objects whose deletion is not saved yet.
  public var deletedObjects: [any ManagedObject] { entities.flatMap(\.changes.deleted) }

  /// Returns the saved objects of an entity with unsaved changes, by number.
  func updatedObjects(of ordinal: Int) -> [any ManagedObject] {
    let changed = entities[ordinal].changes.updated
    if !entities[ordinal].hasRelinks { return changed }
    let linked = entities[ordinal].relinkedOwners
    let known = Set(changed.lazy.map(\._$state.number))
    let entity = entity(ordinal)
    let others = linked.subtracting(known).compactMap { number -> (any ManagedObject)? in
      // Other contexts may have deleted the object, or it was a new one that a save has unified with another.
      let exists = deferringError(false) { () throws(ContextError) in try source.contains(number, of: entity)
      }
      return exists ? object(number, of: entity) : nil
    }
    return (changed + others.filter { $0._$state.phase == .persistent }).sorted {
      $0._$state.number < $1._$state.number
    }
  }

  /// Returns whether a link of one of an object's many-to-many relationships has an unsaved change.
  func hasRelinked(_ object: any ManagedObject) -> Bool {
    guard object._$state.phase == .persistent else { return false }
    return !entities[entity(of: object).ordinal].relinkedPositions(of: object._$state.number).isEmpty
  }

  /// Returns the unsaved changes of an entity as records, up to date; nil for none.
  func encodedChanges(of entity: StoredEntity) -> EncodedChanges? {
    let changes = entities[entity.ordinal].changes
    if changes.isEmpty { return nil }
    if entities[entity.ordinal].encoded?.isWasteful ?? true {
      entities[entity.ordinal].encoded = EncodedChanges(entity, changes)
    }
    entities[entity.ordinal].encoded?.update(from: self)
    return entities[entity.ordinal].encoded
  }
}
