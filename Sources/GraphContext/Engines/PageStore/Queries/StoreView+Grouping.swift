import Predicates

// Queries for groups, and for aggregates of all rows.

extension StoreView {
  func groups(of grouping: ResolvedGrouping, over layers: UnsavedLayers?) throws(ContextError) -> GroupRows {
    try logging(.groups(grouping), over: layers, count: \.count) { () throws(ContextError) in
      try ContextError.mapping { try computedGroups(of: grouping, over: layers) }
    }
  }

  private func computedGroups(of grouping: ResolvedGrouping, over layers: UnsavedLayers?) throws -> GroupRows
  {
    if grouping.keys.isEmpty {
      let aggregates = RowAggregates(grouping.query, grouping.aggregates, in: self, over: layers)
      return GroupRows([try aggregates.values()])
    }
    var executor = try executor(of: grouping, over: layers)
    if let counted = try IndexGroups(executor, by: grouping.keys, grouping.aggregates)?.rows() {
      return GroupRows(counted)
    }
    return GroupRows(try executor.aggregate(grouping.aggregates, by: grouping.keys))
  }

  func plan(of grouping: ResolvedGrouping, over layers: UnsavedLayers?) throws -> QueryPlan {
    if grouping.keys.isEmpty {
      return try RowAggregates(grouping.query, grouping.aggregates, in: self, over: layers).plan()
    }
    let executor = try executor(of: grouping, over: layers)
    var plan = executor.plan.explanation
    let index = try IndexGroups(executor, by: grouping.keys, grouping.aggregates)?.index
    plan.grouping = grouping.explanation(source: index.map { "index \($0.name)" })
    return plan
  }

  private func executor(of grouping: ResolvedGrouping, over layers: UnsavedLayers?) throws -> QueryExecutor {
    try QueryExecutor(
      grouping.query,
      for: .aggregates(grouping.aggregates, by: grouping.keys, of: grouping.query),
      in: self,
      over: layers
    )
  }
}

extension QueryPlanner.Purpose {
  /// Returns what to read for aggregates and their keys.
  static func aggregates(
    _ aggregates: [ResolvedAggregate],
    by keys: [ResolvedPath],
    of query: ResolvedQuery
  ) -> QueryPlanner.Purpose {
    // The rows that a limit leaves depend on their order.
    .values(keys + aggregates.compactMap(\.path), isOrdered: query.limit != nil || query.offset > 0)
  }
}

extension QueryExecutor {
  /// Returns the groups, or the one group of all results: in one pass over the results' bytes.
  mutating func aggregate(
    _ aggregates: [ResolvedAggregate],
    by keys: [ResolvedPath]
  ) throws -> Aggregation {
    covering = .values
    var paths = emptyPaths()
    var aggregation = Aggregation(aggregates, by: keys, &paths)
    var results = try unorderedResults(&paths)
    var reader = reader(paths)
    while try results.next(&reader) != nil { try aggregation.add(&reader) }
    return aggregation
  }
}
