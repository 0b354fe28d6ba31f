import Foundation
import Predicates

/// A workspace for objects. It reads one snapshot of the store, and keeps its changes to itself until it saves them.
///
/// Every object is in a context, and a context has at most one object for each ID. A context and its objects belong to
/// one task at a time and can't be sent to another; IDs can. Get one from a ``PersistentContainer``.
///
/// ```swift
/// try await container.performBackgroundTask { context in
///   context.insert(Song(title: "Carey", seconds: 182))
///   try context.save()
/// }
/// ```
///
/// Invariants:
/// 1. An object is in the identity map of its entity exactly while its host is this context.
/// 2. The `changes` of an entity hold every object whose phase is inserted or deleted, or that has changed slots.
/// 3. A reference in memory leads to an object that isn't deleted, unless a rule `deny` forbids the deletion or the
///    reference was set after it: then the save fails.
/// 4. Pending links are differences to what `source` shows.
public final class ManagedObjectContext: ObjectHost {
  let coordinator: StoreCoordinator
  /// A copy of the coordinator's store ID: each object ID has it.
  private let ownStoreID: UUID
  /// The context that this one saves to; nil for one that saves to the store.
  public let parent: ManagedObjectContext?
  /// The changes that a child is saving to this context; nil outside of a child's save.
  var handedOver: HandedOver?
  /// The contexts that save to this one.
  var children = ContextChildren()
  /// The state below the unsaved changes: of the store, or of the parent.
  var source: any ObjectSource {
    didSet { source.cancellation = cancellation }
  }
  /// The task's cancellation, if the context runs on a queue for a task that may be cancelled.
  var cancellation: Cancellation? { didSet { source.cancellation = cancellation } }
  /// The name of the context in messages and in the history.
  public var name: String?
  /// The author of the changes that this context saves: for the history,
  /// ``PersistentContainer/keepHistory(_:durability:)``, and for the events of other contexts,
  /// ``ObjectChanges/author``. A child's value has no effect: only the outermost context saves to the store.
  public var author: String?
  /// The value of ``automaticallyMergesChangesFromParent`` of a context without a parent.
  var mergesAutomatically = true
  /// The time limit for a save that waits for its turn to write; nil for no limit. Ten seconds for the view context,
  /// because its saves block the main actor.
  public var saveTimeout: Duration?
  /// The rule for objects that other contexts have changed in the store since this one read them: ``MergePolicy/error``
  /// unless it is set. A child's value has no effect: only the outermost context saves to the store.
  public var mergePolicy = MergePolicy.error
  /// The IDs of new objects that saves of this context have unified with existing ones, and the IDs of the existing
  /// ones: see ``UniquePolicy``. Those of the last save are all here; of earlier ones the last 10,000 stay. Empty again
  /// after a reset.
  public var aliases: [ManagedObjectID: ManagedObjectID] { unifiedIDs.aliases }
  var unifiedIDs = UnifiedIDs()
  /// True if the context only reads. Changes of objects are refused then: the next fetch or save throws
  /// `readOnlyContext`, until the context is rolled back. Changes that were there before stay, and are not saved. False
  /// unless it is set; true for the context of ``PersistentContainer/query(_:)``, and stays so.
  public var isReadOnly: Bool {
    get { isForReading || refusesChanges }
    set {
      refusesChanges = newValue
      // An object asks the context only before its first change of a turn, which may have happened already.
      announceChanges()
    }
  }
  private var refusesChanges = false
  /// True for the context of a block that only reads.
  var isForReading = false
  /// The commit that the context stays at; nil for a context that can move to newer ones.
  var pinnedCommit: (any HeldCommit)?
  /// True after code has tried to change an object of this read-only context or of one of its children.
  var hasRefusedChange = false
  /// Owner whose deinit ends the context. A suspended save retains it.
  weak var holder: AnyObject?

