import Predicates

extension ManagedObjectContext {
  /// Saves everything that has changed, as one transaction: all of it is in the store afterwards, or nothing is.
  ///
  /// Checked before and in the transaction: required values are there, references lead to objects, unique tuples are
  /// unique, and delete rules allow what is deleted. Changes that other contexts have saved since are merged by
  /// ``mergePolicy``.
  ///
  /// A save that has stored something leaves the context at the newest commit; one with nothing to store leaves it where
  /// it is. A save that fails leaves the context as it was before, except for changes by hooks, and its error lists all
  /// failures in ``ContextError/failures``.
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
    if let parent { return try ChildSave(of: self, to: parent).run() }
    var save = StoreSave(of: self, ifExists: policy)
    while try !save.attempt(durability, turn: .waiting(timeout: saveTimeout)) {}
    finish(save.saved)
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
    if let parent { return try ChildSave(of: self, to: parent).run() }
    let holder = holder
    defer { withExtendedLifetime(holder) {} }
    var save = StoreSave(of: self, ifExists: policy)
    // They count as saved even where the commit could not be made durable.
    defer { finish(save.saved) }
    try await coordinator.engine.commitWithoutBlocking(durability, timeout: saveTimeout) {
      durability,
      turn throws(ContextError) in
      try save.attempt(durability, turn: turn)
    }
  }
}
