import Predicates

// Queries for values.

extension StoreView {
  func forEachRow(
    of selection: ResolvedSelection,
    over layers: UnsavedLayers?,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws(ContextError) {
    _ = try logging(.values(selection), over: layers, count: { $0 }) { () throws(ContextError) in
      try ContextError.mapping { try readRows(of: selection, over: layers, body) }
    }
  }

  /// - Returns: how many rows `body` was called with.
  private func readRows(
    of selection: ResolvedSelection,
    over layers: UnsavedLayers?,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws -> Int {
    var window = selection.isDistinct ? RowWindow(selection.query) : .all
    let executor = try executor(of: selection, over: layers)
    if window.isOver { return 0 }
    var paths = executor.emptyPaths()
    var fields: [RowField] = []
    for column in selection.columns { fields.append(paths.field(for: column.path)) }
    var seen = selection.isDistinct ? RowGroups(fields, paths) : nil
    var results = try executor.results(&paths, records: .always)
    var reader = executor.reader(paths)
    var rowCount = 0
    while !window.isOver, let row = try results.next(&reader) {
      if let seenCount = seen?.count, let group = try seen?.group(of: &reader), group < seenCount { continue }
      guard window.admits() else { continue }
      rowCount += 1
      guard try body(row, &reader, fields) else { break }
    }
    return rowCount
  }

  func plan(of selection: ResolvedSelection, over layers: UnsavedLayers?) throws -> QueryPlan {
    var plan = try executor(of: selection, over: layers).plan.explanation
    plan.limit = selection.query.limit
    plan.offset = selection.query.offset
    plan.isDistinct = selection.isDistinct
    return plan
  }

  private func executor(of selection: ResolvedSelection, over layers: UnsavedLayers?) throws -> QueryExecutor
  {
    var rows = selection.query
    if selection.isDistinct {
      // Limit and offset count distinct rows, so they are applied later.
      rows.limit = nil
      rows.offset = 0
    }
    return try QueryExecutor(
      rows,
      for: .values(selection.columns.map(\.path), isOrdered: true),
      in: self,
      over: layers
    )
  }
}
