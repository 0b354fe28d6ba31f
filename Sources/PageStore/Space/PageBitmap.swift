/// A set of page numbers, one bit a page. Its memory depends on the largest number: 16 KiB for a file of a
/// gigabyte in pages of 8 KiB.
struct PageBitmap: Hashable, Sendable {
  /// Page *n* is bit *n* mod 64 of word *n* / 64.
  private(set) var words: [UInt64]
  /// Pages in the set.
  private(set) var count: UInt64 = 0

  init() { words = [] }

  init(words: [UInt64]) {
    self.words = words
    count = words.reduce(0) { $0 + UInt64($1.nonzeroBitCount) }
  }

  var isEmpty: Bool { count == 0 }

  /// Returns the bits of 64 pages; zero after the last word.
  func word(_ index: Int) -> UInt64 { index < words.count ? words[index] : 0 }

  func contains(_ page: UInt64) -> Bool {
    let index = Int(page / 64)
    return index < words.count && words[index] >> (page % 64) & 1 == 1
  }

  /// Adds pages. Returns how many of them weren't in the set.
  @discardableResult
  mutating func insert(_ range: Range<UInt64>) -> UInt64 {
    guard !range.isEmpty else { return 0 }
    let needed = Int((range.upperBound + 63) / 64)
    if words.count < needed {
      words.append(contentsOf: repeatElement(0, count: needed - words.count))
    }
    var added: UInt64 = 0
    Self.forEachMask(of: range) { index, mask in
      added += UInt64((mask & ~words[index]).nonzeroBitCount)
      words[index] |= mask
    }
    count += added
    return added
  }

  /// Removes pages. Returns how many of them were in the set.
  @discardableResult
  mutating func remove(_ range: Range<UInt64>) -> UInt64 {
    let bounded = range.clamped(to: 0..<UInt64(words.count) * 64)
    var removed: UInt64 = 0
    Self.forEachMask(of: bounded) { index, mask in
      removed += UInt64((mask & words[index]).nonzeroBitCount)
      words[index] &= ~mask
    }
    count -= removed
    return removed
  }

  mutating func formUnion(_ other: PageBitmap) {
    if words.count < other.words.count {
      words.append(contentsOf: repeatElement(0, count: other.words.count - words.count))
    }
    for index in other.words.indices { words[index] |= other.words[index] }
    count = words.reduce(0) { $0 + UInt64($1.nonzeroBitCount) }
  }

  mutating func subtract(_ other: PageBitmap) {
    for index in 0..<min(words.count, other.words.count) { words[index] &= ~other.words[index] }
    count = words.reduce(0) { $0 + UInt64($1.nonzeroBitCount) }
  }

  /// Returns the number of pages of `range` that are in the set.
  func count(in range: Range<UInt64>) -> UInt64 {
    let bounded = range.clamped(to: 0..<UInt64(words.count) * 64)
    var found: UInt64 = 0
    Self.forEachMask(of: bounded) { index, mask in found += UInt64((mask & words[index]).nonzeroBitCount) }
    return found
  }

  /// Returns the first page at or after `page` that is in the set; nil if there is none.
  func first(from page: UInt64) -> UInt64? {
    var index = Int(page / 64)
    guard index < words.count else { return nil }
    var word = words[index] & (~0 << (page % 64))
    while word == 0 {
      index += 1
      guard index < words.count else { return nil }
      word = words[index]
    }
    return UInt64(index) * 64 + UInt64(word.trailingZeroBitCount)
  }

  /// Returns the run of pages in the set that begins at `page`, cut to `limit` pages.
  func run(from page: UInt64, limit: UInt64 = .max) -> Range<UInt64> {
    var end = page
    while end - page < limit, contains(end) {
      let rest = ~(words[Int(end / 64)] >> (end % 64))
      end += min(UInt64(rest.trailingZeroBitCount), 64 - end % 64)
    }
    return page..<(page + min(end - page, limit))
  }

  /// Returns the first run at or after `page`; nil if there is none.
  func nextRun(from page: UInt64) -> Range<UInt64>? { first(from: page).map { run(from: $0) } }

  /// Returns the runs inside a range, in order.
  func runs(in range: Range<UInt64>) -> [Range<UInt64>] {
    var found: [Range<UInt64>] = []
    var page = range.lowerBound
    while let first = first(from: page), first < range.upperBound {
      found.append(run(from: first, limit: range.upperBound - first))
      page = found[found.count - 1].upperBound
    }
    return found
  }

  /// Calls `body` with every run, in order.
  func forEachRun(_ body: (Range<UInt64>) -> Void) {
    var page: UInt64 = 0
    while let run = nextRun(from: page) {
      body(run)
      page = run.upperBound
    }
  }

  /// Calls `body` for each word that the range touches, with its index and the range's bits in it.
  private static func forEachMask(of range: Range<UInt64>, _ body: (Int, UInt64) -> Void) {
    guard !range.isEmpty else { return }
    let (first, last) = (range.lowerBound / 64, (range.upperBound - 1) / 64)
    for index in first...last {
      var mask = ~UInt64(0)
      if index == first { mask &= ~0 << (range.lowerBound % 64) }
      if index == last { mask &= ~0 >> (63 - (range.upperBound - 1) % 64) }
      body(Int(index), mask)
    }
  }
}
