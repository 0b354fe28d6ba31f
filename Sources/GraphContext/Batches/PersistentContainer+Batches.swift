import Predicates

// Changes of many stored objects without objects in memory.

extension PersistentContainer {
  /// Deletes all objects that a query describes, in one commit or in one for each chunk, and returns their IDs. No
  /// object is made.
  ///
  /// The query is answered by the newest state of the store; contexts with unsaved changes don't matter. Delete rules
  /// are applied to every object as in a context, and one object that can't be deleted makes all of it fail. Contexts
  /// learn of the deletions as of any save by another context. No hooks are called.
  ///
  /// O(deleted objects · log n); other writers wait meanwhile.
  ///
  /// - Parameters:
  ///   - request: the objects; its order matters only with a limit.
  ///   - chunkSize: the number of objects in a commit, at least 1; nil for one commit with all of them. With chunks,
  ///     the objects are determined at the start, and each chunk deletes those that still meet the condition in its
  ///     turn; other writers have turns in between. If a chunk fails, the chunks before it are stored, and
  ///     ``ContextError/committedIDs`` has their objects.
  ///   - durability: when a commit counts as done, if not as the container's options say.
  ///   - author: the author of the changes, for the history.
  /// - Returns: the IDs of the objects that the query describes, ascending; not those that rules have deleted as well.
  ///   With chunks, an object that the rules of an earlier chunk have deleted is one of the latter.
  /// - Throws: `invalidQuery`, and what a save throws: `deletionDenied`, `missingValue`, `store`.
  @discardableResult
  public func batchDelete<Root: ManagedObject>(
    _ request: From<Root>,
    chunkSize: Int? = nil,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws(ContextError) -> [ManagedObjectID] {
    let (query, entity) = try resolved(request)
    return try await run(entity, durability, author) { batch throws(ContextError) in
      try batch.delete(query, entity, chunkSize: chunkSize)
    }
  }

  /// Deletes every object of a model, in one commit, and the objects that delete rules delete with them:
  /// ``batchDelete(_:chunkSize:durability:author:)`` without a condition.
  ///
  /// - Returns: the number of deleted objects of the model.
  @discardableResult
  public func deleteAll<Root: ManagedObject>(
    _ model: Root.Type,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws(ContextError) -> Int {
    try await batchDelete(From<Root>(), durability: durability, author: author).count
  }

  /// Deletes every object of every entity, in one commit. The store keeps its ID and its schema, and no ID is used
  /// again.
  ///
  /// Contexts learn of the deletions as of any save by another context; their unsaved changes to the objects are in
  /// conflict. No hooks are called.
  ///
  /// O(objects · log n); other writers wait meanwhile.
  ///
  /// - Parameters:
  ///   - durability: when the commit counts as done, if not as the container's options say.
  ///   - author: the author of the changes, for the history.
  public func resetStore(durability: Durability? = nil, author: String? = nil) async throws(ContextError) {
    try handle.checkOpen()
    let (schema, storeID) = (schema, storeID)
    let queries = try ContextError.resolving { () throws(QueryError) in
      var queries: [ResolvedQuery] = []
      for entity in schema.entities {
        queries.append(try DynamicQuery(entity.name).resolvedForObjects(in: schema, store: storeID))
      }
      return queries
    }
    try await queue.run { [coordinator] () throws(ContextError) in
      try StoreBatch(coordinator, durability, author: author).deleteAll(queries)
    }
  }

  /// Sets attributes of all objects that a query describes, in one commit or in one for each chunk, and returns their
  /// IDs. No object is made.
  ///
  /// ```swift
  /// try await container.batchUpdate(From<Song>().where { $0.album.year < 1980 }, .set(\.rating) { $0.rating + 1 })
  /// ```
  ///
  /// The query is answered by the newest state of the store, and each expression sees the values before the update. A
  /// calculation whose result is beyond the greatest number of a Float or Double attribute gives nil.
  /// Required values, the rules of attributes and unique values are checked as by a save; one failure makes all of it
  /// fail. Contexts learn of the changes as of any save by another context. No hooks are called.
  ///
  /// O(objects · log n); other writers wait meanwhile. The types of attributes with calculated values read these back
  /// in that time. So their initialisers, `init?(rawValue:)` or `init(from:)`, must not write to the container: they
  /// would wait for their own batch.
  ///
  /// - Parameters:
  ///   - request: the objects; its order matters only with a limit.
  ///   - assignments: the new values. Of two for one attribute the last counts.
  ///   - chunkSize: the number of objects in a commit, at least 1; nil for one commit with all of them. With chunks,
  ///     the objects are determined at the start, and each chunk changes those that still meet the condition in its
  ///     turn; other writers have turns in between. If a chunk fails, the chunks before it are stored, and
  ///     ``ContextError/committedIDs`` has their objects.
  ///   - durability: when a commit counts as done, if not as the container's options say.
  ///   - author: the author of the changes, for the history.
  /// - Returns: the IDs of the objects that the query describes, ascending.
  /// - Throws: `invalidQuery`, and what a save throws: `missingValue` for nil where a value is required, `wrongValue`
  ///   for a value that the attribute can't have or that its type can't read back from the stored form,
  ///   `validationFailed`, `notUnique`, `store`.
  @discardableResult
  public func batchUpdate<Root: ManagedObject>(
    _ request: From<Root>,
    _ assignments: Assignment<Root>...,
    chunkSize: Int? = nil,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws(ContextError) -> [ManagedObjectID] {
    try await batchUpdate(
      request,
      assignments,
      chunkSize: chunkSize,
      durability: durability,
      author: author
    )
  }

  /// Sets attributes like ``batchUpdate(_:_:chunkSize:durability:author:)-(_,Assignment<Root>...,_,_,_)``, with the new
  /// values in an array.
  @discardableResult
  public func batchUpdate<Root: ManagedObject>(
    _ request: From<Root>,
    _ assignments: [Assignment<Root>],
    chunkSize: Int? = nil,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws(ContextError) -> [ManagedObjectID] {
    let (query, entity) = try resolved(request)
    let resolved = try ContextError.resolving { () throws(QueryError) in
      var resolved: [ResolvedAssignment] = []
      for assignment in assignments {
        let next = try assignment.resolved(for: entity.schema, in: schema, store: storeID)
        resolved.removeAll { $0.slot == next.slot }
        resolved.append(next)
      }
      return resolved
    }
    if let unreadable = resolved.first(where: { $0.reading == .fails }) {
      let context = ContextError.Context(entity: entity.name, properties: [unreadable.name])
      throw .unreadableValue(of: "\(entity.name).\(unreadable.name)", context)
    }
    return try await run(entity, durability, author) { batch throws(ContextError) in
      try batch.update(query, entity, resolved, chunkSize: chunkSize)
    }
  }

  /// Inserts an object for each row, and returns their IDs. No object is made.
  ///
  /// ```swift
  /// try await container.batchInsert(Song.self, from: rows, .set(\.title) { $0.name }, .set(\.album) { $0.albumID })
  /// ```
  ///
  /// An attribute without a column has the default of its declaration, where the model has one: `var seconds = 0`.
  /// Required values, the rules of attributes, references and unique values are checked as by a save. Contexts learn of
  /// the objects as of any save by another context. No hooks are called, no initialiser of a model either.
  ///
  /// O(rows · log n). Records are made before other writers have to wait. All of a chunk is in memory at once, about as
  /// large as in the store.
  ///
  /// - Parameters:
  ///   - model: the model of the objects.
  ///   - rows: any values. They are iterated once, on a background queue.
  ///   - columns: the value of each property of a row's object. Of two for one property the last counts.
  ///   - chunkSize: the number of rows in a commit, at least 1; nil for one commit with all of them. If a chunk fails,
  ///     the chunks before it are stored, and none after it; ``ContextError/committedIDs`` has their objects.
  ///   - policy: the treatment of rows with unique values of existing objects, if not the one that each constraint
  ///     declares.
  ///   - durability: when a commit counts as done, if not as the container's options say.
  ///   - author: the author of the changes, for the history.
  /// - Returns: the IDs of the rows' objects, in the order of the rows. Those of existing objects are among them where
  ///   a policy has unified rows with them.
  /// - Throws: `invalidQuery` for a column that can't be set, and what a save throws: `missingValue`, `wrongValue`,
  ///   `validationFailed`, `missingDestination`, `notUnique`, `store`. `wrongValue` also for a value that its type can't
  ///   read back from the stored form: a raw value, say, that the failable initialiser refuses.
  @discardableResult
  public func batchInsert<Root: ManagedObject, Row>(
    _ model: Root.Type,
    from rows: some Sequence<Row> & Sendable,
    _ columns: BatchColumn<Root, Row>...,
    chunkSize: Int? = nil,
    ifExists policy: UniquePolicy? = nil,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws(ContextError) -> [ManagedObjectID] {
    try await batchInsert(
      rows: rows,
      columns,
      chunkSize: chunkSize,
      ifExists: policy,
      durability: durability,
      author: author
    )
  }

  func batchInsert<Root: ManagedObject, Row>(
    rows: some Sequence<Row> & Sendable,
    _ columns: [BatchColumn<Root, Row>],
    chunkSize: Int?,
    ifExists policy: UniquePolicy?,
    durability: Durability?,
    author: String?
  ) async throws(ContextError) -> [ManagedObjectID] {
    try handle.checkOpen()
    guard let entity = coordinator.models.entity(of: Root.self) else { throw .unknownModel(Root.self) }
    let tag = try coordinator.models.classTag(of: Root.self, entity)
    let resolved = try ContextError.resolving { () throws(QueryError) in
      var resolved: [ResolvedColumn<Row>] = []
      for column in columns { resolved.append(try column.resolved(for: entity, in: schema)) }
      return resolved
    }
    return try await run(entity, durability, author) { batch throws(ContextError) in
      try batch.insert(
        rows,
        resolved,
        entity,
        classTag: tag,
        chunkSize: max(1, chunkSize ?? .max),
        ifExists: policy
      )
    }
  }

  private func resolved<Root: ManagedObject>(
    _ request: From<Root>
  ) throws(ContextError) -> (ResolvedQuery, StoredEntity) {
    try handle.checkOpen()
    guard let entity = coordinator.models.entity(of: Root.self) else { throw .unknownModel(Root.self) }
    let query = try ContextError.resolving { () throws(QueryError) in
      try request.untyped.resolved(
        for: coordinator.schema.entitySchema(of: Root.self, entity),
        in: schema,
        store: storeID
      )
    }
    return (query, entity)
  }

  private func run(
    _ entity: StoredEntity,
    _ durability: Durability?,
    _ author: String?,
    _ body: @Sendable @escaping (StoreBatch) throws(ContextError) -> [ObjectNumber]
  ) async throws(ContextError) -> [ManagedObjectID] {
    let numbers = try await queue.run { [coordinator] () throws(ContextError) in
      try body(StoreBatch(coordinator, durability, author: author))
    }
    return numbers.map { entity.objectID($0, in: storeID) }
  }
}
