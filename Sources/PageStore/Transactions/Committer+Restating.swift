import Glibc

/// Restating the last checkpoint, which frees the pages that it has replaced, and cutting the file.
extension Committer {
  /// Runs a part of the work on a checkpoint with `state` held: ``takingState(_:)`` in a concurrent
  /// checkpoint, ``holdingState(_:)`` in others.
  typealias WithState = (() throws(StoreError) -> Void) throws(StoreError) -> Void

  /// Takes `state` for `body`.
  func takingState(_ body: () throws(StoreError) -> Void) throws(StoreError) { try state.withLock(body) }

  /// Runs `body`. The caller holds `state`.
  func holdingState(_ body: () throws(StoreError) -> Void) throws(StoreError) { try body() }

  /// Writes the last checkpoint's record again. Then two durable checkpoints don't reach the pages that it
  /// has replaced, so these pages are free at once instead of after the next checkpoint. It takes two synced
  /// writes. If pages at the end of the file are free afterwards, they are cut off, except `keeping` of them
  /// and the room that was set aside for commits since. ``truncateFile(_:)`` then makes the file shorter.
  /// Called with `checkpointing` held.
  func restate(keeping: UInt64, withState: WithState) throws(StoreError) {
    var record = lastCheckpoint.record
    var appended: LogWriter.Appended?
    var cut: PageSpace.Cut?
    do throws(StoreError) {
      try withState { () throws(StoreError) in
        record.previousSpaceTree = record.spaceTree
        record.previousReplayEpoch = extents.replayEpoch
        // The log's reserve is for checkpoints on a full disk, and not for this record.
        try makeLogRoom(forRecord: record.logRecord.count, isCheckpoint: false)
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
      lastCheckpoint.record = record
      extents.noteCheckpoint(replayingFromEpoch: extents.replayEpoch)
      giveBack(reclamation.reclaimPages(dead.endCheckpoint(), versions.holders))
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

  /// Frees the pages that the last checkpoint has replaced, if that is worth two synced writes, and makes the
  /// file as short as its extents. It throws no error: commits are durable, and a failure of the log has
  /// fenced the store. Called with `checkpointing` held.
  func restateIfWorthwhile(_ withState: WithState) {
    var isWorthwhile = false
    var keeping: UInt64 = 0
    try? withState { () throws(StoreError) in
      let live = storedPageCount
      isWorthwhile = dead.awaitingCount > max(16, live / 32) || freeTailPageCount > max(512, live / 4)
      keeping = max(64, live / 8)
    }
    do throws(StoreError) {
      if isWorthwhile { try restate(keeping: keeping, withState: withState) }
      // Also what a crash has left behind the last extent.
      try truncateFile(withState)
    } catch {
      // The file may stay longer than necessary, and a failure of the log has fenced the store.
    }
  }

  private var freeTailPageCount: UInt64 { space.map { $0.map.end - $0.map.usedEnd } ?? 0 }
}
