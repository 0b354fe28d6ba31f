import Predicates

// The end of a save, to the store or to a parent: objects count as saved, and hooks and listeners hear of it.

extension ManagedObjectContext {
  /// Begins to bring the context up to date after a save. Each event until ``endCompletion()`` is a part of that, and
  /// waits.
  func beginCompletion() { eventQueue.hold() }

  func endCompletion() {
    tellDidComplete()
    eventQueue.release()
  }

  /// Tells listeners that the context and its children show all results of a save or a merge.
  func tellDidComplete() {
    events.didComplete.tell((), in: eventQueue)
    children.forEach { $0.tellDidComplete() }
  }

  /// Notes that the objects are as the store has them now. ``finish(_:)`` tells listeners.
  ///
  /// - Parameter updated: the updated objects by the entity's ordinal; nil for those of this moment.
  func finishSave(_ updated: [[any ManagedObject]]? = nil) -> SavedObjects {
    undoManager?.noteSave(in: self)
    let saved = SavedObjects()
    unfinishedSaves.append(saved)
    for ordinal in entities.indices where entities[ordinal].mayHaveChanges || updated != nil {
      let (inserted, deleted) = (entities[ordinal].changes.inserted, entities[ordinal].changes.deleted)
      let others = updated?[ordinal] ?? updatedObjects(of: ordinal)
      let kept = inserted.isEmpty ? others : inserted + others
      for object in kept where object._$state.hasChanges { object._$state.becomeSaved() }
      if !entity(ordinal).derivedSlots.isEmpty {
        for object in kept { forgetDerivedValues(of: object._$state.number, entity(ordinal)) }
      }
      for object in deleted { letGo(of: object, ordinal) }
      if saved.kept.isEmpty { saved.kept = kept } else { saved.kept += kept }
      if saved.deleted.isEmpty { saved.deleted = deleted } else { saved.deleted += deleted }
    }
    forgetChanges()
    return saved
  }

  /// Calls the hooks of saved objects, and tells listeners of the save. Earlier saves that listeners haven't heard of
  /// come first: they still wait for the disk, or a listener of their events has made this save.
  func finish(_ last: SavedObjects?) {
    while let last, unfinishedSaves.contains(where: { $0 === last }), let saved = unfinishedSaves.first {
      saved.callDidSave()
      // If a hook has saved, that inner save has already told of this one.
      guard unfinishedSaves.first === saved else { continue }
      unfinishedSaves.removeFirst()
      if let changes = saved.changes { tellDidSave(changes) }
    }
  }
}
