import Foundation
import PageStore
import Predicates

// The computing of a forecast: in the same way as the opening works, on a snapshot of a store that is open for
// reading only.

extension MigrationForecast {
  /// Computes the effects of opening a store with these models.
  ///
  /// Reads the records of the entities that get an index, a constraint or a value; blocks until it is done.
  /// O(records of these entities).
  ///
  /// - Parameters:
  ///   - url: the store's file.
  ///   - models: the models that the store would be opened with.
  ///   - showsValues: whether the ``refusal`` shows values of the objects that break a rule, or only the names of
  ///     the properties.
  /// - Throws: `schemaMismatch` when the models make no schema, or this library doesn't read the store's
  ///   format; `store` when the store can't be opened: there is none, or a process has it open for writing
  ///   (`storeInUse`), this process included; `corrupt` for a store that is damaged; `invalidURL` for a URL that
  ///   isn't a file's. A refused change is no error here: ``refusal`` describes it.
  public init(
    at url: URL,
    to models: [any ManagedObject.Type],
    showsValues: Bool = true
  ) throws(ContextError) {
    try self.init(at: url, to: ContainerModels(classes: models, entities: []), showsValues)
  }

  /// Makes a forecast for a schema.
  public init(at url: URL, to schema: Schema, showsValues: Bool = true) throws(ContextError) {
    try self.init(at: url, to: ContainerModels(classes: [], others: .schema(schema)), showsValues)
  }

  private init(at url: URL, to models: ContainerModels, _ showsValues: Bool) throws(ContextError) {
    let store = try Store.openToRead(url)
    do {
      let known = try SchemaTree.schema(in: store.snapshot()) ?? CataloguedSchema()
      let step = UpgradeStep(schema: try models.schema(in: known), version: nil)
      try self.init(store, from: known, step, showsValues: showsValues)
    } catch {
      throw ContextError(any: error)
    }
  }

  /// Computes the effects of a step on a store; of a custom step, without its passes.
  init(_ store: Store, from known: CataloguedSchema, _ step: UpgradeStep, showsValues: Bool) throws {
    self = try ForecastBuilder(store, from: known, step, showsValues: showsValues).forecast()
  }
}

private struct ForecastBuilder {
  private let storeID: UUID
  private let snapshot: Snapshot
  private let step: UpgradeStep
  private let transition: SchemaTransition
  private let change: SchemaChange

  init(_ store: Store, from known: CataloguedSchema, _ step: UpgradeStep, showsValues: Bool) throws {
    storeID = UUID(store.uuid)
    snapshot = try store.snapshot()
    self.step = step
    transition = try SchemaTransition(
      store,
      snapshot,
      from: known,
      step,
      isForWriting: true,
      showsValues: showsValues
    )
    change = transition.change
  }

  func forecast() throws -> MigrationForecast {
    var forecast = try forecastOfSchema()
    forecast.refusal = try transition.refusal()
    // The catalogue of a change with obstacles need not be sound.
    guard change.obstacles.isEmpty else { return forecast }
    let stored = try ResolvedSchema(change.target, as: step.schema)
    forecast.fillings = try fillings()
    forecast.builtTrees = try builtTrees(stored)
    forecast.droppedTrees = try droppedTrees()
    forecast.earlierRecords = try earlierRecords()
    return forecast
  }

  private var hasHistory: Bool { get throws { try snapshot.treeIfPresent(HistoryTree.name) != nil } }

  private func forecastOfSchema() throws -> MigrationForecast {
    let renaming = SchemaRenaming(from: change.old, to: change.target)
    let isInterrupted = try SchemaTree.migration(in: snapshot) != nil
    return MigrationForecast(
      storeID: storeID,
      version: step.version,
      formatVersion: try SchemaEntries(snapshot)?.formatVersion,
      newFormatVersion: SchemaTree.formatVersion(
        hasHistory: try hasHistory,
        ofSchema: SchemaTree.formatVersion(of: change.target)
      ),
      difference: SchemaDifference(from: try change.old.schema(), to: step.schema, renaming),
      isInterrupted: isInterrupted,
      isCurrent: change.isEmpty && !isInterrupted && !change.old.entities.isEmpty
    )
  }

  /// The entities that continue, before and after the change.
  private var continued: [(old: CataloguedEntity, new: CataloguedEntity)] {
    let known = change.old.entities.dictionary(by: \.number)
    return change.target.entities.compactMap { entity in known[entity.number].map { ($0, entity) } }
  }

  private func earlierRecords() throws -> [MigrationForecast.EarlierRecords] {
    try continued.compactMap { old, new in
      if change.rebuilt.contains(new.name) || change.hasNewInverse(new.number)
        || change.derivedAnew.contains(new.number)
      {
        return nil
      }
      let newest = UInt32(new.layouts.count - 1)
      let count = try LayoutCensus(of: old, in: snapshot).count(besides: newest)
      return count == 0 ? nil : MigrationForecast.EarlierRecords(entity: new.name, count: count)
    }
  }

  // MARK: Values for objects that have none

