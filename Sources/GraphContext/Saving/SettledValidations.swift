import Foundation
import Predicates

/// An object that gets values in a save which its validation hasn't seen together: those of new objects that the save
/// settles with it, or those of this and of another context.
struct SettledOwner {
  let entity: StoredEntity
  let number: ObjectNumber
  let change: ValidatedChange
  /// The values that it gets, by slot, except for those that other objects determine: its places, and derived values.
  let values: [AttributeValue]
  /// The elements that its many-to-many relationships get, by the positions of the relationships.
  let links: [[ObjectNumber]]
  /// The effect of delete rules on it afterwards.
  var effect = RuleEffects.Effect()
}

/// The validations of merged and settled objects during one save.
///
/// A validation is code of the program, so it runs outside of the writer's turn. The turn ends where an object gets
/// values that the validation hasn't seen, and the save takes another turn. Others may have changed the object by then,
/// so an outcome counts only for the values that the validation has seen.
struct SettledValidations {
  /// The number of times that a save validates before it throws `conflict`. Many writers of one object often find that
  /// it has changed once more.
  static let roundLimit = 100

  private struct Outcome {
    let values: [AttributeValue]
    let links: [[ObjectNumber]]
    let failure: ContextError?
    /// The commit for which the save could not be shown, so that nothing was validated; nil for a verdict.
    var skippedAt: UInt64?

    init(_ owner: SettledOwner, _ failure: ContextError?, skippedAt: UInt64? = nil) {
      (values, links, self.failure, self.skippedAt) = (owner.values, owner.links, failure, skippedAt)
    }

    /// Returns whether the outcome counts for an attempt with these values on this commit.
    func counts(for owner: SettledOwner, on commit: UInt64) -> Bool {
      values == owner.values && links == owner.links && (skippedAt == nil || skippedAt == commit)
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
    among owners: [SettledOwner],
    on commit: UInt64,
    _ failures: inout SaveFailures
  ) -> [SettledOwner] {
    var unknown: [SettledOwner] = []
    for owner in owners where !unruled.contains(owner.kind) {
      if let outcome = outcomes[owner.question], outcome.counts(for: owner, on: commit) {
        if let failure = outcome.failure { failures.note(failure) }
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
  /// - Throws: `conflict` when others have changed the objects too often meanwhile, and the error of a failed read in a
  ///   validation.
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
      // The save leads to an object that others have deleted: the engine reports it in the next attempt.
      for owner in owners {
        outcomes[owner.question] = Outcome(owner, nil, skippedAt: request.baseCommit)
      }
      return
    }
    // Others may have saved since the attempt: the outcomes count for the values that the context shows.
    let effects = Dictionary(owners.map { ($0.key, $0.effect) }) { first, _ in first }
    for var owner in try request.owners(effects.keys, in: context.source) {
      owner.effect = effects[owner.key] ?? RuleEffects.Effect()
      guard let object = context.previewed(owner) else {
        // A new object that a rule deletes is not stored.
        outcomes[owner.question] = Outcome(owner, nil)
        continue
      }
      var failure: ContextError?
      let change = ValidatedChange(previewed: object._$state.phase)
      if let change {
        let hasRules = context.hasRules(object, for: change) {
          do { try object.validate(for: change) } catch {
            failure = .validationFailed(object.objectID, error)
          }
        }
        if !hasRules { unruled.insert(ValidatedKind(owner.key, for: change)) }
      }
      try context.checkReadable()
      // Since the attempt, others may have linked the object to one that is deleted, or removed such a link: then
      // another of its rules was called.
      let isOther = change.map { ValidatedKind(owner.key, for: $0) != owner.kind } ?? false
      outcomes[owner.question] = Outcome(owner, failure, skippedAt: isOther ? request.baseCommit : nil)
    }
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
  fileprivate func previewed(_ owner: SettledOwner) -> (any ManagedObject)? {
    owner.change == .insertion
      ? knownObject(owner.number, of: owner.entity) : object(owner.number, of: owner.entity)
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

extension SaveRequest {
  /// Returns objects that the request changes, with all values that they get. Objects that aren't there are left out.
  ///
  /// - Parameter source: the state that the request is to change.
  func owners(
    _ keys: some Sequence<ObjectKey>,
    in source: any ObjectSource
  ) throws(ContextError) -> [SettledOwner] {
    var owners: [SettledOwner] = []
    for key in keys.sorted() {
      let changes = entities[key.entity]
      let entity = changes.entity
      guard let record = try record(of: key.number, changes, in: source) else { continue }
      owners.append(
        SettledOwner(
          entity: entity,
          number: key.number,
          change: change(of: key),
          values: entity.ownValues(of: record),
          links: try links(of: key.number, entity, in: source)
        )
      )
    }
    return owners
  }

  /// Returns the change of the request to an object.
  func change(of key: ObjectKey) -> ValidatedChange {
    let changes = entities[key.entity]
    if changes.insertedIndex(of: key.number) != nil { return .insertion }
    return changes.deletes(key.number) ? .deletion : .update
  }

  /// Returns all values that an object gets; nil for an object that isn't there.
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

  /// Returns the elements of an object's many-to-many relationships as the request leaves them, by the positions of the
  /// relationships. O(links).
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

extension StoredEntity {
  /// Returns the values of a record, by slot. Values that other objects determine, which are places and derived values,
  /// are null.
  fileprivate func ownValues(of record: [UInt8]) -> [AttributeValue] {
    record.withUnsafeBytes { bytes in
      let view = RecordView(validated: bytes, layout: layout)
      return schema.stored.indices.map { slot in
        if placeSlots.contains(slot) || derivedSlots.contains(slot) { return .null }
        // A value that the record only refers to reads as null: the reference stands for it.
        return view.externalReference(slot).map { .data(Data($0.encoded)) } ?? view.value(slot)
      }
    }
  }
}

extension SettledOwner {
  var key: ObjectKey { ObjectKey(entity: entity.ordinal, number: number) }

  /// The kind of the object. A deletion by delete rules is no change of the request.
  fileprivate var kind: ValidatedKind { ValidatedKind(key, for: effect.isDeleted ? .deletion : change) }

  fileprivate var question: SettledValidations.Question {
    SettledValidations.Question(key: key, effect: effect)
  }
}
