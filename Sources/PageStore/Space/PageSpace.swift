/// The room in the file: takes pages and log extents from it, and makes the file longer and shorter. Guarded
/// by ``Committer/state``: commits set room aside while a concurrent checkpoint takes and gives back its own.
///
/// The file is tiled by extents from its first page behind the anchors up to its end. A page extent may grow and shrink at
/// the end of the file: its header is then written again where it is (``ExtentHeaders``).
///
/// Room for the pages of the next checkpoint is made sure of before a commit is accepted: so a checkpoint always fits, and
/// a full disk shows itself to the transaction that would need more, which alone fails.
struct PageSpace {
  private(set) var map: SpaceMap
  /// The page extent at the end of the file; nil if a log extent is there.
  private var tail: Extent?
  private var headers: ExtentHeaders
  /// Where the file still ends though less of it is used.
  private var surplusEnd: UInt64?
  private let file: StoreFile

  /// Kept for transactions that only remove, so that they go through on a full disk.
  static func removalReserve(pageSize: UInt64) -> UInt64 { max(128 << 10, 8 * pageSize) }

  /// The file grows in steps of a sixty-fourth of its length, within these limits.
  private static let smallestStep: UInt64 = 256 << 10
  private static let largestStep: UInt64 = 16 << 20

  init(map: SpaceMap, tail: Extent?, file: StoreFile, headers: ExtentHeaders) {
    self.map = map
    self.tail = tail
    self.file = file
    self.headers = headers
  }

  var pageSize: UInt64 { map.pageSize }
  /// Bytes of the file that extents tile.
  var end: UInt64 { map.end * pageSize }
  /// Where the page extent at the end of the file begins; 0 if there is none.
  var tailOffset: UInt64 { tail?.offset ?? 0 }

  // MARK: Pages

  /// Sees to it that `count` pages can be taken, and that `run` of them lie side by side. Throws `diskFull`.
  mutating func ensure(_ count: UInt64, run: UInt64 = 0) throws(StoreError) {
    try makeReady(count)
    if run > 0, !map.hasReadyRun(of: run) { try extend(by: run) }
    if map.ready.count < count { try extend(by: count - map.ready.count) }
  }

  /// Has the file system give blocks to free pages that may have none, lowest first, until `count` pages are ready or none is
  /// left.
  private mutating func makeReady(_ count: UInt64) throws(StoreError) {
    while map.ready.count < count, let first = map.bare.first(from: 0) {
      let run = map.bare.run(from: first, limit: count - map.ready.count)
      try file.allocate(run.lowerBound * pageSize..<run.upperBound * pageSize)
      map.markReady(run)
    }
  }

  /// What is taken for a checkpoint.
  struct Taken {
    /// For pages that stand alone.
    var singles: [Range<UInt64>]
    /// For overflows of several pages.
    var runs: [Range<UInt64>]
    /// For the tree that says which pages are in use, whose own pages are counted last.
    var spare: [Range<UInt64>]

    var placement: PagePlacement { PagePlacement(singles: singles, runs: runs) }
  }

  /// Takes pages for a checkpoint, and `spareCount` more. Throws `diskFull`, with nothing taken.
  mutating func take(_ demand: PageDemand, spareCount: UInt64) throws(StoreError) -> Taken {
    var runs: [Range<UInt64>] = []
    do throws(StoreError) {
      for count in demand.runs.sorted(by: >) { runs.append(try take(run: count)) }
      try ensure(demand.singles + spareCount)
      if let spare = map.take(spareCount), let singles = map.take(demand.singles) {
        return Taken(singles: singles, runs: runs, spare: spare)
      }
    } catch {
      giveBack(runs)
      throw error
    }
    giveBack(runs)
    throw StoreError(.diskFull, "room that was set aside for a checkpoint is missing")
  }

  /// Takes pages that may be anywhere. Throws `diskFull`, with nothing taken.
  mutating func take(_ count: UInt64) throws(StoreError) -> [Range<UInt64>] {
    if count == 0 { return [] }
    try ensure(count)
    return map.take(count) ?? []
  }