  /// Objects and unsaved changes in memory, by the entity's ordinal.
  var entities: [EntityObjects] = []
  /// Links from or to deleted objects, which the next save checks.
  var deletedLinks = DeletedLinks()
  /// The lists of members that objects keep and that are still up to date.
  var listings = MemberListings()
  /// The error of a value that couldn't be read or an object that couldn't be inserted, until a rollback or reset.
  var deferred = DeferredError()
  /// The rule for releasing kept records.
  var kept = KeptRecords()
  /// The records of the members of the relationship that is read at this time.
  var memberReading = MemberReading()
  /// Objects that are in the context but whose relationships have yet to be looked at.
  var adopted: [any ManagedObject] = []
  var isAdopting = false
  /// Objects that are in the context but whose `awakeFromInsert` has yet to be called, in the order of their insertion.
  var asleep: [any ManagedObject] = []
  /// The index of the next of them to be called.
  private var firstAsleep = 0
  /// Objects whose `prepareForDeletion` is running.
  var preparedForDeletion: Set<ObjectIdentifier> = []
  /// Saves that are done and whose hooks and listeners are yet to be called, in the order of the saves.
  var unfinishedSaves: [SavedObjects] = []
  /// True while hooks run that mustn't save.
  var isRunningSaveHooks = false
  /// The listeners of the context, and the objects that have changed since the last event.
  var events = ContextEvents()
  /// The events of the context, its parents and its children that are yet to be told.
  let eventQueue: EventQueue
  /// True if the context records which objects change: it, or a child, has listeners or an undo manager.
  var tracksChanges = false
  /// True if it records which properties change, too: it, or a child, has listeners.
  var namesChanges = false
  /// A number that rises with changes: it has another value if anything has changed since ``announceChanges()``.
  var changeCount = 0
  /// The closure that is called at the first change after an event. It schedules the next event for the end of the
  /// turn.
  var scheduleEvent: (() -> Void)?
  /// The observers of the context's objects; nil where objects can't be observed.
  var observation: ContextObservation?
  /// The manager that registers changes for ``undo()``; nil if changes can't be undone. The view context has one from
  /// the beginning. Setting the property removes all groups of the old and the new manager.
  public var undoManager: ContextUndoManager? {
    didSet {
      oldValue?.leave()
      undoManager?.enter(self)
      updateTracking()
    }
  }
  /// The key of the objects whose entity was found last, the entity's ordinal, and what IDs say of the entity if it has
  /// one class.
  @exclusivity(unchecked) final var lastEntity: (key: ObjectIdentifier, ordinal: Int, label: EntityLabel?)?

  convenience init(coordinator: StoreCoordinator) throws(ContextError) {
    self.init(coordinator, showing: try coordinator.engine.newestSource())
  }

  /// - Parameter source: the state to show. If the source shows nothing, every fetch and save of the context throws its
  ///   error.
  init(
    _ coordinator: StoreCoordinator,
    showing source: any ObjectSource,
    parent: ManagedObjectContext? = nil
  ) {
    self.coordinator = coordinator
    ownStoreID = coordinator.storeID
    self.source = source
    self.parent = parent
    eventQueue = parent?.eventQueue ?? EventQueue()
    super.init()
    entities = coordinator.schema.entities.map { EntityObjects($0, in: self) }
    if let failure = source.failure { deferred.note(failure) }
    hasOtherLayouts = coordinator.models.hasOtherLayouts
  }

  deinit { leaveAll() }

  // MARK: Calls by objects

  override var storeID: UUID { ownStoreID }

  override func entityLabel(of object: any ManagedObject) -> EntityLabel? {
    entity(of: object).label(of: object._$state.number)
  }

  override func identity(of object: any ManagedObject, _ number: ObjectNumber) -> ManagedObjectID {
    let key = object.entityKey
    if let lastEntity, lastEntity.key == key, let label = lastEntity.label {
      return ManagedObjectID(entity: label, number: number, storeID: ownStoreID)
    }
    return entity(of: object).objectID(number, in: ownStoreID)
  }

  override func layout(of object: any ManagedObject) -> RecordLayout { entity(of: object).layout }

  override func record(of object: any ManagedObject) -> UnsafeRawBufferPointer? {
    let entity = entity(of: object)
    let number = object._$state.number
    releaseKeptIfMany()
    if let record = recordOfMember(number, entity) { return record }
    return deferringError(nil) { () throws(ContextError) in
      if let record = try source.record(number, of: entity) { return record }
      if isKeptByChanges(number, entity) { return nil }
      throw notFound(number, entity)
    }
  }

  override func externalValue(of object: any ManagedObject, slot: Int) -> AttributeValue? {
    guard let record = object.findRecord() else { return nil }
    let entity = entity(of: object)
    return deferringError(nil) { () throws(ContextError) in
      try source.value(of: RecordView(validated: record, layout: entity.layout), at: slot, entity)
    }
  }

  override func unreadableValue(of object: any ManagedObject, slot: Int) {
    let entity = entity(of: object)
    let property = entity.schema.stored[slot].name
    deferred.note(
      ContextError(
        .corrupt,
        "\(entity.name).\(property) of object \(object._$state.number) holds no value of its type",
        context: .init(
          entity: entity.name,
          objectID: id(object._$state.number, entity),
          properties: [property]
        )
      )
    )
  }

  override func object(of type: any ManagedObject.Type, number: ObjectNumber) -> any ManagedObject {
    guard let ordinal = knownOrdinal(ObjectIdentifier(type)) else { fatalError(Self.unknown(type).message) }
    return object(type, number: number, ordinal)
  }

  override func record(
    _ number: ObjectNumber,
    of owner: any ManagedObject,
    property: Int
  ) -> ManagedRecord {
    object(ManagedRecord.self, number: number, destination(of: owner, property: property).ordinal)
  }

  override func hasTarget(_ number: ObjectNumber, of owner: any ManagedObject, property: Int) -> Bool {
    let ordinal = destination(of: owner, property: property).ordinal
    return entities[ordinal].known[number] != nil || isBelow(ObjectKey(entity: ordinal, number: number))
  }

  override func canLead(
    _ owner: any ManagedObject,
    by property: Int,
    to record: ManagedRecord
  ) -> Bool {
    deferringError(false) { () throws(ContextError) in
      try checkLink(from: owner, property: property, to: record)
      return true
    }
  }

