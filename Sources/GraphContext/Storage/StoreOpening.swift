import Foundation
import PageStore
import Predicates
import Synchronization

/// The coordinators of this process, so that two containers on one store share what must be shared.
private enum OpenCoordinators {
  /// The coordinator of one store. A thread that makes it keeps the others waiting that want the same one, and no others.
  final class Slot: Sendable {
    struct Reference {
      weak var coordinator: StoreCoordinator?
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

extension StoreCoordinator {
  /// The coordinator of an open store. Compares the models with the schema in the store, and brings the store to the models
  /// where the change can be inferred.
  ///
  /// - Throws: `schemaMismatch` when the models and the store don't go together, when the store is open with other models
  ///   already, or when an index has to be built and the store is open for reading only; nothing has been written then. `cancelled` when
  ///   the monitor cancels the change.
  static func open(
    _ store: Store,
    models: ContainerModels,
    showsValues: Bool,
    monitor: MigrationMonitor
  ) throws(ContextError) -> StoreCoordinator {
    defer { monitor.finish() }
    // One at a time: two coordinators of one store would hand out the same numbers.
    return try OpenCoordinators.with(store) { reference throws(ContextError) in
      if let known = reference.coordinator {
        guard try models.areServed(by: known) else {
          throw ContextError(.schemaMismatch, "the store is open with other models in this process")
        }
        if !showsValues { known.hideValues() }
        return known
      }
      let opened = try make(store, models, showsValues: showsValues, monitor)
      if !showsValues { opened.hideValues() }
      reference.coordinator = opened
      return opened
    }
  }

  private static func make(
    _ store: Store,
    _ models: ContainerModels,
    showsValues: Bool,
    _ monitor: MigrationMonitor
  ) throws(ContextError) -> StoreCoordinator {
    do {
      let upgrade = try StoreUpgrade(store, models, showsValues: showsValues)
      let schema = try store.options.isReadOnly ? upgrade.schemaForReading() : upgrade.run(monitor)
      let leased = try SchemaTree.leasedNumbers(in: try store.snapshot(), schema)
      return StoreCoordinator(
        store: store.uncounted(),
        schema: schema,
        types: schema.entities.map { models.type(named: $0.name) },
        numbers: ObjectNumbers(leased: leased)
      )
    } catch {
      throw ContextError(any: error)
    }
  }
}

extension CataloguedSchema {
  /// The entities that have no objects in a snapshot.
  func emptyEntities(in snapshot: Snapshot) throws(StoreError) -> Set<EntityNumber> {
    var empty: Set<EntityNumber> = []
    for entity in entities where try snapshot.treeIfPresent(entity.tree)?.count ?? 0 == 0 {
      empty.insert(entity.number)
    }
    return empty
  }
}

extension UUID {
  /// The store's identifier, the high half first.
  package init(_ uuid: StoreUUID) {
    var halves = (uuid.high.bigEndian, uuid.low.bigEndian)
    self = withUnsafeBytes(of: &halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
