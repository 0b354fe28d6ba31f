/// The use of every page of the file, in memory. A part of ``ExtentTiling``, and like it guarded by
/// ``Committer/state``.
///
/// Each page below ``end`` is in use or free. A free page is *ready* if the file system has allocated its
/// blocks, or else *bare*: a write to a bare page may fail on a full disk.
struct SpaceMap {
  let pageSize: UInt64
  /// The number of pages in the file; all page numbers are below it.
  private(set) var end: UInt64
  /// Free pages that have blocks.
  private(set) var ready = PageBitmap()
  /// Free pages that may have no blocks.
  private(set) var bare = PageBitmap()
  /// The pages in use according to the last durable checkpoint: those that it reaches, and header pages of
  /// page extents.
  private(set) var recorded: PageBitmap
  /// Header pages of page extents that are newer than the last checkpoint.
  private var freshHeaders = PageBitmap()
  /// Header pages of extents that were cut off since the last checkpoint.
  private var cutOff = PageBitmap()

  /// - Parameters:
  ///   - end: the number of pages in the file.
  ///   - recorded: the pages in use according to the last checkpoint.
  ///   - used: other pages in use. All remaining pages are free and bare.
  init(pageSize: UInt64, end: UInt64, recorded: PageBitmap, used: [Range<UInt64>]) {
    self.pageSize = pageSize
    self.end = end
    self.recorded = recorded
    for run in recorded.runs(in: end..<PageTable.count) { cutOff.insert(run) }
    bare.insert(0..<end)
    bare.subtract(recorded)
    for range in used { bare.remove(range) }
  }

  // MARK: What a checkpoint records

  /// The pages in use that the next checkpoint records, before its own changes.
  var recordable: PageBitmap {
    var pages = recorded
    pages.subtract(cutOff)
    pages.formUnion(freshHeaders)
    return pages
  }

  /// Notes the pages in use that a durable checkpoint has recorded.
  mutating func noteRecorded(_ pages: PageBitmap) {
    recorded = pages
    freshHeaders.subtract(pages)
    cutOff = PageBitmap()
  }

  /// Notes that a page is the header page of a page extent. If the last checkpoint doesn't know it, the page
  /// is taken from the free ones.
  mutating func keepHeader(_ page: UInt64) {
    guard ready.contains(page) || bare.contains(page) else { return }
    take(page..<page + 1)
    noteHeader(page)
  }

  /// Notes that a page that is in use is the header page of a page extent.
  mutating func noteHeader(_ page: UInt64) { freshHeaders.insert(page..<page + 1) }

  /// Free pages.
  var freeCount: UInt64 { ready.count + bare.count }

  /// The free pages, ready or bare.
  var free: PageBitmap {
    var free = ready
    free.formUnion(bare)
    return free
  }

  /// Returns the number of free pages below `page`.
  func freeCount(before page: UInt64) -> UInt64 { ready.count(in: 0..<page) + bare.count(in: 0..<page) }

  // MARK: Taking

  /// Takes `count` ready pages, lowest first. Nil, with nothing taken, if there are fewer.
  mutating func take(_ count: UInt64) -> [Range<UInt64>]? {
    guard count <= ready.count else { return nil }
    let taken = Self.lowest(count, in: ready)
    for run in taken { ready.remove(run) }
    return taken
  }

  /// Returns the next `count` free pages that will be taken one by one; fewer if there are fewer. Ready pages
  /// come first, then bare ones, each lowest first.
  func nextToBeTaken(_ count: UInt64) -> PageBitmap {
    var pages = PageBitmap()
    for run in Self.lowest(count, in: ready) { pages.insert(run) }
    for run in Self.lowest(count - pages.count, in: bare) { pages.insert(run) }
    return pages
  }

  private static func lowest(_ count: UInt64, in pages: PageBitmap) -> [Range<UInt64>] {
    var lowest: [Range<UInt64>] = []
    var rest = count
    var page: UInt64 = 0
    while rest > 0, let first = pages.first(from: page) {
      let run = pages.run(from: first, limit: rest)
      lowest.append(run)
      rest -= run.upperBound - run.lowerBound
      page = run.upperBound
    }
    return lowest
  }

  /// Takes the first `count` adjacent ready pages; nil if there are none.
  mutating func take(run count: UInt64) -> Range<UInt64>? {
    guard let run = Self.firstRun(of: count, in: ready) else { return nil }
    ready.remove(run)
    return run
  }

