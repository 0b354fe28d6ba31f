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
  /// The coordinator of an open store. Compares the models with the schema in the store, and takes up what can be taken
  /// up: new entities, new and dropped indexes.
  ///
  /// - Throws: `schemaMismatch` when the models and the store don't go together, when the store is open with other models
  ///   already, or when an index has to be built and the store is open for reading only; nothing has been written then.
  static func open(
    _ store: Store,
    models: [any ManagedObject.Type],
    showsValues: Bool
  ) throws(ContextError) -> StoreCoordinator {
    // One at a time: two coordinators of one store would hand out the same numbers.
    let result = OpenCoordinators.all.withLock { all in
      Result { () throws(ContextError) in
        all = all.filter { $0.value.coordinator != nil }
        if let known = all[store.identifier]?.coordinator {
          guard Set(known.types.map { ObjectIdentifier($0) }) == Set(models.map { ObjectIdentifier($0) })
          else {
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
    _ models: [any ManagedObject.Type],
    showsValues: Bool
  ) throws(ContextError) -> StoreCoordinator {
    let schema: Schema
    do throws(SchemaError) { schema = try Schema(models) } catch {
      throw ContextError(.schemaMismatch, "\(error)")
    }
    do {
      let snapshot = try store.snapshot()
      let change = try Catalogue.schema(in: snapshot).map { SchemaChange(from: $0, to: schema) }
      try change?.checkPossible()
      if store.options.isReadOnly { try change?.checkNothingToBuild() }
      let isFoldedElsewhere =
        try change != nil && schema.hasFoldedIndexes && !Catalogue.isFoldedAsHere(snapshot)
      var usable = change.map { schema.placed(like: $0.arranged) } ?? schema
      if isFoldedElsewhere, store.options.isReadOnly { usable = usable.withoutFoldedIndexes }
      let stored = try StoredSchema(usable)
      let types = stored.entities.compactMap { entity in models.first { $0.entityName == entity.name } }
      let refolds = isFoldedElsewhere && !store.options.isReadOnly
      if change?.isEmpty != true || refolds {
        try takeUp(schema, stored, change, refolding: refolds, showsValues: showsValues, store)
      }
      let leased = try Catalogue.leasedNumbers(in: try store.snapshot(), stored)
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

  /// Makes the store's schema the given one, in one transaction.
  ///
  /// - Parameters:
  ///   - change: from the schema that the store has; nil if it has none.
  ///   - refolding: whether folded indexes that are there already have to be made again.
  ///   - showsValues: whether errors show what is stored.
  private static func takeUp(
    _ schema: Schema,
    _ stored: StoredSchema,
    _ change: SchemaChange?,
    refolding: Bool,
    showsValues: Bool,
    _ store: Store
  ) throws {
    let arranged = change?.arranged ?? schema
    let model = try Catalogue.encoded(arranged)
    try store.write { transaction in
      let catalogue = try transaction.tree(TreeName.catalogue)
      try catalogue.put(Catalogue.formatKey, Catalogue.bytes(Catalogue.formatVersion(for: arranged)))
      try catalogue.put(Catalogue.modelKey, model)
      if arranged.hasFoldedIndexes {
        try catalogue.put(Catalogue.foldingKey, Array(StringFolding.tables.utf8))
      } else {
        _ = try catalogue.remove(Catalogue.foldingKey)
      }
      guard let change else { return }
      let refolded = refolding ? change.keptIndexes.filter { $0.index.isFolded } : []
      let old = try StoredSchema(change.old)
      let dropped =
        change.droppedIndexes.map { old.treeName(of: $0.index.id) }
        + refolded.map { stored.treeName(of: $0.index.id) }
      for name in dropped where try transaction.treeIfPresent(name) != nil { try transaction.dropTree(name) }
      for (_, index) in change.addedIndexes + refolded {
        let entity = stored[index.id.entity]
        try IndexBuilder(entity, index, showsValues: showsValues).build(&transaction)
      }
    }
  }
}

/// Makes the tree of an index over records that are there already.
struct IndexBuilder {
  private let entity: StoredEntity
  private let index: ResolvedIndex
  private let showsValues: Bool

  init(_ entity: StoredEntity, _ index: ResolvedIndex, showsValues: Bool) {
    self.entity = entity
    self.index = index
    self.showsValues = showsValues
  }

  func build(_ transaction: inout WriteTransaction) throws {
    guard let records = try transaction.treeIfPresent(entity.treeName) else { return }
    var batch = KeyBatch()
    var key: [UInt8] = []
    var cursor = try records.cursor()
    while try cursor.next() {
      let bytes = try cursor.value()
      guard let number = KeyCoder.objectID(ending: try cursor.key()),
        let record = RecordView(bytes, layout: entity.layout)
      else { throw StoreView.damaged(KeyCoder.objectID(ending: try cursor.key()) ?? .none, of: entity) }
      key.removeAll(keepingCapacity: true)
      let isConstrained = index.appendKey(of: record, number, to: &key)
      guard key.count <= StoreLimits.keyByteCount else {
        throw ContextError(
          .indexedValueTooLong,
          "\(entity.name) \(number) has values too long for the index \(index.name)"
        )
      }
      batch.append(key, isConstrained: isConstrained)
    }
    batch.sort()
    try checkUnique(batch)
    let tree = try transaction.tree(entity.treeName(of: index.id))
    try tree.put(batch)
  }

  private func checkUnique(_ batch: KeyBatch) throws(ContextError) {
    guard index.isUnique else { return }
    var last: [UInt8] = []
    try batch.forEach { key, entry throws(ContextError) in
      let components = [UInt8](key.dropLast(KeyCoder.objectIDByteCount))
      if entry.isConstrained, components == last { throw notUnique(components) }
      last = components
    }
  }

  private func notUnique(_ components: [UInt8]) -> ContextError {
    let names = index.slots.map { entity.schema.stored[$0].name }
    let values = components.withUnsafeBytes { bytes in
      var reader = KeyReader(bytes)
      return index.slots.compactMap { reader.next(entity.layout.fields[$0].kind) }
    }
    return .notUnique(
      "\(entity.name) is to be unique by \(index.name), and two objects in the store",
      .init(entity: entity.name, properties: names, values: values),
      showsValues: showsValues
    )
  }
}

extension UUID {
  /// The store's identifier, the high half first.
  package init(_ uuid: StoreUUID) {
    var halves = (uuid.high.bigEndian, uuid.low.bigEndian)
    self = withUnsafeBytes(of: &halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
