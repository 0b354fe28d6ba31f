/// A query whose names are resolved; the planner makes a plan from it.
package struct ResolvedQuery: Sendable {
  package var entity: EntitySchema
  package var predicate: NormalPredicate { didSet { key = nil } }
  /// The unique attribute and its value, if the query was recognised by its names as a lookup of one object. The
  /// ``predicate`` has the same meaning.
  package internal(set) var key: UniqueKey?
  package var sort: [ResolvedSort]
  package var limit: Int?
  package var offset: Int
  /// True if the query includes unsaved changes of a context.
  package var includesUnsavedChanges = true
  /// The paths of relationships, by names, whose objects are read together with the results.
  package var prefetchedPaths: [[String]] = []
  /// The names of the properties whose values the objects have from the start; nil for whole objects.
  package var fetchedProperties: [String]?
  /// True if names and normal form came from a template.
  var usesTemplate = false

  /// Makes a query of a resolved predicate.
  ///
  /// - Parameter predicate: the predicate, which is brought into normal form.
  package init(
    entity: EntitySchema,
    predicate: ResolvedPredicate = .constant(true),
    sort: [ResolvedSort] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) {
    let predicate = Normaliser.normalise(predicate)
    self.init(entity: entity, normal: predicate, sort: sort, limit: limit, offset: offset)
  }

  /// Makes a query of a normal predicate.
  ///
  /// - Parameter predicate: the predicate, in normal form.
  package init(
    entity: EntitySchema,
    normal predicate: NormalPredicate,
    sort: [ResolvedSort],
    limit: Int?,
    offset: Int
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.limit = limit.map { max(0, $0) }
    self.offset = max(0, offset)
  }

  /// Returns a query for those of the objects with these numbers that meet the condition, in the order of their IDs.
  /// O(n log n).
  package func restricted(to numbers: some Collection<ObjectNumber>) -> ResolvedQuery {
    let identity = ResolvedPath(hops: [], leaf: .objectID, isOptional: false, name: "objectID")
    let set = ValueSet(.reference, anyOf: numbers.map { .reference($0) })
    return ResolvedQuery(
      entity: entity,
      normal: .all([.values(identity, set), predicate]),
      sort: [],
      limit: nil,
      offset: 0
    )
  }

  /// True if the order of object IDs, which decides between results with equal sort keys, is ascending: it has the
  /// direction of the last key. So results are totally ordered, an index serves both directions, and reversing all keys
  /// reverses the list.
  package var isIDAscending: Bool { sort.last?.isAscending ?? true }

  /// The number of first results that have to be found; nil for all.
  var wanted: Int? {
    limit.map { $0.addingReportingOverflow(offset) }.map { $0.overflow ? .max : $0.partialValue }
  }
}

/// One key of a sort.
package struct ResolvedSort: Sendable, Hashable {
  package var path: ResolvedPath
  package var isAscending: Bool

  package init(_ path: ResolvedPath, ascending isAscending: Bool = true) {
    self.path = path
    self.isAscending = isAscending
  }
}
