import Predicates

/// The rows of an access path that pass a filter, in order of access. A row's record stays until the next row.
struct FilteredRows: ~Copyable {
  /// Has begun the row that was returned last.
  var reader: RowReader
  private let program: FilterProgram
  private var rows: RowStream
  private let view: StoreView
  private let hidden: Set<ObjectNumber>
  private let rowBudget: Int
  private var readCount = 0
  /// Whether the budget ran out before the rows did.
  private(set) var isOutOfBudget = false

  /// - Parameters:
  ///   - hidden: objects to leave out.
  ///   - rowBudget: how many rows to read at most.
  init(
    _ rows: consuming RowStream,
    _ program: FilterProgram,
    _ reader: RowReader,
    in view: StoreView,
    hiding hidden: Set<ObjectNumber>,
    rowBudget: Int
  ) {
    self.rows = rows
    self.program = program
    self.reader = reader
    self.view = view
    self.hidden = hidden
    self.rowBudget = rowBudget
  }

  deinit { view.counters.rowsRead += readCount }

  /// - Throws: `CancellationError`, looked for every few thousand rows.
  mutating func next() throws -> QueryRow? {
    while let row = try rows.next() {
      if readCount == rowBudget {
        isOutOfBudget = true
        return nil
      }
      readCount += 1
      if readCount % StoreView.rowsBetweenChecks == 0 { try view.checkCancellation() }
      if !hidden.isEmpty, hidden.contains(row.number) { continue }
      guard let record = row.record else { continue }
      try reader.begin(row.number, record)
      if try program.matches(&reader) { return row }
    }
    return nil
  }

  /// Replaces the record of the last row by one with all slots.
  func complete(_ row: inout QueryRow) throws { try rows.complete(&row) }
}
