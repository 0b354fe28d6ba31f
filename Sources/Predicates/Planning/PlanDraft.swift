/// What all plans for a query have in common, and the plan that an access path makes of it.
struct PlanDraft {
  let query: ResolvedQuery
  let purpose: QueryPlanner.Purpose
  /// In normal form, conditions on other entities' objects looked up.
  let predicate: NormalPredicate
  /// What must all hold.
  let conjuncts: [NormalPredicate]
  let conditions: ColumnConditions
  private let columns: NeededColumns?
  /// Whether the order of the objects' IDs is one that the query asks for.
  private let byID: OrderMatch?

  init(_ query: ResolvedQuery, _ purpose: QueryPlanner.Purpose, where predicate: NormalPredicate) {
    self.query = query
    self.purpose = purpose
    self.predicate = predicate
    conjuncts = predicate.conjuncts
    conditions = ColumnConditions(conjuncts)
    columns = NeededColumns(purpose, query)
    byID = OrderMatch([], query, conditions)
  }

  /// - Parameter order: in which order the query asks for that an index yields its rows.
  func plan(_ access: AccessPath, _ residual: NormalPredicate, _ order: OrderMatch?) -> PlannedQuery {
    PlannedQuery(
      entity: query.entity,
      access: access,
      residual: residual,
      isCovering: columns?.areIn(access, residual) ?? false,
      order: order.map { .access(isReversed: $0.isReversed) } ?? columns?.anyOrder
        ?? .sorted(query.sort, isIDAscending: query.isIDAscending),
      limit: query.limit,
      offset: query.offset,
      lookups: [],
      fallback: nil
    )
  }

  /// The same for an access path whose rows come ordered by ID.
  func plan(_ access: AccessPath, _ residual: NormalPredicate) -> PlannedQuery {
    plan(access, residual, byID)
  }

  /// What the conjuncts ask for beyond those that ranges cover.
  func residual(covered: [Int]) -> NormalPredicate {
    if covered.count == conjuncts.count { return .constant(true) }
    return .all(conjuncts.enumerated().filter { !covered.contains($0.offset) }.map(\.element))
  }

  /// The conjuncts at some places.
  func conjunction(of places: [Int]) -> NormalPredicate { .all(places.map { conjuncts[$0] }) }
}

/// The ways to answer a query.
struct PlanCandidates {
  var plans: [PlannedQuery] = []
  /// Of each index that narrows the query down: its ranges, and which conjuncts they express wholly.
  var ranges: [(scan: IndexScan, coveredPlaces: [Int])] = []

  init() {}

  /// The only one.
  init(_ plan: PlannedQuery) { plans = [plan] }

  /// No more rows than this can match.
  var mostMatches: Double { Double(plans.map(\.access.rowCount).min() ?? 0) }
}
