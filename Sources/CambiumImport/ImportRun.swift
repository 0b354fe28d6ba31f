import Cambium

/// One import in one context, batch by batch.
struct ImportRun<Source: SendableMetatype, Object: ManagedObject> {
  private let description: ObjectImport<Source, Object>
  /// Nil for an import without a key.
  private let access: ImportKeyAccess<Object>?
  private let context: ManagedObjectContext
  private let cache: ImportedObjectCache?
  private let monitor: ImportMonitor
  private(set) var counts = ImportCounts()
  /// The position among the context's inserted objects at which the next search begins.
  private var insertedPosition = 0
  /// The number of the next batch's first record in each pass, for passes that are made one after the other.
  private var nextRecord = (properties: 0, relationships: 0)
  /// The numbers of the records that conditions have refused in a first pass that is made alone. An `IndexSet`,
  /// because a file may have runs of millions of them.
  private var refused = IndexSet()

  /// The passes that a call makes.
  enum Passes { case properties, relationships, both }

  init(
    _ description: ObjectImport<Source, Object>,
    in context: ManagedObjectContext,
    cache: ImportedObjectCache?,
    _ monitor: ImportMonitor
  ) {
    self.description = description
    access = description.key?.access()
    self.context = context
    self.cache = cache
    self.monitor = monitor
  }

  /// A source and the object that it belongs to.
  private struct Item {
    let source: Source
    /// `null` in an import without a key.
    let id: AttributeValue
    /// The position of the source in its batch.
    let place: Int
    var object: Object?
  }

  /// Imports sources.
  ///
  /// - Returns: the objects of the sources, in order; those that were left out or deleted are absent.
  mutating func run(_ sources: [Source], _ passes: Passes = .both) throws -> [Object] {
    if sources.isEmpty { return [] }
    var items = try items(of: sources)
    try work(through: &items, of: sources.count, passes)
    return takeObjects(of: items)
  }

  /// Returns the objects that exist, and removes the others from the cache.
  private func takeObjects(of items: [Item]) -> [Object] {
    forgetDeleted(items)
    return items.compactMap { item in item.object.flatMap { isThere($0) ? $0 : nil } }
  }

  /// Returns false for an object that was deleted, also if it was deleted before it was saved.
  private func isThere(_ object: Object) -> Bool { !object.isDeleted && object.context === context }

  /// Removes from the cache the objects that a closure has deleted, unless another source of the same ID has an
  /// object.
  private func forgetDeleted(_ items: [Item]) {
    guard let cache else { return }
    let gone = Set(items.lazy.filter { $0.object.map { !isThere($0) } ?? false }.map(\.id))
    if gone.isEmpty { return }
    for id in gone { cache.forget(Object.self, with: id) }
    register(items.filter { gone.contains($0.id) })
  }

  private mutating func work(through items: inout [Item], of sourceCount: Int, _ passes: Passes) throws {
    switch passes {
    case .both: try runFirstPass(&items, of: sourceCount)
    case .properties:
      try runFirstPass(&items, of: sourceCount)
      for item in items where item.object == nil { refused.insert(nextRecord.properties + item.place) }
      nextRecord.properties += sourceCount
    case .relationships:
      items.removeAll { refused.contains(nextRecord.relationships + $0.place) }
      nextRecord.relationships += sourceCount
      try find(&items)
      counts.missing += items.count { $0.object == nil }
    }
    guard passes != .properties, let update = description.updateRelationships else { return }
    var updated = 0
    for item in items {
      // The first pass may have deleted it.
      guard let object = item.object, isThere(object) else { continue }
      try checkCancellation()
      try update(item.source, object, context, cache)
      updated += 1
      monitor.advance()
    }
    monitor.advance(by: sourceCount - updated)
  }

  /// - Throws: `CancellationError` once the import is cancelled, or the task that waits for the block in which it runs.
  private func checkCancellation() throws {
    try monitor.check()
    if context.isWorkCancelled { throw CancellationError() }
  }

