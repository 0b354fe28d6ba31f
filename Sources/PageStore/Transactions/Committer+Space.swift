/// The room in the file, which is read when it is needed for the first time.
extension Committer {
  /// Calls `body` with the room in the file, which the first call reads from the last checkpoint. Called with
  /// `state` held, or before the store is shared.
  func withSpace<Result>(
    _ body: (inout PageSpace) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var taken = if let space { space } else { try loadSpace() }
    // There must be one owner, so that changing the bitmaps copies nothing.
    space = nil
    defer { space = taken }
    return try body(&taken)
  }

  /// Reads the room in the file from the last checkpoint. Before anything is written, checks that no page in
  /// use counts as free.
  private func loadSpace() throws(StoreError) -> PageSpace {
    let last = lastCheckpoint.record
    let end = last.end / pageSize
    let recorded = try SpaceTree.read(last.spaceTree.root, pool: pool)
    let logExtents = extents.extents
    if !isReadOnly { try checkNothingLiveIsFree(recorded, logExtents) }
    var tiling = ExtentTiling(
      map: SpaceMap(
        pageSize: pageSize,
        end: end,
        recorded: recorded,
        used: [0..<FileLayout.firstExtentOffset(pageSize: pageSize) / pageSize]
          + logExtents.filter { $0.offset < last.end }
          .map { $0.offset / pageSize..<min(end, $0.end / pageSize) }
      ),
      tail: tailExtent(of: last, besides: logExtents),
      file: file,
      headers: ExtentHeaders(
        file: file,
        identity: identity,
        isDurable: found.areHeadersDurable,
        synchronize: { [log, file] () throws(StoreError) in
          try log.fencing { () throws(StoreError) in try file.synchronizeApart() }
        },
        random: environment.random
      ) { [versions] in versions.latest.commit }
    )
    let before = try SpaceTree.read(last.previousSpaceTree.root, pool: pool)
    // These pages are free according to the last checkpoint, but the one before reaches them.
    dead.setAwaiting(tiling.map.hold(before))
    if !isReadOnly {
      // Headers that this process writes need not be durable when it dies, and the next process must know
      // that.
      try log.removeClosingMark()
      // If a later step throws, the next attempt doesn't know which headers this one has written.
      found.areHeadersDurable = false
      try tiling.rewriteTailHeader()
      try tiling.mendHeaders(logExtents, wasClosed: found.wasClosed)
    }
    try tiling.takeUp(logExtents, upTo: found.end, isReadOnly: isReadOnly)
    return PageSpace(tiling, fileByteCount: isReadOnly ? tiling.end : try file.byteCount())
  }

  /// The number of pages in use according to the last checkpoint; 0 if the room in the file isn't loaded.
  /// Called with `state` held.
  var storedPageCount: UInt64 { space?.map.recorded.count ?? 0 }
  /// Bytes of the pages in ``storedPageCount``.
  var storedByteCount: UInt64 { storedPageCount * pageSize }

  /// Returns the page extent at the end that a checkpoint has recorded; nil if there is none. Since then, the
  /// log may have taken an extent among its pages, or over the recorded end, if the page extent had grown.
  func tailExtent(of record: CheckpointRecord, besides logExtents: [Extent]) -> Extent? {
    guard record.tailOffset > 0, record.tailOffset < record.end else { return nil }
    let inside = logExtents.filter { $0.offset > record.tailOffset && $0.offset < record.end }
    let start = inside.reduce(record.tailOffset) { max($0, $1.end) }
    return start < record.end ? Extent(offset: start, byteCount: record.end - start) : nil
  }
}
