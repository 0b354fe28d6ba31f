import PageStore
import Predicates

/// Carries out a plan over one snapshot and unsaved changes.
///
/// Every result takes one way: a ``RowStream`` scans the access path and looks records up, ``MatchingRows`` filter them and add the unsaved
/// objects, a ``SortBuffer`` sorts them where the access path has another order, and ``ResultRows`` apply offset and limit. Objects, values,
/// groups, counts and batches pull from there. Only what ranks tell needs no rows: numbers of exact ranges, and their counts.
struct QueryExecutor {
  let view: StoreView
  let entity: StoredEntity
  private(set) var plan: PlannedQuery
  /// The whole predicate, for rows that don't come by the plan's way.
  let predicate: NormalPredicate
  let sort: [ResolvedSort]
  let isIDAscending: Bool
  let pending: PendingRecords?
  /// What is read of the index's entries where the plan says that they are enough.
  var covering = Covering.bits

  /// Plans the query.
  ///
  /// - Parameters:
  ///   - layers: unsaved changes that take part; nil for none.
  ///   - samplingCost: what a plan has to cost before rows are read to find a better one.
  /// - Throws: what a read throws; `QueryError` for a pattern that is none.
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

  /// An executor for a part of the results only.
  func slice(_ offset: Int, _ limit: Int) -> QueryExecutor {
    var copy = self
    copy.plan.offset = offset
    copy.plan.limit = limit
    return copy
  }

  /// An executor that follows another plan.
  func following(_ plan: PlannedQuery) -> QueryExecutor {
    var copy = self
    copy.plan = plan
    return copy
  }

  /// Whether the object has unsaved changes: its record in the results isn't the snapshot's.
  func isPending(_ number: ObjectNumber) -> Bool { ownChanges?.record(number) != nil }

  /// Unsaved changes of the fetched entity itself.
  var ownChanges: UnsavedRecords? { pending?.changes(of: entity) }

  var window: RowWindow { RowWindow(offset: plan.offset, limit: plan.limit) }

  /// What the results' records are read with.
  func reader(_ paths: RowPaths) -> RowReader { view.reader(of: paths, pending: pending) }

  func emptyPaths() -> RowPaths { RowPaths(entity.schema, in: view.schema.schema) }
}