  /// Returns the lowest end of the file, at least `least`, before which the pages of `reserve` are ready. Nil
  /// if there is no such end.
  func end(from least: UInt64, keeping reserve: PageReserve) -> UInt64? {
    let room = ready.room(for: reserve.runs)
    guard ready.count >= reserve.pageCount, room.shortfall == 0 else { return nil }
    return max(least, Self.lowest(reserve.pageCount, in: ready).last?.upperBound ?? 0, room.end)
  }

  /// Returns the bare ones of the first `count` free pages.
  func firstBare(amongFree count: UInt64) -> [Range<UInt64>] {
    guard let last = Self.lowest(count, in: free).last else { return [] }
    return bare.runs(in: 0..<last.upperBound)
  }

  /// Returns the first `count` adjacent pages that are ready, or, if there are none, free. Nil if there are
  /// none either, or if the pages of `reserve` wouldn't be ready without them.
  func firstFreeRun(of count: UInt64, leaving reserve: PageReserve) -> Range<UInt64>? {
    guard let run = Self.firstRun(of: count, in: ready) ?? firstFreeRun(of: count) else { return nil }
    var rest = ready
    rest.remove(run)
    return rest.count >= reserve.pageCount && rest.room(for: reserve.runs).shortfall == 0 ? run : nil
  }

  /// Returns the first `count` adjacent free pages, ready or bare; nil if there are none.
  func firstFreeRun(of count: UInt64) -> Range<UInt64>? {
    Self.firstRun(of: count, in: free)
  }

  /// Removes bare pages from the free ones. Returns those of `pages` that were bare.
  mutating func hold(_ pages: PageBitmap) -> [Range<UInt64>] {
    var held: [Range<UInt64>] = []
    pages.forEachRun { held += bare.runs(in: $0) }
    for run in held { bare.remove(run) }
    return held
  }

  /// Takes the free pages of a range, ready or bare.
  mutating func take(_ range: Range<UInt64>) {
    ready.remove(range)
    bare.remove(range)
  }

  private static func firstRun(of count: UInt64, in pages: PageBitmap) -> Range<UInt64>? {
    var page: UInt64 = 0
    while let first = pages.first(from: page) {
      let run = pages.run(from: first, limit: count)
      if run.upperBound - run.lowerBound == count { return run }
      page = run.upperBound
    }
    return nil
  }

  // MARK: Giving back

  /// Makes pages in use free and ready: they have blocks.
  mutating func release(_ range: Range<UInt64>) { ready.insert(range.clamped(to: 0..<end)) }

  /// Makes pages in use free and bare: they may have no blocks.
  mutating func releaseBare(_ range: Range<UInt64>) { bare.insert(range) }

  /// Notes that bare pages have blocks now.
  mutating func markReady(_ range: Range<UInt64>) {
    bare.remove(range)
    ready.insert(range)
  }

  /// Notes that ready pages no longer have blocks.
  mutating func markBare(_ range: Range<UInt64>) {
    ready.remove(range)
    bare.insert(range)
  }

  /// Adds pages at the end of the file, as in use, and returns them. Throws `diskFull` if there are no page
  /// numbers for them.
  mutating func extend(by count: UInt64) throws(StoreError) -> Range<UInt64> {
    let pages = end..<(end + count)
    guard pages.upperBound * pageSize <= Extent.addressLimit(pageSize: pageSize) else {
      throw StoreError(.diskFull, "the file can't be longer with pages of \(pageSize) bytes")
    }
    end = pages.upperBound
    return pages
  }

  /// The page after the last one in use.
  var usedEnd: UInt64 { usedEnd(before: end) }

  /// Returns the page after the last one in use, among those below `limit`.
  func usedEnd(before limit: UInt64) -> UInt64 {
    let free = free
    var page = limit
    while page > 0 {
      // Skips whole words of free pages, so that only one word is searched bit by bit.
      let word = Int((page - 1) / 64)
      if page % 64 == 0, word < free.words.count, free.words[word] == ~0 {
        page -= 64
      } else if free.contains(page - 1) {
        page -= 1
      } else {
        break
      }
    }
    return page
  }

  /// Forgets the free pages at the end of the file from `newEnd` on.
  mutating func cut(to newEnd: UInt64) {
    ready.remove(newEnd..<end)
    bare.remove(newEnd..<end)
    freshHeaders.remove(newEnd..<end)
    for run in recorded.runs(in: newEnd..<end) { cutOff.insert(run) }
    end = newEnd
  }
}
