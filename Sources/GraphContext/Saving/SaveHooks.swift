import Predicates

/// The caller of the hooks that models have before a save: `willSave` until it changes nothing more, then the
/// validations.
struct SaveHooks {
  /// The greatest number of rounds of `willSave`, each for the objects that the round before has changed.
  static let roundLimit = 100

  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// The results of the validations.
  struct Outcome {
    /// The failures of objects that refuse to be saved.
    var failures = SaveFailures()
    /// The kinds of objects that are known to have no rules in code.
    var unruled = UnruledKinds()
  }

  func run() throws(ContextError) -> Outcome {
    guard let undoManager = context.undoManager else { return validate(try callWillSave()) }
    return validate(try undoManager.includingHooks { () throws(ContextError) in try callWillSave() })
  }

  /// An object with unsaved changes, as it was after its hook.
  private struct CalledObject: Hashable {
    private let object: ObjectIdentifier
    private let phase: ObjectState.Phase
    private let changed: SlotSet
    /// A hash of the unsaved changes of its many-to-many links.
    private let links: Int

    init(_ object: any ManagedObject, links: Int) {
      self.object = ObjectIdentifier(object)
      phase = object._$state.phase
      changed = object._$state.changed
      self.links = links
    }
  }

  private func fingerprint(_ object: any ManagedObject) -> CalledObject {
    guard context.coordinator.models.hasPairs else { return CalledObject(object, links: 0) }
    let ordinal = context.entity(of: object).ordinal
    return CalledObject(object, links: context.entities[ordinal].hashOfRelinks(of: object._$state.number))
  }

  /// Returns the objects that are left to save.
  private func callWillSave() throws(ContextError) -> ListedChanges {
    var known: Set<CalledObject> = []
    // `known` identifies objects by their addresses, so they must stay alive until the end.
    var alive: [any ManagedObject] = []
    defer { withExtendedLifetime(alive) {} }
    var lists = ListedChanges(context)
    var objects = lists.objects
    let changeCount = context.changeCount
    for round in 0..<Self.roundLimit {
      let called = objects.map { object in
        object.willSave()
        return fingerprint(object)
      }
      context.awakeInserted()
      // The usual cases, without a table of all objects: no object was added or removed, and no hook has changed
      // another object.
      let isStable = zip(objects, called).allSatisfy { fingerprint($0) == $1 }
      if round == 0, isStable, context.changeCount == changeCount { return lists }
      lists = ListedChanges(context)
      let now = lists.objects
      if now.count == called.count, zip(now, called).allSatisfy({ fingerprint($0) == $1 }) { return lists }
      known.formUnion(called)
      alive += objects
      objects = now.filter { !known.contains(fingerprint($0)) }
      if objects.isEmpty { return lists }
    }
    throw endlessChanges(objects[0])
  }

  private func endlessChanges(_ object: any ManagedObject) -> ContextError {
    let id = object.objectID
    return ContextError(
      .endlessChanges,
      "willSave goes on changing objects after \(Self.roundLimit) rounds; one of them is \(id.entityName) \(id.number)",
      context: .init(entity: id.entityName, objectID: id)
    )
  }

  private func validate(_ lists: ListedChanges) -> Outcome {
    var outcome = Outcome()
    for changes in lists.byEntity {
      for object in changes.inserted { validate(object, changes.ordinal, for: .insertion, &outcome) }
      for object in changes.updated { validate(object, changes.ordinal, for: .update, &outcome) }
      for object in changes.deleted { validate(object, changes.ordinal, for: .deletion, &outcome) }
    }
    return outcome
  }

  private func validate(
    _ object: any ManagedObject,
    _ ordinal: Int,
    for change: ValidatedChange,
    _ outcome: inout Outcome
  ) {
    let hasRules = context.hasRules(object, for: change) {
      do { try object.validate(for: change) } catch {
        outcome.failures.note(.validationFailed(object.objectID, error))
      }
    }
    if hasRules { return }
    let key = ObjectKey(entity: ordinal, number: object._$state.number)
    outcome.unruled.insert(ValidatedKind(key, for: change))
  }
}

/// The objects that a context is to save, as they are listed once for several passes.
private struct ListedChanges {
  struct Lists {
    /// The entity's ordinal.
    let ordinal: Int
    let inserted: [any ManagedObject]
    let updated: [any ManagedObject]
    let deleted: [any ManagedObject]
  }
  /// The lists of the entities with changes, in the order of the entities.
  let byEntity: [Lists]

  init(_ context: ManagedObjectContext) {
    byEntity = context.entities.indices.compactMap { ordinal in
      if !context.entities[ordinal].mayHaveChanges { return nil }
      let changes = context.entities[ordinal].changes
      let updated = context.updatedObjects(of: ordinal)
      return Lists(ordinal: ordinal, inserted: changes.inserted, updated: updated, deleted: changes.deleted)
    }
  }

  var objects: [any ManagedObject] {
    if byEntity.count == 1, byEntity[0].inserted.isEmpty, byEntity[0].deleted.isEmpty {
      return byEntity[0].updated
    }
    return byEntity.flatMap { $0.inserted + $0.updated + $0.deleted }
  }
}

extension ContextError {
  /// Makes the error for an object that refuses to be saved, with the error that its validation has thrown.
  static func validationFailed(_ id: ManagedObjectID, _ error: any Error) -> ContextError {
    ContextError(
      .validationFailed,
      "\(id.entityName) \(id.number) can't be saved: \(error)",
      context: .init(
        entity: id.entityName,
        objectID: id,
        properties: (error as? ValidationError)?.properties ?? []
      ),
      underlyingError: error
    )
  }
}

/// The objects of a save.
final class SavedObjects {
  /// The objects that were inserted or updated.
  var kept: [any ManagedObject] = []
  var deleted: [any ManagedObject] = []
  /// The changes to report to listeners; nil for a save that has changed nothing.
  var changes: ObjectChanges?
  /// The number of objects whose hook was called.
  private var calledCount = 0

  /// Calls the hooks that haven't been called. A hook may make another save, which listeners hear of after the other
  /// hooks of this one.
  func callDidSave() {
    while calledCount < kept.count + deleted.count {
      let object = calledCount < kept.count ? kept[calledCount] : deleted[calledCount - kept.count]
      calledCount += 1
      object.didSave()
    }
  }
}
