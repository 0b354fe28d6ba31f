/// Checkpoints beside commits: the newest version at the start is written while others go on committing.
///
/// Versions are immutable, so one that is pinned can be written without any lock. Only three short moments need the
/// state's lock: the start, which notes where in the log replay will begin and takes room; the appending of the record;
/// and the end. The trees in memory stay what they are; their frames learn where they were written (``StoredPlace``).
/// The record comes in the log after those of the commits that went on meanwhile, and is durable only when they are.
extension Committer {
  /// Writes a checkpoint of the newest version, if it is still needed so much when nobody else writes one.
  func checkpointBeside(
    if need: CheckpointNeed,
    _ options: StoreOptions
  ) throws(StoreError) {
    try checkpointing.withLock { () throws(StoreError) in
      if !isClosed, checkpointNeed(options) >= need { try checkpointPinned() }
    }
  }

  /// Writes a checkpoint of the newest version. If it throws and the store isn't fenced, nothing has changed.
  func checkpointBeside() throws(StoreError) {
    try checkpointing.withLock { () throws(StoreError) in
      if !isClosed { try checkpointPinned() }
    }
  }

  private func checkpointPinned() throws(StoreError) {
    let start = try state.withLock { () throws(StoreError) in try startCheckpoint() }
    defer { versions.unpin(start.base) }
    do throws(StoreError) {
      try finishCheckpoint(start)
    } catch {
      state.withLock { giveUp(start) }
      events.checkpointFailed(error)
      throw error
    }
  }

  /// What is noted when a checkpoint starts.
  private struct CheckpointStart {
    var base: Version
    var plan: CheckpointPlan
    var replayStart: LogTail
    var loggedByteCount: UInt64
  }

  private func startCheckpoint() throws(StoreError) -> CheckpointStart {
    try log.checkFence()
    let base = versions.pinLatest()
    let draft = Draft(
      commit: base.commit,
      timestamp: base.timestamp,
      directory: base.directory,
      roots: base.roots,
      nextTreeID: base.nextTreeID,
      generation: base.generation,
      dirty: DirtySet(commit: base.commit, pool: pool)
    )
    do throws(StoreError) {
      var plan = try CheckpointPlan(draft, in: self, .beside)
      if plan.pageCount > 0 {
        plan.extent = try space.takePageExtent(byteCount: (plan.pageCount + 1) * pageSize)
      }
      let start = CheckpointStart(
        base: base,
        plan: plan,
        replayStart: log.tail,
        loggedByteCount: log.appendedByteCount
      )
      beingWritten = (base.generation, dirtyByteCount, dirtyAfterCommit)
      dirtyByteCount = 0
      dirtyAfterCommit = base.commit
      return start
    } catch {
      draft.dirty.abort()
      versions.unpin(base)
      throw error
    }
  }

  private func finishCheckpoint(_ start: CheckpointStart) throws(StoreError) {
    environment.besideCheckpoint()
    let pages = try write(start.plan)
    environment.besideCheckpoint()
    do throws(StoreError) {
      let draft = start.plan.draft
      let appended = try state.withLock { () throws(StoreError) in
        try appendRecord(draft, pages, replayStart: start.replayStart)
      }
      environment.besideCheckpoint()
      try log.wait(for: appended.position.sequence, isDurable: true)
      try writeAnchor(appended, commit: draft.commit)
      environment.besideCheckpoint()
    } catch {
      pool.discard(pages.images)
      throw error
    }
    state.withLock { conclude(start, pages) }
  }

  private func conclude(_ start: CheckpointStart, _ pages: CheckpointPages) {
    let draft = start.plan.draft
    start.plan.editor.end()
    pool.note(pages.stored)
    pool.adopt(pages.images)
    note(draft, pages, replayEpoch: start.replayStart.position.use.epoch)
    beingWritten = nil
    log.markCheckpoint(at: start.loggedByteCount)
    // Nobody but checkpoints reads the catalogue, so what this one replaced of it can go at once.
    pool.free(draft.dirty.finish())
    pool.free(pages.replaced)
    events.wroteCheckpoint(of: draft.commit, pageCount: pages.count, isBesideCommits: true)
  }

  /// Undoes the start. What was written lies in room that is free again.
  private func giveUp(_ start: CheckpointStart) {
    start.plan.editor.end()
    start.plan.draft.dirty.abort()
    if let extent = start.plan.extent { space.giveBack(extent) }
    guard let written = beingWritten else { return }
    dirtyByteCount += written.byteCount
    dirtyAfterCommit = written.afterCommit
    beingWritten = nil
  }
}
