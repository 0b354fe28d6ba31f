import Dispatch
import Foundation
import PageStore
import Predicates
import Synchronization

/// What the contexts of a store share: the store itself, its schema, the numbers of new objects, and the news of commits.
///
/// There is one for each open store in a process, however many containers were opened on it.
package final class StoreCoordinator: Sendable {
  /// Of use until the last container is closed; the containers have the handles that count.
  package let store: Store
  package let schema: StoredSchema
  package let storeID: UUID
  /// The model classes, by the entity's ordinal: `ManagedRecord` of an entity without one.
  package let types: [any ManagedObject.Type]
  /// What the objects are made after, by the entity's ordinal.
  let models: [ModelDescription]
  /// Whether a model's properties are in another order than the store's.
  let hasOtherLayouts: Bool
  let numbers: ObjectNumbers
  /// Nil for one whose saves have nothing to add.
  private let companion: (any SaveCompanion)?
  let phase = Mutex(Phase.current)
  private let hidesValues = Atomic(false)
  private let ordinals: [ObjectIdentifier: Int]
  private let listeners = Mutex<[UInt64: @Sendable () -> Void]>([:])
  private let nextListener = Atomic<UInt64>(1)

  init(
    store: Store,
    schema: StoredSchema,
    types: [any ManagedObject.Type],
    numbers: ObjectNumbers,
    companion: (any SaveCompanion)? = nil
  ) {
    self.store = store
    self.companion = companion
    self.schema = schema
    self.types = types
    self.numbers = numbers
    let models = zip(schema.schema.entities, types).map { entity, type in
      type == ManagedRecord.self ? ModelDescription(entity) : type._$model
    }
    self.models = models
    hasOtherLayouts = zip(schema.entities, models).contains { !$0.layout.hasPlaces(of: $1.layout) }
    storeID = UUID(store.uuid)
    ordinals = Dictionary(
      zip(types, models).enumerated().map { ordinal, pair in
        let (type, model) = pair
        return (type == ManagedRecord.self ? ObjectIdentifier(model) : ObjectIdentifier(type), ordinal)
      },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Whether errors show what is stored.
  var showsValues: Bool { !hidesValues.load(ordering: .relaxed) }

  /// From now on errors show no values, to whichever container.
  func hideValues() { hidesValues.store(true, ordering: .relaxed) }

  /// The entity of a model class, or nil when it isn't among the models.
  func entity(of type: any ManagedObject.Type) -> StoredEntity? { entity(withKey: ObjectIdentifier(type)) }

  /// The entity of objects with this key, or nil when they are of none.
  func entity(withKey key: ObjectIdentifier) -> StoredEntity? { ordinals[key].map { schema.entities[$0] } }

  /// Makes an object of the entity of this ordinal, whose class is given.
  func makeObject<Object: ManagedObject>(
    _ type: Object.Type,
    _ state: consuming ObjectState,
    _ ordinal: Int
  ) -> Object {
    if type == ManagedRecord.self {
      return unsafeDowncast(ManagedRecord(state, of: models[ordinal]), to: type)
    }
    return Object(_$state: state)
  }

  /// The store as its last commit left it.
  ///
  /// - Throws: `schemaChanged` when another container has taken the store over.
  package func newestView() throws(ContextError) -> StoreView {
    let snapshot: Snapshot
    do throws(StoreError) { snapshot = try store.snapshot() } catch { throw ContextError(error) }
    try checkShows(snapshot)
    return StoreView(schema: schema, snapshot: snapshot)
  }

  /// Saves what `request` returns in the writer's turn, and attaches the change set to the commit. Nil, without having called `request`, when
  /// there is no turn.
  func write(
    _ durability: Durability?,
    turn: TurnRequest,
    _ request: () throws(ContextError) -> SaveRequest
  ) throws -> SaveOutcome? {
    var leased: [LeaseEnd] = []
    let outcome = try store.write(durability: durability, turn: turn) { transaction in
      try checkWritable()
      let request = try request()
      guard !request.isEmpty else { return SaveOutcome() }
      let save = SaveTransaction(
        request,
        schema: schema,
        numbers: numbers,
        storeID: storeID,
        commit: transaction.commit,
        showsValues: showsValues
      )
      let changes = try save.run(&transaction)
      if let companion {
        try companion.accompany(request, changes, &transaction)
      } else {
        transaction.attach(changes)
      }
      leased = save.leasedEnds
      return SaveOutcome(changes: changes, ruleChanges: save.ruleChanges)
    }
    numbers.didLease(leased, isSettled: (durability ?? store.options.durability) != .relaxed)
    return outcome
  }

  /// Makes durable what was saved so far. Waits on a thread of the global queue, not of the caller.
  func makeDurable() async throws(ContextError) {
    try await DispatchQueue.global().run { () throws(ContextError) in
      do throws(StoreError) { try self.settleLeases() } catch { throw ContextError(error) }
    }
  }

  // MARK: News

  /// Tells listeners that there is a newer commit.
  func tellListeners() {
    for listener in listeners.withLock({ Array($0.values) }) { listener() }
  }

  /// `listener` is called after each save, on the thread of the save. It must be quick, and must not save.
  func addListener(_ listener: @escaping @Sendable () -> Void) -> UInt64 {
    let token = nextListener.add(1, ordering: .relaxed).newValue
    listeners.withLock { $0[token] = listener }
    return token
  }

  func removeListener(_ token: UInt64) { listeners.withLock { $0[token] = nil } }
}

/// What takes part in the saves of a coordinator.
protocol SaveCompanion: Sendable {
  /// Adds to the transaction of a save, at its end. The save fails with what this throws. Contexts of other coordinators don't get the changes.
  func accompany(
    _ request: SaveRequest,
    _ changes: ChangeSet,
    _ transaction: inout WriteTransaction
  ) throws
}

/// What a save has done to the store.
struct SaveOutcome {
  /// Nil when there was nothing to save.
  var changes: ChangeSet?
  /// Those of them that delete rules have made.
  var ruleChanges = RuleChanges()
}
