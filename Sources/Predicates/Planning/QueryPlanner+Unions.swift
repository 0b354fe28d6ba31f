extension QueryPlanner {
  /// Returns the scans of the conjunct whose alternatives have the fewest rows, each by an index of its own,
  /// and the rest of the predicate.
  func union(
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

  /// Returns a scan for each branch, and whether the scans contain no other rows; nil if a branch has no index.
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
      for index in entity.indexes {
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
