import Predicates

// Queries. They see the context's snapshot with its unsaved changes worked in: a changed object is found by its new values,
// a new one among the others, a deleted one not at all. For that, a query encodes those unsaved objects of its entity that
// were changed since the last query, and tests the records of all of them.

extension ManagedObjectContext {
  /// The objects that the query describes, in its order.
  ///
  /// An object that is in the context already is the one that is returned. The others are faults that know where their
  /// records lie: nothing is decoded before it is read.
  ///
  /// - Throws: `QueryError` for a mistake in the query; `ContextError` when the store can't be read; `CancellationError` when the task is
  ///   cancelled that it runs in, which a query that reads many rows looks for every few thousand.
  public func fetch<Root: ManagedObject>(_ request: From<Root>) throws -> [Root] {
    let (query, entity) = try resolved(request)
    return try fetch(query, entity)
  }

  /// The objects of an entity whose class is at hand.
  func fetch<Root: ManagedObject>(_ query: ResolvedQuery, _ entity: StoredEntity) throws -> [Root] {
    releaseKeptBeforeFetch()
    let keptBefore = view.keptByteCount
    defer { noteFetch(keptBefore: keptBefore) }
    if let rows = try UniqueLookup(query, of: entity)?.rows(in: self, needsRecord: true) {
      return try rows.map { try object($0, entity) }
    }
    let executor = try QueryExecutor(query, for: .objects, in: view, context: self)
    let rows = try executor.rows(needsRecords: true)
    objects[entity.ordinal].reserve(rows.count)
    return try rows.map { row in
      executor.isPending(row.number)
        ? object(Root.self, number: row.number, entity.ordinal) : try object(row, entity)
    }
  }

  /// The object of a row; its record, if it comes with one, is the snapshot's, as `StoreView.keep` has kept it.
  func object<Root: ManagedObject>(_ row: QueryRow, _ entity: StoredEntity) throws -> Root {
    guard let record = row.record else { return object(Root.self, number: row.number, entity.ordinal) }
    // No object has such a number, but a hostile file may.
    if record.isEmpty || !row.number.isSound { throw StoreView.damaged(row.number, of: entity) }
    return object(Root.self, number: row.number, record: record, entity.ordinal)
  }

  /// The first object that the query describes, or nil when there is none.
  public func fetchOne<Root: ManagedObject>(_ request: From<Root>) throws -> Root? {
    try fetch(request.limit(Swift.min(request.limit ?? 1, 1))).first
  }

  /// The IDs of the objects that the query describes, in its order. No object is made, and where an index answers the
  /// query alone, no record is read.
  public func fetchIDs<Root: ManagedObject>(_ request: From<Root>) throws -> [ManagedObjectID] {
    let (query, entity) = try resolved(request)
    let rows =
      try UniqueLookup(query, of: entity)?.rows(in: self, needsRecord: false)
      ?? QueryExecutor(query, for: .objects, in: view, context: self).rows(needsRecords: false)
    return rows.map { id($0.number, entity) }
  }

  /// How many objects the query describes. O(log n) where ranges of indexes are the answer; ``explain(_:)`` shows them.
  public func count<Root: ManagedObject>(_ request: From<Root>) throws -> Int {
    try count(resolved(request).query)
  }

  func count(_ query: ResolvedQuery) throws -> Int {
    try QueryExecutor(query, for: .count, in: view, context: self).count()
  }

  /// Whether there is any object that the query describes. O(log n) where ranges of indexes are the answer; else rows are read until one
  /// is found, in whichever order costs least.
  public func exists<Root: ManagedObject>(_ request: From<Root>) throws -> Bool {
    var (query, entity) = try resolved(request)
    if let rows = try UniqueLookup(query, of: entity)?.rows(in: self, needsRecord: false) {
      return !rows.isEmpty
    }
    query.sort = []
    query.limit = Swift.min(query.limit ?? 1, 1)
    return try count(query) > 0
  }

  /// How ``fetch(_:)`` would go about it: access path, ranges with their exact row counts, filter and order.
  ///
  /// The counts are those of the snapshot; unsaved changes are not among them.
  ///
  /// - Parameter analyze: whether to run the query, making no objects, and measure what it does.
  public func explain<Root: ManagedObject>(
    _ request: From<Root>,
    analyze: Bool = false
  ) throws -> QueryPlan {
    try explain(resolved(request).query, analyze: analyze)
  }

  func explain(_ query: ResolvedQuery, analyze: Bool) throws -> QueryPlan {
    let view = viewForValues()
    let executor = try QueryExecutor(query, for: .objects, in: view, context: self)
    let plan = executor.plan.explanation
    return try analyze ? plan.measured(in: view) { try executor.rows(needsRecords: true).count } : plan
  }

  func resolved<Root: ManagedObject>(
    _ request: From<Root>
  ) throws -> (query: ResolvedQuery, entity: StoredEntity) {
    try checkUsable()
    let entity = try modelEntity(of: Root.self)
    return (try request.resolved(for: entity.schema, in: coordinator.schema.schema, store: storeID), entity)
  }
}
