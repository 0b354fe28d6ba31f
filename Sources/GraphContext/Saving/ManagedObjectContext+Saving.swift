import Predicates

extension ManagedObjectContext {
  /// Saves everything that has changed, as one transaction: all of it is in the store afterwards, or nothing is.
  ///
  /// Checked before and in the transaction: required values are there, references lead to objects, unique tuples are
  /// unique, and delete rules allow what is deleted. Changes that other contexts have saved since are merged by
  /// ``mergePolicy``.
  ///
  /// A save that succeeds leaves the context at the newest commit. A save that fails leaves it as it was before, except
  /// for changes by hooks, and its error lists all failures in ``ContextError/failures``.
  ///
  /// Waits for its turn to write for as long as ``saveTimeout`` says; then it throws a ``ContextError`` whose
  /// `storeError` has the code `timedOut`, and nothing has happened.
  ///
  /// A child saves to its parent: in memory, without waiting. Rules that need the store are checked when the outermost
  /// context saves.
  ///
  /// - Parameters:
  ///   - policy: what happens to new objects with unique values of existing ones, if not what each constraint declares.
  ///     Of no effect for a child.
  ///   - durability: when the save counts as done, if not as the container's options say. A child's save has none.
  public func save(ifExists policy: UniquePolicy? = nil, durability: Durability? = nil) throws(ContextError) {
    if let parent { return try save(to: parent) }
    var attempts = SaveAttempts(policy)
    while try !save(durability, turn: .waiting(timeout: saveTimeout), &attempts) {}
    finish(attempts.saved)
  }

  /// Calls the hooks of saved objects, and tells listeners of the save. Earlier saves that listeners haven't heard of
  /// come first: they still wait for the disk, or a listener of their events has made this save.
  private func finish(_ last: SavedObjects?) {
    while let last, unfinishedSaves.contains(where: { $0 === last }), let saved = unfinishedSaves.first {
      saved.callDidSave()
      // If a hook has saved, that inner save has already told of this one.
      guard unfinishedSaves.first === saved else { continue }
      unfinishedSaves.removeFirst()
      if let changes = saved.changes { tellDidSave(changes) }
    }
  }

  /// Hands the changes over to the parent.
  private func save(to parent: ManagedObjectContext) throws(ContextError) {
    let invalid = try prepareSave().failures
    listings.removeAll()
    // Links that the parent has as well are saved by this, too.
    guard hasChanges else { return forgetChanges() }
    let request = try ChangeEncoder(self, invalid).encode()
    try request.failures.throwIfAny()
    finish(try handOver(request, to: parent))
  }

  private func handOver(
    _ request: SaveRequest,
    to parent: ManagedObjectContext
  ) throws(ContextError) -> SavedObjects {
    beginSettling()
    defer { endSettling() }
    let handedOver = HandedOver(request, of: self)
    let shown = shownValues()
    defer { shown.tellOfDifferences() }
    var saved = SavedObjects()
    // Links are the parent's once it has accepted them.
    let updated = entities.indices.map { updatedObjects(of: $0) }
    // Changes that listeners make when they hear of it are unsaved again.
    try parent.accept(request, handedOver) {
      keepDeletedInParent()
      saved = finishSave(updated)
    }
    if request.deletesObjects {
      tellingChanges(from: .parent) { saved.kept.forEach { readReferences(of: $0, entity(of: $0).ordinal) } }
    }
    if !events.didSave.isEmpty { saved.changes = handedOver.changes }
    return saved
  }

  /// Notes the objects that the parent's delete rules have deleted: they stay here until the save has released them,
  /// which is an event of its own.
  private func keepDeletedInParent() {
    guard tracksChanges else { return }
    for (ordinal, objects) in entities.enumerated() {
      let entity = entity(ordinal)
      for number in objects.deletedInParent
      where knownObject(number, of: entity)?._$state.phase == .persistent {
        events.kept.insert(id(number, entity))
      }
    }
  }

  /// Runs the hooks that come before a save.
  private func prepareSave() throws(ContextError) -> SaveHooks.Outcome {
    try checkUsable()
    if isReadOnly { throw .readOnlyContext() }
    awakeInserted()
    if isRunningSaveHooks {
      throw ContextError(
        .saveNotAllowed,
        "a hook, a validation, a listener of events or a merge policy saves the context while it is being saved"
      )
    }
    guard hasChanges else { return SaveHooks.Outcome() }
    tellBeforeSave()
    for ordinal in entities.indices where !entities[ordinal].changes.isEmpty {
      entities[ordinal].changes.sort()
    }
    isRunningSaveHooks = true
    defer { isRunningSaveHooks = false }
    defer { undoManager?.endEvent(in: self) }
    tellWillSave()
    for _ in 0..<SaveHooks.roundLimit {
      let outcome = try SaveHooks(self).run()
      // Changes by a listener are saved, too: the hooks have to see them.
      if tellBeforeSave() { continue }
      try checkUsable()
      return outcome
    }
    throw ContextError(
      .unsettledChanges,
      "a listener of onObjectsDidChange goes on changing objects after \(SaveHooks.roundLimit) rounds of hooks before a save"
    )
  }

