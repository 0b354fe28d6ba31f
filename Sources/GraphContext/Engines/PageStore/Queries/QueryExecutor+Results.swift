import PageStore
import Predicates

// The results of a plan: in order, as a list or one by one, or in no order.

extension QueryExecutor {
  /// Returns the results, in order.
  ///
  /// - Parameter needsRecords: whether each row of a stored object must come with its record, which the view keeps.
  func rows(needsRecords: Bool) throws -> [QueryRow] {
    let rows = try foundRows(needsRecords ? keep : nil)
    return needsRecords ? try withRecords(rows, keep) : rows
  }

  // The closure is called for each row, so it doesn't capture the executor.
  private var keep: (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    { [view, entity] in view.keep($0, of: entity) }
  }

  /// Returns the results one by one, in order. They are read on demand if the plan yields them in order; otherwise
  /// they are listed first.
  ///
  /// - Parameters:
  ///   - paths: the paths that are read of the results. The paths that the query itself reads are added.
  ///   - records: which rows come with records.
  func results(_ paths: inout RowPaths, records: RecordNeed) throws -> ResultRows {
    // Unsaved changes of other entities, which rows are tested by, may change before the last row is asked for.
    let mayWait = records == .always || pending == nil
    if isInOrder, mayWait { return try passingResults(&paths, needsRecords: records == .whilePassing) }
    guard records == .always else { return ResultRows(listed: try foundRows(nil)) }
    let rows = try withRecords(listedRows(keep), keep).map { row in
      QueryRow(number: row.number, record: row.record ?? ownChanges?.record(row.number))
    }
    return ResultRows(listed: rows)
  }

  /// The rows that come with records.
  enum RecordNeed {
    /// The rows that are read on demand, with all slots.
    case whilePassing
    /// All rows, with the slots that are read.
    case always
  }

  /// Returns the results in no order, each with its record.
  func unorderedResults(_ paths: inout RowPaths) throws -> ResultRows {
    // The rows that a limit leaves depend on their order.
    if !window.isWhole { return try results(&paths, records: .always) }
    return ResultRows(try matchingRows(&paths), window)
  }

  /// Returns the rows with their records, except the rows of unsaved objects.
  ///
  /// - Parameter mayBeMissing: whether an object without a record is accepted; its row then has no record.
  ///   Otherwise it counts as damage.
  func withRecords(
    _ rows: [QueryRow],
    mayBeMissing: Bool = false,
    _ keep: RecordWalker.Keep
  ) throws -> [QueryRow] {
    let places = rows.indices.filter { rows[$0].record == nil && !isPending(rows[$0].number) }
    if places.isEmpty { return rows }
    let numbers = places.map { rows[$0].number }
    let found = try RecordWalker.rows(numbers, of: entity, in: view, mayBeMissing: mayBeMissing, keep)
    if found.count == rows.count { return found }
    var rows = rows
    var rest = found[...]
    for place in places where rest.first?.number == rows[place].number {
      rows[place].record = rest.removeFirst().record
    }
    return rows
  }
}

// MARK: - Ways to the results

extension QueryExecutor {
  /// True if the access path yields the results in their order, so that each can be handed out as soon as it is read.
  private var isInOrder: Bool {
    guard case .access = plan.order else { return false }
    return ownChanges == nil && plan.fallback == nil
  }

  /// True if positions in indexes alone decide the results, so that no record is read to find them.
  private var isRanked: Bool { isInOrder && hasOnlyNumbers && !plan.isCovering }

  /// True if the numbers in indexes are those of all matching objects.
  private var hasOnlyNumbers: Bool {
    guard plan.residual == .constant(true) else { return false }
    switch plan.access {
    case .index, .union, .intersection: return true
    case .nothing, .objects, .fullScan: return false
    }
  }

  private var isReversed: Bool { if case .access(let isReversed) = plan.order { isReversed } else { false } }

  /// Returns the results in order, each with the record that `keep` returns, or without one.
  private func foundRows(_ keep: QueryRow.Keep?) throws -> [QueryRow] {
    guard isInOrder, !isRanked else { return try listedRows(keep) }
    var paths = emptyPaths()
    var results = try passingResults(&paths, needsRecords: keep != nil)
    var reader = reader(paths)
    var rows: [QueryRow] = []
    while let row = try results.next(&reader) { rows.append(row.kept(keep)) }
    return rows
  }

  private func passingResults(_ paths: inout RowPaths, needsRecords: Bool) throws -> ResultRows {
    var window = window
    if window.isOver { return ResultRows(listed: []) }
    let skipped = plan.isInRankOrder ? window.takeOffset() : 0
    let options = MatchingRows.Options(needsRecords: needsRecords)
    return ResultRows(
      try matchingRows(&paths, isReversed: isReversed, skipping: skipped, options),
      window
    )
  }

  /// Returns results that have to be listed: those that are found by ranks, and those that are known only after
  /// other rows have been read.
  private func listedRows(_ keep: QueryRow.Keep?) throws -> [QueryRow] {
    if isRanked { return try rankedNumbers().map { QueryRow(number: $0, record: nil) } }
    if ownChanges == nil, case .access = plan.order { return try rowsInBudget(keep) }
    return window.rows(of: try sortedRows(keep))
  }

  private func rankedNumbers() throws -> [ObjectNumber] {
    var window = window
    guard case .index(let scan) = plan.access else {
      let numbers = try MergedRanges.numbers(plan.access, in: view)
      return (isReversed ? numbers.reversed() : numbers).filter { _ in window.admits() }
    }
    var walker = try IndexWalker(scan, in: view, isReversed: isReversed, skipping: window.takeOffset())
    var numbers: [ObjectNumber] = []
    try walker.next(window.count(of: scan.rowCount), into: &numbers)
    return numbers
  }

