import Predicates

// Queries. They see the context's snapshot with its unsaved changes worked in: a changed object is found by its new
// values, a new one among the others, a deleted one not at all. For that, a query encodes those unsaved objects of its
// entity that were changed since the last query, and tests the records of all unsaved objects.

extension ManagedObjectContext {
  /// Returns the objects that the query describes, in its order.
  ///
  /// An object that the context already has is returned itself. The others are faults that know where their
  /// records lie: a value is decoded only when it is read.
  ///
  /// - Throws: `invalidQuery` for a mistake in the query; `store` or `corrupt` when the store can't be read;
  ///   `cancelled` when the task that the query runs in is cancelled. A query that reads many rows checks this every
  ///   few thousand rows.
  public func fetch<Root: ManagedObject>(_ request: From<Root>) throws(ContextError) -> [Root] {
    let (query, entity) = try resolved(request)
    return try fetch(query, entity)
  }

  /// Returns the objects of an entity whose class is at hand.
  func fetch<Root: ManagedObject>(
    _ query: ResolvedQuery,
    _ entity: StoredEntity
  ) throws(ContextError) -> [Root] {
    let paths = try prefetchPaths(of: query, entity)
    let objects: [Root] =
      if let selection = try partialSelection(of: query) { try partialObjects(selection, entity) } else {
        try wholeObjects(query, entity)
      }
    // Making the array of objects of any class takes longer than many queries.
    if !paths.isEmpty { try prefetch(paths, of: objects) }
    return objects
  }

  /// Returns the objects that a query describes, in its order, as faults that know where their records lie.
  private func wholeObjects<Root: ManagedObject>(
    _ query: ResolvedQuery,
    _ entity: StoredEntity
  ) throws(ContextError) -> [Root] {
    let rows = try keptRows(of: query, entity)
    let unsaved = entities[entity.ordinal].encoded
    var objects: [Root] = []
    objects.reserveCapacity(rows.count)
    for row in rows {
      objects.append(
        unsaved?.record(row.number) != nil
          ? object(Root.self, number: row.number, entity.ordinal) : try object(row, entity)
      )
    }
    return objects
  }

  /// Returns the rows of a query with their records, which the source keeps, and room for their objects.
  private func keptRows(of query: ResolvedQuery, _ entity: StoredEntity) throws(ContextError) -> [QueryRow] {
    if kept.areManyForFetch(source.keptByteCount) { releaseKept() }
    let keptBefore = source.keptByteCount
    defer { kept.noteFetch(before: keptBefore, after: source.keptByteCount) }
    let rows = try source.rows(of: query, over: layers(for: query), needsRecords: true)
    makeRoom(for: rows.count, entity.ordinal)
    return rows
  }

  /// Returns the context's own unsaved changes, for a query; nil for none. O(entities).
  func layers(for query: ResolvedQuery) -> UnsavedLayers? {
    guard query.includesUnsavedChanges else { return nil }
    // By their ordinals: copying the state of an entity would count a dozen references.
    let hasAny = entities.indices.contains { ordinal in
      !entities[ordinal].changes.isEmpty || entities[ordinal].hasChangedLinks
    }
    return hasAny ? UnsavedLayers(of: self) : nil
  }

  /// Returns the object of a row. If the row comes with a record, `ObjectSource.keep` has kept the record, and the
  /// source holds it.
  func object<Root: ManagedObject>(
    _ row: QueryRow,
    _ entity: StoredEntity
  ) throws(ContextError) -> Root {
    guard let record = row.record else { return object(Root.self, number: row.number, entity.ordinal) }
    // No object has such a number, but a hostile file may.
    if record.isEmpty || !entity.isSound(row.number) {
      throw ContextError.damagedRecord(row.number, of: entity.name)
    }
    return object(Root.self, number: row.number, record: record, entity.ordinal)
  }

  /// Returns the first object that the query describes, or nil when there is none.
  public func fetchOne<Root: ManagedObject>(_ request: From<Root>) throws(ContextError) -> Root? {
    try fetch(request.limit(Swift.min(request.untyped.limit ?? 1, 1))).first
  }

  /// Returns the IDs of the objects that the query describes, in its order. No object is made, and where an index
  /// answers the query alone, no record is read.
  public func fetchIDs<Root: ManagedObject>(
    _ request: From<Root>
  ) throws(ContextError) -> [ManagedObjectID] {
    let (query, entity) = try resolved(request)
    let rows = try source.rows(of: query, over: layers(for: query), needsRecords: false)
    return rows.map { id($0.number, entity) }
  }

  /// Returns the number of objects that the query describes. O(log n) where ranges of indexes are the answer;
  /// ``explain(_:analyze:)-(From<Root>,_)`` shows these ranges.
  public func count<Root: ManagedObject>(_ request: From<Root>) throws(ContextError) -> Int {
    try count(resolved(request).query)
  }

  func count(_ query: ResolvedQuery) throws(ContextError) -> Int {
    try source.count(of: query, over: layers(for: query))
  }

  /// Returns whether the query describes any object. O(log n) where ranges of indexes are the answer; else rows are
  /// read until one is found, in the order that costs least.
  public func exists<Root: ManagedObject>(_ request: From<Root>) throws(ContextError) -> Bool {
    var query = try resolved(request).query
    query.sort = []
    query.limit = Swift.min(query.limit ?? 1, 1)
    return try count(query) > 0
  }

  /// Returns the plan by which ``fetch(_:)-(From<Root>)`` would answer the query: access path, ranges with their exact
  /// row counts, filter and order.
  ///
  /// The counts are those of the snapshot; unsaved changes are not among them.
  ///
  /// - Parameters:
  ///   - request: the query to explain.
  ///   - analyze: true if the query is run, making no objects, and measured.
  public func explain<Root: ManagedObject>(
    _ request: From<Root>,
    analyze: Bool = false
  ) throws(ContextError) -> QueryPlan {
    try explain(resolved(request).query, analyze: analyze)
  }

  func explain(_ query: ResolvedQuery, analyze: Bool) throws(ContextError) -> QueryPlan {
    let partial = try partialSelection(of: query)
    return try explain(partial.map { .values($0) } ?? .objects(query), analyze: analyze)
  }

  func resolved<Root: ManagedObject>(
    _ request: From<Root>
  ) throws(ContextError) -> (query: ResolvedQuery, entity: StoredEntity) {
    try resolved(request.untyped, for: Root.self)
  }

  private func resolved(
    _ request: Request,
    for model: any ManagedObject.Type
  ) throws(ContextError) -> (query: ResolvedQuery, entity: StoredEntity) {
    try checkUsable()
    let entity = try modelEntity(of: model)
    let schema = coordinator.schema
    let query = try ContextError.resolving { () throws(QueryError) in
      try request.resolved(for: schema.entitySchema(of: model, entity), in: schema.schema, store: storeID)
    }
    return (query, entity)
  }
}

// MARK: - Compiler messages

extension ManagedObjectContext {
  /// Unavailable: other libraries fetch by the class; here a query describes the objects.
  @available(*, unavailable, message: "write a query for the class, as in 'fetch(From<Song>())'")
  public func fetch<Root: ManagedObject>(_ model: Root.Type) throws(ContextError) -> [Root] {
    fatalError("\(model) is no query")
  }
}
