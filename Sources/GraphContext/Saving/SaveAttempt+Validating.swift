import Predicates

// The validation, by rules in code, of objects that a save changes beyond the state that its context shows. It runs
// between the turns of the save.

extension SaveAttempt {
  /// Makes the save validate objects that get values which their validations haven't seen together. As long as there
  /// are such objects, nothing is stored.
  mutating func validate(_ request: inout SaveRequest, on base: SaveBase) throws(ContextError) {
    isShowable = request.failures.isEmpty
    if merged.isEmpty, owners.allSatisfy(\.isEmpty) { return }
    var keys = Set(merged).filter { mayHaveRules($0, for: request.change(of: $0)) }
    for (ordinal, numbers) in owners.enumerated() {
      keys.formUnion(numbers.lazy.map { ObjectKey(entity: ordinal, number: $0) })
    }
    if keys.isEmpty || !isShowable { return }
    let objects = try request.validatedObjects(keys, in: try base.source())
    let unknown = validations.unknown(among: objects, on: request.baseCommit, &request.failures)
    if unknown.isEmpty { return }
    unvalidated = Unvalidated(objects: unknown, request: request)
    request = .nothing(on: base.commit)
  }

  /// Makes the save validate objects that delete rules delete, or from which they remove links or references that this
  /// context hasn't known of. Returns whether all have been validated.
  mutating func accepts(
    _ effects: RuleEffects,
    of request: SaveRequest,
    on base: SaveBase,
    _ failures: inout SaveFailures
  ) throws(ContextError) -> Bool {
    let effects = effects.effects.filter { key, effect in
      mayHaveRules(key, for: effect.isDeleted ? .deletion : request.change(of: key))
    }
    // For a save that fails already, nothing is validated: an object that has failed would fail twice.
    if effects.isEmpty || !request.failures.isEmpty { return true }
    var objects = try request.validatedObjects(effects.keys, in: try base.source())
    for index in objects.indices {
      objects[index].effect = effects[objects[index].key] ?? objects[index].effect
    }
    let unknown = validations.unknown(among: objects, on: request.baseCommit, &failures)
    if unknown.isEmpty { return true }
    unvalidated = Unvalidated(objects: unknown, request: request)
    return false
  }

  /// Returns whether an object may have rules in code for a change, as far as this save has found out.
  private func mayHaveRules(_ key: ObjectKey, for change: ValidatedChange) -> Bool {
    let kind = ValidatedKind(key, for: change)
    return !hooks.unruled.contains(kind) && !validations.unruled.contains(kind)
  }
}
