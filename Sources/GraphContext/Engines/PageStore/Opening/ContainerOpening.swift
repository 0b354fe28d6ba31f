import Dispatch
import Logging
import PageStore

/// The settings of an opening that all initialisers of ``PersistentContainer`` share.
struct ContainerOpening: Sendable {
  var options = StoreOptions()
  var showsValues = true
  var logger: Logger?
  var monitor = MigrationMonitor()
  /// True if this container replaces the containers of this process that have the store open with other models.
  var takesOver = false
  /// Runs the container's work in the background; nil for a queue of the system's.
  var queue: DispatchQueue?
}

extension ContainerOpening {
  /// Makes the settings from the last parameters of an initialiser, in their order.
  init(
    _ options: StoreOptions,
    _ showsValuesInErrors: Bool,
    _ logger: Logger?,
    _ monitor: MigrationMonitor,
    _ takesOver: Bool,
    _ queue: DispatchQueue?
  ) {
    self.init(
      options: options,
      showsValues: showsValuesInErrors,
      logger: logger,
      monitor: monitor,
      takesOver: takesOver,
      queue: queue
    )
  }
}
