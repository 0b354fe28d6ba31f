/// The extents that the log goes on in: free ones, or new ones.
extension Committer {
  /// A free log extent, or a new one, ready for its next use. New ones double in size.
  func nextLogExtent(forRecord byteCount: Int) throws(StoreError) -> LogExtentUse {
    try checkSpace()
    let needed = LogWriter.extentByteCount(forRecord: byteCount)
    let largest = limits.logExtentByteCount(storing: storedPageCount * pageSize)
    let current = min(log.tail.position.use.extent.byteCount, largest)
    if let free = extents.freeExtent(byteCount: max(needed, current)) {
      return try extents.beginUse(of: free, salt: environment.random())
    }
    do {
      return try newLogExtent(byteCount: max(needed, min(2 * current, largest)))
    } catch  where error.code == .diskFull {
      guard let free = extents.freeExtent(byteCount: needed) else { throw error }
      return try extents.beginUse(of: free, salt: environment.random())
    }
  }

  /// A small one, for recovery's checkpoint: after that the extents that were replayed are free, so more would be zeroed and synced
  /// for nothing.
  func smallLogExtent(forRecord byteCount: Int) throws(StoreError) -> LogExtentUse {
    try checkSpace()
    let needed = Self.smallLogExtentByteCount(forRecord: byteCount)
    if let free = extents.freeExtent(byteCount: needed) {
      return try extents.beginUse(of: free, salt: environment.random())
    }
    return try newLogExtent(byteCount: needed)
  }

  /// A small one in room that was set aside for pages, for when the file can't grow.
  func logExtentAmongPages(forRecord byteCount: Int) throws(StoreError) -> LogExtentUse {
    try newLogExtent { (space) throws(StoreError) in
      try space.takeLogExtentAmongPages(byteCount: Self.smallLogExtentByteCount(forRecord: byteCount))
    }
  }

  /// Bytes of free log extents that checkpoints keep for the log to go on in.
  ///
  /// A log that has been longer, because checkpoints took long, will be again. New extents lie at the end of the file, and those that are
  /// given up become pages: the file would grow each time.
  var keptLogByteCount: UInt64 {
    if !keepsFreeLog { return 0 }
    let limit = limits.logByteCount(storing: storedPageCount * pageSize)
    return max(limit, min(UpkeepLimits.overdueLogShare * limit, recentLogByteCount))
  }

  /// Notes that a checkpoint has been made, and how much log there was before it.
  func noteLog(upTo byteCount: UInt64) {
    recentLogByteCount = max(log.bytesSinceCheckpoint, recentLogByteCount / 4 * 3)
    log.markCheckpoint(at: byteCount)
  }

  /// Makes sure that a log extent that is said to be free lies over nothing else, before it is written to.
  private func checkSpace() throws(StoreError) { try withSpace { _ in } }

  private static func smallLogExtentByteCount(forRecord byteCount: Int) -> UInt64 {
    max(smallestLogExtentByteCount, LogWriter.extentByteCount(forRecord: byteCount))
  }

  private static let smallestLogExtentByteCount: UInt64 = 64 << 10

  private func newLogExtent(byteCount: UInt64) throws(StoreError) -> LogExtentUse {
    try newLogExtent { (space) throws(StoreError) in try space.takeLogExtent(byteCount: byteCount) }
  }

  /// Makes a log extent in room that `take` takes.
  private func newLogExtent(
    in take: (inout PageSpace) throws(StoreError) -> Extent
  ) throws(StoreError) -> LogExtentUse {
    try withSpace { (space) throws(StoreError) in
      let before = space
      do throws(StoreError) {
        return try initialise(try take(&space))
      } catch {
        space = before
        throw error
      }
    }
  }

  private func initialise(_ extent: Extent) throws(StoreError) -> LogExtentUse {
    let header = ExtentHeader(
      kind: .log,
      extent: extent,
      salt: environment.random(),
      commit: versions.latest.commit
    )
    try LogExtentInitialisation(file: file, identity: identity).write(header)
    // A link must not lead to an extent that isn't there.
    // guard: sync-new-log-extent
    try log.fencing { () throws(StoreError) in try file.synchronizeApart() }
    return try extents.beginUse(of: extent, salt: environment.random())
  }
}
