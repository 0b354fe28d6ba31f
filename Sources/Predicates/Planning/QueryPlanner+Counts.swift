extension QueryPlanner {
  /// Counts the objects that meet a condition on one column, without a plan. Limit and offset are not applied.
  ///
  /// - Returns: nil if the query has another condition as well, or if no index begins with the column. O(ranges · log n).
  package func countInRanges(_ query: ResolvedQuery) throws -> Int? {
    guard case .values(let path, let set) = query.predicate, let slot = path.ownSlot,
      set.segmentCount <= IndexMatch.maximumRangeCount
    else { return nil }
    let column = ResolvedIndex.Column(slot: slot, folding: set.folding)
    guard let index = query.entity.declaredIndexes.first(where: { $0.columns.first == column }) else {
      return nil
    }
    var count = 0
    for segment in set.segments {
      let range = segment.point.map { IndexRange(prefix: [$0]) } ?? IndexRange(next: segment)
      count += try counting.count(range, in: index)
    }
    return count
  }
}