  /// Tells listeners of all changes that they haven't heard of: from here to the end of the save no listener is called.
  /// Returns whether listeners have changed anything.
  @discardableResult
  private func tellBeforeSave() -> Bool {
    let count = changeCount
    if let parent, parent.events.hasNoted {
      announceChanges()
      parent.tellOfNoted()
    }
    tellOfPending()
    return changeCount != count || parent?.events.hasNoted == true
  }

  /// Reads the references of a saved object again, and releases an object that the parent's delete rules have deleted.
  /// These rules reach further than the rules here if the parent has moved on since.
  private func readReferences(of object: any ManagedObject, _ ordinal: Int) {
    // Until now the object's unsaved changes have kept it here.
    if tracksChanges, isMissingBelow(object, ordinal) { noteChange(of: object, isEdited: false) }
    leaveIfDeleted(object, ordinal)
    guard object._$state.host === self else { return }
    object._$state.forgetUnchangedValues(in: entity(ordinal).referenceSlots)
  }

  /// Saves as the last step of a piece of work. Errors that hooks and listeners cause after the commit, such as reading
  /// a missing object, are dropped: work that is reported as failed although it is stored would be done again.
  package func saveLast(durability: Durability? = nil) throws(ContextError) {
    try save(durability: durability)
    deferred.clear()
  }

  /// ``save(ifExists:durability:)`` for a context whose thread must not wait: the main actor's, while others write or
  /// the disk is slow. The actor continues with other work meanwhile; changes that this work makes in the context
  /// before the save has begun are saved too.
  ///
  /// It waits in the same queue as every other save, and for as long as ``saveTimeout`` says. When its turn comes, the
  /// changes are encoded and saved in one step on the actor. An actor that is busy for too long then has to wait for
  /// another turn, while others write.
  ///
  /// The actor waits while the changes are written into the file, and before that for a write of others that is under
  /// way, with its sync. It doesn't wait until the changes are durable. Hooks and listeners are called once the changes
  /// are, or with those of a later save of the context that is done earlier.
  ///
  /// If the disk fails after the save has been made and before it is durable, this throws `outcomeUnknown`, and the
  /// context counts as saved.
  public nonisolated(nonsending) func saveWithoutBlocking(
    ifExists policy: UniquePolicy? = nil,
    durability: Durability? = nil
  ) async throws(ContextError) {
    if let parent { return try save(to: parent) }
    let holder = holder
    defer { withExtendedLifetime(holder) {} }
    var attempts = SaveAttempts(policy)
    // They count as saved even where the commit could not be made durable.
    defer { finish(attempts.saved) }
    try await coordinator.engine.commitWithoutBlocking(durability, timeout: saveTimeout) {
      durability,
      turn throws(ContextError) in
      try save(durability, turn: turn, &attempts)
    }
  }

  /// Returns false, with nothing saved, if there is no turn as `turn` asks for it, or if the merge policy had to decide
  /// something: then the save is to be tried again.
  ///
  /// - Parameter attempts: the results of earlier attempts. Receives the objects that were saved.
  private func save(
    _ durability: Durability?,
    turn: SaveTurn,
    _ attempts: inout SaveAttempts
  ) throws(ContextError) -> Bool {
    let hooks: SaveHooks.Outcome
    if let prepared = attempts.prepared, let outcome = try stillValid(prepared) {
      hooks = outcome
    } else {
      attempts.validations.forgetOutcomes()
      hooks = try prepareSave()
    }
    listings.removeAll()
    guard hasChanges else { return true }
    var request: SaveRequest?
    // Others can write while a thread that waits anyway encodes. One that doesn't wait encodes only once it has the
    // turn.
    if case .waiting = turn {
      let encoded = try ChangeEncoder(self, hooks.failures).encode()
      if encoded.isEmpty {
        tellingObservers { attempts.saved = finishSave() }
        return true
      }
      request = encoded
    }
    var settlement = SaveSettlement()
    var base: SaveBase?
    let policies = UniquePolicies(coordinator, attempts.uniquePolicy)
    let (decisions, validations) = (attempts.decisions, attempts.validations)
    let outcome = try coordinator.engine.commit(
      durability,
      turn: turn,
      showsValues: coordinator.showsValues
    ) { newest throws(ContextError) in
      base = newest
      var request = if let request { request } else { try ChangeEncoder(self, hooks.failures).encode() }
      try merge(&request, with: newest, decisions, &settlement)
      try settle(&request, policies, newest, &settlement)
      try validate(&request, hooks, newest, validations, &settlement)
      return request
    } reviewing: { request, rules, links, failures throws(ContextError) in
      guard let base, request.deletesObjects, settlement.isShowable else { return true }
      let effects = RuleEffects(rules, links, beyond: request, in: coordinator.schema)
      return try accepts(effects, of: request, hooks, base, validations, &settlement, &failures)
    }
    if let outcome, !settlement.asksProgram {
      complete(outcome, settlement, &attempts)
      return true
    }
    // Before the program is asked: changes that its code makes then are saved too, and hooks have to see them.
    attempts.prepared = expectChanges(hooks)
    if outcome != nil { try ask(settlement, &attempts) }
    return false
  }

