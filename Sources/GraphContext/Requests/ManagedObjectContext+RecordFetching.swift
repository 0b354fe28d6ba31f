import Predicates

// Queries for records. They see unsaved changes as those for objects of models do.

extension ManagedObjectContext {
  /// Returns the records that the query describes, in its order: as with ``fetch(_:)-(From<Root>)``, faults that know
  /// where their values lie.
  ///
  /// ```swift
  /// let long = try PredicateTree(format: "seconds > 180")
  /// let songs = try context.fetch(DynamicQuery("Song", where: long, sort: [.init("title")]))
  /// ```
  ///
  /// - Throws: `invalidQuery` for a mistake in the query, or one for values or groups; `unknownEntity` when the store
  ///   has no such entity, or the container has a class for it; else what ``fetch(_:)-(From<Root>)`` throws.
  public func fetch(_ query: DynamicQuery) throws(ContextError) -> [ManagedRecord] {
    let (query, entity) = try resolvedForRecords(query)
    return try fetch(query, entity)
  }

  /// Returns the objects of a class that a query in words describes, in its order.
  ///
  /// ```swift
  /// let songs = try context.fetch(DynamicQuery("Song", where: PredicateTree(format: text)), as: Song.self)
  /// ```
  ///
  /// - Throws: `unknownEntity` when the query is for another entity than that of the class; else what
  ///   ``fetch(_:)-(DynamicQuery)`` throws.
  public func fetch<Root: ManagedObject>(
    _ query: DynamicQuery,
    as type: Root.Type
  ) throws(ContextError) -> [Root] {
    let (resolved, entity) = try resolved(query)
    guard coordinator.models.hasObjects(of: query.entity, entity, as: type) else {
      let known = coordinator.models.types[entity.ordinal]
      throw ContextError(
        .unknownEntity,
        "the objects of \(query.entity) are of the class \(known) in this container, and not \(type)",
        context: .init(entity: query.entity)
      )
    }
    return try fetch(resolved, entity)
  }

  /// Returns the number of objects that the query describes: records, or objects of a class. O(log n) where ranges of
  /// indexes are the answer.
  public func count(_ query: DynamicQuery) throws(ContextError) -> Int { try count(resolved(query).query) }

  /// Returns the plan by which ``fetch(_:)-(DynamicQuery)`` would answer the query.
  ///
  /// - Parameters:
  ///   - query: the query to explain.
  ///   - analyze: true if the query is run, making no records, and measured.
  public func explain(_ query: DynamicQuery, analyze: Bool = false) throws(ContextError) -> QueryPlan {
    try explain(resolved(query).query, analyze: analyze)
  }

  /// Returns the records that the query describes, in batches of this size.
  public func fetch(_ query: DynamicQuery, inBatchesOf count: Int) -> ObjectBatches<ManagedRecord> {
    ObjectBatches { self.stream(query, batchCount: count) }
  }

  /// Calls `body` with each record that the query describes, in its order. The values of at most `count` records, which
  /// is at least one, are in memory at a time.
  ///
  /// The set of records is determined at the start, as ``ObjectBatches`` says. The body may change and save.
  ///
  /// - Throws: What ``fetch(_:)-(DynamicQuery)`` and `body` throw.
  public func forEach(
    _ query: DynamicQuery,
    inBatchesOf count: Int = 500,
    _ body: (ManagedRecord) throws -> Void
  ) throws {
    try forEach(stream(query, batchCount: count), body)
  }

  private func stream(_ query: DynamicQuery, batchCount: Int) -> ObjectStream<ManagedRecord> {
    ObjectStream(self, batchCount: batchCount) { context throws(ContextError) in
      try context.resolvedForRecords(query)
    }
  }

  private func resolved(
    _ query: DynamicQuery
  ) throws(ContextError) -> (query: ResolvedQuery, entity: StoredEntity) {
    try checkUsable()
    let entity = try entity(named: query.entity)
    let resolved = try ContextError.resolving { () throws(QueryError) in
      try query.resolvedForObjects(in: coordinator.schema.schema, store: storeID)
    }
    return (resolved, entity)
  }

  private func resolvedForRecords(
    _ query: DynamicQuery
  ) throws(ContextError) -> (query: ResolvedQuery, entity: StoredEntity) {
    _ = try recordEntity(named: query.entity)
    return try resolved(query)
  }
}
