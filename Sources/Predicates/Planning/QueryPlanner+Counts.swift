extension QueryPlanner {
  /// How many objects a query finds, limit and offset aside, where the whole condition is a set of values of a column that an index begins with. Their
  /// count is that of a few ranges, so there is nothing to choose. Nil for any other query. O(ranges · log n).
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
