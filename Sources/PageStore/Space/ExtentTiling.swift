/// The extents of the file, which tile it from the first page after the anchors to the end: the use of their
/// pages, and the headers of page extents. A part of ``PageSpace``, and like it guarded by
/// ``Committer/state``.
///
/// A page extent at the end of the file may grow and shrink: its header is then rewritten in place
/// (``ExtentHeaders``).
struct ExtentTiling {
  var map: SpaceMap
  var headers: ExtentHeaders
  let file: StoreFile
  /// The page extent at the end of the file; nil if the file ends with a log extent.
  private var tail: Extent?

  init(map: SpaceMap, tail: Extent?, file: StoreFile, headers: ExtentHeaders) {
    self.map = map
    self.tail = tail
    self.file = file
    self.headers = headers
  }

  private var pageSize: UInt64 { map.pageSize }
  /// The end of the last extent, in bytes.
  var end: UInt64 { map.end * pageSize }
  /// The offset of the page extent at the end of the file; 0 if there is none.
  var tailOffset: UInt64 { tail?.offset ?? 0 }

  /// Returns the page extent that has the byte at `offset`; nil if none has it.
  func pageExtent(around offset: UInt64) throws(StoreError) -> Extent? {
    let first = FileLayout.firstExtentOffset(pageSize: pageSize)
    var walk = try ExtentWalk(file, headers.identity, from: first)
    while let found = try walk.next(), found.header.extent.offset <= offset {
      if found.header.extent.end > offset { return found.header.kind == .pages ? found.header.extent : nil }
    }
    return nil
  }

  // MARK: The end of the file

  /// Extends the file by `count` free pages that have blocks, and by a header if it ends with a log extent.
  /// Throws `diskFull`, with nothing added.
  mutating func extend(by count: UInt64) throws(StoreError) {
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

  /// The page after the last one in use, not counting the headers of empty page extents.
  var usedEndWithoutHeaders: UInt64 {
    var end = map.usedEnd
    // The walk knows where extents begin: the bytes of a value may look like a header.
    while end > 0, let extent = try? pageExtent(around: (end - 1) * pageSize),
      extent.offset == (end - 1) * pageSize
    {
      end = map.usedEnd(before: end - 1)
    }
    return end
  }

  /// Forgets the free pages from `newEnd` on. The file stays as long as it is.
  mutating func cut(to newEnd: UInt64) throws(StoreError) {
    headers.forget(behind: newEnd * pageSize)
    let newTail = try pageExtent(around: (newEnd - 1) * pageSize).map {
      Extent(offset: $0.offset, byteCount: newEnd * pageSize - $0.offset)
    }
    if let newTail { try headers.rewrite(newTail) }
    // Only after the rewrite: if that fails, the file isn't cut, and an extent that isn't the last one must
    // not grow over those after it.
    tail = newTail
    map.cut(to: newEnd)
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

  // MARK: Log extents

  /// Adds a log extent at the end of the file, and returns it. Nothing is written.
  mutating func addLogExtent(byteCount: UInt64) throws(StoreError) -> Extent {
    let pages = try map.extend(by: byteCount.roundedUp(to: pageSize) / pageSize)
    tail = nil
    return Extent(
      offset: pages.lowerBound * pageSize,
      byteCount: (pages.upperBound - pages.lowerBound) * pageSize
    )
  }

  /// Makes a log extent of all `pages` but the last, which gets the header of the rest of the page extent.
  mutating func divide(_ whole: Extent, around pages: Range<UInt64>) throws(StoreError) -> Extent {
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
  mutating func undoingTake<Result>(
    of divided: Extent?,
    _ body: (inout ExtentTiling) throws(StoreError) -> Result
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

  /// Turns a log extent that checkpoints no longer list into a page extent. The checkpoint has recorded its
  /// header page. If the header can't be written, the room stays unused until the store is opened again.
  mutating func turnIntoPages(_ extent: Extent) {
    guard (try? headers.rewrite(extent)) != nil else { return }
    map.release(extent.offset / pageSize + 1..<extent.end / pageSize)
    if extent.end == end { tail = extent }
  }

  // MARK: What recovery found

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

  /// Extends the tiled part of the file over the room that recovery found after its end: log extents, and
  /// other room up to `byteCount`, which becomes page extents.
  mutating func takeUp(_ logExtents: [Extent], upTo byteCount: UInt64, isReadOnly: Bool) throws(StoreError) {
    for extent in logExtents.sorted(by: { $0.offset < $1.offset }) where extent.end > end {
      try addPageExtent(upTo: extent.offset, isReadOnly: isReadOnly)
      // An extent that begins before the end was taken from a page extent that had grown.
      _ = try addLogExtent(byteCount: extent.end - end)
    }
    try addPageExtent(upTo: byteCount, isReadOnly: isReadOnly)
  }

  private mutating func addPageExtent(upTo byteCount: UInt64, isReadOnly: Bool) throws(StoreError) {
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
}
