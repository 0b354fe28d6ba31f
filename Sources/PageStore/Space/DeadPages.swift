/// Pages of the file that newer versions don't reach: one page of a tree, or the pages of one overflow.
struct PageRun: Hashable, Sendable {
  var first: UInt64
  var count: UInt64
  /// The commit from which on versions reach them. `.max` for pages that no version reaches, only checkpoints.
  var birth: UInt64
  var treeID: UInt32

  var range: Range<UInt64> { first..<first + count }
}

/// Pages of the file that have died, until their death is durable twice. Guarded by ``Committer/state``.
///
/// A death is durable twice when neither the last checkpoint nor the one before it reaches the page. Then
/// checkpoint *n* − 1 and the log behind it lead to the same state as checkpoint *n*, whatever is written
/// over the page.
struct DeadPages {
  /// Pages that one version no longer reaches.
  struct Deaths {
    /// First generation that doesn't reach them.
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

  /// Notes that a checkpoint begins, which reaches nothing that has died so far.
  mutating func beginCheckpoint() {
    dying = recent
    recent = []
  }

  /// Adds to what the checkpoint that is being written doesn't reach.
  mutating func addDying(_ runs: [PageRun], from generation: UInt64) {
    if !runs.isEmpty { dying.append(Deaths(generation: generation, runs: runs)) }
  }

  /// Notes that a checkpoint failed.
  mutating func cancelCheckpoint() {
    recent = dying + recent
    dying = []
  }

  /// Notes that a checkpoint is durable. Returns what neither it nor the one before reaches.
  mutating func endCheckpoint() -> [Deaths] {
    defer {
      awaiting = dying
      dying = []
    }
    return awaiting
  }

  /// Sets what the last checkpoint doesn't reach and the one before does, when a store is opened: no snapshot reaches it.
  mutating func setAwaiting(_ pages: [Range<UInt64>]) {
    let runs = pages.map {
      PageRun(first: $0.lowerBound, count: $0.upperBound - $0.lowerBound, birth: .max, treeID: 0)
    }
    awaiting = runs.isEmpty ? [] : [Deaths(generation: 0, runs: runs)]
  }

  /// Pages that wait for another checkpoint to be durable.
  var awaitingCount: UInt64 { Self.count(awaiting) }
  /// Number of dead pages in all three lists.
  var count: UInt64 { Self.count(recent) + Self.count(dying) + Self.count(awaiting) }
  /// The pages of all three lists.
  var all: [PageRun] { unsettled + awaiting.flatMap(\.runs) }
  /// Those that the last durable checkpoint reaches, or the one that is being written will.
  var unsettled: [PageRun] { (recent + dying).flatMap(\.runs) }

  private static func count(_ deaths: [Deaths]) -> UInt64 {
    deaths.reduce(0) { $0 + $1.runs.reduce(0) { $0 + $1.count } }
  }
}
