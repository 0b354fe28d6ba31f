/// The choice of the extents in which the log continues: free ones, or new ones. Called with `state` held, or
/// before the store is shared.
extension Committer {
  /// Makes the log continue in another extent if a record of this length doesn't fit into the present one.
  func makeLogRoom(forRecord byteCount: Int, isCheckpoint: Bool) throws(StoreError) {
    if log.hasRoom(forRecord: byteCount, isCheckpoint: isCheckpoint) { return }
    try log.moveOn(to: nextLogExtent(forRecord: byteCount))
  }

  /// Begins a use of a free log extent, or of a new one. New extents double in size, up to a limit.
  ///
  /// A free extent of half the size is enough: the limit follows the store's size, and where a store grows
  /// slowly each extent would be a little too short for the next limit. New ones lie at the end of the file.
  func nextLogExtent(forRecord byteCount: Int) throws(StoreError) -> LogExtentUse {
    try checkSpace()
    let needed = LogWriter.extentByteCount(forRecord: byteCount)
    let largest = limits.logExtentByteCount(storing: storedByteCount)
    let current = min(log.tail.position.use.extent.byteCount, largest)
    if let free = extents.freeExtent(byteCount: max(needed, current / 2)) {
      return try beginUse(of: free)
    }
    do {
      return try newLogExtent(byteCount: max(needed, min(2 * current, largest)))
    } catch  where error.code == .diskFull {
      if let free = extents.freeExtent(byteCount: needed) {
        return try beginUse(of: free)
      }
      // Another extent becomes free after a few checkpoints, for whose records each extent has a reserve.
      guard !hasOtherLogExtent else { throw error }
      return try logExtentAmongPages(forRecord: byteCount) { acceptedReserve(end: $0) }
    }
  }

  /// True if the log has an extent besides the one in use.
  private var hasOtherLogExtent: Bool { extents.uses.count > 1 }

  /// Makes sure that the log can continue when the file can't grow: keeps room for a second extent as long as
  /// there is none. Of two extents, one becomes free after a few checkpoints; a single one is never free.
  /// Called with `state` held. Throws `diskFull`.
  func keepLogRoom(in space: inout PageSpace) throws(StoreError) {
    if hasOtherLogExtent { return space.giveUpLogRoom() }
    try space.keepLogRoom(byteCount: Self.fullDiskLogExtentByteCount)
  }

  /// Moves the room that is kept for the log to the front of the file, so that the file can be cut; a store
  /// that is closed keeps none. Called with `state` held.
  func moveLogRoom() {
    space?.giveUpLogRoom()
    // If the disk is full, the next commit that adds something fails, as it did before.
    if !isClosed { try? withSpace { (space) throws(StoreError) in try keepLogRoom(in: &space) } }
  }

  /// Begins a use of a small log extent, for recovery's checkpoint. Afterwards the replayed extents are free,
  /// so a larger one would be zeroed and synced in vain.
  ///
  /// - Parameter run: the extents of the run that recovery has followed. The newest checkpoint may say that
  ///   the first of them are free. But the newest durable anchor may be that of an earlier checkpoint, and a
  ///   second recovery would then follow the run again. So they aren't taken.
  func smallLogExtent(forRecord byteCount: Int, besides run: [Extent]) throws(StoreError) -> LogExtentUse {
    try checkSpace()
    let needed = Self.smallLogExtentByteCount(forRecord: byteCount)
    if let free = extents.freeExtent(byteCount: needed, besides: run) {
      return try beginUse(of: free)
    }
    return try newLogExtent(byteCount: needed)
  }

  /// Begins a use of a small log extent when the file can't grow: of a new one in adjacent free pages, or, if
  /// there are none, of any free log extent.
  func logExtentOnFullDisk(forRecord byteCount: Int) throws(StoreError) -> LogExtentUse {
    do throws(StoreError) {
      return try logExtentAmongPages(forRecord: byteCount) { _ in PageReserve() }
    } catch  where error.code == .diskFull {
      let needed = Self.smallLogExtentByteCount(forRecord: byteCount)
      guard let free = extents.freeExtent(byteCount: needed) else { throw error }
      return try beginUse(of: free)
    }
  }

  /// Begins a use of a new, small log extent in adjacent free pages. Throws `diskFull` if there are none
  /// besides the room that `reserve` returns for the number of pages in the file.
  private func logExtentAmongPages(
    forRecord byteCount: Int,
    leaving reserve: (_ end: UInt64) -> PageReserve
  ) throws(StoreError) -> LogExtentUse {
    try withSpace { (space) throws(StoreError) in
      try space.takeLogExtentAmongPages(
        byteCount: max(Self.fullDiskLogExtentByteCount, LogWriter.extentByteCount(forRecord: byteCount)),
        leaving: reserve(space.map.end),
        initialise
      )
    }
  }

  /// Begins a use of a log extent that is free, or new.
  func beginUse(of extent: Extent) throws(StoreError) -> LogExtentUse {
    try extents.beginUse(of: extent, salt: environment.random())
  }

  /// Bytes of free log extents that a checkpoint keeps for the log.
  var keptLogByteCount: UInt64 {
    logReserve.byteCount(dueAt: limits.logByteCount(storing: storedByteCount))
  }

  /// Notes that a checkpoint is durable, and how long the log was before it. `byteCount` is the length of the
  /// log that is no longer needed.
  func noteLog(upTo byteCount: UInt64) {
    logReserve.note(logByteCount: log.bytesSinceCheckpoint)
    log.markCheckpoint(at: byteCount)
  }

  /// Loads the room in the file, which checks that log extents overlap nothing else, before a free one is
  /// written to.
  private func checkSpace() throws(StoreError) { try withSpace { _ in } }

  private static func smallLogExtentByteCount(forRecord byteCount: Int) -> UInt64 {
    max(smallestLogExtentByteCount, LogWriter.extentByteCount(forRecord: byteCount))
  }

  private static let smallestLogExtentByteCount: UInt64 = 64 << 10
  /// The bytes of a log extent among pages: room for some fifteen small records, and few pages that must be
  /// adjacent.
  private static let fullDiskLogExtentByteCount: UInt64 = 16 << 10

  /// Makes a log extent at the end of the file. If it throws, the room in the file is as before.
  private func newLogExtent(byteCount: UInt64) throws(StoreError) -> LogExtentUse {
    try withSpace { (space) throws(StoreError) in
      try space.takeLogExtent(byteCount: byteCount, initialise)
    }
  }

  /// Writes the header and the zeros of a new log extent, syncs them, and begins a use of the extent.
  private func initialise(_ extent: Extent) throws(StoreError) -> LogExtentUse {
    let header = ExtentHeader(
      kind: .log,
      extent: extent,
      salt: environment.random(),
      commit: versions.latest.commit
    )
    try LogExtentInitialisation(file: file, identity: identity).write(header)
    // A link must not lead to an extent that isn't durable.
    // guard: sync-new-log-extent
    try log.fencing { () throws(StoreError) in try file.synchronizeApart() }
    return try beginUse(of: extent)
  }
}
