import Glibc

/// The states of the file's pages: which are free, which have died, and when those can be overwritten. Called
/// with `state` held, unless noted otherwise.
///
/// A page of the file that the newest version doesn't reach is dead. It can be overwritten when its death is
/// durable twice (``DeadPages``) and no snapshot reaches it (``Reclamation``).
extension Committer {
  // MARK: The map of the file

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

  private func loadSpace() throws(StoreError) -> PageSpace {
    let end = lastRecord.end / pageSize
    let recorded = try SpaceTree.read(lastRecord.spaceTree.root, pool: pool)
    let logExtents = extents.extents
    if !isReadOnly { try checkNothingLiveIsFree(recorded, logExtents) }
    var tiling = ExtentTiling(
      map: SpaceMap(
        pageSize: pageSize,
        end: end,
        recorded: recorded,
        used: [0..<FileLayout.firstExtentOffset(pageSize: pageSize) / pageSize]
          + logExtents.filter { $0.offset < lastRecord.end }
          .map { $0.offset / pageSize..<min(end, $0.end / pageSize) }
      ),
      tail: tailExtent(of: lastRecord, besides: logExtents),
      file: file,
      headers: ExtentHeaders(
        file: file,
        identity: identity,
        isDurable: areHeadersDurable,
        synchronize: { [log, file] () throws(StoreError) in
          try log.fencing { () throws(StoreError) in try file.synchronizeApart() }
        },
        random: environment.random
      ) { [versions] in versions.latest.commit }
    )
    let before = try SpaceTree.read(lastRecord.previousSpaceTree.root, pool: pool)
    // These pages are free according to the last checkpoint, but the one before reaches them.
    dead.setAwaiting(tiling.map.hold(before))
    if !isReadOnly {
      // Headers that this process writes need not be durable when it dies, and the next process must know
      // that.
      try log.removeClosingMark()
      // If a later step throws, the next attempt doesn't know which headers this one has written.
      areHeadersDurable = false
      try tiling.rewriteTailHeader()
      try tiling.mendHeaders(logExtents, wasClosed: wasClosed)
    }
    try tiling.takeUp(logExtents, upTo: foundEnd, isReadOnly: isReadOnly)
    return PageSpace(tiling)
  }

  /// Returns the page extent at the end that a checkpoint has recorded; nil if there is none. Since then, the
  /// log may have taken an extent among its pages, or over the recorded end, if the page extent had grown.
  func tailExtent(of record: CheckpointRecord, besides logExtents: [Extent]) -> Extent? {
    guard record.tailOffset > 0, record.tailOffset < record.end else { return nil }
    let inside = logExtents.filter { $0.offset > record.tailOffset && $0.offset < record.end }
    let start = inside.reduce(record.tailOffset) { max($0, $1.end) }
    return start < record.end ? Extent(offset: start, byteCount: record.end - start) : nil
  }

  // MARK: Deaths

  /// Returns the pages of the file of dead memory: pages that died, and the pages to which a checkpoint has
  /// written dead frames and buffers.
  func filePages(of memory: RetiredMemory) -> [PageRun] {
    var runs = memory.pages
    for item in memory.frames { append(pool.storedPlace(ofPage: item.reference), item, count: 1, to: &runs) }
    for item in memory.blobs {
      let count = pool.geometry.overflowPageCount(Int(item.reference.count))
      append(pool.storedPlace(ofOverflow: item.reference), item, count: UInt64(count), to: &runs)
    }
    // Only checkpoints read the catalogue and the space tree.
    for index in runs.indices where runs[index].treeID <= SpaceTree.treeID { runs[index].birth = .max }
    return runs
  }

  private func append(_ place: StoredPlace, _ item: RetiredItem, count: UInt64, to runs: inout [PageRun]) {
    guard !place.isNone, place.number < SpillFile.firstNumber else { return }
    runs.append(
      PageRun(first: place.number, count: count, birth: item.reference.birth, treeID: item.treeID)
    )
  }