  private func fillings() throws -> [MigrationForecast.Filling] {
    let earlier = try ResolvedSchema(change.old)
    return try continued.flatMap { old, new in
      try new.properties.compactMap { property in
        guard let attribute = step.schema.entity(named: new.name)?.attribute(named: property.name),
          let value = attribute.partDefault ?? attribute.defaultValue,
          let count = try missingCount(of: property, old, new, earlier), count > 0
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

  /// Returns the number of objects without a value in an attribute that is added or becomes required; nil for any
  /// other attribute. For a part of an embedded value that may be nil, only objects with that value count.
  private func missingCount(
    of property: CataloguedProperty,
    _ entity: CataloguedEntity,
    _ new: CataloguedEntity,
    _ earlier: ResolvedSchema
  ) throws -> Int? {
    guard let stored = earlier.entity(entity.number) else { return nil }
    let flag = property.flag(among: new.properties).flatMap { place in
      earlier.slot(of: new.properties[place].number, in: stored)
    }
    var slot: Int?
    if let known = entity.property(property.number) {
      let isRequired = !property.isOptional || property.isRequiredPart && !known.isRequiredPart
      guard isRequired, known.isOptional, let place = earlier.slot(of: known.number, in: stored) else {
        return nil
      }
      slot = place
    } else if property.absentValue.isNull {
      // An attribute that a subclass gets is nil in existing objects.
      return nil
    }
    if slot == nil, flag == nil { return try snapshot.treeIfPresent(entity.tree)?.count }
    var count = 0
    try stored.forEachRecord(in: snapshot) { _, record in
      if let slot, !record.isNull(slot) { return }
      if let flag, record.isNull(flag) { return }
      count += 1
    }
    return count
  }

  // MARK: Trees

  private func droppedTrees() throws -> [MigrationForecast.Tree] {
    let labels = TreeLabels(change.old)
    return try transition.wholeChange.droppedTrees.compactMap { name in
      guard let tree = try snapshot.treeIfPresent(name), let owner = labels.owner(of: name) else {
        return nil
      }
      return MigrationForecast.Tree(owner, entryCount: try tree.count)
    }
  }

  private func builtTrees(_ stored: ResolvedSchema) throws -> [MigrationForecast.BuiltTree] {
    let whole = transition.wholeChange
    let labels = TreeLabels(whole.target)
    let replaced = Set(change.old.entities.flatMap { $0.indexes.map(\.number) })
    return try whole.work.compactMap { work in
      switch work {
      case .index(let number, let index):
        guard let entity = stored.entity(number), let resolved = stored.index(index, of: entity) else {
          return nil
        }
        return try self.index(resolved, of: entity, isReplacing: replaced.contains(index))
      case .exchangedPairs(let source, let tree), .placedPairs(let source, let tree):
        return try copy(of: source, labels.owner(of: tree), isReplacing: false)
      case .order(let source, let tree):
        // The links may be built by the same change.
        let links = whole.work.compactMap { $0.sourceOfPairs(in: source) }.first ?? source
        return try order(of: links, labels.owner(of: tree), isReplacing: whole.hadOrder(inPlaceOf: tree))
      case .copiedPairs(let source, let tree), .barePairs(let source, let tree),
        .copiedValues(let source, let tree):
        return try copy(of: source, labels.owner(of: tree), isReplacing: true)
      case .records(let number, let source):
        return try copy(
          of: source,
          whole.target.entity(number).flatMap { labels.owner(of: $0.tree) },
          isReplacing: true
        )
      case .inverse, .derived, .pass: return nil
      }
    }
  }

  /// Returns a tree with as many entries as another one.
  private func copy(
    of source: String,
    _ owner: TreeLabels.Owner?,
    isReplacing: Bool
  ) throws -> MigrationForecast.BuiltTree? {
    guard let owner else { return nil }
    let count = try snapshot.treeIfPresent(source)?.count ?? 0
    let numbersInKey = owner.kind == .records ? 1 : 2
    return MigrationForecast.BuiltTree(
      tree: MigrationForecast.Tree(owner, entryCount: count),
      keyByteCount: count * numbersInKey * KeyCoder.numberByteCount,
      isReplacing: isReplacing
    )
  }

  /// Returns the order of the links of a tree.
  private func order(
    of source: String,
    _ owner: TreeLabels.Owner?,
    isReplacing: Bool
  ) throws -> MigrationForecast.BuiltTree? {
    guard let owner else { return nil }
    var (entryCount, byteCount) = (0, 0)
    if var cursor = try snapshot.treeIfPresent(source)?.cursor() {
      while try cursor.next() {
        guard let (owner, element) = KeyCoder.numbers(ofPair: try cursor.key()) else { continue }
        let entry = ListEntry(place: ListPlace([UInt8](try cursor.value())), number: element)
        entryCount += 1
        byteCount += KeyCoder.listKey(owner, entry).count
      }
    }
    return MigrationForecast.BuiltTree(
      tree: MigrationForecast.Tree(owner, entryCount: entryCount),
      keyByteCount: byteCount,
      isReplacing: isReplacing
    )
  }

  private func index(
    _ index: ResolvedIndex,
    of entity: StoredEntity,
    isReplacing: Bool
  ) throws -> MigrationForecast.BuiltTree {
    var key: [UInt8] = []
    var (entryCount, byteCount) = (0, 0)
    try entity.forEachRecord(in: snapshot) { number, record in
      index.forEachKey(of: record, number, in: &key) { key in
        entryCount += 1
        byteCount += key.count
      }
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
      case .orders: .orders
      case .blobs: .values
      }
    self.init(kind: kind, entity: owner.entity, name: owner.name, entryCount: entryCount)
  }
}

extension MigrationStep {
  /// Returns the tree out of which the step builds a tree of pairs; nil for another step.
  fileprivate func sourceOfPairs(in tree: String) -> String? {
    switch self {
    case .copiedPairs(_, tree), .barePairs(_, tree), .exchangedPairs(_, tree): source
    default: nil
    }
  }
}

extension SchemaChange {
  /// Returns true if the store has an order of the relationship that gets this tree for its order.
  fileprivate func hadOrder(inPlaceOf tree: String) -> Bool {
    let property = target.entities.flatMap(\.properties).first { $0.relationship?.orderTree == tree }
    guard let property else { return false }
    return old.entities.contains { $0.property(property.number)?.relationship?.orderTree != nil }
  }
}
