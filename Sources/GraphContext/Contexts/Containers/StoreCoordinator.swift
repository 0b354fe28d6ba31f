import Dispatch
import Foundation
import Synchronization

/// State that the contexts of a store share: its engine, its models, and the listeners for commits.
///
/// There is one for each open store in a process, however many containers were opened on it.
final class StoreCoordinator: Sendable {
  let engine: any StoreEngine
  /// The models that the store is open with.
  let models: StoreModels
  /// The executor that runs the blocks of ``PersistentContainer/write(mergePolicy:durability:author:_:)``, one after
  /// the other.
  let writer: QueueExecutor
  private let hidesValues = Atomic(false)
  private let listeners = Mutex<[UInt64: @Sendable () -> Void]>([:])
  private let nextListener = Atomic<UInt64>(1)

  /// - Parameters:
  ///   - described: entities without classes as the program has described them: their relationships may lead to a
  ///     subclass, where the schema's lead to its root.
  ///   - queue: runs the blocks that write; nil for a queue of the system's.
  init(
    _ engine: any StoreEngine,
    types: [any ManagedObject.Type],
    described: [EntityDescription] = [],
    queue: DispatchQueue? = nil
  ) {
    self.engine = engine
    models = StoreModels(engine.schema, types: types, described: described)
    writer = QueueExecutor(label: "cambium.writer", target: queue)
  }

  var schema: ResolvedSchema { models.schema }
  var storeID: UUID { engine.storeID }

  /// True if errors show stored values.
  var showsValues: Bool { !hidesValues.load(ordering: .relaxed) }

  /// Makes errors show no values from now on, in all containers on the store.
  func hideValues() { hidesValues.store(true, ordering: .relaxed) }

  /// Returns the origin of a save, for the history.
  func origin(_ author: String?, _ contextName: String? = nil) -> SaveOrigin {
    SaveOrigin(author: author, contextName: contextName, preservedSlots: models.preservedSlots)
  }

  // MARK: News

  /// Tells listeners that the newest commit is another one: a newer one, or an older one after a failed sync.
  func tellListeners() {
    for listener in listeners.withLock({ Array($0.values) }) { listener() }
  }

  /// Adds a listener, which is called after each save, on the thread of the save. It must be quick, and must not save.
  func addListener(_ listener: @escaping @Sendable () -> Void) -> UInt64 {
    let token = nextListener.add(1, ordering: .relaxed).newValue
    listeners.withLock { $0[token] = listener }
    return token
  }

  func removeListener(_ token: UInt64) { listeners.withLock { $0[token] = nil } }
}
