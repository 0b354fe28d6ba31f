/// The room in the file: takes pages and log extents from it, and makes the file longer and shorter. Guarded
/// by ``Committer/state``: commits set room aside while a concurrent checkpoint takes and gives back its own.
///
/// Extents tile the file from the first page after the anchors to the end. A page extent at the end of the
/// file may grow and shrink: its header is then rewritten in place (``ExtentHeaders``).
///
/// A commit is accepted only when there is room for the pages of the next checkpoint. So a checkpoint always
/// fits, and a full disk fails only the transaction that would need more room.
struct PageSpace {
  private(set) var map: SpaceMap
  /// The page extent at the end of the file; nil if the file ends with a log extent.
  private var tail: Extent?
  private var headers: ExtentHeaders
  /// Pages for a log extent, which are kept for the time when the file can't grow; nil if none are kept.
  private var logRoom: Range<UInt64>?
  /// The end of the file while it is longer than its extents; nil otherwise.
  private var surplusEnd: UInt64?
  private let file: StoreFile

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
  /// The end of the last extent, in bytes.
  var end: UInt64 { map.end * pageSize }
  /// The offset of the page extent at the end of the file; 0 if there is none.
  var tailOffset: UInt64 { tail?.offset ?? 0 }

  // MARK: Pages

  /// Makes sure that the pages of `reserve` can be taken. Throws `diskFull`.
  mutating func ensure(_ reserve: PageReserve) throws(StoreError) {
    let (count, runs) = (reserve.pageCount, reserve.runs)
    try makeReady(count)
    var shortfall = map.ready.room(for: runs).shortfall
    while shortfall > 0, !map.bare.isEmpty {
      // At least twice as many each time, because each time takes a walk over the map.
      try makeReady(map.ready.count + max(map.ready.count, shortfall))
      shortfall = map.ready.room(for: runs).shortfall
    }
    if shortfall > 0 { try extend(by: shortfall) }
    if map.ready.count < count { try extend(by: count - map.ready.count) }
  }

  /// Has the file system allocate blocks for bare pages, lowest first, until `count` pages are ready or no
  /// bare one is left.
  private mutating func makeReady(_ count: UInt64) throws(StoreError) {
    while map.ready.count < count, let first = map.bare.first(from: 0) {
      let run = map.bare.run(from: first, limit: count - map.ready.count)
      try file.allocate(run.lowerBound * pageSize..<run.upperBound * pageSize)
      map.markReady(run)
    }
  }

  /// Has the file system allocate blocks for the bare ones of the first `count` free pages.
  private mutating func makeFirstReady(_ count: UInt64) throws(StoreError) {
    for run in map.firstBare(amongFree: count) {
      try file.allocate(run.lowerBound * pageSize..<run.upperBound * pageSize)
      map.markReady(run)
    }
  }

  /// The pages that are taken for a checkpoint.
  struct Taken {
    /// For single pages.
    var singles: [Range<UInt64>] = []
    /// For overflows of several pages.
    var runs: [Range<UInt64>] = []
    /// For the space tree, whose pages are counted last.
    var spare: [Range<UInt64>] = []

    var placement: PagePlacement { PagePlacement(singles: singles, runs: runs) }
    var all: [Range<UInt64>] { singles + runs + spare }
  }

  /// Takes pages for a checkpoint, and `spareCount` for its space tree, and makes sure that the pages of
  /// `reserve` can be taken after that. Throws `diskFull`, with nothing taken.
  mutating func take(
    _ demand: PageDemand,
    spareCount: UInt64 = 0,
    leaving reserve: PageReserve = PageReserve()
  ) throws(StoreError) -> Taken {
    var taken = Taken()
    do throws(StoreError) {
      for count in demand.runs.sorted(by: >) { taken.runs.append(try take(run: count)) }
      try ensure(PageReserve(pageCount: demand.singles + spareCount))
      guard let spare = map.take(spareCount), let singles = map.take(demand.singles) else {
        throw StoreError(.diskFull, "room that was set aside for a checkpoint is missing")
      }
      (taken.spare, taken.singles) = (spare, singles)
      try ensure(reserve)
      return taken
    } catch {
      giveBack(taken.all)
      throw error
    }
  }

  /// Takes `count` pages, not necessarily adjacent. Throws `diskFull`, with nothing taken.
  mutating func take(_ count: UInt64) throws(StoreError) -> [Range<UInt64>] {
    if count == 0 { return [] }
    try ensure(PageReserve(pageCount: count))
    return map.take(count) ?? []
  }

