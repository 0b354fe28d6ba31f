import Predicates

/// The results of a query a few at a time, all of one snapshot: read as they are asked for where the plan yields them in order, else
/// listed first, at 8 bytes each.
final class ResultCursor: RowCursor {
  private let executor: QueryExecutor
  private var rows: FilteredRows?
  private var toSkip = 0
  private var left = Int.max
  /// Where they are listed: the numbers, and how many of them were returned.
  private var numbers: [ObjectNumber] = []
  private var position = 0

  init(_ executor: QueryExecutor) throws {
    self.executor = executor
    let plan = executor.plan
    guard executor.pending == nil, plan.fallback == nil, case .access(let isReversed) = plan.order else {
      numbers = try executor.rows(needsRecords: false).map(\.number)
      return
    }
    let skipped = plan.isInRankOrder ? plan.offset : 0
    toSkip = plan.offset - skipped
    left = plan.limit ?? .max
    rows = try ContextError.mapping {
      var paths = RowPaths(executor.entity.schema, in: executor.view.schema.schema)
      return try executor.filteredRows(
        where: plan.residual,
        isReversed: isReversed,
        skipping: skipped,
        needsRecords: true,
        paths: &paths
      )
    }
  }

  /// The next `count` results, fewer at the end; those of stored objects with their records, as `keep` returns them.
  func next(_ count: Int, _ keep: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer) throws -> [QueryRow] {
    rows == nil ? try nextListed(count, keep) : try nextRead(count, keep)
  }

  private func nextRead(
    _ count: Int,
    _ keep: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer
  ) throws -> [QueryRow] {
    var result: [QueryRow] = []
    while result.count < min(count, left), var row = try nextRow() {
      if toSkip > 0 {
        toSkip -= 1
        continue
      }
      try ContextError.mapping { try rows?.complete(&row) }
      result.append(QueryRow(number: row.number, record: row.record.map(keep)))
    }
    left -= result.count
    return result
  }

  private func nextRow() throws -> QueryRow? {
    try ContextError.mapping { try rows?.next() }
  }

  private func nextListed(
    _ count: Int,
    _ keep: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer
  ) throws -> [QueryRow] {
    let next = numbers[position..<min(position + count, numbers.count)]
    position = next.endIndex
    let stored = next.filter { !executor.isPending($0) }
    let view = executor.view
    let found = try ContextError.mapping {
      try RecordWalker.rows(stored, of: executor.entity, in: view, mayBeMissing: true, keep)
    }
    var records: [ObjectNumber: UnsafeRawBufferPointer] = [:]
    for row in found { records[row.number] = row.record }
    return next.map { QueryRow(number: $0, record: records[$0]) }
  }
}