  /// Returns the results of hooks for an earlier attempt; nil if the context has changed since, so that the hooks have
  /// to run again.
  private func stillValid(
    _ prepared: SaveAttempts.Prepared
  ) throws(ContextError) -> SaveHooks.Outcome? {
    guard prepared.changeCount == changeCount else { return nil }
    try checkUsable()
    if isReadOnly { throw .readOnlyContext() }
    return prepared.hooks
  }

  /// Lets the program make the decisions that an attempt has left open, for the next attempt.
  private func ask(_ settlement: SaveSettlement, _ attempts: inout SaveAttempts) throws(ContextError) {
    // A save within this one would ask again.
    isRunningSaveHooks = true
    defer { isRunningSaveHooks = false }
    if case .custom(let policy) = mergePolicy.rule, !settlement.undecided.isEmpty {
      try attempts.decisions.ask(policy, about: settlement.undecided)
    } else if let request = settlement.unvalidatedRequest {
      try attempts.validations.validate(settlement.unvalidated, savedBy: request, coordinator)
    }
  }

  /// Brings the context up to date with its save, and notifies observers of everything that the context shows otherwise
  /// than before.
  private func complete(
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
  private func beginSettling() { eventQueue.hold() }

  private func endSettling() {
    tellDidSettle()
    eventQueue.release()
  }

  /// Tells listeners that the context and its children show all results of a save or a merge.
  func tellDidSettle() {
    events.didSettle.tell((), in: eventQueue)
    children.forEach { $0.tellDidSettle() }
  }

  /// Called if another attempt follows: from now on the context notes whether anything changes, because then hooks have
  /// to run again.
  private func expectChanges(_ hooks: SaveHooks.Outcome) -> SaveAttempts.Prepared {
    announceChanges()
    return SaveAttempts.Prepared(hooks: hooks, changeCount: changeCount)
  }

  /// Merges a request with the changes that others have saved since, if there are any.
  ///
  /// - Parameter settlement: receives the objects of which not everything is stored that the context shows.
  private func merge(
    _ request: inout SaveRequest,
    with base: SaveBase,
    _ decisions: MergeDecisions,
    _ settlement: inout SaveSettlement
  ) throws(ContextError) {
    if base.commit == request.baseCommit, !request.hasConflicts { return }
    let newest: any ObjectSource = base.commit == request.baseCommit ? source : try base.source()
    let changeSets = coordinator.engine.changeSets(from: source, to: newest)
    if changeSets.isEmpty, !request.hasConflicts {
      // Commits that change no objects, such as those that lease numbers.
      request.baseCommit = newest.commit
      return
    }
    var resolver = MergeResolver(
      request,
      mergePolicy,
      from: source,
      to: newest,
      changeSets,
      decisions,
      coordinator
    )
    try resolver.resolve()
    if !resolver.undecided.isEmpty {
      settlement.undecided = resolver.undecided
      request = .nothing(on: base.commit)
      return
    }
    settlement.reverted = resolver.reverted
    settlement.merged = resolver.merged
    request = resolver.request
  }

  /// Settles new objects with existing ones that have their unique values.
  ///
  /// - Parameter settlement: receives the results.
  private func settle(
    _ request: inout SaveRequest,
    _ policies: UniquePolicies,
    _ base: SaveBase,
    _ settlement: inout SaveSettlement
  ) throws(ContextError) {
    guard policies.settlesAny, request.entities.contains(where: { !$0.inserted.isEmpty }) else { return }
    var resolver = UniqueResolver(request, settlement.reverted, policies, in: try base.source(), coordinator)
    try resolver.resolve()
    if resolver.aliases.allSatisfy(\.isEmpty) { return }
    // Objects that lead to an existing object now instead of a new one, or that have lost it, and new objects that get
    // values of others.
    for changes in resolver.request.entities {
      let ordinal = changes.entity.ordinal
      let numbers = changes.updated.map(\.number) + changes.inserted.map(\.number)
      for number in numbers where resolver.reverted[ordinal].contains(number) {
        settlement.merged.append(ObjectKey(entity: ordinal, number: number))
      }
    }
    settlement.merged += resolver.relinked
    settlement.reverted = resolver.reverted
    settlement.aliases = resolver.aliases
    settlement.owners = resolver.changed
    request = resolver.request
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
      let pairs = entities[key.entity].pairs[ordinal]
      return pairs.added[key.number] != nil || pairs.removed[key.number] != nil
        || entities[key.entity].pairPlaces[ordinal].byOwner[key.number] != nil
    }
    return (newest, shown)
  }

