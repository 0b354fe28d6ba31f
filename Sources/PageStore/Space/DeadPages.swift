/// Adjacent pages of the file that died together: one page of a tree, or the pages of one overflow.
struct PageRun: Hashable, Sendable {
  var first: UInt64
  var count: UInt64
  /// The first commit whose version reaches the pages. `.max` for pages that only checkpoints reach.
  var birth: UInt64
  var treeID: UInt32

  var range: Range<UInt64> { first..<first + count }

  /// Returns the pages of runs that lie before `end`. Each page is returned once if the runs together have
  /// more pages than there are before `end`: forged runs overlap, and reach beyond the file's end.
  static func pages(of runs: [PageRun], before end: UInt64) -> [Range<UInt64>] {
    let ranges = runs.map { $0.range.clamped(to: 0..<end) }
    if ranges.reduce(0, { $0 + ($1.upperBound - $1.lowerBound) }) <= end { return ranges }
    var distinct: [Range<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = distinct.last, range.lowerBound <= last.upperBound {
        distinct[distinct.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        distinct.append(range)
      }
    }
    return distinct
  }
}

/// Pages of the file that have died, until their death is durable twice. Guarded by ``Committer/state``.
///
/// A death is durable twice when neither the last checkpoint nor the one before it reaches the page. Then
/// checkpoint *n* − 1 and the log behind it lead to the same state as checkpoint *n*, even if the page is
/// overwritten.
struct DeadPages {
  /// The pages that died with one version, which is the first that doesn't reach them.
  struct Deaths {
    /// The first generation that doesn't reach them.
    var generation: UInt64
    var runs: [PageRun]
  }

  /// Deaths since the last checkpoint began.
  private(set) var recent: [Deaths] = []
  /// Deaths that the checkpoint in progress makes durable.
  private(set) var dying: [Deaths] = []
  /// Pages that the last durable checkpoint doesn't reach and the one before it does.
  private(set) var awaiting: [Deaths] = []

  mutating func add(_ runs: [PageRun], from generation: UInt64) {
    if !runs.isEmpty { recent.append(Deaths(generation: generation, runs: runs)) }
  }

  /// Notes that a checkpoint begins. It doesn't reach pages that have died so far.
  mutating func beginCheckpoint() {
    dying = recent
    recent = []
  }

  /// Adds pages that the checkpoint in progress doesn't reach.
  mutating func addDying(_ runs: [PageRun], from generation: UInt64) {
    if !runs.isEmpty { dying.append(Deaths(generation: generation, runs: runs)) }
  }

  /// Notes that a checkpoint failed.
  mutating func cancelCheckpoint() {
    recent = dying + recent
    dying = []
  }

  /// Notes that a checkpoint is durable. Returns the pages that neither it nor the one before it reaches.
  mutating func endCheckpoint() -> [Deaths] {
    defer {
      awaiting = dying
      dying = []
    }
    return awaiting
  }

  /// Sets, when a store is opened, the pages that the last checkpoint doesn't reach and the one before it
  /// does. No snapshot reaches them.
  mutating func setAwaiting(_ pages: [Range<UInt64>]) {
    let runs = pages.map {
      PageRun(first: $0.lowerBound, count: $0.upperBound - $0.lowerBound, birth: .max, treeID: 0)
    }
    awaiting = runs.isEmpty ? [] : [Deaths(generation: 0, runs: runs)]
  }

  /// The number of pages in ``awaiting``.
  var awaitingCount: UInt64 { Self.count(awaiting) }
  /// Number of dead pages in all three lists.
  var count: UInt64 { Self.count(recent) + Self.count(dying) + Self.count(awaiting) }
  /// The pages of all three lists.
  var all: [PageRun] { reachedByLastCheckpoint + awaiting.flatMap(\.runs) }
  /// The pages of ``recent`` and ``dying``, which the last durable checkpoint reaches.
  var reachedByLastCheckpoint: [PageRun] { (recent + dying).flatMap(\.runs) }

  private static func count(_ deaths: [Deaths]) -> UInt64 {
    deaths.reduce(0) { $0 + $1.runs.reduce(0) { $0 + $1.count } }
  }
}
