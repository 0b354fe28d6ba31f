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
  /// - Throws: `QueryError` for a mistake in the query; `ContextError` when the store can't be read.
  public func fetch<Root: ManagedObject>(_ request: From<Root>) throws -> [Root] {
    let executor = try executor(request, for: .objects)
    let layout = executor.entity.layout
    return try executor.rows(needsRecords: true).map { row in
      guard let record = row.record, !executor.isPending(row.number) else {
        return object(Root.self, number: row.number)
      }
      guard RecordView(record, layout: layout) != nil else {
        throw StoreView.damaged(row.number, of: executor.entity)
      }
      return object(Root.self, number: row.number, record: record)
    }
  }

  /// The first object that the query describes, or nil when there is none.
  public func fetchOne<Root: ManagedObject>(_ request: From<Root>) throws -> Root? {
    try fetch(request.limit(min(request.limit ?? 1, 1))).first
  }

  /// The IDs of the objects that the query describes, in its order. No object is made, and where an index answers the
  /// query alone, no record is read.
  public func fetchIDs<Root: ManagedObject>(_ request: From<Root>) throws -> [ManagedObjectID] {
    let executor = try executor(request, for: .objects)
    return try executor.rows(needsRecords: false).map { id($0.number, executor.entity) }
  }

  /// How many objects the query describes. O(log n) where ranges of indexes are the answer; ``explain(_:)`` shows them.
  public func count<Root: ManagedObject>(_ request: From<Root>) throws -> Int {
    try executor(request, for: .count).count()
  }

  /// Whether there is any object that the query describes.
  public func exists<Root: ManagedObject>(_ request: From<Root>) throws -> Bool {
    try !executor(request.limit(min(request.limit ?? 1, 1)), for: .objects).rows(needsRecords: false).isEmpty
  }

  /// How ``fetch(_:)`` would go about it: access path, ranges with their exact row counts, filter and order.
  ///
  /// The counts are those of the snapshot; unsaved changes are not among them.
  public func explain<Root: ManagedObject>(_ request: From<Root>) throws -> QueryPlan {
    try executor(request, for: .objects).plan.explanation
  }

  private func executor<Root: ManagedObject>(
    _ request: From<Root>,
    for purpose: QueryPlanner<StoreCounting>.Purpose
  ) throws -> QueryExecutor {
    try checkUsable()
    let entity = entity(of: Root.self)
    let query = try request.resolved(for: entity.schema, in: coordinator.schema.schema, store: storeID)
    return try QueryExecutor(query, for: purpose, in: view, context: self)
  }
}
