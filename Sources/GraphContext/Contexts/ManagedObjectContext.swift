import Foundation
import PageStore
import Predicates

/// A place to work with objects: what it reads is one snapshot of the store, what it changes is its own until it saves.
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
/// 2. `changes` holds every object whose phase is inserted or deleted, or that has changed slots.
/// 3. A reference in memory leads to an object that isn't deleted, unless a rule `deny` forbids the deletion or the reference was
///    set after it: then the save fails.
/// 4. Pending links are differences to the snapshot of `view`.
public final class ManagedObjectContext: ObjectHost {
  package let coordinator: StoreCoordinator
  /// The snapshot that the context shows.
  package internal(set) var view: StoreView { didSet { view.cancellation = cancellation } }
  /// Set where the context runs on a queue for a task that may be cancelled.
  var cancellation: Cancellation? { didSet { view.cancellation = cancellation } }
  /// What to call the context in messages.
  public var name: String?
  /// Whether the context moves to a newer snapshot by itself when another context saves. Set for the view context.
  public var automaticallyMergesChangesFromParent = false
  /// How long a save waits for its turn to write while others do; nil for as long as it takes. Ten seconds for the view
  /// context, whose saves hold up the main actor.
  public var saveTimeout: Duration?
  /// What ends the context when it goes. A save that is suspended keeps it: what is waited for mustn't be dropped.
  weak var holder: AnyObject?

  /// By the entity's ordinal.
  var objects: [IdentityMap]
  /// By the entity's ordinal.
  var changes: [ChangedObjects]
  /// What queries have encoded of `changes`, by the entity's ordinal; nil until one asks.
  var encodedChanges: [EncodedChanges?]
  /// Objects with unsaved changes here that somebody else changed too, by the entity's ordinal.
  var conflicts: [Set<ObjectNumber>]
  /// Unsaved changes of to-one relationships, by entity and by place among its to-one relationships: links from the
  /// destination to the object. Made when a to-many relationship is first asked for; nil before.
  var pendingReferences: [[PendingLinks?]]
  /// Unsaved changes of relationships kept as pairs, by entity and place among its to-many relationships.
  var pendingPairs: [[PendingLinks]]
  /// Links from or to deleted objects, which the next save checks.
  var deletedLinks = DeletedLinks()
  /// The lists of members that objects keep and that are still up to date.
  var listings = MemberListings()
  /// Why a value couldn't be read, until the context is rolled back or reset.
  var failure: ContextError?
  /// Objects that are in the context but whose relationships have yet to be looked at.
  var adopted: [any ManagedObject] = []
  var isAdopting = false
  /// How many bytes of records the view may keep before the next lookup has them released.
  var keptByteLimit = ManagedObjectContext.smallestKeptByteLimit
  /// Of the fetches whose records the view keeps, how many bytes the largest one has read.
  var largestFetchByteCount = 0
  static let smallestKeptByteLimit = 32 << 20
  /// The entity found last, by its objects' key.
  private var lastEntity: (ObjectIdentifier, StoredEntity)?

  package convenience init(coordinator: StoreCoordinator) throws(ContextError) {
    self.init(coordinator, showing: try coordinator.newestView())
  }

  /// - Parameter view: the snapshot to show. If the view has an error instead, every fetch and save of the context throws that error.
  init(_ coordinator: StoreCoordinator, showing view: StoreView) {
    self.coordinator = coordinator
    self.view = view
    let entities = coordinator.schema.entities
    objects = entities.map { _ in IdentityMap() }
    changes = []
    encodedChanges = entities.map { _ in nil }
    conflicts = entities.map { _ in [] }
    pendingReferences = entities.map { entity in entity.toOnes.map { _ in nil } }
    pendingPairs = entities.map { entity in entity.toManys.map { _ in PendingLinks() } }
    super.init()
    changes = entities.map { _ in ChangedObjects(in: self) }
    failure = view.failure.map { ContextError($0) }
    hasOtherLayouts = coordinator.hasOtherLayouts
  }

  // MARK: What objects ask

  package override var storeID: UUID { coordinator.storeID }

  package override func entityLabel(of object: any ManagedObject) -> EntityLabel? { entity(of: object).label }

  package override func record(of object: any ManagedObject) -> UnsafeRawBufferPointer? {
    findRecord(of: object)
  }

