import Predicates

/// The steps of a save after its commit that bring the context up to date with it.
struct SaveCompletion {
  let context: ManagedObjectContext
  let outcome: SaveOutcome
  let differences: SaveDifferences

  /// Makes the context show the commit, and notifies observers of everything that it shows otherwise than before.
  /// Returns the objects that were saved.
  func run() -> SavedObjects {
    context.beginCompletion()
    defer { context.endCompletion() }
    let (newest, observed) = observedState()
    context.holdObservers(true)
    defer {
      context.holdObservers(false)
      observed.tellOfDifferences()
    }
    keepValuesInChildren()
    let (values, links) = (valuesShownToChildren(), shownLinks())
    let (saved, aliases) = finishSave()
    context.undoManager?.noteDeletions(by: outcome.ruleChanges, context.coordinator.schema)
    if outcome.changes == nil, differences.reverted.isEmpty { return saved }
    // The save is done: if the context can't move on, that is the next call's failure.
    context.deferringError(()) { () throws(ContextError) in
      try context.moveToNewest(after: outcome.changes, outcome.ruleChanges, to: newest)
    }
    revert(values, links)
    if !context.events.didSave.isEmpty {
      saved.changes = outcome.changes.map { context.changes([$0], .context) }
      saved.changes?.aliases = aliases
    }
    if outcome.changes != nil { context.coordinator.tellListeners() }
    return saved
  }

  /// Returns the state to which the save leads, and the values before the save of observed properties that may differ
  /// there. These are properties that others have saved meanwhile, derived values, and links: links to objects that
  /// others have deleted aren't stored, and a deletion removes links that others have added. If the save may have
  /// stored something else than the context shows, all observed properties are included. Returns nil and no properties
  /// if no object is observed.
  private func observedState() -> ((any ObjectSource)?, ShownValues) {
    if !context.hasObservers { return (nil, ShownValues()) }
    let newest = context.deferringError(nil) { () throws(ContextError) in try context.newestSource() }
    let others = newest.map { context.changeSets(to: $0, without: outcome.changes) } ?? []
    let links = outcome.changes.map { [$0.withoutObjects] } ?? []
    let shown = context.shownValues(before: others + links, outcome.ruleChanges) { key, property in
      let entity = context.entity(key.entity)
      let isDeleted = context.knownObject(key.number, of: entity)?._$state.phase == .deleted
      if isDeleted || !differences.isEmpty { return true }
      guard case .toMany(let ordinal) = property else { return property.isAmong(entity.derivedSlots) }
      return context.entities[key.entity].pairs[ordinal].haveChanges(of: key.number)
    }
    return (newest, shown)
  }

  /// Releases new objects that the save has unified with existing ones, and notes the others as saved. Returns the
  /// saved objects, and the IDs of the released objects with those of the existing ones.
  private func finishSave() -> (SavedObjects, [ManagedObjectID: ManagedObjectID]) {
    let unified = differences.aliases
    if unified.isEmpty { return (context.finishSave(), [:]) }
    context.undoManager?.forgetGroups(touching: unified, context.coordinator.schema)
    return context.tellingChanges(from: .store) {
      let ids = releaseUnified()
      // Added first: listeners that hear of the objects' leaving may ask for those that replace them.
      context.unifiedIDs.add(ids)
      // Before listeners are called: their changes are unsaved again.
      let saved = context.finishSave()
      context.undoManager?.redirectReferences(unified, context.coordinator.schema)
      return (saved, ids)
    }
  }

  private func releaseUnified() -> [ManagedObjectID: ManagedObjectID] {
    var ids: [ManagedObjectID: ManagedObjectID] = [:]
    for (ordinal, owners) in differences.aliases.enumerated() where !owners.isEmpty {
      let entity = context.entity(ordinal)
      for object in context.entities[ordinal].changes.inserted {
        let number = object._$state.number
        guard let owner = owners.owner(of: number) else { continue }
        ids[context.id(number, entity)] = context.id(owner, entity)
        context.noteChange(of: object, isEdited: false)
        // The values exist nowhere else.
        context.children.forEach { $0.loadAttributesIfChanged(number, ordinal) }
        context.letGo(of: object, ordinal)
      }
    }
    return ids
  }
}
