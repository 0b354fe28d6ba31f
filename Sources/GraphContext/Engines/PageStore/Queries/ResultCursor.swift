import Predicates

/// The results of a query a few at a time, all of one snapshot: read on demand if the plan yields them in order,
/// otherwise listed first, at 8 bytes each.
final class ResultCursor: RowCursor {
  private let executor: QueryExecutor
  private var results: ResultRows
  private var reader: RowReader

  init(_ executor: QueryExecutor) throws {
    self.executor = executor
    var paths = executor.emptyPaths()
    results = try executor.results(&paths, records: .whilePassing)
    reader = executor.reader(paths)
  }

  /// Returns the next `count` results, fewer at the end; those of stored objects with their records, as `keep`
  /// returns them.
  func next(
    _ count: Int,
    _ keep: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer
  ) throws(ContextError) -> [QueryRow] {
    try ContextError.mapping {
      var rows: [QueryRow] = []
      while rows.count < count, let row = try results.next(&reader) {
        rows.append(QueryRow(number: row.number, record: row.record.map(keep)))
      }
      // An unsaved object may have left the context since it was listed.
      return try executor.withRecords(rows, mayBeMissing: true, keep)
    }
  }
}