  package override func layout(of object: any ManagedObject) -> RecordLayout { entity(of: object).layout }

  package override func unreadableValue(of object: any ManagedObject, slot: Int) {
    noteUnreadable(object, slot: slot)
  }

  package override func object(of type: any ManagedObject.Type, number: ObjectNumber) -> any ManagedObject {
    object(type, number: number)
  }

  package override func elements(of object: any ManagedObject, toMany: Int) -> [ObjectNumber] {
    listElements(of: object, toMany: toMany)
  }

  package override func elementCount(of object: any ManagedObject, toMany: Int) -> Int {
    countElements(of: object, toMany: toMany)
  }

  package override func isElement(_ number: ObjectNumber, of object: any ManagedObject, toMany: Int) -> Bool {
    hasElement(number, of: object, toMany: toMany)
  }

  package override func noteLeft(_ object: any ManagedObject) { noteGone(object) }

  package override func hasListing(of object: any ManagedObject, toMany: Int) -> Bool {
    isListed(object, toMany: toMany)
  }

  package override func noteListing<Member: ManagedObject>(
    _ members: [Member],
    of object: any ManagedObject,
    toMany: Int
  ) { list(members, of: object, toMany: toMany) }

  package override func extendListing<Member: ManagedObject>(
    to members: [Member],
    of object: any ManagedObject,
    toMany: Int
  ) -> ListExtension { extendList(to: members, of: object, toMany: toMany) }

  @discardableResult
  package override func adopt(_ object: any ManagedObject) -> Bool { enter(object) }

  package override func reach(_ object: any ManagedObject, by property: Int) {
    guard object._$state.phase == .new, let entity = coordinator.entity(withKey: object.entityKey) else {
      return
    }
    if entity.hasInverse(property) { _ = enter(object) }
  }

  package override func willChange(_ object: any ManagedObject) {
    noteChange(of: object)
  }

  package override func didSetToOne(
    of object: any ManagedObject,
    slot: Int,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    follow(object, slot: slot, from: old, to: new)
  }

  package override func add(_ element: any ManagedObject, to object: any ManagedObject, toMany: Int) {
    link(element, to: object, toMany: toMany)
  }

  package override func remove(_ element: any ManagedObject, from object: any ManagedObject, toMany: Int) {
    unlink(element, from: object, toMany: toMany)
  }

  // MARK: Entities

  /// The entity of an object in this context.
  package func entity(of object: any ManagedObject) -> StoredEntity {
    guard let entity = knownEntity(object.entityKey) else { fatalError(Self.unknown(object).message) }
    return entity
  }

  /// The entity of the class of an object in this context.
  package func entity(of type: any ManagedObject.Type) -> StoredEntity {
    guard let entity = knownEntity(ObjectIdentifier(type)) else { fatalError(Self.unknown(type).message) }
    return entity
  }

  /// The entity of an object that is to enter the context.
  ///
  /// - Throws: `unknownEntity` when the container has no objects of this kind.
  func modelEntity(of object: any ManagedObject) throws(ContextError) -> StoredEntity {
    guard let entity = knownEntity(object.entityKey) else { throw Self.unknown(object) }
    return entity
  }

  /// The entity of a model class that a caller gives as an argument.
  ///
  /// - Throws: `unknownEntity` when the container was made without the model.
  func modelEntity(of type: any ManagedObject.Type) throws(ContextError) -> StoredEntity {
    guard let entity = knownEntity(ObjectIdentifier(type)) else { throw Self.unknown(type) }
    return entity
  }

  private func knownEntity(_ key: ObjectIdentifier) -> StoredEntity? {
    if let lastEntity, lastEntity.0 == key { return lastEntity.1 }
    guard let entity = coordinator.entity(withKey: key) else { return nil }
    lastEntity = (key, entity)
    return entity
  }

  private static func unknown(_ object: any ManagedObject) -> ContextError {
    guard object is ManagedRecord else { return unknown(type(of: object)) }
    let name = object._$objectModel.entity.name
    return ContextError(
      .unknownEntity,
      "a record of \(name) enters no context of another container than that which made it",
      context: .init(entity: name)
    )
  }

  private static func unknown(_ type: any ManagedObject.Type) -> ContextError {
    ContextError(
      .unknownEntity,
      "\(type) is not one of the models that the container was made with",
      context: .init(entity: type.entityName)
    )
  }

