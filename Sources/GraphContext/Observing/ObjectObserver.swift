import Predicates

/// An observer that reports the changes of one object in a context.
///
/// ```swift
/// let observer = try ObjectObserver(song)
/// let subscription = observer.onChange { change in print(change) }
/// ```
///
/// Changes arrive after each turn, as ``ManagedObjectContext/onObjectsDidChange(_:)`` says, whether code sets values,
/// another context's commit is merged, or something is rolled back or undone. An observer can have several listeners,
/// which all receive the same changes. The observer belongs to the task of its context. It lives as long as the program
/// holds it or a subscription of ``ContextObserver/onChange(notifyInitial:_:)``, and reports nothing once its context
/// is released.
public final class ObjectObserver<Object: ManagedObject>: ContextObserver<ObjectObserver.Change> {
  /// A change of the object.
  public enum Change: Sendable, Hashable {
    /// The object is observed from now on. Only for a listener that asks for it.
    case initial
    /// Properties have changed: their names, sorted.
    case updated([String])
    /// The values are read anew: after a rollback or a reset, because the program asked for it, or because a save has
    /// unified a new object with an existing one, which is observed from then on.
    case refreshed
    /// The object isn't there any more: it was deleted, or its insertion was undone or rolled back.
    case deleted
    /// The object is there again, or for the first time: its deletion was undone, rolled back or dropped, or it was
    /// inserted.
    case restored
  }

  /// The object's ID. It changes in a save that unifies a new object with an existing one:
  /// ``ManagedObjectContext/aliases``.
  public private(set) var objectID: ManagedObjectID
  /// True if the object isn't there: it was deleted, or doesn't exist yet.
  public private(set) var isDeleted = false
  let entity: StoredEntity
  /// The listeners of changes of the object's state.
  let states = Audience<Void>()
  /// The listeners of changes of the object's state and of its members.
  let statesWithMembers = Audience<Void>()
  private var hasMissedChanges = false
  /// True if a sequence lacks a state that couldn't be read.
  var hasUnreadState = false
  private var subscriptions: [ContextSubscription] = []

  /// Observes an object in its context.
  ///
  /// - Throws: `objectNotFound` for an object that is in no context.
  public convenience init(_ object: Object) throws(ContextError) {
    guard let context = object._$state.host as? ManagedObjectContext else {
      throw ContextError(
        .objectNotFound,
        "an object of \(Object.entityName) that is in no context can't be observed"
      )
    }
    try self.init(object.objectID, in: context)
  }

  /// Observes the object of an ID in a context. The object needn't exist yet.
  ///
  /// - Throws: what ``ManagedObjectContext/existingObject(_:with:)`` throws, but for an object that isn't there.
  public init(_ id: ManagedObjectID, in context: ManagedObjectContext) throws(ContextError) {
    context.tellBeforeObserving()
    let object: Object = try context.object(with: id)
    objectID = object.objectID
    entity = context.entity(of: object)
    isDeleted = try context.objectIfExists(Object.self, number: object.objectID.number, entity) == nil
    super.init(.initial, of: context)
    let end = ContextEnd { [weak self] in self?.end() }
    subscriptions = [
      context.onObjectsDidChange { [weak self] changes in
        withExtendedLifetime(end) { self?.follow(changes) }
      },
      context.onDidComplete { [weak self] in self?.followUnified() },
    ]
  }

  /// The object; nil while ``isDeleted`` is true, and once the context is released.
  public var object: Object? {
    guard let context, !isDeleted else { return nil }
    return try? context.object(with: objectID)
  }

  /// Returns a sequence of the changes, for a task on any executor: first ``Change/initial``. It ends when the observer
  /// or its context is released.
  public func changes() -> AsyncStream<Change> { audience.stream(from: .initial) { $0 } }

  /// Continues to report changes. If there were changes meanwhile, sequences of ``snapshots()`` receive the present
  /// state.
  public func resume() {
    isPaused = false
    guard hasMissedChanges else { return }
    hasMissedChanges = false
    tellStates()
  }

  /// Handles the release of the context: listeners receive nothing any more.
  private func end() {
    audience.end()
    states.end()
    statesWithMembers.end()
  }

  /// Handles the end of a save that has unified the object with another one.
  private func followUnified() {
    guard let unified = context?.storedID(objectID), unified != objectID else { return }
    objectID = unified
    tell(.refreshed)
  }

  private func follow(_ changes: ObjectChanges) {
    audience.releaseEnded()
    states.releaseEnded()
    statesWithMembers.releaseEnded()
    // If a save unifies the object with another one, the object leaves the context. The other one is observed once the
    // save is done.
    guard let context, context.storedID(objectID) == objectID else { return }
    let isBehind = hasUnreadState
    hasUnreadState = false
    if let change = change(in: changes) {
      tell(change)
    } else if isBehind || !isDeleted && mayChangeMembers(changes, context.coordinator.schema) {
      if isPaused { hasMissedChanges = true } else { tellStates() }
    }
  }

  private func tell(_ change: Change) {
    isDeleted = change == .deleted
    if isPaused {
      hasMissedChanges = true
      return
    }
    audience.tell(change)
    tellStates()
  }

  private func tellStates() {
    states.tell(())
    statesWithMembers.tell(())
  }

  /// Returns true if objects have changed that are, were or become members by a reference of their own. Links of
  /// many-to-many relationships are changes of the object itself.
  private func mayChangeMembers(_ changes: ObjectChanges, _ schema: ResolvedSchema) -> Bool {
    if statesWithMembers.isEmpty { return false }
    let destinations = Set(
      entity.toManys.compactMap { toMany in
        if case .references = toMany.storage { schema.entities[toMany.destination].id } else { nil }
      }
    )
    return [changes.inserted, changes.updated, changes.deleted, changes.refreshed].contains { ids in
      ids.contains { schema.entity($0.entity).map { destinations.contains($0.id) } ?? false }
    }
  }

  private func change(in changes: ObjectChanges) -> Change? {
    if changes.invalidatesAll { return changeOfReset() }
    if changes.deleted.contains(objectID) { return isDeleted ? nil : .deleted }
    if changes.inserted.contains(objectID) { return isDeleted ? .restored : .refreshed }
    if let names = changes.changedProperties[objectID] { return isDeleted ? .restored : .updated(names) }
    return changes.refreshed.contains(objectID) ? (isDeleted ? .restored : .refreshed) : nil
  }

  /// Returns the change after a reset, which has taken the object out of the context. The store may still have it.
  private func changeOfReset() -> Change? {
    guard let context else { return nil }
    // An object that can't be read counts as unchanged.
    let isMissing = context.deferringError(isDeleted) { () throws(ContextError) in
      try context.objectIfExists(Object.self, number: objectID.number, entity) == nil
    }
    if isMissing { return isDeleted ? nil : .deleted }
    return isDeleted ? .restored : .refreshed
  }
}
