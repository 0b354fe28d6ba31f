import Predicates

// Rolling back, starting afresh, and the end of a context.

extension ManagedObjectContext {
  /// Undoes all unsaved changes: new objects leave the context, changed objects are as in the snapshot, deleted objects
  /// are back. Objects that another context has deleted leave the context. Clears the error that was noted while values
  /// were read. The context stays at its snapshot. One event reports the rollback and the changes since the event
  /// before.
  public func rollback() {
    undoManager?.removeAllActions()
    let origin = events.origin
    // The changes to roll back get no event of their own: it would come too late, because a listener could only save
    // them.
    events.origin = .rollback
    // Observers and listeners are called last: their changes are no part of the rollback, and can be undone.
    eventQueue.holding {
      tellingObservers {
        rollBack()
        events.noteRereading()
        tellOfNoted()
        events.origin = origin
        undoManager?.removeAllActions()
      }
    }
  }

  private func rollBack() {
    let changed = children.isEmpty ? [] : entities.map { $0.changes.numbers }
    for (ordinal, numbers) in changed.enumerated() {
      for number in numbers {
        children.forEach { $0.loadAttributesIfChanged(number, ordinal) }
        tellChildrenOfConflict(of: number, entity(ordinal))
      }
    }
    noteRollback()
    for ordinal in entities.indices {
      let changes = entities[ordinal].changes
      for object in changes.inserted {
        entities[ordinal].known.remove(object._$state.number)
        object.detach()
      }
      for object in changes.updated + changes.deleted {
        object._$state.phase = .persistent
        object._$state.forgetChanges()
        if entities[ordinal].mayBeMissing(object._$state.number) { leaveIfDeleted(object, ordinal) }
      }
    }
    forgetChanges()
    deferred.clear()
    children.forEach { $0.parentDidReplace(changed) }
  }

  /// Releases an object that the snapshot no longer has. Children that have changed it keep it.
  func leaveIfDeleted(_ object: any ManagedObject, _ ordinal: Int) {
    guard isMissingBelow(object, ordinal) else { return }
    children.forEach { $0.noteMissingIfChanged(object._$state.number, ordinal) }
    letGo(of: object, ordinal)
  }

  /// Makes an object leave the context for good.
  func letGo(of object: any ManagedObject, _ ordinal: Int) {
    let shown = shownValues(of: object)
    entities[ordinal].known.remove(object._$state.number)
    object._$state.leave(entity(ordinal).number)
    shown.tellOfDifferences()
  }

  /// Returns whether the source no longer has an object; false if it can't be read.
  func isMissingBelow(_ object: any ManagedObject, _ ordinal: Int) -> Bool {
    deferringError(false) { () throws(ContextError) in
      try !source.contains(object._$state.number, of: entity(ordinal))
    }
  }

  /// Releases every object, saved or not, and moves to the newest commit, or a child to the state of its parent.
  /// Objects that the program still holds are gone: they are in no context any more, and the values that were read
  /// of them stay readable. Children are reset too.
  public func reset() {
    // Children are reset first, and deliver their events once all are reset.
    eventQueue.holding { startAfresh() }
  }

  private func startAfresh() {
    let shown = shownValues()
    leaveAll()
    shown.tellOfDifferences()
    observation?.removeAll()
    unifiedIDs = UnifiedIDs()
    deferringError(()) { () throws(ContextError) in
      if let parent { show(ParentSource(parent)) } else { show(try newestSource()) }
    }
    children.forEach { $0.reset() }
    undoManager?.removeAllActions()
    events.forgetNoted()
    events.kept = []
    var changes = ObjectChanges(origin: .reset, contextName: name)
    changes.invalidatesAll = true
    events.objectsDidChange.tell(changes, in: eventQueue)
  }

  /// Releases every object: the context will not be used again.
  package func end() {
    children.forEach { $0.end() }
    leaveAll()
    // Released after the assignment: objects that closures have kept may use the context then.
    let ended = events
    withExtendedLifetime(ended) { events = ContextEvents() }
    observation = nil
    undoManager = nil
  }

  /// Makes every object leave the context.
  func leaveAll() {
    let objects = entities.indices.map { entities[$0].known.takeAll() }
    for ordinal in entities.indices { leave(objects[ordinal], ordinal) }
    forgetChanges()
    deferred.clear()
  }

  /// Forgets everything that was derived from references: it is worked out anew.
  func forgetDerivedLinks() {
    listings.removeAll()
    for ordinal in entities.indices { entities[ordinal].forgetDerived() }
  }

  /// Forgets all unsaved changes.
  func forgetChanges() {
    for ordinal in entities.indices { entities[ordinal].forgetChanges() }
    listings.removeAll()
    deletedLinks.removeAll()
  }
}
