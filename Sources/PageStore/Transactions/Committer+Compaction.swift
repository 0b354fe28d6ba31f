/// Compaction: half-empty leaves are packed, and pages at the end of the file are copied to free room before
/// them. The log continues in the first of its extents, and the free end of the file is given back.
///
/// A page is moved by copying it in memory, with its path from the root, into a version with the same
/// contents and the same commit number. The next checkpoint writes the copies, like all changed pages, to the
/// first free pages. Nothing is logged: until that checkpoint is durable, the old pages count.
extension Committer {
  /// The work on the pages of all trees, one tree after the other.
  enum CompactionPass {
    /// Packs adjacent leaves that aren't full into fewer ones.
    case pack
    /// Copies the pages from this one on, so that they are written further to the front of the file.
    case move(behind: UInt64)
  }

  /// The position that a pass has reached.
  struct CompactionPosition {
    /// The tree's slot in the directory.
    var slot = 0
    var key: [UInt8] = []
  }

  /// The number of pages that a compaction may change before a checkpoint without making commits wait for it.
  var concurrentPageCount: UInt64 {
    state.withLock {
      limits.room(storing: storedByteCount, pinning: pinnedByteCount).meanwhile / 4 / pageSize
    }
  }

  /// Returns the lowest page from which on all pages can move to free ones before it. Nil if the file would
  /// hardly get shorter. Called with `state` held.
  func compactionLimit() throws(StoreError) -> UInt64? {
    try withSpace { (space) throws(StoreError) in
      let map = space.map
      let least = max(16, map.end / 64)
      // The paths from the root move, too, and the space tree is rewritten.
      let margin = 8 + SpaceTree.largestPageCount(end: map.end)
      let limit = (0..<map.end).partitionPoint { limit in
        let moving = map.recorded.count(in: limit..<map.end)
        return map.freeCount(before: limit) >= moving + moving / 32 + margin
      }
      return limit + least < map.usedEnd ? limit : nil
    }
  }

  /// Returns the room for overflow that a pass moves; nil if it moves none. Called with `state` held.
  private func relocationRoom(for pass: CompactionPass) throws(StoreError) -> RelocationRoom? {
    guard case .move(let limit) = pass else { return nil }
    return try withSpace { (space) in
      RelocationRoom(limit: limit, free: space.map.free, demand: dirtyPages.runs)
    }
  }

  /// Continues a pass at `position`, which is nil when the pass is complete, until it has changed or examined
  /// about `pageLimit` pages. Returns the changes as a transaction that leaves every tree's entries as they
  /// are. Called with the writer lock held.
  ///
  /// - Parameter room: the room for overflow that moves; nil if none does.
  func run(
    _ pass: CompactionPass,
    to room: RelocationRoom?,
    from position: inout CompactionPosition?,
    pageLimit: Int
  ) throws(StoreError) -> TransactionState {
    let base = versions.latest
    let transaction = TransactionState(
      base: base,
      pool: pool,
      log: TransactionLog(),
      stampingPages: base.commit
    )
    do throws(StoreError) {
      while let here = position, transaction.dirty.filePageCount < pageLimit {
        position = try run(pass, to: room, from: here, in: transaction, pageLimit: pageLimit)
        if case .pack = pass, position?.slot == here.slot { break }
      }
      return transaction
    } catch {
      abort(transaction)
      throw error
    }
  }

  private func run(
    _ pass: CompactionPass,
    to room: RelocationRoom?,
    from position: CompactionPosition,
    in transaction: TransactionState,
    pageLimit: Int
  ) throws(StoreError) -> CompactionPosition? {
    let names = transaction.directory.names
    guard position.slot < names.count else { return nil }
    if names[position.slot] != nil {
      let editor = try transaction.editor(position.slot)
      let progress =
        switch pass {
        case .pack: try editor.pack(from: position.key, pageLimit: pageLimit)
        case .move(let limit):
          try editor.relocate(behind: limit, to: room, from: position.key, pageLimit: pageLimit)
        }
      if case .resume(let key) = progress { return CompactionPosition(slot: position.slot, key: key) }
    }
    return CompactionPosition(slot: position.slot + 1)
  }

  /// Continues a pass concurrently with commits: ``run(_:to:from:pageLimit:)`` as a version of its own.
  /// Called with the writer lock held. Returns how many pages were changed. Throws `diskFull`, with nothing
  /// changed, if there is no room to write them.
  func runConcurrently(
    _ pass: CompactionPass,
    from position: inout CompactionPosition?,
    pageLimit: Int
  ) throws(StoreError) -> Int {
    try log.checkFence()
    let room = try state.withLock { () throws(StoreError) in try relocationRoom(for: pass) }
    let start = position
    let transaction = try run(pass, to: room, from: &position, pageLimit: pageLimit)
    let count = transaction.dirty.filePageCount
    if count == 0 {
      abort(transaction)
      return 0
    }
    do throws(StoreError) {
      try state.withLock { () throws(StoreError) in
        try ensureRoom(forPagesOf: transaction, leaving: .half)
        transaction.end()
        let version = Version(relocating: transaction)
        guard versions.supersede(transaction.base, with: version) else {
          // Only a failure of the log takes versions back.
          try log.checkFence()
          throw StoreError(.fenced, "the version under compaction was taken back: a write or sync failed")
        }
        account(for: transaction, in: version)
        work.pagesCompacted += UInt64(count)
      }
    } catch {
      abort(transaction)
      position = start
      throw error
    }
    return count
  }

  // MARK: Without concurrent commits

