import Predicates

// Queries for objects.

extension StoreView {
  func rows(
    of query: ResolvedQuery,
    over layers: UnsavedLayers?,
    needsRecords: Bool
  ) throws -> [QueryRow] {
    if let lookup = UniqueLookup(query, of: schema[query.entity.id]),
      let rows = try lookup.rows(in: self, over: layers, needsRecord: needsRecords)
    {
      return rows
    }
    return try executor(of: query, for: .objects, over: layers).rows(needsRecords: needsRecords)
  }

  func count(of query: ResolvedQuery, over layers: UnsavedLayers?) throws -> Int {
    if let lookup = UniqueLookup(query, of: schema[query.entity.id]),
      let rows = try lookup.rows(in: self, over: layers, needsRecord: false)
    {
      return rows.count
    }
    return try executor(of: query, for: .count, over: layers).count()
  }

  func cursor(of query: ResolvedQuery, over layers: UnsavedLayers?) throws -> any RowCursor {
    try ResultCursor(executor(of: query, for: .objects, over: layers))
  }

  func plan(of request: ResolvedRequest, over layers: UnsavedLayers?) throws -> QueryPlan {
    switch request {
    case .objects(let query): try executor(of: query, for: .objects, over: layers).plan.explanation
    case .values(let selection): try plan(of: selection, over: layers)
    case .groups(let grouping): try plan(of: grouping, over: layers)
    }
  }

  private func executor(
    of query: ResolvedQuery,
    for purpose: QueryPlanner.Purpose,
    over layers: UnsavedLayers?
  ) throws -> QueryExecutor {
    try QueryExecutor(query, for: purpose, in: self, over: layers)
  }
}
