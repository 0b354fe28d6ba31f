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
    try save(durability, timeout: saveTimeout)
  }

  /// ``save(durability:)`` for a context whose thread must not wait: the main actor's, while others write or the disk is
  /// slow. The actor goes on with other work meanwhile; what that changes in the context before this save has begun is
  /// saved too.
  ///
  /// If the disk fails after the save has been made and before it is durable, this throws `outcomeUnknown`, and the context
  /// counts as saved.
  public nonisolated(nonsending) func saveWithoutBlocking(
    durability: Durability? = nil
  ) async throws(ContextError) {
    let options = coordinator.store.options
    let wanted = durability ?? options.durability
    let holder = holder
    defer { withExtendedLifetime(holder) {} }
    while true {
      do throws(ContextError) {
        try save(wanted == .full ? .relaxed : durability, timeout: .milliseconds(1))
        break
      } catch  where error.storeError?.code == .timedOut {
        try await coordinator.waitForTurn()
      }
    }
    if wanted == .full, !options.isReadOnly { try await coordinator.makeDurable() }
  }

  private func save(_ durability: Durability?, timeout: Duration?) throws(ContextError) {
    try checkUsable()
    listings.removeAll()
    guard hasChanges else { return }
    let request = try ChangeEncoder(self).encode()
    if request.isEmpty { return finishSave() }
    let outcome: (summary: CommitSummary, touchedByRules: [[UInt64]])
    do {
      outcome = try coordinator.write(request, durability, timeout: timeout)
    } catch {
      throw ContextError(any: error)
    }
    finishSave()
    // The save is done: if the context can't move on, that is the next call's failure.
    noting(()) { () throws(ContextError) in
      try moveToNewest(after: outcome.summary, touchedByRules: outcome.touchedByRules)
    }
    coordinator.announce(outcome.summary)
  }

  /// The objects are as the store has them now.
  private func finishSave() {
    for (ordinal, pending) in changes.enumerated() {
      for object in pending.inserted + pending.updated { object._$state.becomeSaved() }
      for object in pending.deleted {
        objects[ordinal].remove(object._$state.number)
        object._$state.leave()
      }
    }
    forgetChanges()
  }
}