  /// Applies the duplicate rule to sources of the same ID, and leaves out sources without an ID.
  private mutating func items(of sources: [Source]) throws -> [Item] {
    guard let key = description.key else {
      return sources.enumerated().map { Item(source: $1, id: .null, place: $0) }
    }
    var items: [Item] = []
    items.reserveCapacity(sources.count)
    var places: [AttributeValue: Int] = [:]
    for (number, source) in sources.enumerated() {
      guard let id = try key.id(source, context), !id.isNull else { continue }
      let item = Item(source: source, id: id, place: number)
      if description.duplicates == .lastWins {
        if let place = places[id] {
          items[place] = item
          continue
        }
        places[id] = items.count
      }
      items.append(item)
    }
    guard let preProcess = description.preProcessing else { return items }
    return try preProcessed(items, preProcess)
  }

  /// Calls the program's closure, which may drop or replace sources. A dictionary has one source of an ID, so a
  /// second call gets the second sources of IDs, and so on.
  private func preProcessed(
    _ items: [Item],
    _ preProcess: ([AttributeValue: Source]) throws -> [AttributeValue: Source]
  ) throws -> [Item] {
    var rounds: [[Int]] = []
    var counts: [AttributeValue: Int] = [:]
    for (index, item) in items.enumerated() {
      let round = counts[item.id, default: 0]
      if round == rounds.count { rounds.append([]) }
      rounds[round].append(index)
      counts[item.id] = round + 1
    }
    var kept: [Item?] = items.map { _ in nil }
    for round in rounds {
      let given = Dictionary(uniqueKeysWithValues: round.map { (items[$0].id, items[$0].source) })
      let sources = try preProcess(given)
      for index in round {
        let item = items[index]
        kept[index] = sources[item.id].map { Item(source: $0, id: item.id, place: item.place) }
      }
    }
    return kept.compactMap(\.self)
  }

  // MARK: Properties

  private mutating func runFirstPass(_ items: inout [Item], of sourceCount: Int) throws {
    counts.records += sourceCount
    let isCounted = description.hasProperties || description.updateRelationships == nil
    defer { counts.refused += sourceCount - items.count(where: { $0.object != nil }) }
    if let access {
      try runFirstPass(&items, by: access, isCounted: isCounted)
    } else {
      for place in items.indices {
        try checkCancellation()
        items[place].object = try insert(items[place], by: nil)
        if isCounted { monitor.advance() }
      }
    }
    if isCounted { monitor.advance(by: sourceCount - items.count) }
  }

  private mutating func runFirstPass(
    _ items: inout [Item],
    by access: ImportKeyAccess<Object>,
    isCounted: Bool
  ) throws {
    var uncached: [Int] = []
    for place in items.indices {
      guard let object = try cached(items[place].id) else {
        uncached.append(place)
        continue
      }
      try checkCancellation()
      items[place].object = try update(object, items[place].source)
      if isCounted { monitor.advance() }
    }
    // This comes before relationships look for objects.
    defer { forgetDeleted(items) }
    if uncached.isEmpty { return }
    var known = try lookUp(uncached.map { items[$0].id }, access)
    if description.isUniquing {
      _ = try context.insertedObjects(of: Object.self, since: &insertedPosition)
    }
    for place in uncached {
      try checkCancellation()
      let item = items[place]
      if description.isUniquing, isMissing(known[item.id]) {
        known[item.id] = nil
        try addInserted(to: &known, access)
      }
      if let object = known[item.id], isThere(object) {
        items[place].object = try update(object, item.source)
      } else {
        items[place].object = try insert(item, by: access)
      }
      if isCounted { monitor.advance() }
    }
    register(uncached.map { items[$0] })
  }

  /// Adds the objects that closures have inserted, and those of earlier sources.
  private mutating func addInserted(
    to known: inout [AttributeValue: Object],
    _ access: ImportKeyAccess<Object>
  ) throws {
    for object in try context.insertedObjects(of: Object.self, since: &insertedPosition) {
      let id = access.value(object)
      if isMissing(known[id]) { known[id] = object }
    }
  }

