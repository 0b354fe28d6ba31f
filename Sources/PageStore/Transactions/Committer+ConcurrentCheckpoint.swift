/// Concurrent checkpoints: the newest version at the start is written while other threads commit. They hold
/// `checkpointing` throughout, and need no writer lock.
///
/// Versions are immutable, so a pinned one can be written without `state`. Four short moments need `state`:
/// the start, which notes where in the log replay will begin and takes room; sealing the record of the pages
/// in use; appending the record; and the end. The trees in memory don't change; it is noted where their
/// frames were written (``StoredPlace``). The checkpoint's record follows those of the commits made meanwhile
/// in the log, and is durable only when they are.
extension Committer {
  /// Writes a checkpoint of the newest version, if it is still as necessary as `need` when no other
  /// checkpoint is under way.
  func checkpointConcurrently(if need: UpkeepNeed) throws(StoreError) {
    try checkpointing.withLock { () throws(StoreError) in
      if !isClosed, checkpointNeed() >= need { try checkpointPinned() }
    }
  }

  /// Writes a checkpoint of the newest version. If it throws and the store isn't fenced, nothing has changed.
  ///
  /// - Parameter limit: the page from which on pages of the store's own trees move to the front of the file;
  ///   the file is then cut as well. Nil for neither.
  func checkpointConcurrently(behind limit: UInt64? = nil) throws(StoreError) {
    try checkpointing.withLock { () throws(StoreError) in
      if isClosed { return }
      try checkpointPinned(behind: limit)
      if limit != nil {
        try restate(keeping: 0, withState: takingState)
        try truncateFile(takingState)
      }
    }
  }

  /// Writes the pages that a pass of a compaction has changed, and frees the pages that they replace.
  func checkpointConcurrently(after pass: CompactionPass) throws(StoreError) {
    switch pass {
    case .pack:
      try checkpointConcurrently()
      try restateConcurrently()
    case .move(let limit): try checkpointConcurrently(behind: limit)
    }
  }

  /// Frees the pages that the last checkpoint has replaced, by restating it.
  func restateConcurrently() throws(StoreError) {
    try checkpointing.withLock { () throws(StoreError) in
      if isClosed || state.withLock({ dead.awaitingCount == 0 }) { return }
      // Nothing is cut off, unless page extents that have only a header are at the end of the file.
      try restate(keeping: .max / 2, withState: takingState)
    }
  }

  /// Pins the newest version and writes a checkpoint of it. Called with `checkpointing` held.
  private func checkpointPinned(behind limit: UInt64? = nil) throws(StoreError) {
    let start = try state.withLock { () throws(StoreError) in try startCheckpoint(behind: limit) }
    defer { versions.unpin(start.base) }
    do throws(StoreError) {
      try writeCheckpoint(start)
    } catch {
      state.withLock { undo(start) }
      events.checkpointFailed(error)
      throw error
    }
  }

  /// The state that is noted when a checkpoint starts.
  private struct CheckpointStart {
    var base: Version
    var plan: CheckpointPlan
    var replayStart: LogTail
    var loggedByteCount: UInt64
  }

  /// Pins the newest version, takes room for its pages, and notes where replay will begin. Called with
  /// `checkpointing` and `state` held.
  private func startCheckpoint(behind limit: UInt64?) throws(StoreError) -> CheckpointStart {
    try log.checkFence()
    let base = versions.pinLatest()
    var draft = CheckpointDraft(base, generation: base.generation)
    draft.relocationLimit = limit
    dead.beginCheckpoint()
    do throws(StoreError) {
      let start = CheckpointStart(
        base: base,
        plan: try CheckpointPlan(draft, in: self, .concurrent),
        replayStart: log.tail,
        loggedByteCount: log.appendedByteCount
      )
      dirtyPages.beginWriting(base)
      return start
    } catch {
      dead.cancelCheckpoint()
      versions.unpin(base)
      throw error
    }
  }

  /// Writes the checkpoint: the pages, the record and the anchor. The wait for the record makes the log
  /// before it durable. Called with `checkpointing` held.
  private func writeCheckpoint(_ start: CheckpointStart) throws(StoreError) {
    environment.duringCheckpoint()
    let written = try write(start.plan, withState: takingState)
    environment.duringCheckpoint()
    let draft = start.plan.draft
    var record = lastCheckpoint.record
    do throws(StoreError) {
      let appended = try state.withLock { () throws(StoreError) in
        record = self.record(draft, written, replayStart: start.replayStart)
        return try append(&record)
      }
      environment.duringCheckpoint()
      try log.wait(for: appended.position.sequence, isDurable: true)
      try writeAnchor(appended, commit: draft.commit)
      environment.duringCheckpoint()
    } catch {
      state.withLock { undo(written.space) }
      pool.discard(written.pages.images)
      throw error
    }
    state.withLock { finishCheckpoint(start, written, record) }
    restateIfWorthwhile(takingState)
  }

  /// Notes in memory that the checkpoint is durable. Called with `checkpointing` and `state` held.
  private func finishCheckpoint(
    _ start: CheckpointStart,
    _ written: WrittenCheckpoint,
    _ record: CheckpointRecord
  ) {
    let (draft, pages) = (start.plan.draft, written.pages)
    start.plan.editor.end()
    start.plan.spaceEditor.end()
    pool.note(pages.stored)
    pool.adopt(pages.images)
    noteCheckpoint(of: draft, written, record, replayEpoch: start.replayStart.position.use.epoch)
    noteDeaths(of: dirtyPages.finishWriting(), writtenTo: pages.stored)
    noteLog(upTo: start.loggedByteCount)
    // Only checkpoints read these trees, so the memory that this one has replaced is freed at once.
    pool.free(start.plan.editor.dirty.finish())
    pool.free(start.plan.spaceEditor.dirty.finish())
    pool.free(pages.replaced)
    events.wroteCheckpoint(of: draft.commit, pageCount: pages.count, isConcurrent: true)
  }

  /// Undoes the start of a checkpoint. The pages that it has written are free again. Called with `state`
  /// held.
  private func undo(_ start: CheckpointStart) {
    undo(start.plan)
    dirtyPages.cancelWriting()
  }
}
