import Predicates

// The steps of a save after its commit: the context shows it, and hooks and listeners hear of it.

extension ManagedObjectContext {
  /// Brings the context up to date with its save, and notifies observers of everything that the context shows otherwise
  /// than before.
  func complete(
    _ outcome: SaveOutcome,
    _ settlement: SaveSettlement,
    _ attempts: inout SaveAttempts
  ) {
    beginSettling()
    defer { endSettling() }
    let (newest, observed) = observedState(after: outcome, settlement)
    holdObservers(true)
    defer {
      holdObservers(false)
      observed.tellOfDifferences()
    }
    let shown = valuesShownToChildren(of: settlement.reverted)
    let links = shownLinks(before: outcome, settlement)
    let aliases = leaveSettled(settlement.aliases) { attempts.saved = finishSave() }
    undoManager?.noteDeletions(by: outcome.ruleChanges, coordinator.schema)
    if outcome.changes == nil, settlement.reverted.isEmpty { return }
    // The save is done: if the context can't move on, that is the next call's failure.
    deferringError(()) { () throws(ContextError) in
      try moveToNewest(after: outcome.changes, outcome.ruleChanges, to: newest)
    }
    revert(settlement, shown, links)
    if !events.didSave.isEmpty {
      attempts.saved?.changes = outcome.changes.map { changes([$0], .context) }
      attempts.saved?.changes?.aliases = aliases
    }
    if outcome.changes != nil { coordinator.tellListeners() }
  }

  /// Begins to bring the context up to date after a save. Each event until ``endSettling()`` is a part of that, and
  /// waits.
  func beginSettling() { eventQueue.hold() }

  func endSettling() {
    tellDidSettle()
    eventQueue.release()
  }

  /// Tells listeners that the context and its children show all results of a save or a merge.
  func tellDidSettle() {
    events.didSettle.tell((), in: eventQueue)
    children.forEach { $0.tellDidSettle() }
  }

  /// Returns the state to which a save leads, and the values before the save of observed properties that may differ
  /// there. These are properties that others have saved meanwhile, derived values, and links: links to objects that
  /// others have deleted aren't stored, and a deletion removes links that others have added. If a policy has settled
  /// something, all observed properties are included. Returns nil and no properties where nothing is observed.
  private func observedState(
    after outcome: SaveOutcome,
    _ settlement: SaveSettlement
  ) -> ((any ObjectSource)?, ShownValues) {
    if !hasObservers { return (nil, ShownValues()) }
    let newest = deferringError(nil) { () throws(ContextError) in try newestSource() }
    let isSettled = !settlement.reverted.isEmpty || !settlement.aliases.isEmpty
    let others = newest.map { changeSets(to: $0, without: outcome.changes) } ?? []
    let links = outcome.changes.map { [$0.withoutObjects] } ?? []
    let shown = shownValues(before: others + links, outcome.ruleChanges) { key, property in
      let entity = entity(key.entity)
      if isSettled || knownObject(key.number, of: entity)?._$state.phase == .deleted { return true }
      guard case .toMany(let ordinal) = property else { return property.isAmong(entity.derivedSlots) }
      return entities[key.entity].pairs[ordinal].haveChanges(of: key.number)
    }
    return (newest, shown)
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
