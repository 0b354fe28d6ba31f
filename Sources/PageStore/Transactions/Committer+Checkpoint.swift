/// Checkpoints that hold `checkpointing` and `state` throughout, so that nothing is committed meanwhile. The
/// parts of the newest version that are only in memory become pages of the file, a version of these pages
/// replaces it, and the log before it is no longer needed. Closing, large transactions and
/// `Store.checkpoint()` write such checkpoints. The checkpoints that a store writes by itself are concurrent:
/// ``checkpointConcurrently(if:)``.
///
/// They are safe because of the order of their steps. (1) Everything in the log is made durable. (2) Pages go
/// to space that nothing refers to, and are synced. (3) The checkpoint record goes to the log, synced. (4)
/// The older anchor is rewritten. The anchor needs no sync of its own until the store is closed. Until it is
/// durable, the other anchor and the log lead to the same state. And step 2 of the next checkpoint comes
/// before anything that the other anchor needs is reused.
extension Committer {
  /// Makes the newest version the one that recovery begins with. Called with the writer lock held, or before
  /// the store is shared.
  ///
  /// - Parameter onlyIfNeeded: whether to do nothing if ``isCheckpointed``. That is read with both locks
  ///   held, because a concurrent checkpoint changes it.
  func checkpoint(onlyIfNeeded: Bool = false) throws(StoreError) {
    try withoutCheckpoint { () throws(StoreError) in
      if onlyIfNeeded && isCheckpointed { return }
      try checkpointLatest()
      restateIfWorthwhile(holdingState)
    }
  }

