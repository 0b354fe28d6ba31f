/// Counters of a committer's work since the store was opened, for statistics. Guarded by ``Committer/state``.
struct WorkCounts {
  /// Checkpoints that were written.
  var checkpoints: UInt64 = 0
  /// Pages that checkpoints and large transactions have written.
  var pagesWritten: UInt64 = 0
  /// Pages that compaction has packed or moved while others could commit.
  var pagesCompacted: UInt64 = 0
}
