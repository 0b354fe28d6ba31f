import PageStore
import Predicates

/// The objects of an index scan, in index order or the other way round, a batch at a time.
struct IndexWalker {
  private let view: StoreView
  private let tree: TreeReader?
  private let index: IndexReference
  private let isReversed: Bool
  /// What is left of the scan, the next range last.
  private var ranges: [IndexScan.CountedRange]
  /// Entries of the next range that are skipped or were read already.
  private var position: Int

  /// - Parameter skipped: how many entries to leave out at the start. They are found by rank: O(ranges + log n).
  init(_ scan: IndexScan, in view: StoreView, isReversed: Bool = false, skipping skipped: Int = 0) throws {
    self.view = view
    self.isReversed = isReversed
    index = scan.index
    tree = try view.tree(of: scan.index)
    ranges = isReversed ? scan.ranges : scan.ranges.reversed()
    position = skipped
    while let range = ranges.last, range.rowCount <= position {
      position -= range.rowCount
      ranges.removeLast()
    }
  }

  /// Appends the numbers of the next `count` objects; fewer at the end.
  mutating func next(_ count: Int, into numbers: inout [UInt64]) throws {
    var wanted = count
    while wanted > 0, let range = ranges.last, let tree {
      let taken = min(wanted, range.rowCount - position)
      try read(taken, of: range, from: tree, into: &numbers)
      wanted -= taken
      position += taken
      if position == range.rowCount {
        ranges.removeLast()
        position = 0
      }
    }
  }

  /// Appends `count` objects of a range, from `position` on.
  private func read(
    _ count: Int,
    of range: IndexScan.CountedRange,
    from tree: TreeReader,
    into numbers: inout [UInt64]
  ) throws {
    let keys = IndexKeys.keys(range.range, in: index)
    var cursor = tree.cursor(in: keys)
    guard try enter(&cursor, keys, range.rowCount, tree) else { return }
    for step in 0..<count {
      if step > 0 { guard try isReversed ? cursor.previous() : cursor.next() else { return } }
      numbers.append(try cursor.objectID())
    }
  }

  /// Moves to the entry at `position`, by rank unless it is the first.
  private func enter(
    _ cursor: inout TreeCursor,
    _ keys: KeyRange,
    _ rowCount: Int,
    _ tree: TreeReader
  ) throws -> Bool {
    if position == 0 { return try isReversed ? cursor.previous() : cursor.next() }
    let below = try tree.count(in: KeyRange(upper: keys.lowerAsEnd))
    return try cursor.seek(toPosition: below &+ (isReversed ? rowCount - 1 - position : position))
  }
}

extension KeyRange {
  /// The end of what lies before the range.
  fileprivate var lowerAsEnd: Bound {
    switch lower {
    case .unbounded: .excluding([])
    case .including(let key): .excluding(key)
    case .excluding(let key): .including(key)
    }
  }
}
