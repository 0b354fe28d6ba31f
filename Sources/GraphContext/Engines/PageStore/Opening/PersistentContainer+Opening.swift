import Dispatch
import Foundation
import Logging
import PageStore
import Predicates

extension PersistentContainer {
  /// Opens a store with models.
  ///
  /// ```swift
  /// let music = try await PersistentContainer("Music", models: Song.self, Album.self, at: url)
  /// ```
  ///
  /// Without models and entities, the container has the entities of the store, which must exist. All objects are
  /// ``ManagedRecord``s then:
  ///
  /// ```swift
  /// let music = try await PersistentContainer("Music", at: url)
  /// ```
  ///
  /// - Parameters:
  ///   - name: the container's name in messages.
  ///   - models: the classes of the store's objects.
  ///   - entities: the entities without classes, whose objects are records.
  ///   - location: the store's place: the URL of a file, which is made if there is none, or a ``StoreLocation`` such as
  ///     `.inMemory` or `.named("music")`.
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
  /// - Throws: `schemaMismatch` when the models don't go together with each other, the store can't be migrated to
  ///   them, or its own entities are asked for and it has none; `missingValue`, `notUnique`, `indexedValueTooLong`,
  ///   `wrongValue` or `validationFailed` when objects in the store break a rule of the models; `invalidURL` for a URL
  ///   that isn't a file's; `store` when the store can't be opened.
  public convenience init<each Model: ManagedObject>(
    _ name: String,
    models: repeat (each Model).Type,
    entities: RecordEntities = [],
    at location: some StoreLocationConvertible,
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
      ContainerModels(classes: list, entities: entities),
      at: location.storeLocation,
      ContainerOpening(options, showsValuesInErrors, logger, monitor, takesOver, queue)
    )
  }

  /// Opens a store with a list of models. The parameters and errors are those of the initializer whose models are
  /// written one by one.
  public convenience init(
    _ name: String,
    models: [any ManagedObject.Type],
    entities: RecordEntities = [],
    at location: some StoreLocationConvertible,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false,
    queue: DispatchQueue? = nil
  ) async throws(ContextError) {
    try await self.init(
      name,
      ContainerModels(classes: models, entities: entities),
      at: location.storeLocation,
      ContainerOpening(options, showsValuesInErrors, logger, monitor, takesOver, queue)
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
      try StoreHandle(Self.open(location, models, opening), models, opening)
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
    try self.init(name, ContainerModels(classes: models, entities: .described(entities)), on: store, opening)
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
    _ models: ContainerModels,
    _ opening: ContainerOpening
  ) throws(ContextError) -> Store {
    var options = opening.options
    // A store that is made now has no entities.
    if case .stored = models.others { options.createsIfMissing = false }
    do {
      guard let url = location.url else { return try Store.inMemory(options: options) }
      return try Store.open(at: path(of: url), options: options, logger: opening.logger)
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