  private mutating func take(run count: UInt64) throws(StoreError) -> Range<UInt64> {
    if let run = map.take(run: count) { return run }
    if let run = try takeFree(run: count) { return run }
    try extend(by: count)
    return map.take(run: count) ?? map.end..<map.end
  }

  /// Takes the first `count` adjacent free pages, whether they have blocks or not; nil if there are none.
  private mutating func takeFree(run count: UInt64) throws(StoreError) -> Range<UInt64>? {
    guard let run = map.firstFreeRun(of: count) else { return nil }
    try file.allocate(run.lowerBound * pageSize..<run.upperBound * pageSize)
    map.take(run)
    return run
  }

  /// Makes pages free to which nothing in the file refers.
  mutating func giveBack(_ pages: [Range<UInt64>]) {
    for run in pages { map.release(run) }
  }

  /// Notes the pages in use that a durable checkpoint has recorded.
  mutating func noteRecorded(_ pages: PageBitmap) { map.noteRecorded(pages) }

  /// Takes pages that are free according to the last checkpoint out of the free ones. Returns them.
  mutating func hold(_ pages: PageBitmap) -> [Range<UInt64>] { map.hold(pages) }

  /// Gives the blocks of ready pages back to the file system, where `leastRun` or more are adjacent. The
  /// first `kept` ready pages keep their blocks. The pages stay free.
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

  /// Extends the file by at least `count` free pages that have blocks.
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

  /// The end of the file that a checkpoint will record before the file is cut there. Until that is durable,
  /// log extents must lie after the end that the previous checkpoint knows.
  struct Cut {
    fileprivate let newEnd: UInt64
    fileprivate let oldEnd: UInt64
    fileprivate let ready: [Range<UInt64>]
    fileprivate let bare: [Range<UInt64>]
    /// The end of the part of the file that stays, in bytes.
    let end: UInt64
    let tailOffset: UInt64
  }

  /// Takes the free pages at the end of the file, except `keeping` of them. Nil if there are no more free
  /// pages than that. Also nil if pages after `recordedEnd` are in use, because the checkpoint that would
  /// record the cut doesn't know them.
  ///
  /// - Parameters:
  ///   - reserve: the room that stays for accepted commits and for transactions that only remove.
  mutating func beginCut(
    keeping: UInt64,
    reserving reserve: PageReserve,
    before recordedEnd: UInt64
  ) -> Cut? {
    // If the disk is full, the room that stays may lie at the end of the file, and the file isn't cut.
    try? makeFirstReady(reserve.pageCount)
    let usedEnd = usedEndWithoutHeaders
    let least = usedEnd + (usedEnd == map.usedEnd ? keeping : 0)
    guard let newEnd = map.end(from: least, keeping: reserve),
      newEnd < map.end, newEnd * pageSize <= recordedEnd,
      let newTail = try? Optional(pageExtent(around: (newEnd - 1) * pageSize))
    else { return nil }
    let (ready, bare) = (map.ready.runs(in: newEnd..<map.end), map.bare.runs(in: newEnd..<map.end))
    map.take(newEnd..<map.end)
    return Cut(
      newEnd: newEnd,
      oldEnd: map.end,
      ready: ready,
      bare: bare,
      end: newEnd * pageSize,
      tailOffset: newTail?.offset ?? 0
    )
  }

  /// The page after the last one in use, not counting the headers of empty page extents.
  private var usedEndWithoutHeaders: UInt64 {
    var end = map.usedEnd
    // The walk knows where extents begin: the bytes of a value may look like a header.
    while end > 0, let extent = try? pageExtent(around: (end - 1) * pageSize),
      extent.offset == (end - 1) * pageSize
    {
      end = map.usedEnd(before: end - 1)
    }
    return end
  }

  /// Makes the pages of a cut free again.
  mutating func cancel(_ cut: Cut) {
    giveBack(cut.ready)
    for run in cut.bare { map.releaseBare(run) }
  }

  /// Cuts the file at the end that a durable checkpoint has recorded, unless the file has grown meanwhile.
  mutating func finish(_ cut: Cut) throws(StoreError) {
    guard map.end == cut.oldEnd else { return cancel(cut) }
    do {
      try self.cut(to: cut.newEnd)
    } catch {
      cancel(cut)
      throw error
    }
  }

  /// Forgets the free pages from `newEnd` on. ``truncate(upTo:)`` gives them back to the file system.
  private mutating func cut(to newEnd: UInt64) throws(StoreError) {
    headers.forget(behind: newEnd * pageSize)
    let newTail = try pageExtent(around: (newEnd - 1) * pageSize).map {
      Extent(offset: $0.offset, byteCount: newEnd * pageSize - $0.offset)
    }
    if let newTail { try headers.rewrite(newTail) }
    // Only after the rewrite: if that fails, the file isn't cut, and an extent that isn't the last one must
    // not grow over those after it.
    tail = newTail
    surplusEnd = max(surplusEnd ?? 0, end)
    map.cut(to: newEnd)
  }

