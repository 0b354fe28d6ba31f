import Predicates

/// The validations of merged and unified objects during one save.
///
/// A validation is code of the program, so it runs outside of the writer's turn. The turn ends where an object gets
/// values that the validation hasn't seen, and the save takes another turn. Others may have changed the object by then,
/// so an outcome counts only for the values that the validation has seen.
struct SaveValidations {
  /// The number of times that a save validates before it throws `conflict`. Many writers of one object often find that
  /// it has changed once more.
  static let roundLimit = 100

  private struct Outcome {
    let values: [AttributeValue]
    let links: [[ObjectNumber]]
    let failure: ContextError?
    /// The commit for which the save could not be shown, so that nothing was validated; nil for a verdict.
    var skippedAt: UInt64?

    init(_ object: ValidatedObject, _ failure: ContextError?, skippedAt: UInt64? = nil) {
      (values, links, self.failure, self.skippedAt) = (object.values, object.links, failure, skippedAt)
    }

    /// Returns whether the outcome counts for an attempt with these values on this commit.
    func counts(for object: ValidatedObject, on commit: UInt64) -> Bool {
      values == object.values && links == object.links && (skippedAt == nil || skippedAt == commit)
    }
  }
  /// The key of an outcome. A merge asks about an object without the effect of delete rules, and a review about the
  /// same object with it.
  fileprivate struct Question: Hashable {
    let key: ObjectKey
    let effect: RuleEffects.Effect
  }
  private var outcomes: [Question: Outcome] = [:]
  /// The kinds of objects that were found to have no rules in code: others may change them as often as they like.
  private(set) var unruled = UnruledKinds()
  private var rounds = 0

  /// Returns the objects whose values have yet to be validated. The failures of the others are added to `failures`.
  func unknown(
    among objects: [ValidatedObject],
    on commit: UInt64,
    _ failures: inout SaveFailures
  ) -> [ValidatedObject] {
    var unknown: [ValidatedObject] = []
    for object in objects where !unruled.contains(object.kind) {
      if let outcome = outcomes[object.question], outcome.counts(for: object, on: commit) {
        if let failure = outcome.failure { failures.note(failure) }
      } else {
        unknown.append(object)
      }
    }
    return unknown
  }

  /// Forgets the outcomes: the saving context has changed since.
  mutating func forgetOutcomes() { outcomes = [:] }

  /// Calls the validations of objects in a context of its own that shows all that the save is to store.
  ///
  /// - Throws: `conflict` when others have changed the objects too often meanwhile, and the error of a failed read in a
  ///   validation.
  mutating func validate(
    _ objects: [ValidatedObject],
    savedBy request: SaveRequest,
    _ coordinator: StoreCoordinator
  ) throws(ContextError) {
    rounds += 1
    let context = try ManagedObjectContext(coordinator: coordinator)
    defer { context.end() }
    if rounds > Self.roundLimit, let object = objects.first {
      throw .conflict(context.id(object.number, object.entity), "changed")
    }
    do { try context.preview(request) } catch {
      guard [.objectNotFound, .missingDestination, .conflict].contains(error.code) else { throw error }
      // The save leads to an object that others have deleted: the engine reports it in the next attempt.
      for object in objects {
        outcomes[object.question] = Outcome(object, nil, skippedAt: request.baseCommit)
      }
      return
    }
    // Others may have saved since the attempt: the outcomes count for the values that the context shows.
    let effects = Dictionary(objects.map { ($0.key, $0.effect) }) { first, _ in first }
    for var object in try request.validatedObjects(effects.keys, in: context.source) {
      object.effect = effects[object.key] ?? RuleEffects.Effect()
      try validate(object, in: context, on: request.baseCommit)
    }
  }

  /// Validates an object as a context shows it, and keeps the outcome.
  private mutating func validate(
    _ object: ValidatedObject,
    in context: ManagedObjectContext,
    on commit: UInt64
  ) throws(ContextError) {
    guard let shown = context.previewed(object) else {
      // A new object that a rule deletes is not stored.
      outcomes[object.question] = Outcome(object, nil)
      return
    }
    var failure: ContextError?
    let change = ValidatedChange(previewed: shown._$state.phase)
    if let change {
      let hasRules = context.hasRules(shown, for: change) {
        do { try shown.validate(for: change) } catch {
          failure = .validationFailed(shown.objectID, error)
        }
      }
      if !hasRules { unruled.insert(ValidatedKind(object.key, for: change)) }
    }
    try context.checkReadable()
    // Since the attempt, others may have linked the object to one that is deleted, or removed such a link: then
    // another of its rules was called.
    let isOther = change.map { ValidatedKind(object.key, for: $0) != object.kind } ?? false
    outcomes[object.question] = Outcome(object, failure, skippedAt: isOther ? commit : nil)
  }
}

extension ValidatedChange {
  /// Makes the change of the save to an object that its preview shows in a phase; nil for an object that isn't there.
  fileprivate init?(previewed phase: ObjectState.Phase) {
    switch phase {
    case .inserted: self = .insertion
    case .persistent: self = .update
    case .deleted: self = .deletion
    case .new, .gone, .tracer: return nil
    }
  }
}

extension ManagedObjectContext {
  /// Returns the object in the context that shows the save; nil for a new object that has left that context.
  fileprivate func previewed(_ validated: ValidatedObject) -> (any ManagedObject)? {
    validated.change == .insertion
      ? knownObject(validated.number, of: validated.entity) : object(validated.number, of: validated.entity)
  }

  /// Throws the error of a failed read. A validation that sets a value is no failure: its changes in the context that
  /// only shows the save are dropped.
  fileprivate func checkReadable() throws(ContextError) {
    do { try checkUsable() } catch {
      guard error.code == .readOnlyContext else { throw error }
      // It would be the failure of everything that the next validation reads.
      deferred.clear()
    }
  }
}

extension ValidatedObject {
  /// The kind of the object. A deletion by delete rules is no change of the request.
  fileprivate var kind: ValidatedKind { ValidatedKind(key, for: effect.isDeleted ? .deletion : change) }

  fileprivate var question: SaveValidations.Question {
    SaveValidations.Question(key: key, effect: effect)
  }
}
