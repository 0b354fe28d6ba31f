/// Chooses how a query is answered, by exact counts of the rows that each way would touch.
package struct QueryPlanner {
  private let schema: any SchemaProviding
  private let counting: any IndexCounting

  package init(schema: any SchemaProviding, counting: any IndexCounting) {
    self.schema = schema
    self.counting = counting
  }

  /// What the query is for.
  package enum Purpose: Sendable {
    /// The objects.
    case objects
    /// Only how many there are.
    case count
    /// What these paths lead to.
    ///
    /// - isOrdered: whether the rows have to come in the query's order.
    case values([ResolvedPath], isOrdered: Bool)
  }

  /// The cheapest plan.
  ///
  /// - Parameter hiddenEntities: entities whose stored records are not what the query sees, because of unsaved changes:
  ///   conditions on them through relationships are tested row by row.
  ///   - hiddenRelationships: to-many relationships with unsaved links; conditions on their elements are.
  package func plan(
    _ query: ResolvedQuery,
    for purpose: Purpose = .objects,
    hiddenEntities: Set<String> = [],
    hiddenRelationships: Set<RowPaths.Relationship> = []
  ) throws -> PlannedQuery {
    var lookup = ForeignLookup(
      schema: schema,
      counting: counting,
      hiddenEntities: hiddenEntities,
      hiddenRelationships: hiddenRelationships
    )
    let predicate = try lookup.rewrite(Normaliser.normalise(query.predicate), from: query.entity)
    let candidates = try candidates(for: query, purpose, where: predicate)
    let model = CostModel(
      query: query,
      purpose: purpose,
      mostMatches: candidates.map(\.access.rowCount).min() ?? 0
    )
    var plan = model.cheapest(of: candidates)
    plan.fallback = model.fallback(from: plan, among: candidates)
    plan.lookups = lookup.lookups
    return plan
  }

  /// Every way to answer the query, the preferred one first among equals.
  private func candidates(
    for query: ResolvedQuery,
    _ purpose: Purpose,
    where predicate: NormalPredicate
  ) throws -> [PlannedQuery] {
    let conjuncts = predicate.conjuncts
    let conditions = ColumnConditions(conjuncts)
    let columns = NeededColumns(purpose, query)
    func planned(_ access: AccessPath, _ residual: NormalPredicate, _ order: OrderMatch?) -> PlannedQuery {
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
    let byID = OrderMatch([], query, conditions)
    if predicate == .constant(false) { return [planned(.nothing, .constant(true), byID)] }
    if let (numbers, residual) = objects(conjuncts) { return [planned(.objects(numbers), residual, byID)] }

    var result: [PlannedQuery] = []
    for index in query.entity.indexReferences {
      let order = OrderMatch(index.columns, query, conditions)
      if let match = IndexMatch(index, conditions) {
        let scan = try counted(index, match.ranges)
        let residual = residual(conjuncts, covered: match.coveredPlaces)
        // Nothing costs less than one row with nothing to test: the usual case of a key.
        if scan.rowCount <= 1, residual == .constant(true) { return [planned(.index(scan), residual, order)] }
        // In a range whose columns are all fixed, the rows come by ID: `order` has noticed.
        result.append(planned(.index(scan), residual, order))
      } else if index.origin == .declared {
        // Worth a look for its order, or because its entries are smaller than records.
        let whole = planned(.index(try counted(index, [.all])), predicate, order)
        if order != nil || whole.isCovering { result.append(whole) }
      }
    }
    if let (scans, residual) = try union(conjuncts, in: query.entity) {
      result.append(planned(.union(scans), residual, nil))
    }
    result.append(planned(.fullScan(rows: try counting.count(of: query.entity.name)), predicate, byID))
    return result
  }

  /// The objects that the predicate names, and what is left to test.
  private func objects(_ conjuncts: [NormalPredicate]) -> ([UInt64], NormalPredicate)? {
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

  /// What the conjuncts ask for beyond those that a scan covers.
  private func residual(_ conjuncts: [NormalPredicate], covered: [Int]) -> NormalPredicate {
    if covered.count == conjuncts.count { return .constant(true) }
    return .all(conjuncts.enumerated().filter { !covered.contains($0.offset) }.map(\.element))
  }

  /// Counts the ranges and leaves out the empty ones.
  private func counted(_ index: IndexReference, _ ranges: [IndexRange]) throws -> IndexScan {
    let counted = try ranges.map {
      IndexScan.CountedRange(range: $0, rowCount: try counting.count($0, in: index))
    }
    let filled = counted.filter { $0.rowCount > 0 }
    return IndexScan(index: index, ranges: filled.isEmpty ? Array(counted.prefix(1)) : filled)
  }
}

// MARK: - Unions

extension QueryPlanner {
  /// Of the conjuncts that are alternatives, the one whose alternatives have the fewest rows, each by an index of its own.
  private func union(
    _ conjuncts: [NormalPredicate],
    in entity: EntitySchema
  ) throws -> ([IndexScan], NormalPredicate)? {
    var best: (scans: [IndexScan], residual: NormalPredicate, rowCount: Int)?
    for (place, conjunct) in conjuncts.enumerated() {
      guard case .or(let branches) = conjunct, let (scans, isExact) = try scans(of: branches, in: entity)
      else {
        continue
      }
      let rowCount = scans.reduce(0) { $0 + $1.rowCount }
      if let best, best.rowCount <= rowCount { continue }
      var rest = conjuncts
      if isExact { rest.remove(at: place) }
      best = (scans, .all(rest), rowCount)
    }
    return best.map { ($0.scans, $0.residual) }
  }

  /// A scan for each branch, and whether the scans hold nothing else; nil when a branch has no index.
  private func scans(
    of branches: [NormalPredicate],
    in entity: EntitySchema
  ) throws -> (scans: [IndexScan], isExact: Bool)? {
    var result: [IndexScan] = []
    var isExact = true
    for branch in branches {
      let conjuncts = branch.conjuncts
      let conditions = ColumnConditions(conjuncts)
      var best: (scan: IndexScan, coveredCount: Int)?
      for index in entity.indexReferences {
        guard let match = IndexMatch(index, conditions) else { continue }
        let scan = try counted(index, match.ranges)
        // Of equally small scans the one that leaves nothing to test is better.
        if let best, (best.scan.rowCount, -best.coveredCount) <= (scan.rowCount, -match.coveredPlaces.count) {
          continue
        }
        best = (scan, match.coveredPlaces.count)
      }
      guard let best else { return nil }
      result.append(best.scan)
      isExact = isExact && best.coveredCount == conjuncts.count
    }
    return (result, isExact)
  }
}
