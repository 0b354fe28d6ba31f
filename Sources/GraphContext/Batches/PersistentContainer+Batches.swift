import Predicates

// Changes of many stored objects without objects in memory.

extension PersistentContainer {
  /// Deletes all objects that a query describes, in one commit, and returns their IDs. No object is made.
  ///
  /// The query is answered by the newest state of the store; contexts with unsaved changes don't matter. Delete rules are applied to every
  /// object as in a context, and an object that can't be deleted fails all of it. Contexts learn of the deletions as of any save by another
  /// context. No hooks are called.
  ///
  /// O(deleted objects · log n); other writers wait meanwhile.
  ///
  /// - Parameters:
  ///   - request: the objects; its order matters only with a limit.
  ///   - durability: when the commit counts as done, if not as the container's options say.
  /// - Returns: the IDs of the objects that the query describes, ascending; not those that rules have deleted as well.
  /// - Throws: `invalidQuery`, and what a save throws: `deletionDenied`, `missingValue`, `store`.
  @discardableResult
  public func batchDelete<Root: ManagedObject>(
    _ request: From<Root>,
    durability: Durability? = nil
  ) async throws(ContextError) -> [ManagedObjectID] {
    let (query, entity) = try resolved(request)
    return try await run(entity, durability) { batch throws(ContextError) in try batch.delete(query, entity) }
  }

  /// Sets attributes of all objects that a query describes, in one commit, and returns their IDs. No object is made.
  ///
  /// ```swift
  /// try await container.batchUpdate(From<Song>().where { $0.album.year < 1980 }, .set(\.rating) { $0.rating + 1 })
  /// ```
  ///
  /// The query is answered by the newest state of the store, and each expression sees the values before the update. Required values, the
  /// rules of attributes and unique values are checked as by a save; one failure fails all of it. Contexts learn of the changes as of
  /// any save by another context. No hooks are called.
  ///
  /// O(objects · log n); other writers wait meanwhile.
  ///
  /// - Parameters:
  ///   - request: the objects; its order matters only with a limit.
  ///   - assignments: the new values. Of two for one attribute the last counts.
  ///   - durability: when the commit counts as done, if not as the container's options say.
  /// - Returns: the IDs of the objects that the query describes, ascending.
  /// - Throws: `invalidQuery`, and what a save throws: `missingValue` for a value that the attribute can't have, `validationFailed`,
  ///   `notUnique`, `store`.
  @discardableResult
  public func batchUpdate<Root: ManagedObject>(
    _ request: From<Root>,
    _ assignments: Assignment<Root>...,
    durability: Durability? = nil
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
    return try await run(entity, durability) { batch throws(ContextError) in
      try batch.update(query, entity, resolved)
    }
  }

  private func resolved<Root: ManagedObject>(
    _ request: From<Root>
  ) throws(ContextError) -> (ResolvedQuery, StoredEntity) {
    try handle.checkOpen()
    guard let entity = coordinator.entity(of: Root.self) else { throw .unknownModel(Root.self) }
    let query = try ContextError.resolving { () throws(QueryError) in
      try request.resolved(for: entity.schema, in: schema, store: storeID)
    }
    return (query, entity)
  }

  private func run(
    _ entity: StoredEntity,
    _ durability: Durability?,
    _ body: @Sendable @escaping (StoreBatch) throws(ContextError) -> [ObjectNumber]
  ) async throws(ContextError) -> [ManagedObjectID] {
    let numbers = try await queue.run { [coordinator] () throws(ContextError) in
      try body(StoreBatch(coordinator, durability))
    }
    return numbers.map { ManagedObjectID(entity: entity.label, number: $0, storeID: storeID) }
  }
}