  /// Returns the results in order of access, unless the other plan would have cost less.
  private func rowsInBudget(_ keep: QueryRow.Keep?) throws -> [QueryRow] {
    var (paths, window) = (emptyPaths(), window)
    let budget = plan.fallback?.rowBudget ?? .max
    let options = MatchingRows.Options(rowBudget: budget, needsRecords: keep != nil)
    var matching = try matchingRows(&paths, isReversed: isReversed, options)
    var reader = reader(paths)
    var rows: [QueryRow] = []
    while !window.isOver, let row = try matching.next(&reader) {
      if window.admits() { rows.append(row.kept(keep)) }
    }
    guard matching.isOutOfBudget, let fallback = plan.fallback else { return rows }
    return try following(fallback.plan).foundRows(nil)
  }

  /// Returns the matching rows, sorted: at least as many as the window's end. If the other plan would have cost less
  /// than this one, they are found by the other plan.
  private func sortedRows(_ keep: QueryRow.Keep?) throws -> [QueryRow] {
    // Sorting drops rows beyond the limit, but records kept for them would stay in memory: keep none while sorting.
    let dropsSorted = !plan.isCovering && (window.end ?? .max) < plan.access.rowCount
    let kept = dropsSorted ? nil : keep
    var paths = emptyPaths()
    var keys = sort
    var options = MatchingRows.Options(needsRecords: kept != nil)
    switch plan.order {
    case .sorted(let left, _): if ownChanges == nil { keys = left }
    // In order of access, no stored row after these can be among the results.
    case .access: options.storedLimit = window.end ?? .max
    }
    if let fallback = plan.fallback { options.rowBudget = fallback.rowBudget }
    let fields = keys.map { paths.field(for: $0.path) }
    var buffer = SortBuffer(keys, fields, isIDAscending: isIDAscending, wanted: window.end, keep: kept)
    if keys.isEmpty, ownChanges == nil, hasOnlyNumbers {
      for number in try MergedRanges.numbers(plan.access, in: view) { buffer.insert(number: number) }
      return buffer.finish()
    }
    var matching = try matchingRows(&paths, isReversed: isReversed, options)
    var reader = reader(paths)
    while !matching.isOutOfBudget, let row = try matching.next(&reader) { try buffer.insert(row, &reader) }
    guard matching.isOutOfBudget, let fallback = plan.fallback else { return buffer.finish() }
    return try following(fallback.plan).sortedRows(keep)
  }
}

// MARK: - Matching rows

extension QueryExecutor {
  /// Returns the rows that match, in order of access, and after them the unsaved ones.
  ///
  /// - Parameters:
  ///   - paths: the paths that are read of the rows. The paths that the filters read are added.
  ///   - skipped: how many rows to leave out at the start, found by rank; 0 for a list of objects, a union or an
  ///     intersection.
  private func matchingRows(
    _ paths: inout RowPaths,
    isReversed: Bool = false,
    skipping skipped: Int = 0,
    _ options: MatchingRows.Options = .init()
  ) throws -> MatchingRows {
    let program = try FilterProgram(compiling: plan.residual, paths: paths)
    paths = program.paths
    let stored = try RowStream(
      plan.access,
      of: entity,
      in: view,
      isReversed: isReversed,
      skipping: skipped,
      // If all rows pass, each is read once, with all slots.
      reading: options.needsRecords && plan.residual == .constant(true)
        ? .all : SlotSet(rawValue: paths.ownSlots),
      covering: plan.isCovering ? covering : nil
    )
    return MatchingRows(stored, program, unsaved: try unsavedRows(&paths), in: view, options)
  }

  private func unsavedRows(_ paths: inout RowPaths) throws -> UnsavedRows? {
    guard let ownChanges else { return nil }
    let program = try FilterProgram(compiling: predicate, paths: paths)
    paths = program.paths
    return UnsavedRows(ownChanges, program)
  }
}

// MARK: - Counting

extension QueryExecutor {
  /// Returns the number of results; limit and offset count. If rows are counted one by one, no more rows than
  /// wanted are read.
  func count() throws -> Int {
    if plan.isCountExact {
      return window.count(of: try plan.access.rowCount - hiddenMatchCount() + unsavedMatchCount())
    }
    if ownChanges == nil, hasOnlyNumbers {
      return window.count(of: try MergedRanges.numbers(plan.access, in: view).count)
    }
    var paths = emptyPaths()
    var results = ResultRows(try matchingRows(&paths), window)
    var reader = reader(paths)
    var count = 0
    while try results.next(&reader) != nil { count += 1 }
    return count
  }

  private func unsavedMatchCount() throws -> Int {
    var paths = emptyPaths()
    guard var rows = try unsavedRows(&paths) else { return 0 }
    var reader = reader(paths)
    var count = 0
    while try rows.next(&reader) != nil { count += 1 }
    return count
  }

  /// Returns the number of stored rows that don't count any more, although the plan has counted them.
  private func hiddenMatchCount() throws -> Int {
    guard let ownChanges else { return 0 }
    let program = try FilterProgram(compiling: predicate, paths: emptyPaths())
    var reader = view.reader(of: program.paths)
    var count = 0
    for number in ownChanges.hidden {
      let matches: Result<Bool, any Error>? = try view.withRecord(number, of: entity) { record in
        Result {
          try reader.begin(number, record.bytes)
          return try program.matches(&reader)
        }
      }
      if try matches?.get() == true { count += 1 }
    }
    return count
  }
}