  private mutating func take(run count: UInt64) throws(StoreError) -> Range<UInt64> {
    if let run = map.take(run: count) { return run }
    try extend(by: count)
    return map.take(run: count) ?? map.end..<map.end
  }

  /// Takes back pages that nothing in the file refers to.
  mutating func giveBack(_ pages: [Range<UInt64>]) {
    for run in pages { map.release(run) }
  }

  /// Notes what a checkpoint that is durable now has recorded.
  mutating func noteRecorded(_ pages: PageBitmap) { map.noteRecorded(pages) }

  /// Keeps pages from being taken that are free as far as the last checkpoint is concerned. Returns them.
  mutating func hold(_ pages: PageBitmap) -> [Range<UInt64>] { map.hold(pages) }

  /// Gives the blocks of free pages back to the file system where `leastRun` or more lie side by side, but for the first `kept` pages
  /// that are ready. The pages stay free.
  mutating func punchHoles(keeping kept: UInt64, leastRun: UInt64) throws(StoreError) {
    var rest = kept
    for run in map.ready.runs(in: 0..<map.end) {
      let spared = min(rest, run.upperBound - run.lowerBound)
      rest -= spared
      let hole = run.lowerBound + spared..<run.upperBound
      guard hole.upperBound - hole.lowerBound >= leastRun else { continue }
      guard try file.punchHole(hole.lowerBound * pageSize..<hole.upperBound * pageSize) else { return }
      map.markBare(hole)
    }
  }

  // MARK: The file's length

  /// Makes the file longer by at least `count` free pages that have blocks.
  private mutating func extend(by count: UInt64) throws(StoreError) {
    let step = min(max(end / 64, Self.smallestStep), Self.largestStep) / pageSize
    do {
      try extend(exactlyBy: max(count, step))
    } catch  where error.code == .diskFull {
      try extend(exactlyBy: count)
    }
  }

  private mutating func extend(exactlyBy count: UInt64) throws(StoreError) {
    var map = map
    let pages = try map.extend(by: tail == nil ? count + 1 : count)
    try file.allocate(pages.lowerBound * pageSize..<pages.upperBound * pageSize)
    let start = tail?.offset ?? pages.lowerBound * pageSize
    let extent = Extent(offset: start, byteCount: pages.upperBound * pageSize - start)
    if tail == nil { try headers.write(extent) } else { try headers.rewrite(extent) }
    if tail == nil { map.noteHeader(pages.lowerBound) }
    map.release(tail == nil ? pages.lowerBound + 1..<pages.upperBound : pages)
    tail = extent
    self.map = map
  }

  /// What a checkpoint may say of the end of the file, before the file is cut there: until that is durable, log extents have
  /// to lie behind the end that the checkpoint before knows.
  struct Cut {
    fileprivate let newEnd: UInt64
    fileprivate let oldEnd: UInt64
    fileprivate let free: [Range<UInt64>]
    /// Where the part of the file ends that stays.
    let end: UInt64
    let tailOffset: UInt64
  }

  /// Sets the free pages at the end of the file aside, but for `keeping`. Nil if there are no more than that, or if anything is in
  /// use behind `recordedEnd`, of which the checkpoint that is to say so knows nothing.
  mutating func beginCut(keeping: UInt64, before recordedEnd: UInt64) -> Cut? {
    let usedEnd = usedEndWithoutHeaders
    let newEnd = usedEnd + (usedEnd == map.usedEnd ? keeping : 0)
    guard newEnd < map.end, newEnd * pageSize <= recordedEnd,
      let newTail = try? Optional(pageExtent(around: (newEnd - 1) * pageSize))
    else { return nil }
    let free = map.ready.runs(in: newEnd..<map.end)
    map.take(newEnd..<map.end)
    return Cut(
      newEnd: newEnd,
      oldEnd: map.end,
      free: free,
      end: newEnd * pageSize,
      tailOffset: newTail?.offset ?? 0
    )
  }

