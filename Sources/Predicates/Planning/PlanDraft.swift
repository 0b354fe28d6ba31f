/// The common part of all plans for a query, from which an access path makes a plan.
struct PlanDraft {
  let query: ResolvedQuery
  let purpose: QueryPlanner.Purpose
  /// The predicate in normal form, conditions on other entities' objects looked up.
  let predicate: NormalPredicate
  /// The conditions that must all hold.
  let conjuncts: [NormalPredicate]
  let conditions: ColumnConditions
  private let columns: NeededColumns?
  /// The match of the order of object IDs with the query's order; nil if they differ.
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

  /// Returns the plan by an access path.
  ///
  /// - Parameter order: the match of the index's order with the query's order.
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

  /// Returns the plan by an access path whose rows come ordered by ID.
  func plan(_ access: AccessPath, _ residual: NormalPredicate) -> PlannedQuery {
    plan(access, residual, byID)
  }

  /// Returns whether entries of the index have all columns that the query needs if the whole predicate is tested.
  func isCovered(by index: ResolvedIndex) -> Bool { columns?.areIn(index, predicate) ?? false }

  /// Returns the conjunction of the conjuncts that the ranges don't cover.
  func residual(covered: [Int]) -> NormalPredicate {
    switch conjuncts.count - covered.count {
    case 0: return .constant(true)
    case 1:
      for (place, conjunct) in conjuncts.enumerated() where !covered.contains(place) { return conjunct }
    default: break
    }
    // Parts of a normal form have nothing more to merge.
    var rest: [NormalPredicate] = []
    rest.reserveCapacity(conjuncts.count - covered.count)
    for (place, conjunct) in conjuncts.enumerated() where !covered.contains(place) { rest.append(conjunct) }
    return .and(rest)
  }

  /// The range of numbers that the predicate asks for (for example, the condition on a class), and the rest to
  /// test.
  var numberRange: (ClosedRange<ObjectNumber>, NormalPredicate)? {
    for (place, conjunct) in conjuncts.enumerated() {
      guard case .values(let path, let set) = conjunct, path.scope == 0, path.hops.isEmpty,
        path.leaf == .objectID, set.segmentCount == 1, let range = set.hull?.numbers
      else { continue }
      var rest = conjuncts
      rest.remove(at: place)
      return (range, .all(rest))
    }
    return nil
  }

  /// Returns the conjunction of the conjuncts at some indices.
  func conjunction(of places: [Int]) -> NormalPredicate { .all(places.map { conjuncts[$0] }) }
}

/// The ways to answer a query.
struct PlanCandidates {
  var plans: [PlannedQuery] = []

  init() {}

  /// Makes the candidates of one plan, the only one.
  init(_ plan: PlannedQuery) { plans = [plan] }

  mutating func append(_ plan: PlannedQuery) {
    // Most queries have an index and the full scan to choose from, and some have a few indexes.
    if plans.isEmpty { plans.reserveCapacity(3) }
    plans.append(plan)
  }

  /// The greatest number of rows that can match.
  var mostMatches: Double { Double(plans.lazy.map(\.access.rowCount).min() ?? 0) }
}

extension ValueSet.Segment {
  /// The numbers of objects that the segment goes from and to; nil for one that isn't about objects.
  fileprivate var numbers: ClosedRange<ObjectNumber>? {
    guard case .before(.reference(let first)) = lower, case .after(.reference(let last)) = upper,
      first <= last
    else { return nil }
    return first...last
  }
}
