/// A planner that chooses the plan of a query, by exact counts of the rows that each plan would read.
package struct QueryPlanner {
  private let schema: any SchemaProviding
  let counting: any IndexCounting & RowSampling
  /// The cost of a plan from which rows are sampled to find a better one.
  let samplingCost: Double

  /// The usual value of `samplingCost`, several times the cost of sampling 32 rows: a plan that costs less is good
  /// enough.
  package static let usualSamplingCost = 1_000.0

  /// Makes a planner.
  ///
  /// - Parameter samplingCost: the cost of a plan, in records of a full scan, from which rows are sampled to
  ///   find a better one.
  package init(
    schema: any SchemaProviding,
    counting: any IndexCounting & RowSampling,
    samplingCost: Double = usualSamplingCost
  ) {
    self.schema = schema
    self.counting = counting
    self.samplingCost = samplingCost
  }

  /// The purpose of a query.
  package enum Purpose: Sendable {
    /// The objects.
    case objects
    /// Only the number of objects.
    case count
    /// The values of these paths.
    ///
    /// - isOrdered: true if the rows have to come in the query's order.
    case values([ResolvedPath], isOrdered: Bool)

    var isCount: Bool { if case .count = self { true } else { false } }
  }

  /// Returns the cheapest plan.
  ///
  /// - Parameters:
  ///   - query: the query.
  ///   - purpose: the purpose for which the rows are read.
  ///   - hiddenEntities: entities with unsaved changes. Conditions on them through relationships are tested row by row.
  ///   - hiddenRelationships: to-many relationships with unsaved links. Conditions on their elements are tested row
  ///     by row.
  package func plan(
    _ query: ResolvedQuery,
    for purpose: Purpose = .objects,
    hiddenEntities: Set<EntityID> = [],
    hiddenRelationships: Set<ToManyID> = []
  ) throws -> PlannedQuery {
    var lookup = ForeignLookup(
      from: query.entity,
      schema: schema,
      counting: counting,
      hiddenEntities: hiddenEntities,
      hiddenRelationships: hiddenRelationships
    )
    let predicate = try lookup.rewrite(query.predicate)
    var plan = try cheapest(for: PlanDraft(query, purpose, where: predicate))
    if let rowCount = try rowsWithElements(of: plan) {
      let known = lookup.lookups.count
      let rewritten = try lookup.rewriteByScans(predicate, sparing: rowCount)
      if lookup.lookups.count > known {
        plan = try cheapest(for: PlanDraft(query, purpose, where: rewritten))
      }
    }
    plan.lookups = lookup.lookups
    plan.usesTemplate = query.usesTemplate
    return plan
  }

  private func cheapest(for draft: PlanDraft) throws -> PlannedQuery {
    var candidates = try candidates(for: draft)
    var model = CostModel(query: draft.query, purpose: draft.purpose, mostMatches: candidates.mostMatches)
    var plan = model.cheapest(of: candidates.plans)
    if model.cost(of: plan) >= samplingCost, let estimate = try learn(about: draft, &candidates, model) {
      model.mostMatches = min(model.mostMatches, estimate.rowCount)
      plan = model.cheapest(of: candidates.plans)
      plan.estimate = estimate
    }
    plan.fallback = model.fallback(from: plan, among: candidates.plans)
    return plan
  }

  /// Returns every plan for the query except intersections; among plans of equal cost, the preferred one comes
  /// first.
  private func candidates(for draft: PlanDraft) throws -> PlanCandidates {
    let (query, predicate, conjuncts) = (draft.query, draft.predicate, draft.conjuncts)
    if predicate == .constant(false) { return PlanCandidates(draft.plan(.nothing, .constant(true))) }
    if let (numbers, residual) = objects(conjuncts) {
      return PlanCandidates(draft.plan(.objects(numbers), residual))
    }
    var result = PlanCandidates()
    for index in query.entity.indexes {
      if let match = IndexMatch(index, draft.conditions) {
        let scan = try counted(index, match.ranges)
        let residual = draft.residual(covered: match.coveredPlaces)
        let plan = draft.plan(.index(scan), residual, OrderMatch(index.columns, query, draft.conditions))
        // No plan costs less than one row without a test, the usual case of a key, or than a known count.
        if residual == .constant(true), scan.rowCount <= 1 || draft.purpose.isCount {
          return PlanCandidates(plan)
        }
        // In a range whose columns are all fixed, the rows come ordered by ID; `order` takes this into account.
        result.append(plan)
      } else if index.origin == .declared, !index.isOfElements {
        let order = OrderMatch(index.columns, query, draft.conditions)
        // A whole index is a candidate for its order, or because its entries are smaller than records.
        guard order != nil || draft.isCovered(by: index) else { continue }
        result.append(draft.plan(.index(try counted(index, [.all])), predicate, order))
      }
    }
    if let (scans, residual) = try union(conjuncts, in: query.entity) {
      result.append(draft.plan(.union(scans), residual))
    }
    if let (range, residual) = draft.numberRange {
      let rows = try counting.count(of: query.entity.id, in: range)
      result.append(draft.plan(.fullScan(rows: rows, of: range), residual))
    } else {
      let scan = AccessPath.fullScan(rows: try counting.count(of: query.entity.id))
      result.append(draft.plan(scan, predicate))
    }
    return result
  }

  /// Returns the objects that the predicate names, and the rest to test.
  private func objects(_ conjuncts: [NormalPredicate]) -> ([ObjectNumber], NormalPredicate)? {
    for (place, conjunct) in conjuncts.enumerated() {
      guard case .values(let path, let set) = conjunct, path.hops.isEmpty, path.leaf == .objectID,
        let points = set.points(atMost: .max)
      else { continue }
      var rest = conjuncts
      rest.remove(at: place)
      let numbers = points.compactMap { if case .reference(let number) = $0 { number } else { nil } }
      return (numbers, .all(rest))
    }
    return nil
  }

  /// Counts the ranges and leaves out the empty ones.
  func counted(_ index: ResolvedIndex, _ ranges: [IndexRange]) throws -> IndexScan {
    var filled: [IndexScan.CountedRange] = []
    for range in ranges {
      let rowCount = try counting.count(range, in: index)
      if rowCount > 0 { filled.append(.init(range: range, rowCount: rowCount)) }
    }
    if filled.isEmpty { filled = ranges.prefix(1).map { .init(range: $0, rowCount: 0) } }
    return IndexScan(index: index, ranges: filled)
  }
}
