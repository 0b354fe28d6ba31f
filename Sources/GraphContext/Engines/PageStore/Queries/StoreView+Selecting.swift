import Predicates

// Queries for values.

extension StoreView {
  func forEachRow(
    of selection: ResolvedSelection,
    over layers: UnsavedLayers?,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws {
    let executor = try executor(of: selection, over: layers)
    var paths = RowPaths(selection.query.entity, in: schema.schema)
    var fields: [RowField] = []
    for column in selection.columns { fields.append(paths.field(for: column.path)) }
    guard selection.isDistinct else {
      return try executor.forEachResult(&paths) { row, reader in try body(row, &reader, fields) }
    }
    var window = RowWindow(selection.query)
    if window.isOver { return }
    var seen = RowGroups(fields, paths)
    try executor.forEachResult(&paths) { row, reader in
      let seenBefore = seen.count
      guard try seen.group(of: &reader) == seenBefore, window.admits() else { return true }
      return try body(row, &reader, fields) && !window.isOver
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

/// The rows that a limit and an offset leave, as they come one by one.
struct RowWindow {
  private var toSkip: Int
  private var left: Int

  init(_ query: ResolvedQuery) {
    toSkip = query.offset
    left = query.limit ?? .max
  }

  var isOver: Bool { left == 0 }

  mutating func admits() -> Bool {
    if toSkip > 0 {
      toSkip -= 1
      return false
    }
    left -= 1
    return true
  }
}
