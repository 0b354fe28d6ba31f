/// The page numbers for the pages that a checkpoint writes. They are taken before, so that the checkpoint
/// always fits.
struct PagePlacement {
  /// For single pages, in the order in which they are used.
  private var singles: [Range<UInt64>]
  /// The first pages of the runs for overflows of several pages, by length.
  private var runs: [UInt64: [UInt64]]
  private var index = 0

  /// - Parameters:
  ///   - singles: pages to use one by one.
  ///   - runs: adjacent pages, for overflows of their lengths.
  init(singles: [Range<UInt64>], runs: [Range<UInt64>] = []) {
    self.singles = singles
    self.runs = [:]
    for run in runs.reversed() {
      self.runs[run.upperBound - run.lowerBound, default: []].append(run.lowerBound)
    }
  }

  /// Returns all pages from `first` on, in their order.
  static func consecutive(from first: UInt64) -> PagePlacement {
    PagePlacement(singles: [first..<PageTable.count])
  }

  /// Takes the next page; nil if none is left.
  mutating func take() -> UInt64? {
    while index < singles.count, singles[index].isEmpty { index += 1 }
    guard index < singles.count else { return nil }
    let page = singles[index].lowerBound
    singles[index] = page + 1..<singles[index].upperBound
    return page
  }

  /// Takes `count` adjacent pages, and returns the first; nil if there are none.
  mutating func take(run count: UInt64) -> UInt64? {
    if count == 1 { return take() }
    if let first = runs[count]?.popLast() { return first }
    guard index < singles.count, UInt64(singles[index].count) >= count else { return nil }
    let page = singles[index].lowerBound
    singles[index] = page + count..<singles[index].upperBound
    return page
  }

  /// The pages that weren't used.
  var rest: [Range<UInt64>] {
    singles[min(index, singles.count)...].filter { !$0.isEmpty }
      + runs.flatMap { count, firsts in firsts.map { $0..<$0 + count } }
  }
}

/// The number of pages that a checkpoint will write, and which of them must be adjacent.
struct PageDemand {
  /// Pages that may be anywhere.
  var singles: UInt64 = 0
  /// The lengths of overflows of several pages. The pages of one overflow must be adjacent.
  var runs: [UInt64] = []

  var count: UInt64 { runs.reduce(singles, +) }

  /// Adds an overflow of `count` pages.
  mutating func add(overflowOf count: UInt64) {
    if count == 1 { singles += 1 } else { runs.append(count) }
  }

  static func += (left: inout PageDemand, right: PageDemand) {
    left.singles += right.singles
    left.runs += right.runs
  }
}
