import Predicates

extension QueryPlan {
  /// Returns the plan with a measurement of its query, which runs now.
  ///
  /// - Parameters:
  ///   - source: the source that the query reads; nothing else may read it meanwhile.
  ///   - run: runs the query and returns its number of rows.
  func measured<E: Error>(
    on source: any ObjectSource,
    _ run: () throws(E) -> Int
  ) throws(E) -> QueryPlan {
    try measured(on: source, count: { $0 }, run).plan
  }

  /// Returns the plan with a measurement of its query, which runs now, and the query's result.
  ///
  /// - Parameters:
  ///   - source: the source that the query reads; nothing else may read it meanwhile.
  ///   - count: returns the number of rows of a result.
  ///   - run: runs the query.
  func measured<Rows, E: Error>(
    on source: any ObjectSource,
    count: (Rows) -> Int,
    _ run: () throws(E) -> Rows
  ) throws(E) -> (plan: QueryPlan, rows: Rows) {
    let before = source.counters
    let start = ContinuousClock.now
    let rows = try run()
    let elapsed = (ContinuousClock.now - start).components
    var plan = self
    plan.measurement = Measurement(
      rowsRead: source.counters.rowsRead - before.rowsRead,
      rowsMatched: count(rows),
      entriesWalked: source.counters.entriesWalked - before.entriesWalked,
      recordsLookedUp: source.counters.recordsLookedUp - before.recordsLookedUp,
      nanoseconds: elapsed.seconds * 1_000_000_000 + elapsed.attoseconds / 1_000_000_000
    )
    return (plan, rows)
  }
}
