import Dispatch
import Foundation
import Logging
import PageStore

// Containers without classes: all objects are records.

extension PersistentContainer {
  /// Opens the store in a file with the entities that it has, whose objects are ``ManagedRecord``s.
  ///
  /// ```swift
  /// let music = try await PersistentContainer("Music", at: url)
  /// ```
  ///
  /// - Throws: `schemaMismatch` when the store holds no models, or is open with classes in this process; `invalidURL`
  ///   for a URL that isn't a file's; `store` when the store can't be opened, or there is none.
  public convenience init(
    _ name: String,
    at url: URL,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false,
    queue: DispatchQueue? = nil
  ) async throws(ContextError) {
    var options = options
    options.createsIfMissing = false
    try await self.init(
      name,
      ContainerModels(classes: [], others: .stored),
      at: .file(url),
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

  /// Opens a store in a file with the entities of a schema, or makes one; the objects are ``ManagedRecord``s.
  ///
  /// - Throws: `schemaMismatch` when the schema doesn't go together with the store, as with models, or the store is
  ///   open with classes in this process; `invalidURL` for a URL that isn't a file's; `store` when the store can't be
  ///   opened.
  public convenience init(
    _ name: String,
    schema: Schema,
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
      schema: schema,
      at: .file(url),
      options: options,
      showsValuesInErrors: showsValuesInErrors,
      logger: logger,
      monitor: monitor,
      takesOver: takesOver,
      queue: queue
    )
  }

  /// Opens a store for records, in a file or in memory.
  public convenience init(
    _ name: String,
    schema: Schema,
    at location: StoreLocation,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false,
    queue: DispatchQueue? = nil
  ) async throws(ContextError) {
    try await self.init(
      name,
      ContainerModels(classes: [], others: .schema(schema)),
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

  /// A container without classes of a store that is open: for tests, whose stores are on simulated disks.
  @_spi(Testing)
  public convenience init(
    _ name: String,
    schema: Schema,
    on store: Store,
    monitor: MigrationMonitor = MigrationMonitor()
  ) throws(ContextError) {
    try self.init(
      name,
      ContainerModels(classes: [], others: .schema(schema)),
      on: store,
      ContainerOpening(monitor: monitor)
    )
  }
}
