import Predicates

// Queries for objects. What goes wrong below a query becomes a `ContextError` here and in the other methods of `ObjectSource`, nowhere else.

extension StoreView {
  func rows(
    of query: ResolvedQuery,
    over layers: UnsavedLayers?,
    needsRecords: Bool
  ) throws(ContextError) -> [QueryRow] {
    try ContextError.mapping {
      if let lookup = UniqueLookup(query, of: schema[query.entity.id]),
        let rows = try lookup.rows(in: self, over: layers, needsRecord: needsRecords)
      {
        return rows
      }
      return try executor(of: query, for: .objects, over: layers).rows(needsRecords: needsRecords)
    }
  }

  func count(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> Int {
    try ContextError.mapping {
      if let lookup = UniqueLookup(query, of: schema[query.entity.id]),
        let rows = try lookup.rows(in: self, over: layers, needsRecord: false)
      {
        return rows.count
      }
      return try executor(of: query, for: .count, over: layers).count()
    }
  }

  func cursor(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> any RowCursor {
    try ContextError.mapping { try ResultCursor(executor(of: query, for: .objects, over: layers)) }
  }

  func plan(of request: ResolvedRequest, over layers: UnsavedLayers?) throws(ContextError) -> QueryPlan {
    try ContextError.mapping {
      switch request {
      case .objects(let query): try executor(of: query, for: .objects, over: layers).plan.explanation
      case .values(let selection): try plan(of: selection, over: layers)
      case .groups(let grouping): try plan(of: grouping, over: layers)
      }
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
