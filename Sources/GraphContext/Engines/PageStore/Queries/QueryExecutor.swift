import PageStore
import Predicates

/// Carries out a plan over one snapshot and unsaved changes.
struct QueryExecutor {
  let view: StoreView
  let entity: StoredEntity
  private(set) var plan: PlannedQuery
  /// The whole predicate, for rows that don't come by the plan's way.
  private let predicate: NormalPredicate
  private let sort: [ResolvedSort]
  private let isIDAscending: Bool
  let pending: PendingRecords?
  /// What is read of the index's entries where the plan says that they are enough.
  var covering = Covering.bits

  /// Plans the query.
  ///
  /// - Parameters:
  ///   - layers: unsaved changes that take part; nil for none.
  ///   - samplingCost: what a plan has to cost before rows are read to find a better one.
  /// - Throws: `ContextError`; `QueryError` for a pattern that is none.
  init(
    _ query: ResolvedQuery,
    for purpose: QueryPlanner.Purpose,
    in view: StoreView,
    over layers: UnsavedLayers? = nil,
    samplingCost: Double = QueryPlanner.usualSamplingCost
  ) throws {
    let entity = view.schema[query.entity.id]
    self.view = view
    self.entity = entity
    predicate = query.predicate
    sort = query.sort
    isIDAscending = query.isIDAscending
    var paths: [ResolvedPath] = []
    if case .values(let read, _) = purpose { paths = read }
    pending = layers.flatMap { PendingRecords(for: query, reading: paths, of: entity, in: $0, view.schema) }
    let planner = QueryPlanner(
      schema: view.schema.schema,
      counting: StoreCounting(view: view),
      samplingCost: samplingCost
    )
    let pending = pending
    plan = try ContextError.mapping {
      try planner.plan(
        query,
        for: purpose,
        hiddenEntities: pending?.hiddenEntities ?? [],
        hiddenRelationships: pending?.hiddenRelationships ?? []
      )
    }
  }

  /// The same for a part of the results only.
  func slice(_ offset: Int, _ limit: Int) -> QueryExecutor {
    var copy = self
    copy.plan.offset = offset
    copy.plan.limit = limit
    return copy
  }

  /// Whether the object has unsaved changes: its record in the results isn't the snapshot's.
  func isPending(_ number: ObjectNumber) -> Bool { ownChanges?.record(number) != nil }

  /// Unsaved changes of the fetched entity itself.
  var ownChanges: UnsavedRecords? { pending?.changes(of: entity) }

  // MARK: Rows

  /// The results, in order.
  ///
  /// - Parameter needsRecords: whether each row of a stored object must come with its record.
  func rows(needsRecords: Bool) throws -> [QueryRow] {
    try ContextError.mapping { try collectRows(needsRecords) }
  }

  func collectRows(_ needsRecords: Bool) throws -> [QueryRow] {
    let rows: [QueryRow]
    let keep: QueryRow.Keep? = needsRecords ? { view.keep($0, of: entity) } : nil
    // Of rows that come and go while they are sorted, the records would stay.
    let dropsSorted = !plan.isCovering && (wanted ?? .max) < plan.access.rowCount
    let keepSorted = dropsSorted ? nil : keep
    if let ownChanges {
      rows = try slice(merged(with: ownChanges, keepSorted))
    } else {
      switch plan.order {
      case .access(let isReversed):
        rows =
          try plan.residual == .constant(true) && !plan.isCovering
          ? selected(isReversed, keep) : filtered(isReversed, keep)
      case .sorted: rows = try slice(sortedRows(keepSorted))
      }
    }
    return needsRecords ? try withRecords(rows) : rows
  }

  private func slice(_ rows: [QueryRow]) -> [QueryRow] {
    let rest = rows.dropFirst(plan.offset)
    return Array(plan.limit.map { rest.prefix($0) } ?? rest)
  }

  /// The rows with their records, but for those of unsaved objects.
  private func withRecords(_ rows: [QueryRow]) throws -> [QueryRow] {
    let places = rows.indices.filter { rows[$0].record == nil && !isPending(rows[$0].number) }
    if places.isEmpty { return rows }
    let found = try RecordWalker.rows(places.map { rows[$0].number }, of: entity, in: view) {
      view.keep($0, of: entity)
    }
    if found.count == rows.count { return found }
    var rows = rows
    for (place, row) in zip(places, found) { rows[place] = row }
    return rows
  }

