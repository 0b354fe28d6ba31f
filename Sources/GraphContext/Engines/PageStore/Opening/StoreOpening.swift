import Dispatch
import Foundation
import PageStore
import Predicates
import Synchronization

/// The coordinators of this process, so that two containers on one store share its coordinator.
private enum OpenCoordinators {
  /// The coordinator of one store. While a thread makes the coordinator, only the threads that want the same
  /// coordinator wait.
  final class Slot: Sendable {
    struct Reference {
      weak var coordinator: StoreCoordinator?
      weak var engine: PageStoreEngine?

      /// The coordinator and the engine, unless another container has taken the store over from them.
      var current: OpenedStore? {
        guard let coordinator, let engine, !engine.isRetired else { return nil }
        return OpenedStore(coordinator: coordinator, engine: engine)
      }
    }
    let reference = Mutex(Reference())
  }
  private struct Entry {
    let slot: Slot
    /// Threads that use the slot, or wait for it.
    var userCount = 0
  }
  private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  /// Calls `body` with the coordinator of a store, one thread at a time; nil if there is none.
  static func with<R: Sendable>(
    _ store: Store,
    _ body: (inout Slot.Reference) throws(ContextError) -> R
  ) throws(ContextError) -> R {
    let slot = entries.withLock { entries in
      entries = entries.filter {
        $0.value.userCount > 0 || $0.value.slot.reference.withLock { $0.coordinator != nil }
      }
      var entry = entries[store.identifier] ?? Entry(slot: Slot())
      entry.userCount += 1
      entries[store.identifier] = entry
      return entry.slot
    }
    defer { entries.withLock { $0[store.identifier]?.userCount -= 1 } }
    return try slot.reference.withLock { reference throws(ContextError) in try body(&reference) }
  }
}

/// A store that is open, with the objects that its containers share.
struct OpenedStore {
  let coordinator: StoreCoordinator
  let engine: PageStoreEngine

  /// Returns the coordinator and the engine of an open store. Compares the models with the schema in the store, and
  /// brings the store to the models where the change can be inferred.
  ///
  /// A coordinator with other models hands the store over if the opening says so and the store is open for writing.
  ///
  /// - Throws: `schemaMismatch` when the models and the store don't go together, when the store is open with other
  ///   models already and isn't to be taken over, or when an index has to be built and the store is open for
  ///   reading only. In these cases nothing has been written. `cancelled` when the monitor cancels the change.
  static func open(
    _ store: Store,
    models: ContainerModels,
    as opening: ContainerOpening
  ) throws(ContextError) -> OpenedStore {
    defer { opening.monitor.finish() }
    // One at a time: two coordinators of one store would hand out the same numbers.
    return try OpenCoordinators.with(store) { reference throws(ContextError) in
      let opened = try openedStore(store, models, as: opening, reference.current)
      if !opening.showsValues {
        opened.coordinator.hideValues()
        opened.engine.queryLogging.hideValues()
      }
      (reference.coordinator, reference.engine) = (opened.coordinator, opened.engine)
      return opened
    }
  }

  /// - Parameter known: the opened store that the containers have shared until now.
  private static func openedStore(
    _ store: Store,
    _ models: ContainerModels,
    as opening: ContainerOpening,
    _ known: OpenedStore?
  ) throws(ContextError) -> OpenedStore {
    guard let known else { return try make(store, models, opening) }
    if try models.areServed(by: known) { return known }
    guard opening.takesOver, !store.options.isReadOnly else {
      throw ContextError(
        .schemaMismatch,
        "the store is open with other models in this process: close those containers, or open with takesOver: true"
      )
    }
    // Contexts that follow the store are notified that another container has it.
    defer { known.coordinator.tellListeners() }
    return try known.engine.handOver(opening.monitor) { () throws(ContextError) in
      try make(store, models, opening)
    }
  }

  private static func make(
    _ store: Store,
    _ models: ContainerModels,
    _ opening: ContainerOpening
  ) throws(ContextError) -> OpenedStore {
    do {
      let removed = try RemovedEntities(store, opening.logger)
      let upgrade = try StoreUpgrade(store, models, showsValues: opening.showsValues)
      let schema =
        try store.options.isReadOnly ? upgrade.schemaForReading() : upgrade.run(opening.monitor)
      let leased = try SchemaTree.leasedNumbers(in: try store.snapshot(), schema)
      if !store.options.isReadOnly {
        removed?.log(schema.catalogue)
        // Not earlier: if the opening is refused, other containers may continue, and save the values that they have
        // staged.
        try StagedBlobs.removeAll(in: store)
      }
      return OpenedStore(
        PageStoreEngine(store: store.uncounted(), schema: schema, numbers: ObjectNumbers(leased: leased)),
        types: schema.entities.map { models.type(named: $0.name) },
        described: models.described,
        queue: opening.queue
      )
    } catch {
      throw ContextError(any: error)
    }
  }
}

extension OpenedStore {
  init(
    _ engine: PageStoreEngine,
    types: [any ManagedObject.Type],
    described: [EntityDescription] = [],
    queue: DispatchQueue? = nil
  ) {
    let coordinator = StoreCoordinator(engine, types: types, described: described, queue: queue)
    // A task has none of the store's locks.
    engine.store.onTakenBack { [weak coordinator] in Task { coordinator?.tellListeners() } }
    self.init(coordinator: coordinator, engine: engine)
  }
}

extension CataloguedSchema {
  /// Returns the entities that have no objects in a snapshot.
  func emptyEntities(in snapshot: Snapshot) throws(StoreError) -> Set<EntityNumber> {
    var empty: Set<EntityNumber> = []
    for entity in entities where try snapshot.treeIfPresent(entity.tree)?.count ?? 0 == 0 {
      empty.insert(entity.number)
    }
    return empty
  }
}

extension UUID {
  /// The store's identifier, the high half first.
  package init(_ uuid: StoreUUID) {
    var halves = (uuid.high.bigEndian, uuid.low.bigEndian)
    self = withUnsafeBytes(of: &halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
