import Dispatch
import Foundation
import Logging
import PageStore
import Predicates

/// The place where a container keeps its objects.
public enum StoreLocation: Sendable, Hashable {
  /// In a file, made if there is none.
  case file(URL)
  /// In memory, as long as the container lives.
  case inMemory
}

extension PersistentContainer {
  /// Opens a store in a file.
  ///
  /// - Parameters:
  ///   - name: the container's name in messages.
  ///   - models: the classes of the store's objects.
  ///   - entities: the entities without classes, whose objects are records.
  ///   - url: the store's file, which is made if there is none.
  ///   - options: how the store is opened.
  ///   - showsValuesInErrors: whether errors (`notUnique`) show the values of properties, or their names alone, for
  ///     programs whose logs must not have them. Containers on the same file share this setting: if it is false for
  ///     one of them, it is false for all.
  ///   - logger: logs recoveries, checkpoints, removed entities and failures; nil for no log.
  ///   - monitor: watches a change of the store's schema, and can cancel it.
  ///   - takesOver: whether to take the store over from containers that this process has open on it with other
  ///     models. Otherwise there must be no such containers. Their contexts can read while the schema changes, but
  ///     not save: a save throws `schemaChanging`. Afterwards the contexts keep the objects that they show, and
  ///     everything else throws `schemaChanged`. If the opening fails, the containers work as before.
  ///   - queue: runs the container's work in the background, such as the blocks of ``performBackgroundTask(_:)``,
  ///     ``query(_:)`` and `write`; nil for one of the system's. Of the containers that a process has open on a
  ///     store, the first one's queue runs the blocks that write, one after the other. Code that runs on a serial
  ///     queue must not wait for such a block: that would be a deadlock.
  public convenience init<each Model: ManagedObject>(
    _ name: String,
    models: repeat (each Model).Type,
    entities: RecordEntities = [],
    at url: URL,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false,
    queue: DispatchQueue? = nil
  ) async throws(ContextError) {
    try await self.init(
      name,
      models: repeat each models,
      entities: entities,
      at: .file(url),
      options: options,
      showsValuesInErrors: showsValuesInErrors,
      logger: logger,
      monitor: monitor,
      takesOver: takesOver,
      queue: queue
    )
  }

  /// Opens a store in a file or in memory.
  public convenience init<each Model: ManagedObject>(
    _ name: String,
    models: repeat (each Model).Type,
    entities: RecordEntities = [],
    at location: StoreLocation,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false,
    queue: DispatchQueue? = nil
  ) async throws(ContextError) {
    var list: [any ManagedObject.Type] = []
    repeat list.append((each models).self)
    try await self.init(
      name,
      models: list,
      entities: entities,
      at: location,
      options: options,
      showsValuesInErrors: showsValuesInErrors,
      logger: logger,
      monitor: monitor,
      takesOver: takesOver,
      queue: queue
    )
  }

  /// Opens a store with a list of models.
  ///
  /// - Throws: `schemaMismatch` when the models don't go together with each other, or the store can't be migrated
  ///   to them; `missingValue`, `notUnique`, `indexedValueTooLong`, `wrongValue` or `validationFailed` when objects
  ///   in the store break a rule of the models; `invalidURL` for a URL that isn't a file's; `store` when the store
  ///   can't be opened.
  public convenience init(
    _ name: String,
    models: [any ManagedObject.Type],
    entities: RecordEntities = [],
    at location: StoreLocation,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false,
    queue: DispatchQueue? = nil
  ) async throws(ContextError) {
    var options = options
    if case .stored = entities { options.createsIfMissing = false }
    try await self.init(
      name,
      ContainerModels(classes: models, others: entities.others),
      at: location,
      ContainerOpening(
        options: options,
        showsValues: showsValuesInErrors,
        logger: logger,
        monitor: monitor,
        takesOver: takesOver,
        queue: queue
      )
    )
  }

  convenience init(
    _ name: String,
    _ models: ContainerModels,
    at location: StoreLocation,
    _ opening: ContainerOpening
  ) async throws(ContextError) {
    defer { opening.monitor.finish() }
    let queue = DispatchQueue(label: "cambium.\(name)", attributes: .concurrent, target: opening.queue)
    let handle = try await queue.run { () throws(ContextError) in
      try StoreHandle(Self.open(location, opening), models, opening)
    }
    self.init(name, handle, on: queue)
  }

  /// A container of a store that is open: for tests, whose stores are on simulated disks.
  @_spi(Testing)
  public convenience init(
    _ name: String,
    models: [any ManagedObject.Type],
    entities: [EntityDescription] = [],
    on store: Store,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false
  ) throws(ContextError) {
    let opening = ContainerOpening(monitor: monitor, takesOver: takesOver)
    try self.init(name, ContainerModels(classes: models, others: .described(entities)), on: store, opening)
  }

  convenience init(
    _ name: String,
    _ models: ContainerModels,
    on store: Store,
    _ opening: ContainerOpening = ContainerOpening()
  ) throws(ContextError) {
    let queue = DispatchQueue(label: "cambium.\(name)", attributes: .concurrent, target: opening.queue)
    self.init(name, try StoreHandle(store, models, opening), on: queue)
  }

  private static func open(
    _ location: StoreLocation,
    _ opening: ContainerOpening
  ) throws(ContextError) -> Store {
    do {
      switch location {
      case .file(let url):
        return try Store.open(at: path(of: url), options: opening.options, logger: opening.logger)
      case .inMemory: return try Store.inMemory(options: opening.options)
      }
    } catch {
      throw ContextError(any: error)
    }
  }

  static func path(of url: URL) throws(ContextError) -> String {
    if url.isFileURL { return url.path }
    throw ContextError(
      .invalidURL,
      "\(url.absoluteString) is not the URL of a file; make one by URL(fileURLWithPath:)"
    )
  }
}
