import Dispatch
import Logging
import PageStore

// Containers whose stores may be of earlier versions of the app.

extension PersistentContainer {
  /// Opens a store, or makes one, and brings it to the newest version of a plan. The objects are instances of that
  /// version's classes; if it has no classes, they are ``ManagedRecord``s.
  ///
  /// ```swift
  /// let library = try await PersistentContainer("Library", plan: plan, at: url)
  /// ```
  ///
  /// The stages up to the first custom one are checked before the first stage runs. If a stage is refused or fails,
  /// the store keeps the version before this stage.
  ///
  /// - Parameters: As of the initializer with models.
  /// - Throws: `schemaMismatch` for a plan with mistakes, or that doesn't lead from the store's version to its
  ///   newest; `stageFailed` when a pass of a custom stage throws, with the error as
  ///   ``ContextError/underlyingError``; the errors of opening with models.
  public convenience init(
    _ name: String,
    plan: MigrationPlan,
    at location: some StoreLocationConvertible,
    options: StoreOptions = StoreOptions(),
    showsValuesInErrors: Bool = true,
    logger: Logger? = nil,
    monitor: MigrationMonitor = MigrationMonitor(),
    takesOver: Bool = false,
    queue: DispatchQueue? = nil
  ) async throws(ContextError) {
    // A plan with mistakes is an opening that failed, too.
    defer { monitor.finish() }
    try await self.init(
      name,
      try ContainerModels(plan),
      at: location.storeLocation,
      ContainerOpening(options, showsValuesInErrors, logger, monitor, takesOver, queue)
    )
  }

  /// A container of a store that is open: for tests, whose stores are on simulated disks.
  @_spi(Testing)
  public convenience init(
    _ name: String,
    plan: MigrationPlan,
    on store: Store,
    monitor: MigrationMonitor = MigrationMonitor()
  ) throws(ContextError) {
    try self.init(name, try ContainerModels(plan), on: store, ContainerOpening(monitor: monitor))
  }
}