  /// The number of pages that are moved before a checkpoint writes them.
  private static let batchPageCount = 4_096

  /// Makes the file as short as possible in a few rounds, if it is much longer than its contents. Called with
  /// the writer lock, `checkpointing` and `state` held, after a checkpoint has written everything.
  func shortenIfWorthwhile() throws(StoreError) {
    defer { logReserve.isKept = true }
    if try isMuchLongerThanContents() { try moveContentsToFront() }
    try truncateFile(holdingState)
  }

  /// Moves the log and the pages of all trees to the front of the file, and cuts off its free end.
  private func moveContentsToFront() throws(StoreError) {
    logReserve.isKept = false
    try moveLogToFront()
    if hasEarlierLogExtent {
      // It isn't free yet.
      try giveUpFreeLogExtents()
      try moveLogToFront()
    }
    if dead.awaitingCount > 0 { try restateHoldingState() }
    for _ in 0..<Self.roundLimit {
      guard let limit = try compactionLimit() else { break }
      var position: CompactionPosition? = CompactionPosition()
      while position != nil {
        let pass = CompactionPass.move(behind: limit)
        let room = try relocationRoom(for: pass)
        let moved = try run(pass, to: room, from: &position, pageLimit: Self.batchPageCount)
        try checkpoint(moved, behind: limit)
        try restateHoldingState()
      }
    }
    try giveUpFreeLogExtents()
  }

  /// Makes the log extents that were in use before the present one free, and then free pages; the file's
  /// first extent stays. A log extent is free when two checkpoints begin after it, and becomes free pages
  /// when another has recorded that.
  private func giveUpFreeLogExtents() throws(StoreError) {
    for _ in 0..<2 {
      try checkpointLatest()
      try restateHoldingState()
    }
    try restateHoldingState()
  }

  private static let roundLimit = 4

  /// Returns whether the file is longer than its contents by a sixteenth of them, or by 256 KiB if that is
  /// more.
  private func isMuchLongerThanContents() throws(StoreError) -> Bool {
    try withSpace { (space) throws(StoreError) in
      let stored = space.map.recorded.count * pageSize + FileLayout.firstExtentOffset(pageSize: pageSize)
      return space.end > stored + max(stored / 16, 256 << 10)
    }
  }

  /// Continues the log at the front of the file, cuts off the file's free end, and gives it back to the file
  /// system. Takes the writer lock; commits wait for some ten syncs.
  func shortenFile(_ writerLock: WriterLock) throws(StoreError) {
    // Waits for a checkpoint under way before it takes the writer lock: otherwise writers would wait for all
    // of it.
    checkpointing.withLock {}
    try writerLock.acquire()
    do throws(StoreError) {
      try moveLogAndCut()
      writerLock.release()
    } catch {
      writerLock.release()
      throw error
    }
    try truncateFile(takingState)
  }

  /// Continues the log at the front of the file, cuts off the file's free end, and punches holes. Called with
  /// the writer lock held.
  private func moveLogAndCut() throws(StoreError) {
    try checkpointing.withLock { () throws(StoreError) in
      if isClosed { return }
      try state.withLock { () throws(StoreError) in
        logReserve.isKept = false
        defer { logReserve.isKept = true }
        try moveLogToFront()
        try giveUpFreeLogExtents()
        try punchHoles()
      }
    }
  }

  /// Gives the blocks of free pages back to the file system. These pages lie between pages that can't move,
  /// because snapshots read them.
  private func punchHoles() throws(StoreError) {
    let leastRun = max(2, Self.leastHoleByteCount / pageSize)
    try withSpace { (space) throws(StoreError) in
      try space.punchHoles(keeping: reserve(end: space.map.end).pageCount, leastRun: leastRun)
    }
  }

  /// The least bytes of a hole, because a hole costs as much as writing a few pages.
  private static let leastHoleByteCount: UInt64 = 64 << 10

  /// Restates the last checkpoint, and cuts off the free pages at the end of the file, except the room that is
  /// kept while the store is open. Called with `checkpointing` and `state` held.
  func restateHoldingState() throws(StoreError) { try restate(keeping: 0, withState: holdingState) }

  /// True if the log has an extent before the present one in which it could continue.
  private var hasEarlierLogExtent: Bool {
    extents.extents.contains {
      $0.offset < log.tail.position.use.extent.offset && $0.byteCount >= Self.shortFileLogByteCount
    }
  }

  /// The least bytes of the log extent that a shortened file keeps.
  private static var shortFileLogByteCount: UInt64 {
    LogWriter.extentByteCount(forRecord: 4 * CheckpointRecord.fixedByteCount)
  }

  /// Continues the log in the free extent furthest to the front of the file, if that lies before the present
  /// one. Called with `state` held.
  private func moveLogToFront() throws(StoreError) {
    guard let free = extents.freeExtent(byteCount: Self.shortFileLogByteCount),
      free.offset < log.tail.position.use.extent.offset
    else { return }
    try log.drain()
    try log.moveOn(to: beginUse(of: free))
  }
}

extension Version {
  /// Makes a version with the same contents as the transaction's base, and with the copies of its pages that
  /// the transaction has made.
  convenience init(relocating transaction: TransactionState) {
    let base = transaction.base
    self.init(
      commit: base.commit,
      timestamp: base.timestamp,
      generation: base.generation + 1,
      directory: base.directory,
      roots: transaction.roots,
      nextTreeID: base.nextTreeID,
      sequence: base.sequence,
      durability: base.durability,
      link: base.link
    )
  }
}
