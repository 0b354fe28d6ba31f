import PageStore
import Predicates

/// Carries out a plan over one snapshot and unsaved changes.
///
/// All results come from one pipeline: a ``RowStream`` scans the access path and looks records up, ``MatchingRows``
/// filter them and add the unsaved objects, a ``SortBuffer`` sorts them where the access path has another order,
/// and ``ResultRows`` apply offset and limit. Objects, values, groups, counts and batches are read from it. Only
/// results that follow from ranks need no rows: the numbers of exact ranges, and their counts.
struct QueryExecutor {
  let view: StoreView
  let entity: StoredEntity
  private(set) var plan: PlannedQuery
  /// The whole predicate, for rows that don't come from the plan's access path.
  let predicate: NormalPredicate
  let sort: [ResolvedSort]
  let isIDAscending: Bool
  let pending: PendingRecords?
  /// The values that are read from the index's entries if the plan says that the entries are enough.
  var covering = Covering.bits

  /// Plans the query.
  ///
  /// - Parameters:
  ///   - layers: unsaved changes that take part; nil for none.
  ///   - samplingCost: the cost of a plan from which on rows are read to find a better plan.
  /// - Throws: the errors of a read; `QueryError` for an invalid pattern.
  init(
    _ query: ResolvedQuery,
    for purpose: QueryPlanner.Purpose,
    in view: StoreView,
    over layers: UnsavedLayers? = nil,
    samplingCost: Double = QueryPlanner.usualSamplingCost
  ) throws {
    let entity = view.schema[query.entity.id]
    self.view = view
    self.entity = entity
    predicate = query.predicate
    sort = query.sort
    isIDAscending = query.isIDAscending
    var paths: [ResolvedPath] = []
    if case .values(let read, _) = purpose { paths = read }
    pending = layers.flatMap { PendingRecords(for: query, reading: paths, of: entity, in: $0, view.schema) }
    let planner = QueryPlanner(
      schema: view.schema.schema,
      counting: StoreCounting(view: view),
      samplingCost: samplingCost
    )
    plan = try planner.plan(
      query,
      for: purpose,
      hiddenEntities: pending?.hiddenEntities ?? [],
      hiddenRelationships: pending?.hiddenRelationships ?? []
    )
  }

  /// Returns an executor for a part of the results only.
  func slice(_ offset: Int, _ limit: Int) -> QueryExecutor {
    var copy = self
    copy.plan.offset = offset
    copy.plan.limit = limit
    return copy
  }

  /// Returns an executor that follows another plan.
  func following(_ plan: PlannedQuery) -> QueryExecutor {
    var copy = self
    copy.plan = plan
    return copy
  }

  /// Returns whether the object has unsaved changes: its record in the results isn't the snapshot's.
  func isPending(_ number: ObjectNumber) -> Bool { ownChanges?.record(number) != nil }

  /// Unsaved changes of the fetched entity itself.
  var ownChanges: UnsavedRecords? { pending?.changes(of: entity) }

  var window: RowWindow { RowWindow(offset: plan.offset, limit: plan.limit) }

  /// Returns the reader of the results' records.
  func reader(_ paths: RowPaths) -> RowReader { view.reader(of: paths, pending: pending) }

  func emptyPaths() -> RowPaths { RowPaths(entity.schema, in: view.schema.schema) }
}