  /// Gives up to `limit` bytes of the part that was cut off back to the file system; false when nothing is
  /// left. It works in pieces, because a file system takes a while to free many blocks. If the file has grown
  /// again, the growth reuses the rest.
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

  /// True if headers must be synced before a checkpoint records them.
  var needsSync: Bool { headers.needsSync }

  /// Notes that a sync of the headers written so far begins.
  mutating func beginSync() { headers.beginSync() }

  /// Notes that the headers written before ``beginSync()`` are durable.
  mutating func endSync() { headers.endSync() }

  // MARK: Log extents

  /// Takes room for a log extent at the end of the file, and has `initialise` write to it. Recovery finds
  /// extents there that a checkpoint doesn't list, because its walk continues from the end that the
  /// checkpoint knows. If `initialise` throws, nothing is taken.
  mutating func takeLogExtent<Result>(
    byteCount: UInt64,
    _ initialise: (Extent) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try mendTailHeader()
    return try undoingTake(of: nil) { (space) throws(StoreError) in
      try initialise(try space.placeLogExtent(byteCount: byteCount))
    }
  }

  private mutating func placeLogExtent(byteCount: UInt64) throws(StoreError) -> Extent {
    let pages = try map.extend(by: byteCount.roundedUp(to: pageSize) / pageSize)
    tail = nil
    return Extent(
      offset: pages.lowerBound * pageSize,
      byteCount: (pages.upperBound - pages.lowerBound) * pageSize
    )
  }

  /// Returns the number of adjacent free pages that a log extent among pages takes: its own, and one for the
  /// header of the part that follows.
  private func pageCount(ofLogExtent byteCount: UInt64) -> UInt64 {
    byteCount.roundedUp(to: pageSize) / pageSize + 1
  }

  /// The number of pages that ``keepLogRoom(byteCount:)`` keeps.
  var logRoomPageCount: UInt64 { logRoom.map { $0.upperBound - $0.lowerBound } ?? 0 }

  /// Takes the pages of a log extent that ``takeLogExtentAmongPages(byteCount:leaving:_:)`` will use, if none
  /// are kept already. Throws `diskFull`.
  mutating func keepLogRoom(byteCount: UInt64) throws(StoreError) {
    if logRoom != nil { return }
    let count = pageCount(ofLogExtent: byteCount)
    if let free = try takeFree(run: count) { logRoom = free } else { logRoom = try take(run: count) }
  }

  /// Makes the pages that are kept for the log free.
  mutating func giveUpLogRoom() {
    if let logRoom { giveBack([logRoom]) }
    logRoom = nil
  }

  /// Takes room for a log extent from free pages inside a page extent, which is divided, and has `initialise`
  /// write to it. Used when the file can't grow. Throws `diskFull`, with nothing taken. After another error
  /// of `initialise` the room stays unused.
  ///
  /// - Parameter reserve: the room that must be left.
  mutating func takeLogExtentAmongPages<Result>(
    byteCount: UInt64,
    leaving reserve: PageReserve,
    _ initialise: (Extent) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try mendTailHeader()
    let kept = logRoom
    giveUpLogRoom()
    guard let pages = map.firstFreeRun(of: pageCount(ofLogExtent: byteCount), leaving: reserve),
      let whole = try pageExtent(around: pages.lowerBound * pageSize),
      pages.upperBound * pageSize <= whole.end
    else {
      // A shorter extent may fit into it.
      if let kept { map.take(kept) }
      logRoom = kept
      throw StoreError(.diskFull, "no room for the log among the pages that are free")
    }
    try file.allocate(pages.lowerBound * pageSize..<pages.upperBound * pageSize)
    return try undoingTake(of: whole) { (space) throws(StoreError) in
      try initialise(try space.divide(whole, around: pages))
    }
  }

  /// Makes a log extent of all `pages` but the last, which gets the header of the rest of the page extent.
  private mutating func divide(_ whole: Extent, around pages: Range<UInt64>) throws(StoreError) -> Extent {
    map.take(pages)
    let start = pages.lowerBound * pageSize
    let rest = Extent(
      offset: (pages.upperBound - 1) * pageSize,
      byteCount: whole.end - (pages.upperBound - 1) * pageSize
    )
    try headers.write(rest)
    map.noteHeader(pages.upperBound - 1)
    try headers.rewrite(Extent(offset: whole.offset, byteCount: start - whole.offset))
    if whole.end == end { tail = rest }
    return Extent(offset: start, byteCount: rest.offset - start)
  }

