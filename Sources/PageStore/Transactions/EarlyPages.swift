/// The pages of the file that a transaction has written before it is committed.
///
/// Only the transaction's own trees refer to them. A checkpoint that is written meanwhile doesn't record
/// them, so after a crash they are free.
struct EarlyPages {
  /// The pages that the transaction's trees reach.
  private(set) var reached = PageBitmap()
  /// The pages that were taken and that nothing refers to.
  private(set) var unused: [Range<UInt64>] = []
  /// The number of pages that each tree reaches, by the tree's number.
  private(set) var counts: [UInt32: Int] = [:]

  /// All pages that were taken.
  var all: [Range<UInt64>] { reached.runs(in: 0..<PageTable.count) + unused }

  /// Adds pages that were taken and written.
  ///
  /// - Parameters:
  ///   - rest: those of them that weren't needed.
  ///   - counts: how many were written for each tree.
  mutating func add(_ taken: [Range<UInt64>], except rest: [Range<UInt64>], counts added: [UInt32: Int]) {
    for run in taken { reached.insert(run) }
    for run in rest { reached.remove(run) }
    unused += rest
    counts.merge(added, uniquingKeysWith: +)
  }

  /// Notes that a tree doesn't reach the pages of `run` any more. Returns false, with nothing changed, if the
  /// transaction hasn't written them.
  mutating func retire(_ run: Range<UInt64>, treeID: UInt32) -> Bool {
    guard !reached.isEmpty, reached.contains(run.lowerBound) else { return false }
    // In a forged file a reference may claim more pages than were written.
    unused += reached.runs(in: run)
    counts[treeID, default: 0] -= Int(reached.remove(run))
    return true
  }

  /// Removes and returns the pages that nothing refers to.
  mutating func takeUnused() -> [Range<UInt64>] {
    defer { unused = [] }
    return unused
  }
}