  /// Accounts for the memory and the pages of a transaction that has become `version`: those that it has
  /// made, and those that later versions don't reach. Called with `state` held.
  func account(for transaction: TransactionState, dirtyAfter byteCount: UInt64, in version: Version) {
    dirtyByteCount = byteCount
    dirtyRuns = dirtyRuns + transaction.dirty.runs
    let retired = transaction.dirty.finish()
    noteDeaths(of: retired, from: version.generation)
    retire(retired, from: version.generation)
  }

  /// Notes the pages that versions from `generation` on don't reach.
  func noteDeaths(of memory: RetiredMemory, from generation: UInt64) {
    dead.add(filePages(of: memory), from: generation)
    guard beingWritten != nil else { return }
    // A checkpoint may be writing these; their pages are known when it is done.
    for item in memory.frames where pool.storedPlace(ofPage: item.reference).isNone {
      diedMeanwhile.frames[item.number] = (generation, item)
    }
    for item in memory.blobs where pool.storedPlace(ofOverflow: item.reference).isNone {
      diedMeanwhile.blobs[item.number] = (generation, item)
    }
  }

  /// Notes the pages to which a checkpoint has written frames and buffers that have died since it started.
  func noteDeaths(among stored: StoredFrames) {
    defer { diedMeanwhile = DiedMeanwhile() }
    for (frame, _) in stored.frames {
      guard let (generation, item) = diedMeanwhile.frames[frame] else { continue }
      dead.add(filePages(of: RetiredMemory(frames: [item])), from: generation)
    }
    for (blob, _) in stored.blobs {
      guard let (generation, item) = diedMeanwhile.blobs[blob] else { continue }
      dead.add(filePages(of: RetiredMemory(blobs: [item])), from: generation)
    }
  }

  /// Frames and buffers that died while a checkpoint was being written, by number.
  struct DiedMeanwhile {
    var frames: [UInt64: (generation: UInt64, item: RetiredItem)] = [:]
    var blobs: [UInt64: (generation: UInt64, item: RetiredItem)] = [:]
  }

  /// Frees memory and pages that no snapshot reaches any more.
  func reclaimUnread() {
    versions.expire(pool.readers)
    giveBack(reclamation.reclaim(versions.holders))
  }

  /// Frees memory and pages that no snapshot reaches.
  func giveBack(_ free: RetiredMemory) {
    releaseSpilled(free)
    pool.free(free, mayBeNamed: versions.hasEndedLeases)
    guard !free.room.isEmpty, let end = space?.map.end else { return }
    let room = PageRun.pages(of: free.room, before: end)
    // The cache must not have the old contents when the pages get new ones.
    // guard: drop-reused-pages
    pool.cache.drop(room.lazy.flatMap(\.self))
    space?.giveBack(room)
  }

  // MARK: Checkpoints

  /// Notes the room in the file after a durable checkpoint. Called with `checkpointing` and `state` held.
  func conclude(_ written: WrittenCheckpoint, record: CheckpointRecord, from generation: UInt64) {
    dead.addDying(written.space.deaths, from: generation)
    let settled = dead.endCheckpoint()
    lastRecord = record
    space?.noteRecorded(written.space.reached)
    if written.isSynced { space?.endSync() }
    space?.giveBack(written.pages.spare + written.space.spare)
    for use in written.space.givenUp { space?.turnIntoPages(use.extent) }
    giveBack(reclamation.settle(settled, versions.holders))
  }

