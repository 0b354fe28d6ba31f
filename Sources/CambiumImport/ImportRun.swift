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

  /// Returns false for an object that was deleted, also if it was deleted before it was saved, and for one that a
  /// closure has taken out of the context.
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
    let ids = uncached.map { items[$0].id }
    var known = try KnownObjects(
      objects: lookUp(ids, access),
      place: context.insertionPlace(of: Object.self),
      endOfLookups: ids.count
    )
    for (index, place) in uncached.enumerated() {
      try checkCancellation()
      let item = items[place]
      if description.isUniquing, isMissing(known.objects[item.id]) {
        try find(ids, at: index, access, &known)
      }
      if let object = known.objects[item.id], isThere(object) {
        items[place].object = try update(object, item.source)
      } else {
        items[place].object = try insert(item, by: access)
      }
      if isCounted { monitor.advance() }
    }
    register(uncached.map { items[$0] })
  }

  /// The objects of a batch's IDs.
  private struct KnownObjects {
    var objects: [AttributeValue: Object]
    /// The place behind the inserted objects that were looked at.
    var place: InsertionPlace
    /// The index of the first ID that has not been looked up since the last save.
    var endOfLookups: Int
    /// The number of IDs of the next lookup.
    var nextCount = 1
  }

  /// Looks for the object of an ID for which none is known: it adds the objects that closures have inserted, and those
  /// of earlier sources.
  ///
  /// If a closure has saved the context, rolled it back or reset it, some of these objects are not among the inserted
  /// ones any more. So the rest of the IDs are looked up again, twice as many each time: this takes few lookups after
  /// one save, and lookups of few IDs if a save follows each source.
  ///
  /// - Parameters:
  ///   - ids: the IDs of the batch.
  ///   - index: the index of the ID.
  private mutating func find(
    _ ids: [AttributeValue],
    at index: Int,
    _ access: ImportKeyAccess<Object>,
    _ known: inout KnownObjects
  ) throws {
    known.objects[ids[index]] = nil
    if let inserted = try context.insertedObjects(of: Object.self, since: &known.place) {
      for object in inserted {
        let id = access.value(object)
        if isMissing(known.objects[id]) { known.objects[id] = object }
      }
    } else {
      (known.endOfLookups, known.nextCount) = (index, 1)
    }
    if index < known.endOfLookups || known.objects[ids[index]] != nil { return }
    let end = min(ids.count, index + known.nextCount)
    let missing = ids[index..<end].filter { isMissing(known.objects[$0]) }
    for (id, object) in try lookUp(missing, access) { known.objects[id] = object }
    (known.endOfLookups, known.nextCount) = (end, 2 * known.nextCount)
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
    return try objects + context.unsavedObjects(of: Object.self).filter { ids.contains(access.value($0)) }
  }

  private func register(_ items: [Item]) {
    cache?.register(
      items.compactMap { item in item.object.flatMap { isThere($0) ? (item.id, $0) : nil } }
    )
  }
}
