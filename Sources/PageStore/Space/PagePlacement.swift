/// The numbers that a checkpoint gives to the pages it writes: taken beforehand, so that it always fits.
struct PagePlacement {
  /// For pages that stand alone; in the order in which they are given out.
  private var singles: [Range<UInt64>]
  /// First pages of the runs for overflow of several pages, by length.
  private var runs: [UInt64: [UInt64]]
  private var index = 0

  /// - Parameters:
  ///   - singles: pages to give out one by one.
  ///   - runs: pages side by side, for overflow of their lengths.
  init(singles: [Range<UInt64>], runs: [Range<UInt64>] = []) {
    self.singles = singles
    self.runs = [:]
    for run in runs.reversed() {
      self.runs[run.upperBound - run.lowerBound, default: []].append(run.lowerBound)
    }
  }

  /// All pages from `first` on, in the order of writing.
  static func consecutive(from first: UInt64) -> PagePlacement {
    PagePlacement(singles: [first..<PageTable.count])
  }

  /// The next page; nil if more are written than were counted.
  mutating func take() -> UInt64? {
    while index < singles.count, singles[index].isEmpty { index += 1 }
    guard index < singles.count else { return nil }
    let page = singles[index].lowerBound
    singles[index] = page + 1..<singles[index].upperBound
    return page
  }

  /// The first of `count` pages that lie side by side.
  mutating func take(run count: UInt64) -> UInt64? {
    if count == 1 { return take() }
    if let first = runs[count]?.popLast() { return first }
    guard index < singles.count, UInt64(singles[index].count) >= count else { return nil }
    let page = singles[index].lowerBound
    singles[index] = page + count..<singles[index].upperBound
    return page
  }

  /// Reserved pages that no image took.
  var rest: [Range<UInt64>] {
    singles[min(index, singles.count)...].filter { !$0.isEmpty }
      + runs.flatMap { count, firsts in firsts.map { $0..<$0 + count } }
  }
}

/// Number of pages that a checkpoint will write, and which of them must be adjacent.
struct PageDemand {
  /// Pages that may be anywhere.
  var singles: UInt64 = 0
  /// Lengths of overflows of several pages, each of which has to lie in one run.
  var runs: [UInt64] = []

  var count: UInt64 { runs.reduce(singles, +) }

  /// Adds an overflow of so many pages.
  mutating func add(overflowOf count: UInt64) {
    if count == 1 { singles += 1 } else { runs.append(count) }
  }

  static func += (left: inout PageDemand, right: PageDemand) {
    left.singles += right.singles
    left.runs += right.runs
  }
}