  // A key path in generic code is made anew at each use, and costs more than looking up an object.
  private func isMissing(_ object: Object?) -> Bool { object.map { !isThere($0) } ?? true }

  private mutating func update(_ object: Object, _ source: Source) throws -> Object? {
    if let shouldUpdate = description.shouldUpdate, try !shouldUpdate(source, context) { return nil }
    try description.updateProperties?(source, object, context)
    counts.updated += 1
    return object
  }

  private mutating func insert(_ item: Item, by access: ImportKeyAccess<Object>?) throws -> Object? {
    if let shouldInsert = description.shouldInsert, try !shouldInsert(item.source, context) { return nil }
    let object =
      if let insertObject = description.insertObject {
        try insertObject(item.source, context)
      } else {
        try context.insertNew(Object.self)
      }
    access?.set(item.id, object)
    try (description.didInsert ?? description.updateProperties)?(item.source, object, context)
    counts.inserted += 1
    return object
  }

  // MARK: Finding

  /// Finds the objects that the first pass has made or updated.
  private mutating func find(_ items: inout [Item]) throws {
    guard let access else { return }
    for place in items.indices { items[place].object = try cached(items[place].id) }
    let uncached = items.indices.filter { items[$0].object == nil }
    if uncached.isEmpty { return }
    let known = try lookUp(uncached.map { items[$0].id }, access)
    for place in uncached { items[place].object = known[items[place].id] }
  }

  private func cached(_ id: AttributeValue) throws -> Object? {
    guard let object = try cache?.object(Object.self, with: id, in: context) else { return nil }
    return isThere(object) ? object : nil
  }

  /// Finds the objects of some IDs. Of several objects with one ID, the first counts.
  private mutating func lookUp(
    _ ids: [AttributeValue],
    _ access: ImportKeyAccess<Object>
  ) throws -> [AttributeValue: Object] {
    counts.lookups += 1
    var known: [AttributeValue: Object] = [:]
    for object in try objects(of: Set(ids), access) {
      let id = access.value(object)
      if let first = known[id], first !== object {
        counts.duplicates[first.objectID, default: []].insert(object.objectID)
      } else {
        known[id] = object
      }
    }
    return known
  }

  /// Returns the stored and the unsaved objects of some IDs. An object may be among them twice.
  ///
  /// One query finds the objects of few IDs. For more values than `IndexMatch.maximumRangeCount` a query would read all
  /// that lies in the index between the least and the greatest of them. So there are several queries for many IDs, of
  /// the saved state alone, because each of them would look at all unsaved objects: these are looked at once.
  private func objects(of ids: Set<AttributeValue>, _ access: ImportKeyAccess<Object>) throws -> [Object] {
    let (list, partCount) = (Array(ids), IndexMatch.maximumRangeCount)
    if list.count <= partCount { return try context.fetch(access.request(list)) }
    let parts = stride(from: 0, to: list.count, by: partCount).map { start in
      access.request(Array(list[start..<min(start + partCount, list.count)])).includingUnsavedChanges(false)
    }
    // Without an index each query reads every object.
    if try context.explain(parts[0]).access == .fullScan { return try context.fetch(access.request(list)) }
    var objects: [Object] = []
    for part in parts { objects += try context.fetch(part) }
    if !context.hasChanges { return objects }
    // An object of the saved state may be deleted by now, or have another ID.
    objects.removeAll { !isThere($0) || !ids.contains(access.value($0)) }
    return try objects + unsavedObjects(of: ids, access)
  }

  private func unsavedObjects(
    of ids: Set<AttributeValue>,
    _ access: ImportKeyAccess<Object>
  ) throws -> [Object] {
    var position = 0
    var objects = try context.insertedObjects(of: Object.self, since: &position)
    objects += try context.editedObjects(of: Object.self)
    return objects.filter { ids.contains(access.value($0)) }
  }

  private func register(_ items: [Item]) {
    cache?.register(
      items.compactMap { item in item.object.flatMap { isThere($0) ? (item.id, $0) : nil } }
    )
  }
}
