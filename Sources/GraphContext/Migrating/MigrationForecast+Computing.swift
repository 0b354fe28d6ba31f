import Foundation
import PageStore
import Predicates

// How a forecast is worked out: as opening does it, on a snapshot of a store that is open for reading only.

extension MigrationForecast {
  /// Works out what opening a store with these models would do.
  ///
  /// Reads the records of the entities that get an index, a constraint or a value; blocks until it is done. O(records of these).
  ///
  /// - Parameter showsValues: whether the ``refusal`` has the values of the objects in the way, or the names of the properties alone.
  /// - Throws: `schemaMismatch` when the models make no schema, or the store is of a newer version of the library; `store` when the store
  ///   can't be opened: there is none, or somebody has it open for writing (`storeInUse`), this process included; `corrupt` for a store
  ///   that is damaged; `invalidURL` for a URL that isn't a file's. A change that is refused is no error here: ``refusal`` has it.
  public init(
    at url: URL,
    to models: [any ManagedObject.Type],
    showsValues: Bool = true
  ) throws(ContextError) {
    try self.init(at: url, to: ContainerModels(classes: models), showsValues)
  }

  /// The same for a schema.
  public init(at url: URL, to schema: Schema, showsValues: Bool = true) throws(ContextError) {
    try self.init(at: url, to: ContainerModels(classes: [], others: .schema(schema)), showsValues)
  }

  private init(at url: URL, to models: ContainerModels, _ showsValues: Bool) throws(ContextError) {
    let store = try Store.openToRead(url)
    do { self = try ForecastBuilder(store, models).forecast(showsValues: showsValues) } catch {
      throw ContextError(any: error)
    }
  }
}

private struct ForecastBuilder {
  private let storeID: UUID
  private let snapshot: Snapshot
  private let schema: Schema
  private let change: SchemaChange

  init(_ store: Store, _ models: ContainerModels) throws {
    storeID = UUID(store.uuid)
    snapshot = try store.snapshot()
    let known = try SchemaTree.schema(in: snapshot) ?? CataloguedSchema()
    let schema = try models.schema(in: known)
    let empty = try known.emptyEntities(in: snapshot)
    self.schema = schema
    let isFoldedElsewhere = try known.hasFoldedIndexes && !SchemaTree.isFoldedAsHere(snapshot)
    change = SchemaChange(from: known, to: schema, isRefolding: isFoldedElsewhere) {
      empty.contains($0.number)
    }
  }

  func forecast(showsValues: Bool) throws -> MigrationForecast {
    var forecast = try forecastOfSchema()
    // The catalogue of a change with obstacles need not be one.
    guard change.obstacles.isEmpty else {
      forecast.refusal.obstacles = change.obstacles
      return forecast
    }
    let stored = try StoredSchema(change.target, as: schema)
    let checker = SchemaChecker(change, stored, snapshot, store: storeID, showsValues: showsValues)
    forecast.refusal = try checker.refusal()
    forecast.fillings = try fillings()
    forecast.builtTrees = try builtTrees(stored)
    forecast.droppedTrees = try droppedTrees()
    forecast.earlierRecords = try earlierRecords()
    return forecast
  }

  private func forecastOfSchema() throws -> MigrationForecast {
    let renaming = SchemaRenaming(from: change.old, to: change.target)
    let isInterrupted = try SchemaTree.migration(in: snapshot) != nil
    let isCurrent =
      try change.isEmpty && !isInterrupted && !change.old.entities.isEmpty
      && !SchemaTree.isOfEarlierFormat(snapshot)
    return MigrationForecast(
      storeID: storeID,
      formatVersion: try SchemaEntries(snapshot)?.formatVersion(),
      newFormatVersion: SchemaTree.formatVersion,
      difference: SchemaDifference(from: try change.old.schema(), to: schema, renaming),
      isInterrupted: isInterrupted,
      isCurrent: isCurrent
    )
  }

  /// The entities that go on, as they were and as they are to be.
  private var continued: [(old: CataloguedEntity, new: CataloguedEntity)] {
    let known = change.old.entities.dictionary(by: \.number)
    return change.target.entities.compactMap { entity in known[entity.number].map { ($0, entity) } }
  }

