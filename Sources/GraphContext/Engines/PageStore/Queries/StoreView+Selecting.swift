import Predicates

// Queries for values.

extension StoreView {
  func forEachRow(
    of selection: ResolvedSelection,
    over layers: UnsavedLayers?,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws(ContextError) {
    var window = selection.isDistinct ? RowWindow(selection.query) : .all
    try ContextError.mapping {
      let executor = try executor(of: selection, over: layers)
      if window.isOver { return }
      var paths = executor.emptyPaths()
      var fields: [RowField] = []
      for column in selection.columns { fields.append(paths.field(for: column.path)) }
      var seen = selection.isDistinct ? RowGroups(fields, paths) : nil
      var results = try executor.results(&paths, records: .always)
      var reader = executor.reader(paths)
      while !window.isOver, let row = try results.next(&reader) {
        if let seenCount = seen?.count, let group = try seen?.group(of: &reader), group < seenCount {
          continue
        }
        guard try !window.admits() || body(row, &reader, fields) else { return }
      }
    }
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
      // They count rows that differ.
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