  /// Nothing to test, nothing to sort: the rows are found by rank.
  private func selected(_ isReversed: Bool, _ keep: QueryRow.Keep?) throws -> [QueryRow] {
    var numbers: [ObjectNumber] = []
    let count = max(0, min(plan.limit ?? .max, plan.access.rowCount - plan.offset))
    switch plan.access {
    case .nothing: return []
    case .objects: return try filtered(isReversed, keep)
    case .fullScan:
      var scan = try RecordScan(
        entity,
        in: view,
        isReversed: isReversed,
        skipping: plan.offset,
        reading: keep == nil ? 0 : .max
      )
      var rows: [QueryRow] = []
      rows.reserveCapacity(min(count, 1 << 16))
      defer { view.counters.rowsRead += rows.count }
      while rows.count < count, let row = try scan.next() {
        if rows.count % StoreView.rowsBetweenChecks == 0 { try view.checkCancellation() }
        rows.append(row.kept(keep))
      }
      return rows
    case .index(let scan):
      var walker = try IndexWalker(scan, in: view, isReversed: isReversed, skipping: plan.offset)
      try walker.next(count, into: &numbers)
    case .union, .intersection:
      let merged = try MergedRanges.numbers(plan.access, in: view)
      let wanted = isReversed ? ArraySlice(merged.reversed()) : merged[...]
      numbers = Array(wanted.dropFirst(plan.offset).prefix(count))
    }
    return numbers.map { QueryRow(number: $0, record: nil) }
  }

  /// Rows in the order of access, tested until there are enough, or until the other plan would have cost less.
  private func filtered(_ isReversed: Bool, _ keep: QueryRow.Keep?) throws -> [QueryRow] {
    var rows: [QueryRow] = []
    var paths = RowPaths(entity.schema, in: view.schema.schema)
    let isComplete = try forEachSelected(
      isReversed,
      rowBudget: plan.fallback?.rowBudget,
      needsRecords: keep != nil,
      paths: &paths
    ) { row, _ in
      rows.append(row.kept(keep))
      return true
    }
    guard !isComplete, let fallback = plan.fallback else { return rows }
    var other = self
    other.plan = fallback.plan
    return try other.collectRows(false)
  }

  /// All rows of the access path that pass the residual, sorted; as many as are wanted.
  private func sortedRows(_ keep: QueryRow.Keep?) throws -> [QueryRow] {
    guard case .sorted(let keys, _) = plan.order else { return [] }
    var (paths, fields) = sortFields(keys)
    var buffer = SortBuffer(keys, fields, isIDAscending: isIDAscending, wanted: wanted, keep: keep)
    if keys.isEmpty, plan.residual == .constant(true) {
      try forEachNumber { buffer.insert(number: $0) }
      return buffer.finish()
    }
    try forEachRow(
      where: plan.residual,
      isReversed: false,
      needsRecords: keep != nil,
      paths: &paths
    ) { row, reader in
      try buffer.insert(row, &reader)
      return true
    }
    return buffer.finish()
  }

  private var wanted: Int? {
    plan.limit.map { $0.addingReportingOverflow(plan.offset) }.map { $0.overflow ? .max : $0.partialValue }
  }

  private func sortFields(_ keys: [ResolvedSort]) -> (RowPaths, [RowField]) {
    var paths = RowPaths(entity.schema, in: view.schema.schema)
    var fields: [RowField] = []
    for key in keys { fields.append(paths.field(for: key.path)) }
    return (paths, fields)
  }
}

// MARK: - Unsaved changes

extension QueryExecutor {
  /// The stored rows that count, and the pending ones that match, sorted together.
  private func merged(with changes: UnsavedRecords, _ keep: QueryRow.Keep?) throws -> [QueryRow] {
    var (paths, fields) = sortFields(sort)
    var buffer = SortBuffer(sort, fields, isIDAscending: isIDAscending, wanted: wanted, keep: keep)
    var isReversed = false
    // In order of access, nothing after the wanted ones can be among the results.
    var enough = Int.max
    if case .access(let backwards) = plan.order {
      isReversed = backwards
      enough = wanted ?? .max
    }
    var count = 0
    if enough > 0 {
      try forEachRow(
        where: plan.residual,
        isReversed: isReversed,
        hiding: changes.hidden,
        needsRecords: keep != nil,
        paths: &paths
      ) { row, reader in
        try buffer.insert(row, &reader)
        count += 1
        return count < enough
      }
    }
    try forEachPendingRow(of: changes, paths: &paths) { row, reader in try buffer.insert(row, &reader) }
    return buffer.finish()
  }

  func forEachPendingRow(
    of changes: UnsavedRecords,
    paths: inout RowPaths,
    _ body: (QueryRow, inout RowReader) throws -> Void
  ) throws {
    let program = try FilterProgram(compiling: predicate, paths: paths)
    paths = program.paths
    var reader = RowReader(paths, source: ViewRecordSource(paths, in: view, pending: pending))
    try changes.forEach { number, bytes in
      try reader.begin(number, bytes)
      if try program.matches(&reader) { try body(QueryRow(number: number, record: bytes), &reader) }
    }
  }

