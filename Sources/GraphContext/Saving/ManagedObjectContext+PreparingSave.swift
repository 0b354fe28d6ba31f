import Predicates

// The steps before a save: hooks, and listeners that hear of all changes.

extension ManagedObjectContext {
  /// Throws the error for which the context refuses saves.
  func checkSavable() throws(ContextError) {
    try checkUsable()
    if isReadOnly { throw .readOnlyContext() }
  }

  /// Runs the hooks that come before a save.
  func prepareSave() throws(ContextError) -> SaveHooks.Outcome {
    try checkSavable()
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
      .endlessChanges,
      "a listener of onObjectsDidChange goes on changing objects"
        + " after \(SaveHooks.roundLimit) rounds of hooks before a save"
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
}