  /// The page behind the last one in use, apart from headers of page extents in which nothing else is.
  private var usedEndWithoutHeaders: UInt64 {
    var end = map.usedEnd
    // With large pages a log extent may be a single page.
    while end > 0, let found = try? ExtentWalk.extent(at: (end - 1) * pageSize, in: file, headers.identity),
      found.header.kind == .pages
    {
      end = map.usedEnd(before: end - 1)
    }
    return end
  }

  /// Gives back what was set aside. What was bare stays unused until the store is opened again.
  mutating func cancel(_ cut: Cut) { giveBack(cut.free) }

  /// Cuts the file where a durable checkpoint says that it ends, unless it has become longer meanwhile.
  mutating func finish(_ cut: Cut) throws(StoreError) {
    guard map.end == cut.oldEnd else { return cancel(cut) }
    do {
      try self.cut(to: cut.newEnd)
    } catch {
      cancel(cut)
      throw error
    }
  }

  /// Forgets the free pages from `newEnd` on: ``truncate(upTo:)`` lets the file system have them.
  private mutating func cut(to newEnd: UInt64) throws(StoreError) {
    headers.forget(behind: newEnd * pageSize)
    let newTail = try pageExtent(around: (newEnd - 1) * pageSize).map {
      Extent(offset: $0.offset, byteCount: newEnd * pageSize - $0.offset)
    }
    if let newTail { try headers.rewrite(newTail) }
    // Not before: if the file stays as it is, an extent that is not the last must not grow over those behind it.
    tail = newTail
    surplusEnd = max(surplusEnd ?? 0, end)
    map.cut(to: newEnd)
  }

  /// Lets the file system have a part of what was cut off, up to `limit` bytes; false when there is nothing left. It takes a file system
  /// a while to free many blocks. If the file has grown again, what is left is used for that.
  mutating func truncate(upTo limit: UInt64) throws(StoreError) -> Bool {
    guard let surplusEnd else { return false }
    guard surplusEnd > end else {
      self.surplusEnd = nil
      return false
    }
    let next = max(end, surplusEnd - min(surplusEnd, limit))
    try file.truncate(to: next)
    self.surplusEnd = next
    return true
  }

  // MARK: Headers

  /// Whether headers have to be synced before a checkpoint names them.
  var needsSync: Bool { headers.needsSync }

  /// Notes that what was written so far is about to be synced.
  mutating func beginSync() { headers.beginSync() }

  /// Notes that what was written before ``beginSync()`` is durable.
  mutating func endSync() { headers.endSync() }

  // MARK: Log extents

  /// Takes room for a log extent at the end of the file: there recovery finds those that a checkpoint doesn't list, by walking
  /// on from the end it knew.
  mutating func takeLogExtent(byteCount: UInt64) throws(StoreError) -> Extent {
    let pages = try map.extend(by: byteCount.roundedUp(to: pageSize) / pageSize)
    tail = nil
    return Extent(
      offset: pages.lowerBound * pageSize,
      byteCount: (pages.upperBound - pages.lowerBound) * pageSize
    )
  }

  /// Takes room for a log extent out of free pages in the middle of a page extent, which is divided, for when the file can't grow.
  /// Throws `diskFull`.
  mutating func takeLogExtentAmongPages(byteCount: UInt64) throws(StoreError) -> Extent {
    let count = byteCount.roundedUp(to: pageSize) / pageSize
    // One more for the header of what follows.
    guard let pages = map.firstFreeRun(of: count + 1),
      let whole = try pageExtent(around: pages.lowerBound * pageSize),
      pages.upperBound * pageSize <= whole.end
    else { throw StoreError(.diskFull, "no room for the log among the pages that are free") }
    try file.allocate(pages.lowerBound * pageSize..<pages.upperBound * pageSize)
    map.take(pages)
    let extent = Extent(offset: pages.lowerBound * pageSize, byteCount: count * pageSize)
    let rest = Extent(offset: extent.end, byteCount: whole.end - extent.end)
    try headers.write(rest)
    map.noteHeader(pages.upperBound - 1)
    try headers.rewrite(Extent(offset: whole.offset, byteCount: extent.offset - whole.offset))
    if whole.end == end { tail = rest }
    return extent
  }

