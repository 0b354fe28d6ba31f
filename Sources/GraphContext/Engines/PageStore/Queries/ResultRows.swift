import Predicates

/// The results of a query in its order, one by one: rows as they come, or a list of them, through the query's window.
struct ResultRows: ~Copyable {
  private var matching: MatchingRows?
  /// If there are no ``matching`` rows: the numbers of all rows, their records if they have any, and the number of
  /// rows that were taken.
  private var numbers: [ObjectNumber] = []
  private var records: [UnsafeRawBufferPointer?] = []
  private var position = 0
  private var window: RowWindow

  /// Rows as they come. A row's record stays until the next row.
  init(_ matching: consuming MatchingRows, _ window: RowWindow) {
    self.matching = consume matching
    self.window = window
  }

  /// Listed rows, all of them within the window. Rows without records take 8 bytes each.
  init(listed: [QueryRow]) {
    numbers = listed.map(\.number)
    if listed.contains(where: { $0.record != nil }) { records = listed.map(\.record) }
    window = .all
  }

  /// Returns the next result.
  ///
  /// - Parameter reader: has begun the row afterwards, if the row has a record.
  @inline(__always)
  mutating func next(_ reader: inout RowReader) throws -> QueryRow? {
    while !window.isOver, let row = try nextRow(&reader) {
      if window.admits() { return row }
    }
    return nil
  }

  @inline(__always)
  private mutating func nextRow(_ reader: inout RowReader) throws -> QueryRow? {
    if matching != nil { return try matching?.next(&reader) }
    guard position < numbers.count else { return nil }
    let row = QueryRow(number: numbers[position], record: records.isEmpty ? nil : records[position])
    position += 1
    if let record = row.record { try reader.begin(row.number, record) }
    return row
  }
}