  /// Writes the last checkpoint's record again. Then two durable checkpoints don't reach the pages that it
  /// has replaced, so these pages are free at once instead of after the next checkpoint. It takes two synced
  /// writes. If pages at the end of the file are free afterwards, they are cut off, except `keeping` of them
  /// and the room that was set aside for commits since. ``truncateFile(_:)`` then makes the file shorter.
  /// Called with `checkpointing` held.
  func restate(keeping: UInt64, withState: WithState) throws(StoreError) {
    var record = lastRecord
    var appended: LogWriter.Appended?
    var cut: PageSpace.Cut?
    do throws(StoreError) {
      try withState { () throws(StoreError) in
        record.previousSpaceTree = record.spaceTree
        record.previousReplayEpoch = extents.replayEpoch
        let byteCount = LogRecordHeader.encodedByteCount + record.encoded().count
        // The log's reserve is for checkpoints on a full disk, and not for this record.
        if !log.hasRoom(forRecord: byteCount, isCheckpoint: false) {
          try log.moveOn(to: nextLogExtent(forRecord: byteCount))
        }
        if keeping == 0 { moveLogRoom() }
        cut = space?.beginCut(
          keeping: keeping,
          reserving: isClosed ? PageReserve() : reserve(end: record.end / pageSize),
          before: record.end
        )
        if let proposed = cut, extents.extents.contains(where: { $0.end > proposed.end }) {
          // The log is never cut off.
          space?.cancel(proposed)
          cut = nil
        }
        if let cut {
          record.end = cut.end
          record.tailOffset = cut.tailOffset
        }
        appended = try append(&record)
      }
      guard let appended else { return }
      try log.wait(for: appended.position.sequence, isDurable: true)
      try writeAnchor(appended, commit: record.commit)
    } catch {
      try withState { () throws(StoreError) in if let cut { space?.cancel(cut) } }
      throw error
    }
    try withState { () throws(StoreError) in
      lastRecord = record
      extents.noteCheckpoint(replayingFromEpoch: extents.replayEpoch)
      giveBack(reclamation.settle(dead.endCheckpoint(), versions.holders))
      if let cut { try space?.finish(cut) }
    }
  }

  /// Gives the part of the file that restating has cut off back to the file system, in pieces: other threads
  /// can take `state` in between. Called without `state`, unless `withState` expects it.
  func truncateFile(_ withState: WithState) throws(StoreError) {
    var isThereMore = true
    while isThereMore {
      try withState { () throws(StoreError) in
        isThereMore = try space?.truncate(upTo: Self.truncatedByteCount) ?? false
      }
      // A thread that waits for `state` sleeps; without the pause, this thread would take `state` again
      // before that one is awake.
      if isThereMore { usleep(Self.truncationPause) }
    }
  }

  private static let truncatedByteCount: UInt64 = 8 << 20
  private static let truncationPause: UInt32 = 200

  /// Frees the pages that the last checkpoint has replaced, if that is worth two synced writes. It throws no
  /// error: commits are durable, and a failure of the log has fenced the store. Called with `checkpointing`
  /// held.
  func restateIfWorthwhile(_ withState: WithState) {
    var isWorthwhile = false
    var keeping: UInt64 = 0
    try? withState { () throws(StoreError) in
      let live = storedPageCount
      isWorthwhile = dead.awaitingCount > max(16, live / 32) || freeTailPageCount > max(512, live / 4)
      keeping = max(64, live / 8)
    }
    guard isWorthwhile else { return }
    do throws(StoreError) {
      try restate(keeping: keeping, withState: withState)
      try truncateFile(withState)
    } catch {
      // The file may stay longer than necessary, and a failure of the log has fenced the store.
    }
  }

  /// The number of pages in use according to the last checkpoint; 0 if the room in the file isn't loaded.
  var storedPageCount: UInt64 { space?.map.recorded.count ?? 0 }

  private var freeTailPageCount: UInt64 { space.map { $0.map.end - $0.map.usedEnd } ?? 0 }

  /// Undoes the sealing of a failed checkpoint.
  func takeBack(_ sealed: SealedSpace) {
    extents.takeBack(sealed.givenUp)
    space?.giveBack(sealed.extra)
  }

  /// Gives back the memory and the pages that a failed checkpoint has taken.
  func giveUp(_ plan: CheckpointPlan) {
    for editor in [plan.editor, plan.spaceEditor] { editor.abandon() }
    dead.cancelCheckpoint()
    space?.giveBack(plan.taken.all)
  }
}
