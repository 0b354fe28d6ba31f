/// The need for checkpoints and syncs.
extension Committer {
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
    let dirty = dirtyByteCount
    let beingWritten = beingWritten?.byteCount
    let stored = storedPageCount * pageSize
    let pinned = reclamation.heldPageCount * pageSize
    let unsettled = UInt64(reclamation.unsettledByteCount)
    state.unlock()
    let logLimit = limits.logByteCount(storing: stored)
    let dueLimit = limits.dirtyByteCount(storing: stored, pinning: pinned)
    let meanwhileLimit = limits.dirtyByteCountMeanwhile(storing: stored, pinning: pinned)
    let overdueLimit = beingWritten != nil ? meanwhileLimit : dueLimit + meanwhileLimit
    if log / UpkeepLimits.overdueLogShare >= logLimit || dirty >= overdueLimit { return .overdue }
    if dirty + (beingWritten ?? 0) + unsettled >= limits.memoryByteCount { return .overdue }
    return log >= logLimit || dirty >= dueLimit ? .due : .none
  }

  /// Returns how urgent a sync is, according to the memory that waits for one: the memory that a relaxed
  /// commit replaces is kept until the commit is durable. Takes `state`.
  func syncNeed() -> UpkeepNeed {
    let due = limits.unsettledByteCount / 2
    let byteCount = state.withLock {
      // Some of it may have become durable since.
      if reclamation.unsettledByteCount > due { reclaimUnread() }
      return reclamation.unsettledByteCount
    }
    if byteCount > limits.unsettledByteCount { return .overdue }
    return byteCount > due ? .due : .none
  }
}
