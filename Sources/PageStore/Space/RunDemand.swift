/// The overflows of several pages that a checkpoint will write: the pages of each must be adjacent.
///
/// The lengths of all but the longest are left out, so that sums are cheap. Whatever they are,
/// ``PageBitmap/room(for:)`` says whether there is room for them.
struct RunDemand: Hashable {
  /// Pages of all overflows.
  private(set) var pageCount: UInt64 = 0
  /// Pages of the longest one, or more, but never more than ``pageCount``.
  private(set) var longest: UInt64 = 0

  var isEmpty: Bool { pageCount == 0 }

  /// Adds an overflow of `count` pages, of which a single one can be anywhere.
  mutating func add(overflowOf count: UInt64) {
    guard count > 1 else { return }
    pageCount += count
    longest = max(longest, count)
  }

  /// Removes an overflow of `count` pages. Afterwards ``longest`` may be more than the pages of any remaining
  /// overflow, but it is never more than the pages of all remaining ones together.
  mutating func remove(overflowOf count: UInt64) {
    guard count > 1 else { return }
    pageCount -= min(pageCount, count)
    longest = min(longest, pageCount)
  }

  static func + (left: RunDemand, right: RunDemand) -> RunDemand {
    var sum = left
    sum.pageCount += right.pageCount
    sum.longest = max(left.longest, right.longest)
    return sum
  }
}

/// Room in the file that is set aside: free pages that have blocks.
struct PageReserve {
  /// Pages, those of the overflows included.
  var pageCount: UInt64 = 0
  var runs = RunDemand()

  init(pageCount: UInt64 = 0, runs: RunDemand = RunDemand()) {
    self.pageCount = pageCount
    self.runs = runs
  }

  static func + (left: PageReserve, right: PageReserve) -> PageReserve {
    PageReserve(pageCount: left.pageCount + right.pageCount, runs: left.runs + right.runs)
  }

  static func += (left: inout PageReserve, right: PageReserve) { left = left + right }
}

extension PageBitmap {
  /// The room that free pages have for overflows.
  struct RunRoom {
    /// The number of adjacent pages that the file must get so that all fit; 0 if they fit.
    var shortfall: UInt64
    /// The lowest end of the file before which all fit, if they do.
    var end: UInt64
  }

  /// Returns the room for the overflows of `runs`, in whatever order each takes the first run of these pages
  /// in which it fits.
  ///
  /// An overflow of *p* pages that doesn't fit has found less than *p* pages left in each run. So the others
  /// have taken at least *n* − *p* + 1 pages of each run of *n* pages, and they have *p* pages less than all
  /// overflows together. Let *m* be the length of the longest. If *n* − *m* + 1, summed over all runs of at
  /// least *m* pages, is greater than the pages of all overflows but the longest, that is impossible for *p* =
  /// *m*. For a smaller *p* the sum is greater by *m* − *p* for each run, and the other side by *m* − *p* once.
  /// O(*n*) for *n* words of the bitmap.
  func room(for runs: RunDemand) -> RunRoom {
    if runs.isEmpty { return RunRoom(shortfall: 0, end: 0) }
    var missing = runs.pageCount - runs.longest + 1
    var page: UInt64 = 0
    while let run = nextRun(from: page) {
      let length = run.upperBound - run.lowerBound
      if length >= runs.longest {
        let counted = length - runs.longest + 1
        if counted >= missing {
          return RunRoom(shortfall: 0, end: run.lowerBound + missing + runs.longest - 1)
        }
        missing -= counted
      }
      page = run.upperBound
    }
    return RunRoom(shortfall: missing + runs.longest - 1, end: .max)
  }
}

/// The free pages to which a compaction moves overflows.
struct RelocationRoom {
  /// The page before which they have to lie.
  let limit: UInt64
  let free: PageBitmap
  /// Overflows that take a part of the room before.
  let demand: RunDemand

  /// Returns whether the overflows of `runs` are sure to fit.
  func holds(_ runs: RunDemand) -> Bool {
    let room = free.room(for: demand + runs)
    return room.shortfall == 0 && room.end <= limit
  }
}
