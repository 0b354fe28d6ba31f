import Predicates

// Inserting, changing, and what there is to save.

extension ManagedObjectContext {
  /// Puts a new object into the context, and every new object that its relationships lead to. It has its final ID from
  /// now on. Does nothing for an object that is in the context. Traps for one that is in another, or gone.
  public func insert(_ object: some ManagedObject) { enter(object) }

  func enter(_ object: any ManagedObject) {
    if let host = object._$state.host {
      precondition(host === self, "\(type(of: object)) is in another context; send its objectID instead")
      return
    }
    precondition(
      object._$state.phase == .new,
      "\(type(of: object)) is gone: it was deleted, or its context was reset"
    )
    let entity = entity(of: type(of: object))
    let number = coordinator.numbers.take(entity.ordinal)
    object._$state.enter(self, number: number)
    objects[entity.ordinal].insert(object, number: number)
    changes[entity.ordinal].noteInserted(object)
    adopted.append(object)
    attachAdopted()
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

  /// What a query has to look at besides the snapshot.
  package func pendingChanges(of entity: StoredEntity) -> ChangedObjects { changes[entity.ordinal] }
}