  /// Notes that the objects are as the store has them now. ``finish(_:)`` tells listeners.
  ///
  /// - Parameter updated: the updated objects by the entity's ordinal; nil for those of this moment.
  private func finishSave(_ updated: [[any ManagedObject]]? = nil) -> SavedObjects {
    undoManager?.noteSave(in: self)
    let saved = SavedObjects()
    unfinishedSaves.append(saved)
    for ordinal in entities.indices where entities[ordinal].mayHaveChanges || updated != nil {
      let (inserted, deleted) = (entities[ordinal].changes.inserted, entities[ordinal].changes.deleted)
      let others = updated?[ordinal] ?? updatedObjects(of: ordinal)
      let kept = inserted.isEmpty ? others : inserted + others
      for object in kept where object._$state.hasChanges { object._$state.becomeSaved() }
      if entity(ordinal).derivedSlots != 0 {
        for object in kept { forgetDerivedValues(of: object._$state.number, entity(ordinal)) }
      }
      for object in deleted { letGo(of: object, ordinal) }
      if saved.kept.isEmpty { saved.kept = kept } else { saved.kept += kept }
      if saved.deleted.isEmpty { saved.deleted = deleted } else { saved.deleted += deleted }
    }
    forgetChanges()
    return saved
  }
}

// MARK: - Derived values

extension ManagedObjectContext {
  /// Makes the derived values of a saved object be read again, here and in children.
  private func forgetDerivedValues(of number: ObjectNumber, _ entity: StoredEntity) {
    knownObject(number, of: entity)?._$state.forgetUnchangedValues(in: entity.derivedSlots)
    children.forEach { $0.forgetDerivedValues(of: number, entity) }
  }

  /// Returns the derived values that objects have got in a commit of the context, which shows that commit by now. Until
  /// then a new object had none.
  func derivedValues(in own: ChangeSet) -> RuleChanges {
    var derived = RuleChanges()
    for (number, objects) in own.objects {
      guard let entity = coordinator.schema.entity(number), entity.derivedSlots != 0 else { continue }
      for update in objects.updated {
        derived.noteUpdated(update.number, slots: update.slots & entity.derivedSlots, of: number)
      }
      for new in objects.inserted {
        derived.noteUpdated(new, slots: slotsOfDerivedValues(of: new, entity), of: number)
      }
    }
    return derived
  }

  /// Returns the bits of the slots in which a new object has a value that isn't the one it had before it was saved.
  private func slotsOfDerivedValues(of new: ObjectNumber, _ entity: StoredEntity) -> UInt64 {
    deferringError(0) { () throws(ContextError) in
      guard let record = try source.record(new, of: entity) else { return 0 }
      let view = RecordView(validated: record, layout: entity.layout)
      var slots: UInt64 = 0
      for derivation in entity.derivations where entity.ownSlots(of: new) & derivation.bit != 0 {
        let isRequired = entity.requiredSlots(of: new) & derivation.bit != 0
        let isFoldedText = derivation.aggregate == nil && isRequired
        let unsaved = isFoldedText ? AttributeValue.string("") : derivation.emptyValue
        if view.value(derivation.slot) != unsaved { slots |= derivation.bit }
      }
      return slots
    }
  }
}

/// The state that the attempts of one save to get its turn share.
private struct SaveAttempts {
  /// The policy of the save for existing unique values; nil for the policies of the constraints.
  let uniquePolicy: UniquePolicy?
  /// The decisions of the merge policy so far.
  var decisions = MergeDecisions()
  /// Results of validating existing objects with the values that policies give them.
  var validations = SettledValidations()
  /// The result of the hooks; nil before they have run.
  var prepared: Prepared?
  /// The objects that were saved; nil before they are.
  var saved: SavedObjects?

  /// The result of the hooks in one state of the context.
  struct Prepared {
    let hooks: SaveHooks.Outcome
    let changeCount: Int
  }

  init(_ uniquePolicy: UniquePolicy?) { self.uniquePolicy = uniquePolicy }
}
