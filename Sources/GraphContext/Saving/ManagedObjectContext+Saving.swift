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

  /// Saves as the last step of a piece of work, and tells listeners of what has changed after the commit. Errors that
  /// hooks and listeners cause after the commit, such as reading a missing object, are dropped. Work that is reported
  /// as failed although it is stored would be done again.
  package func saveLast(durability: Durability? = nil) throws(ContextError) {
    try save(durability: durability)
    processPendingChanges()
    deferred.clear()
  }

  /// Does what ``save(ifExists:durability:)`` does, for a context whose thread must not wait: the main actor's, while
  /// others write or the disk is slow. The actor continues with other work meanwhile; changes that this work makes in
  /// the context before the save has begun are saved too.
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

  /// Makes an attempt to save. Returns false, with nothing saved, if there is no turn to write of the kind that `turn`
  /// asks for, or if the merge policy had to decide something. The save is to be tried again then.
  ///
  /// - Parameter attempts: the results of earlier attempts. Receives the objects that were saved.
  private func save(
    _ durability: Durability?,
    turn: SaveTurn,
    _ attempts: inout SaveAttempts
  ) throws(ContextError) -> Bool {
    let hooks = try outcomeOfHooks(for: &attempts)
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
    let outcome = try commit(request, hooks, durability, turn, attempts, &settlement)
    if let outcome, !settlement.asksProgram {
      complete(outcome, settlement, &attempts)
      return true
    }
    // Before the program is asked: changes that its code makes then are saved too, and hooks have to see them.
    attempts.prepared = expectChanges(hooks)
    if outcome != nil { try ask(settlement, &attempts) }
    return false
  }

  /// Merges, settles and validates the changes of an attempt in the writer's turn, and commits them.
  ///
  /// - Parameters:
  ///   - encoded: the changes; nil to encode them in the turn.
  ///   - settlement: receives the differences between what is stored and what the context shows.
  /// - Returns: nil if there is no turn.
  private func commit(
    _ encoded: SaveRequest?,
    _ hooks: SaveHooks.Outcome,
    _ durability: Durability?,
    _ turn: SaveTurn,
    _ attempts: SaveAttempts,
    _ settlement: inout SaveSettlement
  ) throws(ContextError) -> SaveOutcome? {
    var base: SaveBase?
    let policies = UniquePolicies(coordinator, attempts.uniquePolicy)
    return try coordinator.engine.commit(
      durability,
      turn: turn,
      showsValues: coordinator.showsValues
    ) { newest throws(ContextError) in
      base = newest
      var request = if let encoded { encoded } else { try ChangeEncoder(self, hooks.failures).encode() }
      try merge(&request, with: newest, attempts.decisions, &settlement)
      try settle(&request, policies, newest, &settlement)
      try validate(&request, hooks, newest, attempts.validations, &settlement)
      return request
    } reviewing: { request, rules, links, failures throws(ContextError) in
      guard let base, request.deletesObjects, settlement.isShowable else { return true }
      let effects = RuleEffects(rules, links, beyond: request, in: coordinator.schema)
      return try accepts(effects, of: request, hooks, base, attempts.validations, &settlement, &failures)
    }
  }

  /// Returns the results of the hooks, which run again if the context has changed since an earlier attempt.
  private func outcomeOfHooks(
    for attempts: inout SaveAttempts
  ) throws(ContextError) -> SaveHooks.Outcome {
    if let prepared = attempts.prepared, let outcome = try stillValid(prepared) { return outcome }
    attempts.validations.forgetOutcomes()
    return try prepareSave()
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

  /// Prepares for another attempt: from now on the context notes whether anything changes, because then hooks have to
  /// run again.
  private func expectChanges(_ hooks: SaveHooks.Outcome) -> SaveAttempts.Prepared {
    announceChanges()
    return SaveAttempts.Prepared(hooks: hooks, changeCount: changeCount)
  }
}