  /// Runs `body`; if it throws, restores the map. Headers that were written stay noted, because they may not
  /// be durable.
  ///
  /// - Parameter divided: the page extent that `body` divides. If its header can't be restored, the room
  ///   stays unused until the store is opened again. The room also stays unused after a failure other than a
  ///   full disk, which may have fenced the store.
  private mutating func undoingTake<Result>(
    of divided: Extent?,
    _ body: (inout PageSpace) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let (map, tail) = (map, tail)
    do throws(StoreError) {
      return try body(&self)
    } catch {
      if let divided {
        guard error.code == .diskFull, (try? headers.rewrite(divided)) != nil else { throw error }
      }
      (self.map, self.tail) = (map, tail)
      throw error
    }
  }

  private func pageExtent(around offset: UInt64) throws(StoreError) -> Extent? {
    let first = FileLayout.firstExtentOffset(pageSize: pageSize)
    var walk = try ExtentWalk(file, headers.identity, from: first)
    while let found = try walk.next(), found.header.extent.offset <= offset {
      if found.header.extent.end > offset { return found.header.kind == .pages ? found.header.extent : nil }
    }
    return nil
  }

  /// Turns a log extent that checkpoints no longer list into a page extent. The checkpoint has recorded its
  /// header page. If the header can't be written, the room stays unused until the store is opened again.
  mutating func turnIntoPages(_ extent: Extent) {
    guard (try? headers.rewrite(extent)) != nil else { return }
    map.release(extent.offset / pageSize + 1..<extent.end / pageSize)
    if extent.end == end { tail = extent }
  }

  // MARK: What recovery found

  /// Extends the tiled part of the file over the room that recovery found after its end: log extents, and
  /// other room up to `byteCount`, which becomes page extents.
  mutating func takeUp(_ logExtents: [Extent], upTo byteCount: UInt64, isReadOnly: Bool) throws(StoreError) {
    for extent in logExtents.sorted(by: { $0.offset < $1.offset }) where extent.end > end {
      try tile(upTo: extent.offset, isReadOnly: isReadOnly)
      // An extent that begins before the end was taken from a page extent that had grown.
      _ = try placeLogExtent(byteCount: extent.end - end)
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
      // Without room for its header, the extent stays unused.
      tail = nil
    }
  }

  /// Corrects the header of the page extent at the end of the file, if it gives another length. Rewriting the
  /// header may have failed, in this process or an earlier one; later extents must not lie inside this
  /// extent. Or a process may have died after it had begun to make the file longer. Then the header that it
  /// wrote need not be durable, though the store was closed before.
  mutating func mendTailHeader() throws(StoreError) {
    guard let tail else { return }
    let header = try ExtentWalk.extent(at: tail.offset, in: file, headers.identity)?.header
    if header?.extent == tail, header?.kind == .pages { return }
    headers.doubtDurability()
    try headers.rewrite(tail)
  }

  /// Writes the header of the page extent at the end of the file again, even if it is right. After a sync
  /// that failed while the store was closed, the system may treat its cached bytes as written.
  mutating func rewriteTailHeader() throws(StoreError) {
    try mendTailHeader()
    if let tail { try headers.rewrite(tail) }
  }

  /// Rewrites the headers of page extents according to the last checkpoint: a crash, or a failed sync, may
  /// have come between that checkpoint and the headers. No page extent reaches over a log extent.
  ///
  /// - Parameter wasClosed: true to rewrite only headers of former log extents that still say "log". Closing a
  ///   store may leave one, because it gives log extents up.
  mutating func mendHeaders(_ logExtents: [Extent], wasClosed: Bool) throws(StoreError) {
    var walk = try ExtentWalk(file, headers.identity, from: FileLayout.firstExtentOffset(pageSize: pageSize))
    while let found = try walk.next(), found.header.extent.offset < end {
      let extent = found.header.extent
      if found.header.kind == .log, logExtents.contains(where: { $0.offset == extent.offset }) { continue }
      if wasClosed, found.header.kind == .pages { continue }
      map.keepHeader(extent.offset / pageSize)
      let inside = logExtents.filter { $0.offset > extent.offset && $0.offset < extent.end }
      let next = min(inside.map(\.offset).min() ?? extent.end, end)
      // Even a correct header is rewritten: after a failed sync, the system may treat its cached bytes as
      // written. A log extent that is no longer listed becomes a page extent.
      try headers.rewrite(Extent(offset: extent.offset, byteCount: next - extent.offset))
      walk = try ExtentWalk(file, headers.identity, from: next)
    }
  }
}
