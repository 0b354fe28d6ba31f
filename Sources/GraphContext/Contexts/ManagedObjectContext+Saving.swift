import PageStore

extension ManagedObjectContext {
  /// Saves everything that has changed, as one transaction: all of it is in the store afterwards, or nothing is.
  ///
  /// Checked before and in the transaction: required values are there, references lead to objects, unique tuples are
  /// unique, delete rules allow what is deleted, and nobody else has changed or deleted what is changed here. When
  /// anything fails, the context is as it was before. Afterwards it is at the newest commit.
  ///
  /// Waits for its turn to write for as long as ``saveTimeout`` says; then it throws a ``ContextError`` whose `storeError`
  /// has the code `timedOut`, and nothing has happened.
  ///
  /// - Parameter durability: when the save counts as done, if not as the container's options say.
  public func save(durability: Durability? = nil) throws(ContextError) {
    try save(durability, turn: .waiting(timeout: saveTimeout))
  }

  /// ``save(durability:)`` for a context whose thread must not wait: the main actor's, while others write or the disk is
  /// slow. The actor goes on with other work meanwhile; what that changes in the context before this save has begun is
  /// saved too.
  ///
  /// It waits in the same queue as every other save, and for as long as ``saveTimeout`` says. When its turn comes, the
  /// changes are encoded and saved in one step on the actor. An actor that is busy for too long then has to wait for another
  /// turn, while others write.
  ///
  /// If the disk fails after the save has been made and before it is durable, this throws `outcomeUnknown`, and the context
  /// counts as saved.
  public nonisolated(nonsending) func saveWithoutBlocking(
    durability: Durability? = nil
  ) async throws(ContextError) {
    let options = coordinator.store.options
    let wanted = durability ?? options.durability
    let first = wanted == .full ? .relaxed : durability
    let holder = holder
    defer { withExtendedLifetime(holder) {} }
    var queue = SaveQueue(coordinator.store, timeout: saveTimeout)
    while try !save(first, turn: .ifFree) {
      let reservation = try await queue.reserveTurn()
      defer { coordinator.store.cancel(reservation) }
      if try save(first, turn: .reserved(reservation)) { break }
    }
    if wanted == .full, !options.isReadOnly { try await coordinator.makeDurable() }
  }

  /// False, with nothing done, if there is no turn as `turn` asks for it.
  @discardableResult
  private func save(_ durability: Durability?, turn: TurnRequest) throws(ContextError) -> Bool {
    try checkUsable()
    listings.removeAll()
    guard hasChanges else { return true }
    var request: SaveRequest?
    // Others can write while a thread that waits anyway encodes. One that doesn't wait encodes only once it has the turn.
    if case .waiting = turn {
      let encoded = try ChangeEncoder(self).encode()
      if encoded.isEmpty {
        finishSave()
        return true
      }
      request = encoded
    }
    let outcome: SaveOutcome?
    do {
      outcome = try coordinator.write(durability, turn: turn) { () throws(ContextError) in
        if let request { request } else { try ChangeEncoder(self).encode() }
      }
    } catch {
      throw ContextError(any: error)
    }
    guard let outcome else { return false }
    finishSave()
    guard let changes = outcome.changes else { return true }
    // The save is done: if the context can't move on, that is the next call's failure.
    noting(()) { () throws(ContextError) in
      try moveToNewest(after: changes, outcome.ruleChanges)
    }
    coordinator.tellListeners()
    return true
  }

  /// The objects are as the store has them now.
  private func finishSave() {
    for (ordinal, pending) in changes.enumerated() {
      for object in pending.inserted + pending.updated { object._$state.becomeSaved() }
      for object in pending.deleted {
        objects[ordinal].remove(object._$state.number)
        object._$state.leave(entity(ordinal).number)
      }
    }
    forgetChanges()
  }
}
