import Predicates

// The validation, by rules in code, of objects that a save changes beyond the state that its context shows. It runs
// between the turns of the save.

extension ManagedObjectContext {
  /// Makes the save validate objects that get values which their validations haven't seen together. As long as there
  /// are such objects, nothing is stored.
  func validate(
    _ request: inout SaveRequest,
    _ hooks: SaveHooks.Outcome,
    _ base: SaveBase,
    _ validations: SettledValidations,
    _ settlement: inout SaveSettlement
  ) throws(ContextError) {
    // A request that is refused anyway may have values that no object can show.
    settlement.isShowable = request.failures.isEmpty
    if settlement.merged.isEmpty, settlement.owners.allSatisfy(\.isEmpty) { return }
    var keys = Set(settlement.merged).filter { hooks.mayRule($0, request.change(of: $0), validations) }
    for (ordinal, numbers) in settlement.owners.enumerated() {
      keys.formUnion(numbers.lazy.map { ObjectKey(entity: ordinal, number: $0) })
    }
    if keys.isEmpty || !settlement.isShowable { return }
    let owners = try request.owners(keys, in: try base.source())
    settlement.unvalidated = validations.unknown(among: owners, on: request.baseCommit, &request.failures)
    if settlement.unvalidated.isEmpty { return }
    settlement.unvalidatedRequest = request
    request = .nothing(on: base.commit)
  }

  /// Makes the save validate objects that delete rules delete, or from which they remove links or references that this
  /// context hasn't known of. Returns whether all have been validated.
  func accepts(
    _ effects: RuleEffects,
    of request: SaveRequest,
    _ hooks: SaveHooks.Outcome,
    _ base: SaveBase,
    _ validations: SettledValidations,
    _ settlement: inout SaveSettlement,
    _ failures: inout SaveFailures
  ) throws(ContextError) -> Bool {
    let effects = effects.effects.filter { key, effect in
      hooks.mayRule(key, effect.isDeleted ? .deletion : request.change(of: key), validations)
    }
    // For a save that fails already, nothing is validated: an object that has failed would fail twice.
    if effects.isEmpty || !request.failures.isEmpty { return true }
    var owners = try request.owners(effects.keys, in: try base.source())
    for index in owners.indices { owners[index].effect = effects[owners[index].key] ?? owners[index].effect }
    settlement.unvalidated = validations.unknown(among: owners, on: request.baseCommit, &failures)
    if settlement.unvalidated.isEmpty { return true }
    settlement.unvalidatedRequest = request
    return false
  }
}

extension SaveHooks.Outcome {
  /// Returns whether an object may have rules in code for a change, as far as this save has found out.
  fileprivate func mayRule(
    _ key: ObjectKey,
    _ change: ValidatedChange,
    _ validations: SettledValidations
  ) -> Bool {
    let kind = ValidatedKind(key, for: change)
    return !unruled.contains(kind) && !validations.unruled.contains(kind)
  }
}
