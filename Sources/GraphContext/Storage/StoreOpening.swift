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
  /// A coordinator with other models hands the store over if the opening says so and the store is open for writing.
  ///
  /// - Throws: `schemaMismatch` when the models and the store don't go together, when the store is open with other models
  ///   already and isn't to be taken over, or when an index has to be built and the store is open for reading only; nothing has been written then. `cancelled` when
  ///   the monitor cancels the change.
  static func open(
    _ store: Store,
    models: ContainerModels,
    as opening: ContainerOpening
  ) throws(ContextError) -> StoreCoordinator {
    defer { opening.monitor.finish() }
    // One at a time: two coordinators of one store would hand out the same numbers.
    return try OpenCoordinators.with(store) { reference throws(ContextError) in
      let known = reference.coordinator.flatMap { $0.isRetired ? nil : $0 }
      let opened = try coordinator(store, models, as: opening, known)
      if !opening.showsValues { opened.hideValues() }
      reference.coordinator = opened
      return opened
    }
  }

  /// - Parameter known: the coordinator that the store's containers share until now.
  private static func coordinator(
    _ store: Store,
    _ models: ContainerModels,
    as opening: ContainerOpening,
    _ known: StoreCoordinator?
  ) throws(ContextError) -> StoreCoordinator {
    guard let known else { return try make(store, models, opening) }
    if try models.areServed(by: known) { return known }
    guard opening.takesOver, !store.options.isReadOnly else {
      throw ContextError(.schemaMismatch, "the store is open with other models in this process")
    }
    return try known.handOver(opening.monitor) { () throws(ContextError) in try make(store, models, opening) }
  }

  private static func make(
    _ store: Store,
    _ models: ContainerModels,
    _ opening: ContainerOpening
  ) throws(ContextError) -> StoreCoordinator {
    do {
      let removed = try RemovedEntities(store, opening.logger)
      let upgrade = try StoreUpgrade(store, models, showsValues: opening.showsValues)
      let schema =
        try store.options.isReadOnly ? upgrade.schemaForReading() : upgrade.run(opening.monitor)
      if !store.options.isReadOnly { removed?.log(schema.catalogue) }
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
