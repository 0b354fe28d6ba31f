/// The need for checkpoints and syncs.
extension Committer {
  /// Bytes of the pages of the file that only snapshots reach. Called with `state` held.
  var pinnedByteCount: UInt64 { reclamation.heldPageCount * pageSize }

  /// The urgency of a checkpoint or a sync.
  enum UpkeepNeed: Comparable {
    case none
    case due
    /// Commits must wait for it.
    case overdue
  }

  /// Returns how urgent a checkpoint is, according to the lengths of the log and of the pages that are only
  /// in memory. Takes `state`.
  func checkpointNeed() -> UpkeepNeed {
    let log = log.bytesSinceCheckpoint
    state.lock()
    let dirty = dirtyPages.byteCount
    let perChange = dirtyPages.byteCountPerChange
    let isBeingWritten = dirtyPages.beingWritten != nil
    let beingWritten = dirtyPages.byteCountBeingWritten
    let stored = storedByteCount
    let pinned = pinnedByteCount
    let unsynced = UInt64(reclamation.unsyncedByteCount)
    state.unlock()
    let logLimit = limits.logByteCount(storing: stored)
    let room = limits.room(storing: stored, pinning: pinned, perChange: perChange)
    let overdueLimit = isBeingWritten ? room.meanwhile : room.due + room.meanwhile
    if log / UpkeepLimits.overdueLogShare >= logLimit || dirty >= overdueLimit { return .overdue }
    if dirty + beingWritten + unsynced >= limits.memoryByteCount { return .overdue }
    return log >= logLimit || dirty >= room.due ? .due : .none
  }

  /// Returns how urgent a sync is, according to the memory that waits for one: the memory that a relaxed
  /// commit replaces is kept until the commit is durable. Takes `state`.
  func syncNeed() -> UpkeepNeed {
    let due = limits.unsyncedByteCount / 2
    let byteCount = state.withLock {
      // Some of it may have become durable since.
      if reclamation.unsyncedByteCount > due { reclaimUnread() }
      return reclamation.unsyncedByteCount
    }
    if byteCount > limits.unsyncedByteCount { return .overdue }
    return byteCount > due ? .due : .none
  }
}
