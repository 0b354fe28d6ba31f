import Predicates

// Moving to a newer snapshot.

extension ManagedObjectContext {
  /// True if the context moves to the newest commit by itself, between two blocks of work. It keeps its unsaved
  /// changes, as with ``refresh()``. True unless it is set.
  ///
  /// The view context moves between two turns of the main actor, after another context has saved; a
  /// ``BackgroundContext`` before each block. With false they move only by ``refresh()``, ``reset()`` and their own
  /// saves. No context moves by itself in the middle of a block: that of
  /// ``PersistentContainer/performBackgroundTask(_:)`` begins its only block at the newest commit, and stays there with
  /// either value.
  ///
  /// A child always shows the state of its parent, and has no value of its own: reading and setting this property uses
  /// the value of the outermost context.
  public var automaticallyMergesChangesFromParent: Bool {
    get { parent?.automaticallyMergesChangesFromParent ?? mergesAutomatically }
    set {
      if let parent {
        parent.automaticallyMergesChangesFromParent = newValue
      } else {
        mergesAutomatically = newValue
      }
    }
  }

  /// Moves to the newest commit, if ``automaticallyMergesChangesFromParent`` is true.
  func mergeAutomatically() throws(ContextError) {
    if mergesAutomatically { try moveOn() }
  }

  /// Moves to the newest commit. Observers follow to each commit, even to one that changes no objects, so that they
  /// hold no snapshot longer than their context.
  private func moveOn() throws(ContextError) {
    let commit = source.commit
    try moveToNewest()
    if source.commit != commit { tellDidComplete() }
  }

  /// Moves to the newest commit. Values with unsaved changes stay; all others are those of the store now. A
  /// property that was changed both here and elsewhere is a conflict, which the save resolves by its ``mergePolicy``.
  /// Objects that were deleted elsewhere leave the context. A child moves with its parent, and its parent with it.
  public func refresh() throws(ContextError) {
    try checkUsable()
    listings.removeAll()
    if let parent { try parent.refresh() } else { try moveOn() }
    try checkUsable()
  }

  /// Returns the state to move to: that of the newest commit, or of the one that the context is pinned to.
  func newestSource() throws(ContextError) -> any ObjectSource {
    if let pinnedCommit { return try pinnedCommit.source() }
    return try coordinator.engine.newestSource()
  }

  /// - Parameters:
  ///   - own: a commit of this context, whose objects have its values already.
  ///   - ruleChanges: the changes of that commit which its objects don't have.
  ///   - newest: the state to move to, where the caller has asked for it already.
  func moveToNewest(
    after own: ChangeSet? = nil,
    _ ruleChanges: RuleChanges = RuleChanges(),
    to newest: (any ObjectSource)? = nil
  ) throws(ContextError) {
    // Listeners hear of the changes made here before the context moves. A listener that saves moves the context itself.
    if newest == nil, events.hasNoted, try newestSource().commit != source.commit { tellOfNoted() }
    let newest = if let newest { newest } else { try newestSource() }
    guard newest.commit != source.commit else { return }
    eventQueue.holding {
      let changes = changeSets(to: newest, without: own)
      tellOfNoted()
      move(to: newest, changes, ruleChanges)
      tell(of: changes, own, ruleChanges)
    }
  }

  /// Returns the commits between the context's state and a newer one.
  ///
  /// - Parameter own: a commit to leave out.
  func changeSets(to newest: any ObjectSource, without own: ChangeSet?) -> [ChangeSet] {
    // The usual case after a save: no other context has committed since.
    if let own, newest.commit == own.commit, source.commit + 1 == own.commit { return [] }
    return coordinator.engine.changeSets(from: source, to: newest).filter { $0.commit != own?.commit }
  }

  /// Shows a newer state, and brings the objects up to date that differ in it.
  private func move(to newest: any ObjectSource, _ changeSets: [ChangeSet], _ ruleChanges: RuleChanges) {
    changeCount &+= 1
    let shown = parent == nil ? shownValues(before: changeSets, ruleChanges) : ShownValues()
    defer { shown.tellOfDifferences() }
    undoManager?.willMove(in: self, changeSets, ruleChanges)
    // First: it forgets values that are equal to those of the state before, and have to be loaded with the others.
    if parent == nil { compareChanges(with: changeSets) }
    loadChangedObjects(deletedBy: changeSets, ruleChanges)
    show(newest)
    for (entity, changes) in ruleChanges.objects {
      update(changes.updated.lazy.map { ($0.key, $0.value) }, of: entity)
      update(changes.deleted.lazy.map { ($0, SlotSet.empty) }, of: entity)
    }
    for changes in changeSets {
      for (entity, objects) in changes.objects {
        update(objects.updated.lazy.map { ($0.number, $0.slots) }, of: entity)
        update(objects.deleted.lazy.map { ($0, SlotSet.empty) }, of: entity)
      }
    }
    noteRevivals()
    normalisePairs()
    children.forEach { $0.move(to: ParentSource(self), changeSets, ruleChanges) }
  }

  /// Reads from another source from now on, and forgets what was read of the one before. Objects stay as they are.
  func show(_ newest: any ObjectSource) {
    source = newest
    expectNothingKept()
    forgetDerivedLinks()
  }

  /// Loads the attributes of objects with unsaved changes, here and in children, whose records the next snapshot
  /// doesn't have.
  private func loadChangedObjects(deletedBy changeSets: [ChangeSet], _ ruleChanges: RuleChanges) {
    for (entity, objects) in ruleChanges.objects { loadChangedObjects(objects.deleted, of: entity) }
    for changes in changeSets {
      for (entity, objects) in changes.objects { loadChangedObjects(objects.deleted, of: entity) }
    }
  }

