import Predicates

/// The rows that match a query, one by one: the stored rows of an access path that pass its filter, in order of access,
/// then the unsaved objects that match. A row's record stays until the next row.
struct MatchingRows: ~Copyable {
  private let program: FilterProgram
  private var stored: RowStream
  private let view: StoreView
  private let options: Options
  private var unsaved: UnsavedRows?
  /// Objects whose stored record doesn't count. Stored apart from ``unsaved``, which a test of each row would copy.
  private let hidden: Set<ObjectNumber>
  private var readCount = 0
  private var returnedCount = 0
  /// True if the budget of rows was used up before the access path ended.
  private(set) var isOutOfBudget = false

  struct Options {
    /// The greatest number of stored rows to read.
    var rowBudget = Int.max
    /// The greatest number of stored rows to return.
    var storedLimit = Int.max
    /// True for records with all slots; false for records that have at least the slots which the reader's paths read.
    var needsRecords = false
  }

  init(
    _ stored: consuming RowStream,
    _ program: FilterProgram,
    unsaved: UnsavedRows?,
    in view: StoreView,
    _ options: Options = Options()
  ) {
    self.stored = stored
    self.program = program
    self.unsaved = unsaved
    hidden = unsaved?.hidden ?? []
    self.view = view
    self.options = options
  }

  deinit { view.counters.rowsRead += readCount }

  /// - Parameter reader: has begun the row afterwards.
  /// - Throws: `cancelled`, which is checked every few thousand rows.
  mutating func next(_ reader: inout RowReader) throws -> QueryRow? {
    if returnedCount < options.storedLimit, var row = try nextStored(&reader) {
      returnedCount += 1
      if options.needsRecords { try stored.complete(&row) }
      return row
    }
    return try unsaved?.next(&reader)
  }

  @inline(__always)
  private mutating func nextStored(_ reader: inout RowReader) throws -> QueryRow? {
    while let row = try stored.next() {
      if readCount == options.rowBudget {
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
}

/// The unsaved objects of an entity that match a predicate, in no order.
struct UnsavedRows {
  /// Objects whose stored record doesn't count.
  let hidden: Set<ObjectNumber>
  private let program: FilterProgram
  private var records: [(number: ObjectNumber, bytes: UnsafeRawBufferPointer)]

  init(_ changes: UnsavedRecords, _ program: FilterProgram) {
    hidden = changes.hidden
    self.program = program
    records = []
    changes.forEach { records.append(($0, $1)) }
  }

  mutating func next(_ reader: inout RowReader) throws -> QueryRow? {
    while let (number, bytes) = records.popLast() {
      try reader.begin(number, bytes)
      if try program.matches(&reader) { return QueryRow(number: number, record: bytes) }
    }
    return nil
  }
}