  func entity(_ ordinal: Int) -> StoredEntity { coordinator.schema.entities[ordinal] }

  // MARK: Failures

  /// Throws what went wrong while values were read, if anything did.
  package func checkUsable() throws(ContextError) {
    if let failure { throw failure }
  }

  /// Keeps the first failure for the next call that can throw.
  func note(_ error: ContextError) {
    if failure == nil { failure = error }
  }

  /// Runs `body`; a failure is noted, and `fallback` takes the place of the result.
  func noting<R>(_ fallback: R, _ body: () throws(ContextError) -> R) -> R {
    do throws(ContextError) { return try body() } catch {
      note(error)
      return fallback
    }
  }
}

// MARK: - Faulting

extension ManagedObjectContext {
  func findRecord(of object: any ManagedObject) -> UnsafeRawBufferPointer? {
    let entity = entity(of: object)
    let number = object._$state.number
    releaseKeptIfMany()
    return noting(nil) { () throws(ContextError) in
      if let record = try view.record(number, of: entity) { return record }
      if isKeptByChanges(number, entity) { return nil }
      throw notFound(number, entity)
    }
  }

  /// Gives the memory of the records back that objects were read from, if they have become many. The objects are still
  /// faults, and look for their records again when they must.
  func releaseKeptIfMany() {
    if view.keptByteCount > keptByteLimit { releaseKept() }
  }

  /// The same before a fetch, which will add to them.
  func releaseKeptBeforeFetch() {
    if view.keptByteCount > Swift.max(Self.smallestKeptByteLimit, 2 * largestFetchByteCount) { releaseKept() }
  }

  func releaseKept() {
    view.releaseKept()
    generation &+= 1
    expectNothingKept()
  }

  /// The view keeps no records yet, or none any more.
  func expectNothingKept() {
    keptByteLimit = Self.smallestKeptByteLimit
    largestFetchByteCount = 0
  }

  /// Lets the objects of a fetch have their records until the next one, however many they are.
  ///
  /// - Parameter keptBefore: how many bytes were kept when it began.
  func noteFetch(keptBefore: Int) {
    largestFetchByteCount = Swift.max(largestFetchByteCount, view.keptByteCount - keptBefore)
    keptByteLimit = Swift.max(keptByteLimit, 2 * view.keptByteCount)
  }

  /// Whether an object that the snapshot doesn't have is here because of unsaved changes, its own or references to it:
  /// then another context has deleted it, which is no failure of the store. The save will say so.
  private func isKeptByChanges(_ number: ObjectNumber, _ entity: StoredEntity) -> Bool {
    if conflicts[entity.ordinal].contains(number) { return true }
    if pendingPairs[entity.ordinal].contains(where: { $0.added[number] != nil }) { return true }
    return entity.incoming.contains { incoming in
      let source = self.entity(incoming.source)
      guard let place = source.toOnes.firstIndex(where: { $0.slot == incoming.toOne.slot }) else {
        return false
      }
      return pendingReferences(source, place)?.added[number] != nil
    }
  }

  func notFound(_ number: ObjectNumber, _ entity: StoredEntity) -> ContextError {
    ContextError(
      .objectNotFound,
      "there is no \(entity.name) \(number)",
      context: .init(entity: entity.name, objectID: id(number, entity))
    )
  }

  func id(_ number: ObjectNumber, _ entity: StoredEntity) -> ManagedObjectID {
    ManagedObjectID(entity: entity.label, number: number, storeID: storeID)
  }

