import Predicates

// Reading objects anew, at the context's snapshot.

extension ManagedObjectContext {
  /// All objects that the context has in memory: those that the program holds, and some that it doesn't hold any more.
  /// In no order.
  public var registeredObjects: [any ManagedObject] {
    entities.indices.flatMap { ordinal in entities[ordinal].known.all.map { knownObject($0, ordinal) } }
  }

  /// Reads the object's values anew when they are touched. The context stays at its snapshot.
  ///
  /// - Parameters:
  ///   - object: an object of this context; any other is left alone.
  ///   - mergeChanges: whether unsaved changes of the object stay. If not, its attributes and to-one relationships are
  ///     as the snapshot has them, and inverses follow. A relationship that led to an object which is deleted here
  ///     stays as it is. An object that was inserted or deleted here is not affected: roll back, or delete it.
  public func refresh(_ object: some ManagedObject, mergeChanges: Bool = true) {
    guard object._$state.host === self, object._$state.phase == .persistent else { return }
    let discarded = mergeChanges ? .empty : object._$state.changed
    guard discarded.isEmpty || checkWritable() else { return }
    noteChange(of: object, isEdited: !discarded.isEmpty, slots: discarded)
    if !mergeChanges { tellingObservers { discardValues(of: object) } }
    // The values of an object that was deleted below exist nowhere else.
    guard object._$state.host === self,
      !entities[entity(of: object).ordinal].mayBeMissing(object._$state.number)
    else { return }
    object._$state.forgetUnchangedValues()
    if object._$state.hasChanges { noteOtherValues(of: object) }
  }

  /// Reads the values of all objects in memory anew when they are touched, except those with unsaved changes. The
  /// context stays at its snapshot.
  public func refreshAllObjects() {
    for object in registeredObjects { refresh(object) }
  }
}
