import Predicates

/// An attempt of a save to commit the changes of its context in one turn to write.
///
/// If the program's merge policy or one of its validations has to run first, the attempt commits nothing. Otherwise
/// other writers would wait for the program's code.
struct SaveAttempt {
  let context: ManagedObjectContext
  let hooks: SaveHooks.Outcome
  let uniquePolicies: UniquePolicies
  /// The decisions of the merge policy in earlier attempts.
  let decisions: MergeDecisions
  /// The results of validations in earlier attempts.
  let validations: SaveValidations
  /// The changes of the context; nil to encode them in the turn.
  private(set) var encoded: SaveRequest?

  /// The differences between the state that is stored and the one that the context shows.
  var differences = SaveDifferences()
  /// Objects that get values which the context hasn't shown together: this save and others have changed them, or a
  /// policy has.
  var merged: [ObjectKey] = []
  /// Stored objects that get values of new ones, by the entity's ordinal; empty for none.
  var owners: [Set<ObjectNumber>] = []
  /// True if the save has had no failures before its objects were validated. A request that is refused anyway may have
  /// values that no object can show.
  var isShowable = true
  /// Conflicts that a custom policy must decide before the save stores anything.
  var undecided: [MergeDecisions.Undecided] = []
  /// The objects that must be validated before the save stores anything; nil for none.
  var unvalidated: Unvalidated?

  /// Objects to validate, and all that the save would store.
  struct Unvalidated {
    let objects: [ValidatedObject]
    let request: SaveRequest
  }

  /// True if the program must decide or validate something before the save stores anything.
  var asksProgram: Bool { !undecided.isEmpty || unvalidated != nil }

  /// Encodes the changes ahead of the turn. Returns whether there are any to commit.
  mutating func encode() throws(ContextError) -> Bool {
    let request = try ChangeEncoder(context, hooks.failures).encode()
    encoded = request
    return !request.isEmpty
  }

  /// Takes the phases of a save in the writer's turn: the changes of the context are merged with those of others, new
  /// objects are unified with existing ones, and objects are validated that get values by that. Then the engine stores
  /// the request, and asks for a review of what its delete rules have changed beyond it.
  ///
  /// - Returns: nil if there is no turn. An outcome without changes if the program must be asked.
  mutating func commit(_ durability: Durability?, _ turn: SaveTurn) throws(ContextError) -> SaveOutcome? {
    var base: SaveBase?
    return try context.coordinator.engine.commit(
      durability,
      turn: turn,
      showsValues: context.coordinator.showsValues
    ) { newest throws(ContextError) in
      base = newest
      var request = if let encoded { encoded } else { try ChangeEncoder(context, hooks.failures).encode() }
      try merge(&request, with: newest)
      try unify(&request, on: newest)
      try validate(&request, on: newest)
      return request
    } reviewing: { request, rules, links, failures throws(ContextError) in
      guard let base, request.deletesObjects, isShowable else { return true }
      let effects = RuleEffects(rules, links, beyond: request, in: context.coordinator.schema)
      return try accepts(effects, of: request, on: base, &failures)
    }
  }
}
