import Predicates

/// An object that gets values in a save which its validation hasn't seen together: those of new objects that the save settles with it, or those of this and
/// of another context.
struct SettledOwner {
  let entity: StoredEntity
  let number: ObjectNumber
  /// All values that it gets, as a record.
  let record: [UInt8]
  /// The elements that its many-to-many relationships get, by the positions of the relationships.
  let links: [[ObjectNumber]]
}

/// The validations of merged and settled objects during one save.
///
/// A validation is code of the program, so it runs outside of the writer's turn: the turn ends where an object gets values that it hasn't seen,
/// and the save takes another one. Others may have changed the object by then, so an outcome counts for the values that the validation has seen.
struct SettledValidations {
  /// The number of times that a save validates before it throws `conflict`. Many writers of one object often find that it has changed once more.
  static let roundLimit = 100

  private struct Outcome {
    let record: [UInt8]
    let links: [[ObjectNumber]]
    let failure: ContextError?
    /// The commit for which the save could not be shown, so that nothing was validated; nil for a verdict.
    var skippedAt: UInt64?

    init(_ owner: SettledOwner, _ failure: ContextError?, skippedAt: UInt64? = nil) {
      (record, links, self.failure, self.skippedAt) = (owner.record, owner.links, failure, skippedAt)
    }

    /// Whether it counts for an attempt with these values on this commit.
    func counts(for owner: SettledOwner, on commit: UInt64) -> Bool {
      record == owner.record && links == owner.links && (skippedAt == nil || skippedAt == commit)
    }
  }
  private var outcomes: [ObjectKey: Outcome] = [:]
  /// What was found to have no rules in code: others may change it as often as they like.
  private(set) var unruled: Set<ValidatedKind> = []
  private var rounds = 0

  /// Returns the objects whose values have yet to be validated. The failures of the others are noted in the request.
  func noteFailures(of owners: [SettledOwner], in request: inout SaveRequest) -> [SettledOwner] {
    var unknown: [SettledOwner] = []
    for owner in owners where !unruled.contains(owner.kind(in: request)) {
      if let outcome = outcomes[owner.key], outcome.counts(for: owner, on: request.baseCommit) {
        if let failure = outcome.failure { request.failures.note(failure) }
      } else {
        unknown.append(owner)
      }
    }
    return unknown
  }

  /// Forgets the outcomes: the saving context has changed since.
  mutating func forgetOutcomes() { outcomes = [:] }

  /// Calls the validations of objects in a context of its own that shows all that the save is to store.
  ///
  /// - Throws: `conflict` when others have changed the objects too often meanwhile, and what reading in a validation has failed with.
  mutating func validate(
    _ owners: [SettledOwner],
    savedBy request: SaveRequest,
    _ coordinator: StoreCoordinator
  ) throws(ContextError) {
    rounds += 1
    let context = try ManagedObjectContext(coordinator: coordinator)
    defer { context.end() }
    if rounds > Self.roundLimit, let owner = owners.first {
      throw .conflict(context.id(owner.number, owner.entity), "changed")
    }
    do { try context.preview(request) } catch {
      guard [.objectNotFound, .missingDestination, .conflict].contains(error.code) else { throw error }
      // The save leads to something that others have deleted: the engine says what, in the next attempt.
      for owner in owners {
        outcomes[owner.key] = Outcome(owner, nil, skippedAt: request.baseCommit)
      }
      return
    }
    // Others may have saved since the attempt: the outcomes count for the values that the context shows.
    var numbers: [Set<ObjectNumber>] = request.entities.map { _ in [] }
    for owner in owners { numbers[owner.entity.ordinal].insert(owner.number) }
    for owner in try request.owners(numbers, in: context.source) {
      let object = context.object(owner.number, of: owner.entity)
      var failure: ContextError?
      let phase = object._$state.phase
      if phase == .inserted || phase == .persistent {
        let hasRules = context.hasRules(object, isNew: phase == .inserted) {
          do { try phase == .inserted ? object.validateForInsert() : object.validateForUpdate() } catch {
            failure = .validationFailed(object.objectID, error)
          }
        }
        if !hasRules { unruled.insert(owner.kind(in: request)) }
      }
      try context.checkReadable()
      outcomes[owner.key] = Outcome(owner, failure)
    }
  }
}

extension ManagedObjectContext {
  /// Throws what reading has failed with. A validation that sets a value hasn't: what it sets in the context that only shows the save is dropped.
  fileprivate func checkReadable() throws(ContextError) {
    do { try checkUsable() } catch  where error.code == .readOnlyContext {}
  }
}

extension SaveRequest {
  /// Objects that the request changes, with all values that they get.
  ///
  /// - Parameters:
  ///   - numbers: the objects, by the entity's ordinal.
  ///   - source: the state that the request is to change.
  func owners(
    _ numbers: [Set<ObjectNumber>],
    in source: any ObjectSource
  ) throws(ContextError) -> [SettledOwner] {
    var owners: [SettledOwner] = []
    for changes in entities {
      let entity = changes.entity
      for number in numbers[entity.ordinal].sorted() {
        guard let record = try record(of: number, changes, in: source) else { continue }
        let links = try links(of: number, entity, in: source)
        owners.append(SettledOwner(entity: entity, number: number, record: record, links: links))
      }
    }
    return owners
  }

  /// All values that an object gets; nil for one that isn't there.
  private func record(
    of number: ObjectNumber,
    _ changes: EntityChanges,
    in source: any ObjectSource
  ) throws(ContextError) -> [UInt8]? {
    if let index = changes.insertedIndex(of: number) { return Array(changes.inserted[index].bytes) }
    let entity = changes.entity
    guard let stored = try source.record(number, of: entity) else { return nil }
    guard let index = changes.patchIndex(of: number) else { return Array(stored) }
    let patch = changes.updated[index]
    let bytes = changes.encoder.encode(
      RecordView(validated: stored, layout: entity.layout),
      patchedBy: RecordView(validated: patch.bytes, layout: entity.layout),
      in: patch.slots
    )
    return Array(bytes)
  }

  /// The elements of an object's many-to-many relationships as the request leaves them, by the positions of the relationships. O(links).
  private func links(
    of owner: ObjectNumber,
    _ entity: StoredEntity,
    in source: any ObjectSource
  ) throws(ContextError) -> [[ObjectNumber]] {
    var links: [[ObjectNumber]] = []
    for toMany in entity.toManys {
      guard case .pairs = toMany.storage, !toMany.isHidden else {
        links.append([])
        continue
      }
      var elements = Set(try source.elements(of: owner, in: toMany.links))
      for pairs in pairs where pairs.source.ordinal == entity.ordinal {
        guard pairs.relationship.ordinal == toMany.ordinal else { continue }
        elements.formUnion(pairs.links.added[owner] ?? [])
        elements.subtract(pairs.links.removed[owner] ?? [])
      }
      links.append(elements.sorted())
    }
    return links
  }
}

extension SettledOwner {
  fileprivate var key: ObjectKey { ObjectKey(entity: entity.ordinal, number: number) }

  fileprivate func kind(in request: SaveRequest) -> ValidatedKind {
    ValidatedKind(key, isNew: request.entities[entity.ordinal].insertedIndex(of: number) != nil)
  }
}
