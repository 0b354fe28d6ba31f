import Predicates

// Queries for objects. An error below a query becomes a `ContextError` here and in the other methods of
// `ObjectSource`, nowhere else.

extension StoreView {
  func rows(
    of query: ResolvedQuery,
    over layers: UnsavedLayers?,
    needsRecords: Bool
  ) throws(ContextError) -> [QueryRow] {
    try logging(.objects(query), over: layers, count: \.count) { () throws(ContextError) in
      try ContextError.mapping {
        if let rows = try uniqueRow(of: query, over: layers, needsRecord: needsRecords) { return rows }
        return try executor(of: query, for: .objects, over: layers).rows(needsRecords: needsRecords)
      }
    }
  }

  func count(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> Int {
    try logging(.objects(query), over: layers, count: { $0 }) { () throws(ContextError) in
      try ContextError.mapping {
        if let rows = try uniqueRow(of: query, over: layers, needsRecord: false) { return rows.count }
        if layers == nil, let count = try countInRanges(query) { return RowWindow(query).count(of: count) }
        return try executor(of: query, for: .count, over: layers).count()
      }
    }
  }

  /// Returns the one row, or none, if the query asks for a unique value; nil for any other query.
  private func uniqueRow(
    of query: ResolvedQuery,
    over layers: UnsavedLayers?,
    needsRecord: Bool
  ) throws -> [QueryRow]? {
    try UniqueLookup(query, of: schema[query.entity.id])?.rows(
      in: self,
      over: layers,
      needsRecord: needsRecord
    )
  }

  private func countInRanges(_ query: ResolvedQuery) throws -> Int? {
    try QueryPlanner(schema: schema.schema, counting: StoreCounting(view: self)).countInRanges(query)
  }

  /// Runs a query, with a line in the log if the store's queries are logged.
  func logging<Rows>(
    _ request: @autoclosure () -> ResolvedRequest,
    over layers: UnsavedLayers?,
    count: (Rows) -> Int,
    _ body: () throws(ContextError) -> Rows
  ) throws(ContextError) -> Rows {
    guard let queryLogging else { return try body() }
    return try queryLogging.run(request(), on: self, over: layers, count: count, body)
  }

  func cursor(of query: ResolvedQuery, over layers: UnsavedLayers?) throws(ContextError) -> any RowCursor {
    try queryLogging?.tell(of: query, on: self, over: layers)
    return try ContextError.mapping { try ResultCursor(executor(of: query, for: .objects, over: layers)) }
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