  func noteUnreadable(_ object: any ManagedObject, slot: Int) {
    let entity = entity(of: object)
    let property = entity.schema.stored[slot].name
    note(
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

  /// The one object of this number: the one that is already here, or a fault. O(1).
  package func object<Object: ManagedObject>(_ type: Object.Type, number: ObjectNumber) -> Object {
    object(type, number: number, entity(of: type).ordinal)
  }

  /// The same, of the entity of this ordinal, whose class is at hand.
  func object<Object: ManagedObject>(_ type: Object.Type, number: ObjectNumber, _ ordinal: Int) -> Object {
    // The map of an entity holds objects of its one class.
    if let known = objects[ordinal][number] { return unsafeDowncast(known, to: type) }
    return added(ObjectState(fault: number, in: self), ordinal)
  }

  private func added<Object: ManagedObject>(_ state: consuming ObjectState, _ ordinal: Int) -> Object {
    let number = state.number
    let object = coordinator.makeObject(Object.self, state, ordinal)
    objects[ordinal].insert(object, number: number)
    return object
  }

  /// The same for a record at hand, which the object then needn't look for. The bytes were accepted by
  /// `RecordView(_:layout:)` and belong to ``view``.
  func object<Object: ManagedObject>(
    _ type: Object.Type,
    number: ObjectNumber,
    record: UnsafeRawBufferPointer,
    _ ordinal: Int
  ) -> Object {
    if let known = objects[ordinal][number] {
      let known = unsafeDowncast(known, to: type)
      if known._$state.phase == .persistent { known._$state.setRecord(record, generation: generation) }
      return known
    }
    var state = ObjectState(fault: number, in: self)
    state.setRecord(record, generation: generation)
    return added(state, ordinal)
  }

  /// The object of a number, of an entity whose class isn't known statically.
  func object(_ number: ObjectNumber, of entity: StoredEntity) -> any ManagedObject {
    object(coordinator.types[entity.ordinal], number: number, entity.ordinal)
  }

  /// The object of a number if it is in the context already.
  func knownObject(_ number: ObjectNumber, of entity: StoredEntity) -> (any ManagedObject)? {
    objects[entity.ordinal][number] == nil ? nil : object(number, of: entity)
  }
}

// MARK: - Objects by ID

extension ManagedObjectContext {
  /// The object of an ID, as a fault: whether it exists shows when a value is read. Use
  /// ``existingObject(_:with:)`` to know at once.
  ///
  /// - Throws: `unknownEntity` when the ID is of another store or another entity, or the container was made without the model.
  public func object<Object: ManagedObject>(
    _ type: Object.Type = Object.self,
    with id: ManagedObjectID
  ) throws(ContextError) -> Object {
    try check(id, type)
    return object(type, number: id.number)
  }

  /// The object of an ID, if it exists in the context's snapshot or among its unsaved objects.
  ///
  /// - Throws: `objectNotFound` when there is none, or it was deleted in this context.
  public func existingObject<Object: ManagedObject>(
    _ type: Object.Type = Object.self,
    with id: ManagedObjectID
  ) throws(ContextError) -> Object {
    try check(id, type)
    return try existingObject(type, number: id.number, modelEntity(of: type))
  }

  /// The same for a number of an entity whose class is at hand.
  func existingObject<Object: ManagedObject>(
    _ type: Object.Type,
    number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> Object {
    try checkUsable()
    if let known = objects[entity.ordinal][number].map({ unsafeDowncast($0, to: type) }) {
      switch known._$state.phase {
      case .inserted: return known
      case .deleted, .gone: throw notFound(number, entity)
      case .persistent where known._$state.currentRecord != nil: return known
      default: break
      }
    }
    releaseKeptIfMany()
    guard let record = try view.record(number, of: entity) else { throw notFound(number, entity) }
    return object(type, number: number, record: record, entity.ordinal)
  }

  /// The object of an ID if the context has it in memory, and nil otherwise.
  public func registeredObject<Object: ManagedObject>(
    _ type: Object.Type = Object.self,
    with id: ManagedObjectID
  ) -> Object? {
    guard id.storeID == storeID, let entity = knownEntity(ObjectIdentifier(type)) else { return nil }
    guard coordinator.schema.entity(id.entity) === entity else { return nil }
    return objects[entity.ordinal][id.number].map { unsafeDowncast($0, to: Object.self) }
  }

  private func check(_ id: ManagedObjectID, _ type: any ManagedObject.Type) throws(ContextError) {
    let entity = try modelEntity(of: type)
    try check(id, entity)
    guard coordinator.schema.entity(id.entity) === entity else {
      throw ContextError(
        .unknownEntity,
        "\(id) is no \(type.entityName)",
        context: .init(entity: type.entityName, objectID: id)
      )
    }
  }

  /// - Throws: for an ID of another store, or one that names no object of any.
  func check(_ id: ManagedObjectID, _ entity: StoredEntity) throws(ContextError) {
    if id.number.isNone { throw notFound(.none, entity) }
    try checkStore(of: id)
  }

  func checkStore(of id: ManagedObjectID) throws(ContextError) {
    guard id.storeID == storeID else {
      throw ContextError(.unknownEntity, "\(id) is of another store", context: .init(objectID: id))
    }
  }
}