  /// Runs `body` with `checkpointing` and `state` held, so that no concurrent checkpoint is under way, and
  /// nothing is appended to the log.
  func withoutCheckpoint<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try checkpointing.withLock { () throws(StoreError) in try state.withLock(body) }
  }

  /// Makes everything durable, and sets the closing mark in the newest anchor, so that the next opening need
  /// not search for later records. Nothing can be written from then on. When this returns or throws, no write
  /// is under way, because the next opening must not meet one. Called with the writer lock held.
  func close() throws(StoreError) {
    try checkpointing.withLock { () throws(StoreError) in
      isClosed = true
      defer { log.waitForWriter() }
      try state.withLock { () throws(StoreError) in
        try log.checkFence()
        if !isCheckpointed { try checkpointLatest() }
        if !log.hasClosingMark {
          try shortenAtClose()
          try addClosingMark()
        }
        // The newest anchor vouches for the last records of the log, because no later record will.
        // guard: sync-last-anchor
        if !anchors.isNewestDurable { try file.synchronize() }
        events.closed(at: versions.latest.commit)
      }
    }
  }

  /// Makes the file shorter if that is worthwhile. Only a failure of the log counts: the file may stay longer
  /// than necessary.
  private func shortenAtClose() throws(StoreError) {
    do throws(StoreError) {
      try shortenIfWorthwhile()
    } catch {
      try log.checkFence()
      // The log may have moved on, and then a link follows the last checkpoint's record.
      if !isCheckpointLast { try? restateHoldingState() }
      try log.checkFence()
    }
  }

  /// True if the record of the newest anchor's checkpoint is the last of the log.
  private var isCheckpointLast: Bool { anchors.newest?.recordChecksum == log.tail.previousChecksum }

  /// True if the last checkpoint contains the newest version, and no record follows the start of its replay.
  /// False after a concurrent checkpoint, because its own record follows that start. Called with `state`
  /// held.
  var isCheckpointed: Bool { log.bytesSinceCheckpoint == 0 && checkpointCommit == versions.latest.commit }

  /// Writes a checkpoint of the newest version. Called with all three locks held, or before the store is
  /// shared.
  func checkpointLatest() throws(StoreError) {
    try log.checkFence()
    try log.drain()
    let latest = versions.latest
    try checkpoint(CheckpointDraft(latest, generation: latest.generation + 1))
  }

  /// Writes the copies that a relocation has made, all else that is only in memory, and the pages of the
  /// store's own trees from `limit` on. If it throws, nothing has changed. Called with all three locks held.
  func checkpoint(_ relocation: TransactionState, behind limit: UInt64) throws(StoreError) {
    let version = Version(relocating: relocation)
    relocation.end()
    var draft = CheckpointDraft(version, generation: version.generation)
    draft.changes = relocation.dirty
    draft.relocationLimit = limit
    do throws(StoreError) {
      try checkpoint(draft)
    } catch {
      abort(relocation)
      throw error
    }
  }

  /// Commits a transaction that is too large for a log record, or has a value that is too large, as a
  /// checkpoint of all commits up to and including it. So large data is written once. If it throws, the
  /// caller aborts the transaction, or retries it if nothing of it was written (``DirtySet/isUsedUp``).
  /// Called with the writer lock held.
  func checkpoint(including transaction: TransactionState, timestamp: Int64) throws(StoreError) -> Version {
    let draft = CheckpointDraft(committing: transaction, timestamp: timestamp)
    let version = try withoutCheckpoint { () throws(StoreError) in
      try checkNumbersLeft(for: transaction)
      try log.drain()
      giveBackUnusedEarlyPages(of: transaction.dirty)
      let version = try checkpoint(draft)
      restateIfWorthwhile(holdingState)
      return version
    }
    transaction.end()
    return version
  }

  // MARK: The steps

  /// Writes a checkpoint, and makes its version the newest one. If it throws and the store isn't fenced, the
  /// last checkpoint and the newest version are as before. The log may have moved on, and the frames of the
  /// draft's changes may be used up (``DirtySet/isUsedUp``). Called with `checkpointing` and `state` held.
  @discardableResult
  private func checkpoint(_ draft: CheckpointDraft) throws(StoreError) -> Version {
    try makeRoomForCheckpointRecord()
    dead.beginCheckpoint()
    var plan: CheckpointPlan?
    do throws(StoreError) {
      let counted = try CheckpointPlan(draft, in: self, .replacing)
      plan = counted
      draft.changes?.useUp()
      return try finish(counted, try write(counted, withState: holdingState))
    } catch {
      // After any failure, nothing refers to the pages that were taken.
      if let plan { undo(plan) } else { dead.cancelCheckpoint() }
      throw error
    }
  }

  /// Appends the record of a checkpoint whose pages are synced, and makes the older anchor lead to it. Then
  /// makes the checkpoint's version the newest one, and retires the memory that the checkpoint has replaced.
  private func finish(_ plan: CheckpointPlan, _ written: WrittenCheckpoint) throws(StoreError) -> Version {
    let (draft, pages) = (plan.draft, written.pages)
    var record = record(draft, written)
    let appended: LogWriter.Appended
    do throws(StoreError) {
      appended = try append(&record)
      try log.wait(for: appended.position.sequence, isDurable: true)
      try writeAnchor(appended, commit: draft.commit)
    } catch {
      undo(written.space)
      pool.discard(pages.images)
      throw error
    }
    let version = Version(
      commit: draft.commit,
      timestamp: draft.timestamp,
      generation: draft.generation,
      directory: draft.directory,
      roots: pages.roots,
      nextTreeID: draft.nextTreeID,
      sequence: appended.position.sequence,
      durability: .full,
      link: draft.link
    )
    pool.adopt(pages.images)
    versions.install(version)
    dirtyPages.noteCheckpoint(of: draft.commit)
    noteLog(upTo: log.appendedByteCount)
    plan.editor.end()
    plan.spaceEditor.end()
    noteCheckpoint(of: draft, written, record, replayEpoch: appended.position.use.epoch)
    let finished = [draft.changes, plan.editor.dirty, plan.spaceEditor.dirty]
    for case let dirty? in finished { retire(dirty.finish(), from: version.generation) }
    retire(pages.replaced, from: version.generation)
    events.wroteCheckpoint(of: draft.commit, pageCount: pages.count, isConcurrent: false)
    return version
  }

  /// Notes that a checkpoint is durable, and that the newest anchor leads to it. Frees the room that nothing
  /// needs from then on. Called with `checkpointing` and `state` held.
  func noteCheckpoint(
    of draft: CheckpointDraft,
    _ written: WrittenCheckpoint,
    _ record: CheckpointRecord,
    replayEpoch: UInt32
  ) {
    let (pages, sealed) = (written.pages, written.space)
    extents.noteCheckpoint(replayingFromEpoch: replayEpoch)
    work.checkpoints += 1
    work.pagesWritten += pages.count
    dead.addDying(sealed.deaths, from: draft.generation)
    let overwritable = dead.endCheckpoint()
    lastCheckpoint = LastCheckpoint(
      record: record,
      trees: Catalogue.Content(
        names: draft.directory.names,
        roots: pages.roots,
        pageCounts: pages.pageCounts
      )
    )
    space?.noteRecorded(sealed.reached)
    if written.isSynced { space?.endSync() }
    space?.giveBack(pages.spare + sealed.spare)
    for use in sealed.givenUp { space?.turnIntoPages(use.extent) }
    giveBack(reclamation.reclaimPages(overwritable, versions.holders))
  }

  /// Undoes the sealing of a checkpoint that failed later.
  func undo(_ sealed: SealedSpace) {
    extents.takeBack(sealed.givenUp)
    space?.giveBack(sealed.extra)
  }

  /// Gives back the memory and the pages that a failed checkpoint has taken.
  func undo(_ plan: CheckpointPlan) {
    for editor in [plan.editor, plan.spaceEditor] { editor.abandon() }
    dead.cancelCheckpoint()
    space?.giveBack(plan.taken.all)
  }

  // MARK: The record and the anchor

  /// Returns the record of a checkpoint. Its replay begins at `replayStart`, or, if that is nil, at the
  /// record after it.
  func record(
    _ draft: CheckpointDraft,
    _ written: WrittenCheckpoint,
    replayStart: LogTail? = nil
  ) -> CheckpointRecord {
    CheckpointRecord(
      commit: draft.commit,
      timestamp: draft.timestamp,
      catalogue: written.pages.catalogue,
      nextTreeID: draft.nextTreeID,
      previousReplayEpoch: extents.replayEpoch,
      replayStart: replayStart,
      end: written.space.end,
      tailOffset: written.space.tailOffset,
      logExtents: written.space.logExtents,
      spaceTree: written.space.spaceTree,
      previousSpaceTree: lastCheckpoint.record.spaceTree
    )
  }

  /// Makes the log continue in another extent if the record of a checkpoint may not fit. This comes before
  /// the checkpoint takes pages: on a full disk the log takes some that no accepted commit needs.
  private func makeRoomForCheckpointRecord() throws(StoreError) {
    var record = lastCheckpoint.record
    record.logExtents = extents.extents
    try makeLogRoom(forRecord: record.logRecord.count, isCheckpoint: true)
  }

  /// Appends a checkpoint's record, and sets its replay start if it has none. Called with `state` held.
  func append(_ record: inout CheckpointRecord) throws(StoreError) -> LogWriter.Appended {
    var bytes = record.logRecord
    // A new extent lies after the end that the record knows, where recovery finds it.
    try makeLogRoom(forRecord: bytes.count, isCheckpoint: true)
    let appended = try log.append(
      &bytes,
      .init(kind: .checkpoint, commit: record.commit, timestamp: record.timestamp, durability: .full)
    ) { $0 }
    if record.replayStart == nil { record.replayStart = log.tail }
    return appended
  }

  /// Overwrites the older anchor with one that leads to a checkpoint's record. The newer one is durable by
  /// then, mostly because of the sync of the checkpoint's pages: so a power failure can't tear both. Called
  /// with `checkpointing` held.
  func writeAnchor(_ record: LogWriter.Appended, commit: UInt64) throws(StoreError) {
    let anchor = Anchor(
      checkpoint: record.position,
      recordByteCount: record.byteCount,
      recordChecksum: record.checksum,
      commit: commit
    )
    try log.fencing { () throws(StoreError) in
      // guard: sync-other-anchor
      if !anchors.isNewestDurable { try file.synchronizeApart() }
      try write(anchor, in: anchors.nextSlot)
    }
    anchors.noteWritten(anchor)
  }

  /// Sets the closing mark in the newest anchor: its checkpoint's record is the last of the log. The anchor
  /// is overwritten in place, because the other one is durable and leads to the same state. Without another
  /// anchor, or after a failure because of which that record isn't the last, this does nothing.
  private func addClosingMark() throws(StoreError) {
    guard anchors.areComplete, isCheckpointLast, var anchor = anchors.newest else { return }
    anchor.isClosed = true
    try log.fencing { () throws(StoreError) in try write(anchor, in: anchors.newestSlot) }
    anchors.noteClosingMark()
  }

  private func write(_ anchor: Anchor, in slot: Int) throws(StoreError) {
    try anchor.encoded(identity).withBytes { bytes throws(StoreError) in
      try file.write(bytes, at: FileLayout.anchorOffsets[slot])
    }
  }
}