  /// Of the stored rows that don't count any more, those that the plan has counted.
  private func hiddenMatchCount(_ changes: UnsavedRecords) throws -> Int {
    let paths = RowPaths(entity.schema, in: view.schema.schema)
    let program = try FilterProgram(compiling: predicate, paths: paths)
    var reader = RowReader(program.paths, source: ViewRecordSource(program.paths, in: view, pending: nil))
    var count = 0
    for number in changes.hidden {
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

// MARK: - Counting

extension QueryExecutor {
  /// How many results there are; limit and offset count.
  func count() throws -> Int {
    let count = max(0, try ContextError.mapping { try matchCount() } - plan.offset)
    return min(plan.limit ?? .max, count)
  }

  /// How many rows match; no more than are wanted, where they are counted one by one.
  private func matchCount() throws -> Int {
    var count = try storedMatchCount()
    guard let ownChanges else { return count }
    var paths = RowPaths(entity.schema, in: view.schema.schema)
    try forEachPendingRow(of: ownChanges, paths: &paths) { _, _ in count += 1 }
    return count
  }

  /// Of the stored rows, but for those that unsaved changes hide.
  private func storedMatchCount() throws -> Int {
    if plan.isCountExact { return try plan.access.rowCount - (ownChanges.map(hiddenMatchCount) ?? 0) }
    var count = 0
    if ownChanges == nil, plan.residual == .constant(true) {
      try forEachNumber { _ in count += 1 }
      return count
    }
    let enough = wanted ?? .max
    if enough == 0 { return 0 }
    var paths = RowPaths(entity.schema, in: view.schema.schema)
    try forEachRow(
      where: plan.residual,
      isReversed: false,
      hiding: ownChanges?.hidden ?? [],
      paths: &paths
    ) { _, _ in
      count += 1
      return count < enough
    }
    return count
  }
}

// MARK: - Access paths

extension QueryExecutor {
  /// Calls `body` for the rows of the access path that pass the filter, in order of access, until it returns false.
  ///
  /// - Parameters:
  ///   - skipped: how many rows to leave out at the start, found by rank; 0 for a list of objects, a union or an intersection.
  ///   - rowBudget: how many rows to read at most; nil for all.
  ///   - needsRecords: whether the rows come with whole records. Else those have the values that are read, and no more.
  ///   - paths: what else is read of the rows; the filter's are added.
  /// - Returns: false if the budget ran out.
  @discardableResult
  func forEachRow(
    where filter: NormalPredicate,
    isReversed: Bool,
    skipping skipped: Int = 0,
    hiding hidden: Set<ObjectNumber> = [],
    rowBudget: Int? = nil,
    needsRecords: Bool = false,
    paths: inout RowPaths,
    _ body: (QueryRow, inout RowReader) throws -> Bool
  ) throws -> Bool {
    var rows = try filteredRows(
      where: filter,
      isReversed: isReversed,
      skipping: skipped,
      hiding: hidden,
      rowBudget: rowBudget,
      needsRecords: needsRecords,
      paths: &paths
    )
    while var row = try rows.next() {
      if needsRecords { try rows.complete(&row) }
      guard try body(row, &rows.reader) else { break }
    }
    return !rows.isOutOfBudget
  }

  /// The rows of the access path that pass the filter, in order of access.
  ///
  /// - Parameter needsRecords: whether the rows will be completed.
  func filteredRows(
    where filter: NormalPredicate,
    isReversed: Bool,
    skipping skipped: Int = 0,
    hiding hidden: Set<ObjectNumber> = [],
    rowBudget: Int? = nil,
    needsRecords: Bool = false,
    paths: inout RowPaths
  ) throws -> FilteredRows {
    let program = try FilterProgram(compiling: filter, paths: paths)
    paths = program.paths
    let rows = try RowStream(
      plan.access,
      of: entity,
      in: view,
      isReversed: isReversed,
      skipping: skipped,
      // Rows that all pass are read once, whole.
      reading: needsRecords && filter == .constant(true) ? .max : paths.ownSlots,
      covering: plan.isCovering ? covering : nil
    )
    return FilteredRows(
      rows,
      program,
      RowReader(paths, source: ViewRecordSource(paths, in: view, pending: pending)),
      in: view,
      hiding: hidden,
      rowBudget: rowBudget ?? .max
    )
  }

  /// Calls `body` for the number of every row of the access path, each once, in no order.
  private func forEachNumber(_ body: (ObjectNumber) -> Void) throws {
    switch plan.access {
    case .nothing: break
    case .fullScan:
      var scan = try RecordScan(entity, in: view, reading: 0)
      while let row = try scan.next() { body(row.number) }
    case .objects(let numbers):
      for number in numbers where try view.contains(number, of: entity) { body(number) }
    case .index(let scan):
      var walker = try IndexWalker(scan, in: view)
      while try walker.next() { body(try walker.objectID()) }
    case .union, .intersection:
      for number in try MergedRanges.numbers(plan.access, in: view) { body(number) }
    }
  }
}
