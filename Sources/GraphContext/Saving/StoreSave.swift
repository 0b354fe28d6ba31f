import Predicates

/// A save of a context to the store, in as many attempts as it takes: each needs the turn to write, and a merge policy
/// or a validation may have to run before the next one.
struct StoreSave {
  private let context: ManagedObjectContext
  private let uniquePolicies: UniquePolicies
  /// The decisions of the merge policy so far.
  private var decisions = MergeDecisions()
  /// Results of validating objects that get values which their validations haven't seen together.
  private var validations = SaveValidations()
  /// The result of the hooks; nil before they have run.
  private var prepared: Prepared?
  /// The objects that were saved; nil before they are.
  private(set) var saved: SavedObjects?

  /// The result of the hooks in one state of the context.
  private struct Prepared {
    let hooks: SaveHooks.Outcome
    let changeCount: Int
  }

  /// - Parameter policy: the policy for existing unique values; nil for the policies of the constraints.
  init(of context: ManagedObjectContext, ifExists policy: UniquePolicy?) {
    self.context = context
    uniquePolicies = UniquePolicies(context.coordinator, policy)
  }

  /// Makes an attempt to save. Returns false, with nothing saved, if there is no turn to write of the kind that `turn`
  /// asks for, or if the program had to decide or to validate something. The save is to be tried again then.
  mutating func attempt(_ durability: Durability?, turn: SaveTurn) throws(ContextError) -> Bool {
    let hooks = try outcomeOfHooks()
    context.listings.removeAll()
    guard context.hasChanges else { return true }
    var attempt = SaveAttempt(
      context: context,
      hooks: hooks,
      uniquePolicies: uniquePolicies,
      decisions: decisions,
      validations: validations
    )
    // Others can write while a thread that waits anyway encodes. One that doesn't wait encodes only once it has the
    // turn.
    if case .waiting = turn, try !attempt.encode() {
      context.tellingObservers { saved = context.finishSave() }
      return true
    }
    let outcome = try attempt.commit(durability, turn)
    if let outcome, !attempt.asksProgram {
      saved = SaveCompletion(context: context, outcome: outcome, differences: attempt.differences).run()
      return true
    }
    // Before the program is asked: changes that its code makes then are saved too, and hooks have to see them.
    expectChanges(hooks)
    if outcome != nil { try askProgram(about: attempt) }
    return false
  }

  /// Returns the results of the hooks, which run again if the context has changed since an earlier attempt.
  private mutating func outcomeOfHooks() throws(ContextError) -> SaveHooks.Outcome {
    if let prepared, prepared.changeCount == context.changeCount {
      try context.checkSavable()
      return prepared.hooks
    }
    validations.forgetOutcomes()
    return try context.prepareSave()
  }

  /// Prepares for another attempt: from now on the context notes whether anything changes, because then hooks have to
  /// run again.
  private mutating func expectChanges(_ hooks: SaveHooks.Outcome) {
    context.announceChanges()
    prepared = Prepared(hooks: hooks, changeCount: context.changeCount)
  }

  /// Lets the program make the decisions that an attempt has left open, for the next attempt.
  private mutating func askProgram(about attempt: SaveAttempt) throws(ContextError) {
    // A save within this one would ask again.
    context.isRunningSaveHooks = true
    defer { context.isRunningSaveHooks = false }
    if case .custom(let policy) = context.mergePolicy.rule, !attempt.undecided.isEmpty {
      try decisions.ask(policy, about: attempt.undecided)
    } else if let unvalidated = attempt.unvalidated {
      try validations.validate(unvalidated.objects, savedBy: unvalidated.request, context.coordinator)
    }
  }
}
