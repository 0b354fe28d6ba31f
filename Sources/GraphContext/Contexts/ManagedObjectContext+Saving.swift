import PageStore

extension ManagedObjectContext {
  /// Saves everything that has changed, as one transaction: all of it is in the store afterwards, or nothing is.
  ///
  /// Checked before and in the transaction: required values are there, references lead to objects, unique tuples are
  /// unique, delete rules allow what is deleted, and nobody else has changed or deleted what is changed here. When
  /// anything fails, the context is as it was before. Afterwards it is at the newest commit.
  ///
  /// - Parameter durability: when the save counts as done, if not as the container's options say.
  public func save(durability: Durability? = nil) throws(ContextError) {
    try checkUsable()
    guard hasChanges else { return }
    let request = try ChangeEncoder(self).encode()
    if request.isEmpty { return finishSave() }
    let outcome: (summary: CommitSummary, touchedByRules: [[UInt64]])
    do {
      outcome = try coordinator.write(request, durability)
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
