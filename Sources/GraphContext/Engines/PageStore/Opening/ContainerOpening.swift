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
