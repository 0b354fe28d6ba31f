import Dispatch
import Logging
import PageStore

// Containers without classes: all objects are records.

extension PersistentContainer {
  /// Opens a store with the entities of a schema, or makes one; the objects are ``ManagedRecord``s.
  ///
  /// - Parameters: As of the initializer with models.
  /// - Throws: `schemaMismatch` when the schema doesn't go together with the store, as with models, or the store is
  ///   open with classes in this process; `invalidURL` for a URL that isn't a file's; `store` when the store can't be
  ///   opened.
  public convenience init(
    _ name: String,
    schema: Schema,
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
      ContainerModels(classes: [], others: .schema(schema)),
      at: location.storeLocation,
      ContainerOpening(options, showsValuesInErrors, logger, monitor, takesOver, queue)
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
