/// A query and its plan, which the executor follows. ``QueryPlan`` is its explanation.
package struct PlannedQuery: Sendable {
  var entity: EntitySchema
  package var access: AccessPath
  /// The condition that the rows of the access path must be tested for; `constant(true)` for none.
  package var residual: NormalPredicate
  /// True if the entries of the index have all values that are needed, so that no record is read.
  package var isCovering = false
  package var order: ResultOrder
  package var limit: Int?
  package var offset: Int
  /// The estimated number of rows of the access path if it isn't counted: for an intersection.
  var accessEstimate: RowEstimate?
  /// The estimated number of matching rows, if the planner needed it and sampled some rows; otherwise nil.
  var estimate: RowEstimate?
  /// The conditions on other entities' objects that the planner looked up.
  var lookups: [QueryPlan.Lookup]
  /// The plan to change to if rows that come in order match too rarely.
  package var fallback: Fallback?
  /// True if the query's names and normal form came from a template.
  var usesTemplate = false

  /// True if the counts of the access path are the count of the results: no row has to be read or compared.
  package var isCountExact: Bool {
    guard residual == .constant(true) else { return false }
    return switch access {
    case .nothing, .fullScan, .index: true
    case .objects, .union, .intersection: false
    }
  }

  /// True if the n-th result is the n-th row of the access path, so that rows are skipped by rank.
  package var isInRankOrder: Bool {
    guard isCountExact, case .access = order else { return false }
    return true
  }
}

/// The second-best plan, and the number of rows before the change to it.
///
/// A plan that reads rows in order until it has enough is chosen by an estimate. When this plan has cost as much as the
/// other plan would cost, the executor changes to the other plan. So both together cost at most twice as much as the
/// better one.
package struct Fallback: Sendable {
  /// The number of rows to read before the change.
  package var rowBudget: Int
  package var plan: PlannedQuery { plans[0] }
  /// The one plan, in an array because a struct can't contain itself; never empty.
  private let plans: [PlannedQuery]

  init(_ plan: PlannedQuery, rowBudget: Int) {
    plans = [plan]
    self.rowBudget = rowBudget
  }
}

/// The source of the rows.
package enum AccessPath: Sendable, Hashable {
  /// No row: the predicate can't hold.
  case nothing
  /// Every record, or those with numbers in a range.
  case fullScan(rows: Int, of: ClosedRange<ObjectNumber>? = nil)
  /// These objects, as far as they exist; ascending.
  case objects([ObjectNumber])
  case index(IndexScan)
  /// Every object that is in one of the scans, once; ascending.
  case union([IndexScan])
  /// Every object that is in all scans; ascending. The smallest comes first.
  case intersection([IndexScan])

  /// The greatest number of rows; exact, except for objects, unions and intersections.
  package var rowCount: Int {
    switch self {
    case .nothing: 0
    case .fullScan(let rows, _): rows
    case .objects(let numbers): numbers.count
    case .index(let scan): scan.rowCount
    case .union(let scans): scans.reduce(0) { $0 + $1.rowCount }
    case .intersection(let scans): scans.first?.rowCount ?? 0
    }
  }

  /// The index ranges that the access path reads.
  var scans: [IndexScan] {
    switch self {
    case .nothing, .fullScan, .objects: []
    case .index(let scan): [scan]
    case .union(let scans), .intersection(let scans): scans
    }
  }

  /// The number of index entries that are read before the first row is known, if several ranges are merged.
  var entriesBefore: Int {
    switch self {
    case .nothing, .fullScan, .objects, .index: 0
    case .union(let scans), .intersection(let scans): scans.reduce(0) { $0 + $1.rowCount }
    }
  }
}

/// Ranges of one index, in index order, none overlapping another.
package struct IndexScan: Sendable, Hashable {
  package struct CountedRange: Sendable, Hashable {
    package var range: IndexRange
    /// The number of rows, which is exact.
    package var rowCount: Int
  }

  package var index: ResolvedIndex
  package var ranges: [CountedRange]

  package var rowCount: Int { ranges.reduce(0) { $0 + $1.rowCount } }
  /// True if the scan reads the whole index, for the order of the index.
  package var isWhole: Bool { ranges.map(\.range) == [.all] }
  /// True if the rows come ordered by object ID: all of a key's columns are the same throughout.
  var isInIDOrder: Bool { ranges.count == 1 && ranges[0].range.prefix.count == index.columns.count }
}

/// The way in which the results are ordered.
package enum ResultOrder: Sendable, Hashable {
  /// The access path, followed forwards or backwards, yields the results in order.
  case access(isReversed: Bool)
  /// The results are sorted by these keys (by object ID alone if there are none); ties by object ID.
  case sorted([ResolvedSort], isIDAscending: Bool)
}