  private func earlierRecords() throws -> [MigrationForecast.EarlierRecords] {
    try continued.compactMap { old, new in
      let newest = UInt32(new.layouts.count - 1)
      let count = try LayoutCensus(of: old, in: snapshot).count(besides: newest)
      return count == 0 ? nil : MigrationForecast.EarlierRecords(entity: new.name, count: count)
    }
  }

  // MARK: Values for objects that have none

  private func fillings() throws -> [MigrationForecast.Filling] {
    let earlier = try StoredSchema(change.old)
    return try continued.flatMap { old, new in
      try new.properties.compactMap { property in
        guard let value = schema.entity(named: new.name)?.attribute(named: property.name)?.defaultValue,
          let count = try missingCount(of: property, old, earlier), count > 0
        else { return nil }
        return MigrationForecast.Filling(
          entity: new.name,
          property: property.name,
          value: value,
          objectCount: count
        )
      }
    }
  }

  /// The objects that have no value in an attribute that is added, or required from now on; nil for any other.
  private func missingCount(
    of property: CataloguedProperty,
    _ entity: CataloguedEntity,
    _ earlier: StoredSchema
  ) throws -> Int? {
    guard let known = entity.property(property.number) else {
      return try snapshot.treeIfPresent(entity.tree)?.count
    }
    guard known.isOptional, !property.isOptional, let stored = earlier.entity(entity.number),
      let slot = earlier.slot(of: known.number, in: stored)
    else { return nil }
    var count = 0
    try stored.forEachRecord(in: snapshot) { _, record in if record.isNull(slot) { count += 1 } }
    return count
  }

  // MARK: Trees

  private func droppedTrees() throws -> [MigrationForecast.Tree] {
    let labels = TreeLabels(change.old)
    return try change.droppedTrees.compactMap { name in
      guard let tree = try snapshot.treeIfPresent(name), let owner = labels.owner(of: name) else {
        return nil
      }
      return MigrationForecast.Tree(owner, entryCount: try tree.count)
    }
  }

  private func builtTrees(_ stored: StoredSchema) throws -> [MigrationForecast.BuiltTree] {
    let labels = TreeLabels(change.target)
    let replaced = Set(change.old.entities.flatMap { $0.indexes.map(\.number) })
    var built: [MigrationForecast.BuiltTree] = []
    for work in change.work {
      switch work {
      case .index(let number, let index):
        guard let entity = stored.entity(number), let resolved = stored.index(index, of: entity) else {
          continue
        }
        built.append(try self.index(resolved, of: entity, isReplacing: replaced.contains(index)))
      case .exchangedPairs(let source, let tree):
        guard let owner = labels.owner(of: tree) else { continue }
        let count = try snapshot.treeIfPresent(source)?.count ?? 0
        built.append(
          MigrationForecast.BuiltTree(
            tree: MigrationForecast.Tree(owner, entryCount: count),
            keyByteCount: count * 2 * KeyCoder.objectIDByteCount,
            isReplacing: false
          )
        )
      }
    }
    return built
  }

  private func index(
    _ index: ResolvedIndex,
    of entity: StoredEntity,
    isReplacing: Bool
  ) throws -> MigrationForecast.BuiltTree {
    var key: [UInt8] = []
    var (entryCount, byteCount) = (0, 0)
    try entity.forEachRecord(in: snapshot) { number, record in
      key.removeAll(keepingCapacity: true)
      _ = index.appendKey(of: record, number, to: &key)
      entryCount += 1
      byteCount += key.count
    }
    return MigrationForecast.BuiltTree(
      tree: MigrationForecast.Tree(
        kind: .index,
        entity: entity.name,
        name: index.name,
        entryCount: entryCount
      ),
      keyByteCount: byteCount,
      isReplacing: isReplacing
    )
  }
}

extension MigrationForecast.Tree {
  fileprivate init(_ owner: TreeLabels.Owner, entryCount: Int) {
    let kind: Kind =
      switch owner.kind {
      case .records: .records
      case .index: .index
      case .references: .references
      case .pairs: .pairs
      }
    self.init(kind: kind, entity: owner.entity, name: owner.name, entryCount: entryCount)
  }
}

extension EntityDescription {
  fileprivate func attribute(named name: String) -> AttributeDescription? {
    if case .attribute(let attribute)? = property(named: name) { attribute } else { nil }
  }
}
