import PageStore
import Predicates

// Results one after the other, for whoever reads values of them and keeps none.

extension QueryExecutor {
  /// Calls `body` with each result, in order, until it returns false.
  ///
  /// - Parameter paths: what is read of the results. What the query itself reads is added.
  func forEachResult(
    _ paths: inout RowPaths,
    _ body: (QueryRow, inout RowReader) throws -> Bool
  ) throws {
    try ContextError.mapping {
      if ownChanges == nil, plan.fallback == nil, case .access(let isReversed) = plan.order {
        try forEachSelected(isReversed, rowBudget: nil, paths: &paths, body)
        return
      }
      let rows = try collectRows(true)
      var reader = RowReader(paths, source: ViewRecordSource(paths, in: view, pending: pending))
      for row in rows {
        guard let record = row.record ?? ownChanges?.record(row.number) else { continue }
        try reader.begin(row.number, record)
        guard try body(row, &reader) else { return }
      }
    }
  }

  /// Calls `body` with each result, in no order.
  func forEachResultInAnyOrder(
    _ paths: inout RowPaths,
    _ body: (inout RowReader) throws -> Void
  ) throws {
    if plan.limit != nil || plan.offset > 0 {
      return try forEachResult(&paths) { _, reader in
        try body(&reader)
        return true
      }
    }
    try ContextError.mapping {
      let hidden = ownChanges?.hidden ?? []
      try forEachRow(where: plan.residual, isReversed: false, hiding: hidden, paths: &paths) { _, reader in
        try body(&reader)
        return true
      }
      guard let ownChanges else { return }
      try forEachPendingRow(of: ownChanges, paths: &paths) { _, reader in try body(&reader) }
    }
  }

  /// The same for the rows of the access path, in its order: those that pass the residual, without as many as the offset says, and
  /// no more than the limit. Where a row's rank is its place in the results, the offset costs O(log n).
  ///
  /// - Returns: false if the budget ran out.
  @discardableResult
  func forEachSelected(
    _ isReversed: Bool,
    rowBudget: Int?,
    needsRecords: Bool = false,
    paths: inout RowPaths,
    _ body: (QueryRow, inout RowReader) throws -> Bool
  ) throws -> Bool {
    var left = plan.limit ?? .max
    if left == 0 { return true }
    let skipped = plan.isInRankOrder ? plan.offset : 0
    var toSkip = plan.offset - skipped
    return try forEachRow(
      where: plan.residual,
      isReversed: isReversed,
      skipping: skipped,
      rowBudget: rowBudget,
      needsRecords: needsRecords,
      paths: &paths
    ) { row, reader in
      if toSkip > 0 {
        toSkip -= 1
        return true
      }
      left -= 1
      return try body(row, &reader) && left > 0
    }
  }
}
