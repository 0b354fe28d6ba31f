/// The room in the file: takes pages and log extents from it, and makes the file longer and shorter. Guarded
/// by ``Committer/state``: commits set room aside while a concurrent checkpoint takes and gives back its own.
///
/// A commit is accepted only when there is room for the pages of the next checkpoint. So a checkpoint always
/// fits, and a full disk fails only the transaction that would need more room.
struct PageSpace {
  /// The extents, and the use of their pages.
  private var tiling: ExtentTiling
  /// Pages for a log extent, which are kept for the time when the file can't grow; nil if none are kept.
  private var logRoom: Range<UInt64>?
  /// The end of the file while it is longer than its extents; nil otherwise.
  private var surplusEnd: UInt64?

  /// The file grows in steps of a sixty-fourth of its length, within these limits.
  private static let smallestStep: UInt64 = 256 << 10
  private static let largestStep: UInt64 = 16 << 20

  /// - Parameter fileByteCount: the length of the file. After a crash it may be longer than its extents: a
  ///   transaction had written pages early, or the file was being made shorter.
  init(_ tiling: ExtentTiling, fileByteCount: UInt64) {
    self.tiling = tiling
    if fileByteCount > tiling.end { surplusEnd = fileByteCount }
  }

  /// The use of the file's pages.
  var map: SpaceMap { tiling.map }
  private var pageSize: UInt64 { map.pageSize }
  private var file: StoreFile { tiling.file }
  /// The end of the last extent, in bytes.
  var end: UInt64 { tiling.end }
  /// The offset of the page extent at the end of the file; 0 if there is none.
  var tailOffset: UInt64 { tiling.tailOffset }

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
      tiling.map.markReady(run)
    }
  }

  /// Has the file system allocate blocks for the bare ones of the first `count` free pages.
  private mutating func makeFirstReady(_ count: UInt64) throws(StoreError) {
    for run in map.firstBare(amongFree: count) {
      try file.allocate(run.lowerBound * pageSize..<run.upperBound * pageSize)
      tiling.map.markReady(run)
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
      guard let spare = tiling.map.take(spareCount), let singles = tiling.map.take(demand.singles) else {
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
    return tiling.map.take(count) ?? []
  }

  private mutating func take(run count: UInt64) throws(StoreError) -> Range<UInt64> {
    if let run = tiling.map.take(run: count) { return run }
    if let run = try takeFree(run: count) { return run }
    try extend(by: count)
    return tiling.map.take(run: count) ?? map.end..<map.end
  }

  /// Takes the first `count` adjacent free pages, whether they have blocks or not; nil if there are none.
  private mutating func takeFree(run count: UInt64) throws(StoreError) -> Range<UInt64>? {
    guard let run = map.firstFreeRun(of: count) else { return nil }
    try file.allocate(run.lowerBound * pageSize..<run.upperBound * pageSize)
    tiling.map.take(run)
    return run
  }

  /// Makes pages free to which nothing in the file refers.
  mutating func giveBack(_ pages: [Range<UInt64>]) {
    for run in pages { tiling.map.release(run) }
  }

  /// Notes the pages in use that a durable checkpoint has recorded.
  mutating func noteRecorded(_ pages: PageBitmap) { tiling.map.noteRecorded(pages) }

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
      tiling.map.markBare(hole)
    }
  }

  // MARK: The file's length

  /// Extends the file by at least `count` free pages that have blocks.
  private mutating func extend(by count: UInt64) throws(StoreError) {
    let step = min(max(end / 64, Self.smallestStep), Self.largestStep) / pageSize
    do {
      try tiling.extend(by: max(count, step))
    } catch  where error.code == .diskFull {
      try tiling.extend(by: count)
    }
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
  ///   - reserve: the room that stays for accepted commits and for transactions that remove.
  mutating func beginCut(
    keeping: UInt64,
    reserving reserve: PageReserve,
    before recordedEnd: UInt64
  ) -> Cut? {
    // If the disk is full, the room that stays may lie at the end of the file, and the file isn't cut.
    try? makeFirstReady(reserve.pageCount)
    let usedEnd = tiling.usedEndWithoutHeaders
    let least = usedEnd + (usedEnd == map.usedEnd ? keeping : 0)
    guard let newEnd = map.end(from: least, keeping: reserve),
      newEnd < map.end, newEnd * pageSize <= recordedEnd,
      let newTail = try? Optional(tiling.pageExtent(around: (newEnd - 1) * pageSize))
    else { return nil }
    let (ready, bare) = (map.ready.runs(in: newEnd..<map.end), map.bare.runs(in: newEnd..<map.end))
    tiling.map.take(newEnd..<map.end)
    return Cut(
      newEnd: newEnd,
      oldEnd: map.end,
      ready: ready,
      bare: bare,
      end: newEnd * pageSize,
      tailOffset: newTail?.offset ?? 0
    )
  }

  /// Makes the pages of a cut free again.
  mutating func cancel(_ cut: Cut) {
    giveBack(cut.ready)
    for run in cut.bare { tiling.map.releaseBare(run) }
  }

  /// Cuts the file at the end that a durable checkpoint has recorded, unless the file has grown meanwhile.
  /// ``truncate(upTo:)`` then gives the part that was cut off back to the file system.
  mutating func finish(_ cut: Cut) throws(StoreError) {
    guard map.end == cut.oldEnd else { return cancel(cut) }
    do {
      try tiling.cut(to: cut.newEnd)
    } catch {
      cancel(cut)
      throw error
    }
    surplusEnd = max(surplusEnd ?? 0, cut.oldEnd * pageSize)
  }

  /// Gives a piece of the part that was cut off back to the file system; false when nothing is left. A file
  /// system takes a while to free many blocks, so a piece has up to `limit` bytes, or more where the file has
  /// no data. If the file has grown again, the growth reuses the rest.
  mutating func truncate(upTo limit: UInt64) throws(StoreError) -> Bool {
    guard let surplusEnd else { return false }
    guard surplusEnd > end else {
      self.surplusEnd = nil
      return false
    }
    let next = try surplusEnd - byteCountOfPiece(of: end..<surplusEnd, upTo: limit)
    try file.truncate(to: next)
    self.surplusEnd = next
    return true
  }

  /// Returns the number of bytes at the end of a range that are given back at once. It doubles while there is
  /// no data among twice as many: a hole may be terabytes long.
  private func byteCountOfPiece(
    of range: Range<UInt64>,
    upTo limit: UInt64
  ) throws(StoreError) -> UInt64 {
    let total = range.upperBound - range.lowerBound
    var count = limit
    while count < total, try file.nextData(from: range.upperBound - min(2 * count, total)) == nil {
      count *= 2
    }
    return min(count, total)
  }

  // MARK: Headers

  /// True if headers must be synced before a checkpoint records them.
  var needsSync: Bool { tiling.headers.needsSync }

  /// Notes that a sync of the headers written so far begins.
  mutating func beginSync() { tiling.headers.beginSync() }

  /// Notes that the headers written before ``beginSync()`` are durable.
  mutating func endSync() { tiling.headers.endSync() }

  // MARK: Log extents

  /// Takes room for a log extent at the end of the file, and has `initialise` write to it. Recovery finds
  /// extents there that a checkpoint doesn't list, because its walk continues from the end that the
  /// checkpoint knows. If `initialise` throws, nothing is taken.
  mutating func takeLogExtent<Result>(
    byteCount: UInt64,
    _ initialise: (Extent) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try tiling.mendTailHeader()
    return try tiling.undoingTake(of: nil) { (tiling) throws(StoreError) in
      try initialise(try tiling.addLogExtent(byteCount: byteCount))
    }
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
    try tiling.mendTailHeader()
    let kept = logRoom
    giveUpLogRoom()
    guard let pages = map.firstFreeRun(of: pageCount(ofLogExtent: byteCount), leaving: reserve),
      let whole = try tiling.pageExtent(around: pages.lowerBound * pageSize),
      pages.upperBound * pageSize <= whole.end
    else {
      // A shorter extent may fit into it.
      if let kept { tiling.map.take(kept) }
      logRoom = kept
      throw StoreError(.diskFull, "no room for the log among the pages that are free")
    }
    try file.allocate(pages.lowerBound * pageSize..<pages.upperBound * pageSize)
    return try tiling.undoingTake(of: whole) { (tiling) throws(StoreError) in
      try initialise(try tiling.divide(whole, around: pages))
    }
  }

  /// Turns a log extent that checkpoints no longer list into a page extent.
  mutating func turnIntoPages(_ extent: Extent) { tiling.turnIntoPages(extent) }
}
