import Foundation
import PageStore
import Predicates
import Synchronization

/// The coordinators of this process, so that two containers on one store share what must be shared.
private enum OpenCoordinators {
  struct Reference {
    weak var coordinator: StoreCoordinator?
  }
  static let all = Mutex<[ObjectIdentifier: Reference]>([:])
}

extension StoreCoordinator {
  /// The coordinator of an open store. Compares the models with the schema in the store, and brings the store to the models
  /// where the change can be inferred.
  ///
  /// - Throws: `schemaMismatch` when the models and the store don't go together, when the store is open with other models
  ///   already, or when an index has to be built and the store is open for reading only; nothing has been written then.
  static func open(
    _ store: Store,
    models: ContainerModels,
    showsValues: Bool
  ) throws(ContextError) -> StoreCoordinator {
    // One at a time: two coordinators of one store would hand out the same numbers.
    let result = OpenCoordinators.all.withLock { all in
      Result { () throws(ContextError) in
        all = all.filter { $0.value.coordinator != nil }
        if let known = all[store.identifier]?.coordinator {
          guard try models.areServed(by: known) else {
            throw ContextError(.schemaMismatch, "the store is open with other models in this process")
          }
          if !showsValues { known.hideValues() }
          return known
        }
        let opened = try make(store, models, showsValues: showsValues)
        if !showsValues { opened.hideValues() }
        all[store.identifier] = .init(coordinator: opened)
        return opened
      }
    }
    return try result.get()
  }

  private static func make(
    _ store: Store,
    _ models: ContainerModels,
    showsValues: Bool
  ) throws(ContextError) -> StoreCoordinator {
    do {
      let snapshot = try store.snapshot()
      let known = try SchemaTree.schema(in: snapshot) ?? CataloguedSchema()
      let schema = try models.schema(in: known)
      let empty = try known.emptyEntities(in: snapshot)
      let change = SchemaChange(from: known, to: schema) { empty.contains($0.number) }
      // The catalogue of a refused change need not be one.
      try change.checkPossible()
      var stored = try StoredSchema(change.target, as: schema)
      try check(change, stored, snapshot, store, showsValues: showsValues)
      let isFoldedElsewhere =
        try !known.entities.isEmpty && schema.hasFoldedIndexes && !SchemaTree.isFoldedAsHere(snapshot)
      if store.options.isReadOnly {
        try change.checkNothingToBuild()
        if isFoldedElsewhere { stored = try stored.withoutFoldedIndexes() }
      } else {
        let adoption = SchemaAdoption(change: change, schema: stored, isRefolding: isFoldedElsewhere)
        if try !adoption.isDone(in: snapshot) { try adoption.run(store, from: snapshot) }
      }
      let types = stored.entities.map { models.type(named: $0.name) }
      let leased = try SchemaTree.leasedNumbers(in: try store.snapshot(), stored)
      return StoreCoordinator(
        store: store.uncounted(),
        schema: stored,
        types: types,
        numbers: ObjectNumbers(leased: leased)
      )
    } catch {
      throw ContextError(any: error)
    }
  }

  /// - Throws: the error of a refused change, which lists every object in the way.
  private static func check(
    _ change: SchemaChange,
    _ schema: StoredSchema,
    _ snapshot: Snapshot,
    _ store: Store,
    showsValues: Bool
  ) throws {
    let checker = SchemaChecker(
      change,
      schema,
      snapshot,
      store: UUID(store.uuid),
      showsValues: showsValues
    )
    let refusal = try checker.refusal()
    if !refusal.isEmpty { throw ContextError.refused(refusal) }
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