  /// Prepares for a change of an object: each change of one with unsaved changes, and the first of one without them.
  override func willChange(_ object: any ManagedObject, slots: SlotSet) {
    checkWritable()
    noteChange(of: object, slots: slots)
    if !object._$state.hasChanges { entities[entity(of: object).ordinal].changes.noteUpdated(object) }
    noteOtherValues(of: object)
    if namesChanges { object._$state.announcesChange = true }
  }

  /// Notes that the object is about to have other values than queries and children know.
  func noteOtherValues(of object: any ManagedObject) {
    let ordinal = entity(of: object).ordinal
    entities[ordinal].encoded?.noteStale(object._$state.number)
    children.forEach { $0.parentWillChange(object._$state.number, ordinal) }
  }

  override func noteReading(
    of object: any ManagedObject,
    _ property: ObservedProperty,
    _ isObserved: Bool
  ) { noteObserving(object, property, isObserved) }

  override func willSet(_ slots: SlotSet, of object: any ManagedObject) {
    tellObservers(of: object, willSet: slots)
  }

  override func noteLeft(_ object: any ManagedObject) { deferred.note(Self.isGone(object)) }

  // MARK: Insertion

  @discardableResult
  override func adopt(_ object: any ManagedObject) -> Bool { adopt(object, numbered: nil) }

  override func awakeInserted() {
    if asleep.isEmpty { return }
    // A hook may insert and save: then the nested call continues from here, and leaves nothing to do.
    while firstAsleep < asleep.count {
      let object = asleep[firstAsleep]
      firstAsleep += 1
      if object._$state.host === self, object._$state.phase == .inserted { object.awakeFromInsert() }
    }
    asleep.removeAll(keepingCapacity: true)
    firstAsleep = 0
  }

  override func reach(_ object: any ManagedObject, by property: Int) {
    guard object._$state.phase == .new, let entity = coordinator.models.entity(withKey: object.entityKey)
    else { return }
    if entity.hasInverse(property) { adopt(object) }
  }

  // MARK: Relationships

  var relationships: RelationshipKeeper { RelationshipKeeper(self) }

  override func elements(of object: any ManagedObject, toMany: Int) -> [ObjectNumber] {
    relationships.elements(of: object, toMany: toMany)
  }

  override func elements(
    of object: any ManagedObject,
    toMany: Int,
    at range: Range<Int>
  ) -> [ObjectNumber] {
    relationships.elements(of: object, toMany: toMany, at: range)
      ?? super.elements(of: object, toMany: toMany, at: range)
  }

  override func position(
    of number: ObjectNumber,
    in object: any ManagedObject,
    toMany: Int
  ) -> Int? {
    relationships.order(of: entity(of: object).toManys[toMany]) == nil
      ? super.position(of: number, in: object, toMany: toMany)
      : relationships.position(of: number, in: object, toMany: toMany)
  }

  override var hasFailed: Bool { deferred.error != nil }

  override func move(
    _ elements: [any ManagedObject],
    to position: Int,
    of object: any ManagedObject,
    toMany: Int
  ) {
    guard checkWritable() else { return }
    relationships.move(elements, to: position, of: object, toMany: toMany)
  }

  override func arrange(_ numbers: [ObjectNumber], of object: any ManagedObject, toMany: Int) {
    guard checkWritable() else { return }
    relationships.arrange(numbers, of: object, toMany: toMany)
  }

  override func elementCount(of object: any ManagedObject, toMany: Int) -> Int {
    relationships.elementCount(of: object, toMany: toMany)
  }

  override func isElement(_ number: ObjectNumber, of object: any ManagedObject, toMany: Int) -> Bool {
    relationships.isElement(number, of: object, toMany: toMany)
  }

  override func didSetToOne(
    of object: any ManagedObject,
    slot: Int,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    relationships.didSetToOne(of: object, slot: slot, from: old, to: new)
  }

  override func add(_ element: any ManagedObject, to object: any ManagedObject, toMany: Int) {
    guard checkWritable() else { return }
    relationships.add(element, to: object, toMany: toMany)
  }

  override func remove(_ element: any ManagedObject, from object: any ManagedObject, toMany: Int) {
    guard checkWritable() else { return }
    relationships.remove(element, from: object, toMany: toMany)
  }

  // MARK: Lists that are changed in place

  private var lists: ListKeeper { ListKeeper(self) }

  override func hasListing(of object: any ManagedObject, toMany: Int) -> Bool {
    lists.hasListing(of: object, toMany: toMany)
  }

  override func noteListing<Member: ManagedObject>(
    _ members: [Member],
    of object: any ManagedObject,
    toMany: Int
  ) { lists.noteListing(members, of: object, toMany: toMany) }

  override func extendListing<Member: ManagedObject>(
    to members: [Member],
    of object: any ManagedObject,
    toMany: Int
  ) -> ListExtension { lists.extendListing(to: members, of: object, toMany: toMany) }
}
