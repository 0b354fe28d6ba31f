import Predicates

/// A query for values whose names are found in the schema.
struct ResolvedSelection {
  var query: ResolvedQuery
  let columns: [QueryColumn]
  let isDistinct: Bool

  /// The plan over a snapshot and a context's unsaved changes.
  func executor(in view: StoreView, context: ManagedObjectContext? = nil) throws -> QueryExecutor {
    var rows = query
    if isDistinct {
      // They count rows that differ.
      rows.limit = nil
      rows.offset = 0
    }
    return try QueryExecutor(
      rows,
      for: .values(columns.map(\.path), isOrdered: true),
      in: view,
      context: context
    )
  }

  /// How the query is answered.
  func plan(
    in view: StoreView,
    context: ManagedObjectContext? = nil,
    analyze: Bool = false
  ) throws -> QueryPlan {
    var plan = try executor(in: view, context: context).plan.explanation
    plan.limit = query.limit
    plan.offset = query.offset
    plan.isDistinct = isDistinct
    return try analyze ? plan.measured(in: view) { try count(in: view, context: context) } : plan
  }

  /// How many rows there are, each of them read.
  func count(in view: StoreView, context: ManagedObjectContext? = nil) throws -> Int {
    var count = 0
    try forEachRow(in: view, context: context) { _, reader, fields in
      for field in fields { _ = try reader.value(of: field) }
      count += 1
      return true
    }
    return count
  }

  /// Calls `body` with each row, in order, until it returns false: with a reader that has begun it, and where the columns are.
  func forEachRow(
    in view: StoreView,
    context: ManagedObjectContext? = nil,
    _ body: (QueryRow, inout RowReader, [RowField]) throws -> Bool
  ) throws {
    let executor = try executor(in: view, context: context)
    var paths = RowPaths(query.entity, in: view.schema.schema)
    var fields: [RowField] = []
    for column in columns { fields.append(paths.field(for: column.path)) }
    guard isDistinct else {
      return try executor.forEachResult(&paths) { row, reader in try body(row, &reader, fields) }
    }
    var window = Window(query)
    if window.isOver { return }
    var seen = RowGroups(fields, paths)
    try executor.forEachResult(&paths) { row, reader in
      let seenBefore = seen.count
      guard try seen.group(of: &reader) == seenBefore, window.admits() else { return true }
      return try body(row, &reader, fields) && !window.isOver
    }
  }

  /// Which results a limit and an offset leave, as they come one by one.
  private struct Window {
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
}