  private func loadChangedObjects(_ numbers: some Sequence<ObjectNumber>, of entity: EntityNumber) {
    guard let entity = coordinator.schema.entity(entity) else { return }
    if entities[entity.ordinal].changes.isEmpty, children.isEmpty { return }
    for number in numbers { loadAttributesIfChanged(number, entity.ordinal) }
  }

  /// Loads the attributes of an object with unsaved changes, here and in children, which is about to be deleted below:
  /// it keeps its values.
  func loadAttributesIfChanged(_ number: ObjectNumber, _ ordinal: Int) {
    children.forEach { $0.loadAttributesIfChanged(number, ordinal) }
    guard let object = knownObject(number, of: entity(ordinal)) else { return }
    switch object._$state.phase {
    case .persistent where object._$state.hasChanges: object.loadAttributes()
    // An undo may bring it back, as an object that only its unsaved changes keep here.
    case .deleted: object.loadAttributes()
    default: break
    }
  }

  /// Notes, here and in children, that an object with unsaved changes has no record below any more.
  func noteMissingIfChanged(_ number: ObjectNumber, _ ordinal: Int) {
    children.forEach { $0.noteMissingIfChanged(number, ordinal) }
    guard let object = knownObject(number, of: entity(ordinal)), object._$state.phase == .persistent,
      object._$state.hasChanges
    else { return }
    deferringError(()) { () throws(ContextError) in try noteMissing(number, entity(ordinal)) }
  }

  private func noteMissing(_ number: ObjectNumber, _ entity: StoredEntity) throws(ContextError) {
    if try outermost.source.contains(number, of: entity) {
      entities[entity.ordinal].deletedInParent.insert(number)
    } else {
      entities[entity.ordinal].noteConflict(number, ForeignChange(isDeleted: true))
    }
  }

  /// Makes the children that have changed an object keep it, with the values that it shows now, before it loses its
  /// unsaved changes here. If only these changes keep the object here, because others have deleted it, it leaves the
  /// context.
  func keepInChildren(_ object: any ManagedObject, _ ordinal: Int) {
    let number = object._$state.number
    guard entities[ordinal].mayBeMissing(number) else { return }
    children.forEach { $0.loadAttributesIfChanged(number, ordinal) }
  }

  /// - Parameter changes: numbers of objects that the store has other values of, with their slots.
  private func update(_ changes: some Sequence<(ObjectNumber, SlotSet)>, of entity: EntityNumber) {
    // A context that knows no object of the entity has nothing to update.
    guard let entity = coordinator.schema.entity(entity), !entities[entity.ordinal].known.isEmpty else {
      return
    }
    for (number, slots) in changes { update(number, entity, changedBy: .store, slots) }
  }

  /// The origin of a change below a context.
  enum ChangeOrigin {
    case store
    case parent
  }

  /// Brings an object of the context up to date that was changed or removed below the context.
  ///
  /// - Parameter slots: the slots that the store has other values in.
  func update(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    changedBy origin: ChangeOrigin,
    _ slots: SlotSet = .empty
  ) {
    let ordinal = entity.ordinal
    guard let object = knownObject(number, of: entity) else { return }
    deferringError(()) { () throws(ContextError) in
      let exists = try source.contains(number, of: entity)
      if object._$state.phase == .inserted {
        if exists { becomeChanged(object, entity) }
        return
      }
      // Observers may have read lists before, with the values that the object has lost now.
      defer { if object._$state.hasChanges { entities[ordinal].forgetReferences() } }
      switch (object._$state.hasChanges, exists) {
      case (true, true):
        let isUpdated = object._$state.phase == .persistent
        let both = isUpdated ? entity.slotsInBoth(object._$state.changed, slots) : slots
        entities[ordinal].noteConflict(number, ForeignChange(slots: both))
        entities[ordinal].deletedInParent.remove(number)
        object._$state.forgetUnchangedValues()
        entities[ordinal].encoded?.noteStale(number)
      case (true, false):
        // A commit may have changed an object that the parent has deleted and not saved.
        if origin == .store {
          try noteMissing(number, entity)
        } else {
          entities[ordinal].deletedInParent.insert(number)
        }
        // The objects that it led to may be deleted as well, and nothing in the snapshot leads back from them.
        object._$state.forgetUnchangedValues(in: entity.referenceSlots)
        entities[ordinal].encoded?.noteStale(number)
      case (false, true): object._$state.becomeFault()
      case (false, false): leaveIfDeleted(object, ordinal)
      }
    }
  }

  /// Turns a new object into a saved one with unsaved changes. An undo here has brought it back, and now its deletion
  /// is taken back below as well.
  private func becomeChanged(_ object: any ManagedObject, _ entity: StoredEntity) {
    object._$state.becomeSaved(changedIn: entity)
    entities[entity.ordinal].changes.noteUpdated(object)
    entities[entity.ordinal].encoded?.noteStale(object._$state.number)
    entities[entity.ordinal].forgetReferences()
    // The context has shown it all the time.
    if tracksChanges { events.kept.insert(id(object._$state.number, entity)) }
  }
}

extension ObjectState {
  /// Makes the object a saved one, with unsaved changes of everything but derived values, which are read again.
  mutating func becomeSaved(changedIn entity: StoredEntity) {
    becomeSaved()
    for slot in entity.schema.stored.indices where !entity.derivedSlots.contains(slot) {
      didSet(slot)
    }
    forgetUnchangedValues(in: entity.derivedSlots)
  }
}
