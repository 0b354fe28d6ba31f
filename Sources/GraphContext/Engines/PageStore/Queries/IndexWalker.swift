import PageStore
import Predicates

/// The entries of an index scan, in index order or the other way round.
struct IndexWalker: ~Copyable {
  private let view: StoreView
  private let tree: TreeReader?
  private let index: ResolvedIndex
  private let isReversed: Bool
  /// The ranges that are left of the scan, the next one last.
  private var ranges: [IndexScan.CountedRange]
  /// The number of entries of the next range that are skipped.
  private var skipped: Int
  /// The cursor in the range that was taken from `ranges` last.
  private var cursor: TreeCursor?
  /// True if the cursor is at the next entry already.
  private var isAtNext = false
  private var walkedCount = 0

  /// - Parameter skipped: how many entries to leave out at the start. They are found by rank: O(ranges + log n).
  init(_ scan: IndexScan, in view: StoreView, isReversed: Bool = false, skipping skipped: Int = 0) throws {
    self.view = view
    self.isReversed = isReversed
    index = scan.index
    tree = try view.tree(of: scan.index)
    ranges = isReversed ? scan.ranges : scan.ranges.reversed()
    self.skipped = skipped
    while let range = ranges.last, range.rowCount <= self.skipped {
      self.skipped -= range.rowCount
      ranges.removeLast()
    }
  }

  deinit { view.counters.entriesWalked += walkedCount }

  /// Steps to the next entry; false at the end.
  ///
  /// - Throws: `cancelled`, which is checked every few thousand entries.
  mutating func next() throws -> Bool {
    walkedCount += 1
    if walkedCount % StoreView.rowsBetweenChecks == 0 { try view.checkCancellation() }
    while true {
      if isAtNext {
        isAtNext = false
        return true
      }
      if try (isReversed ? cursor?.previous() : cursor?.next()) == true { return true }
      guard try enterNextRange() else {
        walkedCount -= 1
        return false
      }
    }
  }

  /// Returns the object of the entry.
  mutating func number() throws -> ObjectNumber { try cursor?.number() ?? .none }

  /// Returns the entry's key. Valid until the next step.
  mutating func key() throws -> UnsafeRawBufferPointer {
    try cursor?.key() ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// Appends the numbers of the next `count` objects; fewer at the end.
  mutating func next(_ count: Int, into numbers: inout [ObjectNumber]) throws {
    for _ in 0..<count {
      guard try next() else { return }
      numbers.append(try number())
    }
  }

  /// Moves before the next range's first entry; or, if entries are skipped, to the entry after them.
  private mutating func enterNextRange() throws -> Bool {
    cursor = nil
    guard let tree, let range = ranges.popLast() else { return false }
    let keys = IndexKeys.keys(range.range, in: index)
    var cursor = tree.cursor(in: keys)
    if skipped > 0 {
      let below = try tree.count(in: KeyRange(upper: keys.lowerAsEnd))
      isAtNext = try cursor.seek(toPosition: below &+ (isReversed ? range.rowCount - 1 - skipped : skipped))
      skipped = 0
      guard isAtNext else { return try enterNextRange() }
    }
    self.cursor = consume cursor
    return true
  }
}

extension KeyRange {
  /// The end of the keys before the range.
  var lowerAsEnd: Bound {
    switch lower {
    case .unbounded: .excluding([])
    case .including(let key): .excluding(key)
    case .excluding(let key): .including(key)
    }
  }
}
