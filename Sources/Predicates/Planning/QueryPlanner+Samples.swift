// Choices that depend on the rows that meet several conditions, which can't be counted.
extension QueryPlanner {
  /// Tests some rows of the smallest range, if the test could lead to a better plan; adds intersections that may be
  /// better plans.
  ///
  /// - Returns: the number of matching rows; nil if no choice depends on it.
  func learn(
    about draft: PlanDraft,
    _ candidates: inout PlanCandidates,
    _ model: CostModel
  ) throws -> RowEstimate? {
    let chains = chains(of: ranges(of: candidates, draft.conditions), model)
    guard !chains.isEmpty || model.isSwayed(byMatchesIn: candidates.plans),
      let base = candidates.plans.filter({ $0.access.isSampled }).min(by: {
        $0.access.rowCount < $1.access.rowCount
      }), base.residual != .constant(true)
    else { return nil }
    let tests = [draft.predicate] + chains.map { draft.conjunction(of: $0.coveredPlaces) }
    let estimates = try counting.estimates(of: base.access, in: draft.query.entity, passing: tests)
    for (chain, estimate) in zip(chains, estimates.dropFirst()) {
      var plan = draft.plan(.intersection(chain.scans), draft.residual(covered: chain.coveredPlaces))
      plan.accessEstimate = estimate
      candidates.plans.append(plan)
    }
    return estimates.first
  }

  /// Returns the number of rows of a plan that are tested by the elements of a collection, estimated by a sample if
  /// other conditions exclude some rows. Nil if there are no or few such rows, or if the plan stops early, after an
  /// unknown number of rows.
  func rowsWithElements(of plan: PlannedQuery) throws -> Double? {
    guard plan.residual.isAboutElements, plan.access.isSampled else { return nil }
    if plan.limit != nil, case .access = plan.order { return nil }
    let rowCount = Double(plan.access.rowCount)
    if rowCount * CostModel.collection < samplingCost { return nil }
    let others = plan.residual.conjuncts.filter { !$0.isAboutElements }
    if others.isEmpty { return rowCount }
    return try counting.estimates(of: plan.access, in: plan.entity, passing: [.all(others)]).first?.rowCount
  }

  /// Ranges of several indexes, to be intersected.
  private struct Chain {
    var scans: [IndexScan]
    var coveredPlaces: [Int]
  }

  /// Returns, for each index that narrows the query down, its ranges and the conjuncts that they express wholly.
  /// Empty if there is only one index, because it makes no chain.
  private func ranges(
    of candidates: PlanCandidates,
    _ conditions: ColumnConditions
  ) -> [(scan: IndexScan, coveredPlaces: [Int])] {
    guard candidates.plans.count(where: { $0.access.isNarrow }) > 1 else { return [] }
    return candidates.plans.compactMap { plan in
      guard plan.access.isNarrow, let scan = plan.access.scans.first,
        let match = IndexMatch(scan.index, conditions)
      else { return nil }
      return (scan, match.coveredPlaces)
    }
  }

  /// Returns the two smallest ranges, the three smallest and so on, as long as each further range narrows the rows
  /// down, and its entries could cost less than the records that they spare.
  private func chains(
    of ranges: [(scan: IndexScan, coveredPlaces: [Int])],
    _ model: CostModel
  ) -> [Chain] {
    let ascending = ranges.sorted { $0.scan.rowCount < $1.scan.rowCount }
    guard let first = ascending.first else { return [] }
    var chain = Chain(scans: [first.scan], coveredPlaces: first.coveredPlaces)
    var chains: [Chain] = []
    for (scan, coveredPlaces) in ascending.dropFirst() {
      let added = coveredPlaces.filter { !chain.coveredPlaces.contains($0) }
      guard !added.isEmpty, model.couldPay(scan, after: first.scan) else { continue }
      chain.scans.append(scan)
      chain.coveredPlaces += added
      chains.append(chain)
    }
    return chains
  }
}

extension NormalPredicate {
  /// True if the predicate asks for an element of a collection.
  fileprivate var isAboutElements: Bool {
    switch self {
    case .test(.exists, _): true
    case .constant, .values, .test: false
    case .and(let children), .or(let children): children.contains(where: \.isAboutElements)
    }
  }
}

extension AccessPath {
  /// True if the access path is ranges of one index.
  fileprivate var isNarrow: Bool { if case .index(let scan) = self { !scan.isWhole } else { false } }

  /// True if the access path's rows have ranks, by which samples can be chosen.
  fileprivate var isSampled: Bool {
    switch self {
    case .fullScan, .index: true
    case .nothing, .objects, .union, .intersection: false
    }
  }
}
