/// The cost of a plan, in units of a record that a full scan reads.
///
/// Row counts are exact, except those of intersections. The model adds the cost of a row, which depends on how the
/// row is reached. The weights hold for trees whose pages are in memory: an index entry is smaller than a record
/// and needs no test. Looking up a record by ID costs a step from its neighbour if IDs come ascending, and a
/// descent if they don't.
struct CostModel {
  static let indexEntry = 0.2
  /// The cost of an entry whose components are read. Decoding them costs no less than finding fields of a record; a
  /// whole index still goes before the records, because groups can be counted in it without reading the entries.
  static let coveringEntry = 0.95
  /// The cost of an entry of several ranges that are merged: its object is sorted in, or looked up among others.
  static let mergedEntry = 0.4
  static let neighbour = 2.0
  static let descent = 5.0
  /// The cost of the elements of a row's collection: they are found near those of the row before, and one or two are
  /// read.
  static let collection = 2 * neighbour
  /// The cost of one comparison of a sort.
  static let comparison = 0.05

  let query: ResolvedQuery
  /// The greatest number of rows that match, by the smallest of the candidates' counts or by a sample.
  var mostMatches: Double
  private let needsRecords: Bool

  init(query: ResolvedQuery, purpose: QueryPlanner.Purpose, mostMatches: Double) {
    self.query = query
    self.mostMatches = mostMatches
    switch purpose {
    case .objects, .values: needsRecords = true
    case .count: needsRecords = false
    }
  }

  /// Returns the plan that costs least; the first among equals.
  func cheapest(of candidates: [PlannedQuery]) -> PlannedQuery {
    var best = candidates[0]
    var least = cost(of: best)
    for candidate in candidates.dropFirst() {
      let cost = cost(of: candidate)
      if cost < least { (best, least) = (candidate, cost) }
    }
    return best
  }

  /// Returns the plan to change to if the plan's estimate is wrong; nil if the plan has no estimate, or can't lose
  /// much.
  func fallback(from plan: PlannedQuery, among candidates: [PlannedQuery]) -> Fallback? {
    guard isGuess(plan) else { return nil }
    let others = candidates.filter { !isGuess($0) }
    guard !others.isEmpty else { return nil }
    let other = cheapest(of: others)
    let perRow = perRow(plan, isInIndexOrder: true)
    guard perRow > 0 else { return nil }
    let rowBudget = Int((cost(of: other) / perRow).rounded(.up))
    return rowBudget < plan.access.rowCount ? Fallback(other, rowBudget: rowBudget) : nil
  }

  /// Returns whether knowing how many rows match could change the choice.
  func isSwayed(byMatchesIn candidates: [PlannedQuery]) -> Bool {
    candidates.contains(where: isGuess) && !candidates.allSatisfy(isGuess)
  }

  /// Returns whether the plan reads rows in order until it has enough, so that the number of rows to read is an
  /// estimate.
  private func isGuess(_ plan: PlannedQuery) -> Bool {
    guard needsRecords, query.limit != nil, plan.residual != .constant(true), case .access = plan.order,
      plan.access.entriesBefore == 0
    else { return false }
    return true
  }

  /// Returns whether an intersection with the range could cost less than testing the records of the smallest range,
  /// if it spared all of them.
  func couldPay(_ scan: IndexScan, after smallest: IndexScan) -> Bool {
    Double(scan.rowCount + smallest.rowCount) * Self.mergedEntry
      < Double(smallest.rowCount) * (Self.indexEntry + Self.neighbour)
  }

  func cost(of plan: PlannedQuery) -> Double {
    if !needsRecords, plan.isCountExact { return 0 }
    return Double(plan.access.entriesBefore) * Self.mergedEntry + costOfRows(plan)
  }

  private func costOfRows(_ plan: PlannedQuery) -> Double {
    let rows = plan.accessEstimate?.rowCount ?? Double(plan.access.rowCount)
    let tested = plan.residual != .constant(true)
    switch plan.order {
    case .access where needsRecords:
      let visited = tested ? expectedVisits(rows) : returned(rows)
      return visited * perRow(plan, isInIndexOrder: true)
    case .sorted(let keys, _) where needsRecords:
      let sorting =
        rows * max(1, (query.wanted.map { min(Double($0), rows) } ?? rows)).logarithm * Self.comparison
      if tested || !keys.isEmpty || plan.isCovering {
        return rows * perRow(plan, isInIndexOrder: false) + sorting
      }
      return rows * perEntry(plan.access) + sorting + returned(rows) * Self.neighbour
    case .access, .sorted:
      return rows * (tested ? perRow(plan, isInIndexOrder: false) : perEntry(plan.access))
    }
  }

  /// Returns the number of rows read in order until the wanted ones are found, if matches are evenly distributed.
  private func expectedVisits(_ rows: Double) -> Double {
    guard let wanted = query.wanted else { return rows }
    return min(rows, Double(wanted) * rows / max(1, mostMatches))
  }

  /// Returns the number of returned rows. Rows that are skipped by rank cost nothing.
  private func returned(_ rows: Double) -> Double {
    min(query.limit.map(Double.init) ?? rows, max(0, rows - Double(query.offset)))
  }

  private func perRow(_ plan: PlannedQuery, isInIndexOrder: Bool) -> Double {
    if plan.isCovering { return Self.coveringEntry }
    return switch plan.access {
    case .nothing: 0
    case .fullScan: 1
    case .objects: Self.descent
    case .index(let scan):
      Self.indexEntry + (isInIndexOrder && !scan.isInIDOrder ? Self.descent : Self.neighbour)
    case .union, .intersection: Self.neighbour
    }
  }

  private func perEntry(_ access: AccessPath) -> Double {
    switch access {
    case .nothing, .union, .intersection: 0
    case .fullScan: 1
    case .objects: Self.descent
    case .index: Self.indexEntry
    }
  }
}

extension Double {
  /// The logarithm to the base 2, of the exponent alone: good enough to weigh a sort.
  fileprivate var logarithm: Double { Double(max(1, exponent)) }
}
