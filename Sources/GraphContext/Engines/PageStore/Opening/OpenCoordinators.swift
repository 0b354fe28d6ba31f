import PageStore
import Synchronization

/// The coordinators of this process, so that two containers on one store share its coordinator.
enum OpenCoordinators {
  /// The coordinator of one store. While a thread makes the coordinator, only the threads that want the same
  /// coordinator wait.
  final class Slot: Sendable {
    struct Reference {
      weak var coordinator: StoreCoordinator?
      weak var engine: PageStoreEngine?

      /// The coordinator and the engine, unless another container has taken the store over from them.
      var current: OpenedStore? {
        guard let coordinator, let engine, !engine.isRetired else { return nil }
        return OpenedStore(coordinator: coordinator, engine: engine)
      }
    }
    let reference = Mutex(Reference())
  }
  private struct Entry {
    let slot: Slot
    /// Threads that use the slot, or wait for it.
    var userCount = 0
  }
  private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  /// Calls `body` with the coordinator of a store, one thread at a time; nil if there is none.
  static func with<R: Sendable>(
    _ store: Store,
    _ body: (inout Slot.Reference) throws(ContextError) -> R
  ) throws(ContextError) -> R {
    let slot = entries.withLock { entries in
      entries = entries.filter {
        $0.value.userCount > 0 || $0.value.slot.reference.withLock { $0.coordinator != nil }
      }
      var entry = entries[store.identifier] ?? Entry(slot: Slot())
      entry.userCount += 1
      entries[store.identifier] = entry
      return entry.slot
    }
    defer { entries.withLock { $0[store.identifier]?.userCount -= 1 } }
    return try slot.reference.withLock { reference throws(ContextError) in try body(&reference) }
  }
}
