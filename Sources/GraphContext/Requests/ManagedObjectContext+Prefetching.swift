import Predicates

// Reading the targets of relationships ahead of their use: all records of a step in one pass, in the order of their
// numbers.

/// A step of a path that is prefetched.
enum PrefetchStep {
  case toOne(StoredToOne)
  case toMany(StoredToMany)

  /// Ordinal of the entity that the step leads to.
  var destination: Int {
    switch self {
    case .toOne(let relationship): relationship.destination
    case .toMany(let relationship): relationship.destination
    }
  }
}

extension ManagedObjectContext {
  /// Returns the paths that a query prefetches, with their names found in the schema.
  ///
  /// - Throws: `invalidQuery` for a name that is no relationship's.
  func prefetchPaths(
    of query: ResolvedQuery,
    _ entity: StoredEntity
  ) throws(ContextError) -> [[PrefetchStep]] {
    var paths: [[PrefetchStep]] = []
    for names in query.prefetchedPaths {
      var (steps, owner) = ([PrefetchStep](), entity)
      for name in names.lazy.flatMap({ owner.schema.shorthands[$0] ?? [$0] }) {
        guard let step = owner.prefetchStep(named: name) else {
          throw ContextError(
            QueryError(.unknownName, "\(owner.name).\(name) is no relationship, and can't be prefetched.")
          )
        }
        steps.append(step)
        owner = self.entity(step.destination)
      }
      paths.append(steps)
    }
    return paths
  }

  /// Reads the objects that the paths lead to from these objects. Objects that have their records already cost no read.
  func prefetch(_ paths: [[PrefetchStep]], of objects: [any ManagedObject]) throws(ContextError) {
    for path in paths {
      var level = objects
      for step in path { level = try load(try numbers(step, of: level), of: entity(step.destination)) }
    }
  }

  /// Returns the numbers of the objects that a step leads to from these, ascending.
  private func numbers(
    _ step: PrefetchStep,
    of objects: [any ManagedObject]
  ) throws(ContextError) -> [ObjectNumber] {
    var numbers: Set<ObjectNumber> = []
    switch step {
    case .toOne(let relationship):
      for object in objects { numbers.insert(object.reference(at: relationship.slot)) }
      numbers.remove(.none)
    case .toMany(let relationship):
      let stored = objects.filter { $0._$state.phase == .persistent }
      try source.keepElements(of: stored.map(\._$state.number).sorted(), in: relationship.links)
      for object in objects {
        numbers.formUnion(relationships.elements(of: object, toMany: relationship.ordinal))
      }
    }
    return numbers.sorted()
  }

  /// Returns the objects of these numbers, which ascend, with their records; the records are held until the context
  /// releases records.
  private func load(
    _ numbers: [ObjectNumber],
    of entity: StoredEntity
  ) throws(ContextError) -> [any ManagedObject] {
    _ = try readRecords(of: numbers, entity)
    let objects = numbers.map { object($0, of: entity) }
    kept.prefetched += objects
    return objects
  }

  /// Reads the records of the stored objects with these numbers, which ascend, except records that are at hand.
  /// O(n log n) in one pass.
  ///
  /// - Returns: the objects. The caller holds them for as long as it needs their records.
  func readRecords(
    of numbers: [ObjectNumber],
    _ entity: StoredEntity
  ) throws(ContextError) -> [any ManagedObject] {
    let missing = numbers.filter { number in
      guard let state = knownObject(number, of: entity)?._$state else { return true }
      return state.phase == .persistent && state.currentRecord == nil
    }
    if missing.isEmpty { return [] }
    let query = ResolvedQuery(entity: entity.schema).restricted(to: missing)
    let rows = try source.rows(of: query, over: nil, needsRecords: true)
    makeRoom(for: rows.count, entity.ordinal)
    var objects: [any ManagedObject] = []
    for row in rows { objects.append(try object(of: row, coordinator.models.types[entity.ordinal], entity)) }
    return objects
  }

  private func object<Object: ManagedObject>(
    of row: QueryRow,
    _ type: Object.Type,
    _ entity: StoredEntity
  ) throws(ContextError) -> any ManagedObject {
    let object: Object = try object(row, entity)
    return object
  }
}

extension StoredEntity {
  /// Returns the relationship of this name. O(relationships).
  fileprivate func prefetchStep(named name: String) -> PrefetchStep? {
    if let relationship = toOnes.first(where: { $0.name == name }) { return .toOne(relationship) }
    return toManys.first { $0.name == name }.map { .toMany($0) }
  }
}
