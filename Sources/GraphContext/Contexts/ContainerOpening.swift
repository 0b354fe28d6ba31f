import Logging
import PageStore

/// How a container is opened, beside where and with which models: what all initialisers of ``PersistentContainer`` take.
struct ContainerOpening: Sendable {
  var options = StoreOptions()
  var showsValues = true
  var logger: Logger?
  var monitor = MigrationMonitor()
  /// Whether containers of this process with other models give the store up to this one.
  var takesOver = false
}
