import Dispatch
import PageStore

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