  private func pageExtent(around offset: UInt64) throws(StoreError) -> Extent? {
    let first = FileLayout.firstExtentOffset(pageSize: pageSize)
    var walk = try ExtentWalk(file, headers.identity, from: first)
    while let found = try walk.next(), found.header.extent.offset <= offset {
      if found.header.extent.end > offset { return found.header.kind == .pages ? found.header.extent : nil }
    }
    return nil
  }

  /// Makes the room of a log extent that no checkpoint lists any more a page extent, whose header page the checkpoint has
  /// recorded. If the header can't be written, the room stays unused until the store is opened again.
  mutating func turnIntoPages(_ extent: Extent) {
    guard (try? headers.rewrite(extent)) != nil else { return }
    map.release(extent.offset / pageSize + 1..<extent.end / pageSize)
    if extent.end == end { tail = extent }
  }

  // MARK: What recovery found

  /// Makes the file end behind what recovery met there: log extents, and what else lies before `byteCount`, which becomes
  /// page extents.
  mutating func takeUp(_ logExtents: [Extent], upTo byteCount: UInt64, isReadOnly: Bool) throws(StoreError) {
    for extent in logExtents.sorted(by: { $0.offset < $1.offset }) where extent.offset >= end {
      try tile(upTo: extent.offset, isReadOnly: isReadOnly)
      _ = try takeLogExtent(byteCount: extent.byteCount)
    }
    try tile(upTo: byteCount, isReadOnly: isReadOnly)
  }

  private mutating func tile(upTo byteCount: UInt64, isReadOnly: Bool) throws(StoreError) {
    guard byteCount > end else { return }
    let pages = try map.extend(by: (byteCount - end) / pageSize)
    let extent = Extent(
      offset: pages.lowerBound * pageSize,
      byteCount: byteCount - pages.lowerBound * pageSize
    )
    if isReadOnly { return map.releaseBare(pages) }
    do {
      try headers.write(extent)
      map.noteHeader(pages.lowerBound)
      map.releaseBare(pages.lowerBound + 1..<pages.upperBound)
      tail = extent
    } catch  where error.code == .diskFull {
      // Room that can't have a header stays unused.
      tail = nil
    }
  }

  /// Makes the header of the page extent at the end of the file say that it ends there. Closing a store may have failed to, after a
  /// checkpoint had said that the file ends sooner: what is put there next must not lie in that extent.
  mutating func mendTailHeader() throws(StoreError) {
    guard let tail else { return }
    let header = try ExtentWalk.extent(at: tail.offset, in: file, headers.identity)?.header
    if header?.extent != tail || header?.kind != .pages { try headers.rewrite(tail) }
  }

  /// Makes the headers of page extents say what the last checkpoint says: a crash may have come between the two, or a sync that
  /// failed. None reaches over a log extent.
  mutating func mendHeaders(_ logExtents: [Extent]) throws(StoreError) {
    var walk = try ExtentWalk(file, headers.identity, from: FileLayout.firstExtentOffset(pageSize: pageSize))
    while let found = try walk.next(), found.header.extent.offset < end {
      let extent = found.header.extent
      if found.header.kind == .log, logExtents.contains(where: { $0.offset == extent.offset }) { continue }
      map.keepHeader(extent.offset / pageSize)
      let inside = logExtents.filter { $0.offset > extent.offset && $0.offset < extent.end }
      let next = min(inside.map(\.offset).min() ?? extent.end, end)
      // Even if it is right: after a sync that failed, the system may take what is in its cache for written. A log extent that is listed
      // no more is one of pages.
      try headers.rewrite(Extent(offset: extent.offset, byteCount: next - extent.offset))
      walk = try ExtentWalk(file, headers.identity, from: next)
    }
  }
}
