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
    try checkpointing.withLock { () throws(StoreError) in
      try state.withLock { () throws(StoreError) in
        if onlyIfNeeded && isCheckpointed { return }
        try checkpointLatest()
        restateIfWorthwhile { (body) throws(StoreError) in try body() }
      }
    }
  }

  /// Runs `body` with `checkpointing` and `state` held: no checkpoint is under way, and nothing is appended
  /// to the log.
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
          try tightenAtClose()
          try addClosingMark()
        }
        // The newest anchor vouches for the last records of the log, because no later record will.
        // guard: sync-last-anchor
        if !isAnchorDurable { try file.synchronize() }
        events.closed(at: versions.latest.commit)
      }
    }
  }

  /// Makes the file shorter if that is worthwhile. Only a failure of the log counts: the file may stay longer
  /// than necessary.
  private func tightenAtClose() throws(StoreError) {
    do throws(StoreError) {
      try tighten()
    } catch {
      try log.checkFence()
      // The log may have moved on, and then a link follows the last checkpoint's record.
      if !isCheckpointLast { try? restateAlone() }
      try log.checkFence()
    }
  }

  /// True if the record of the newest anchor's checkpoint is the last of the log.
  private var isCheckpointLast: Bool { anchors.newest?.recordChecksum == log.tail.previousChecksum }

  /// True if the last checkpoint contains the newest version, and no record follows the start of its replay.
  /// False after a concurrent checkpoint, because its own record follows that start. Called with `state`
  /// held.
  var isCheckpointed: Bool { log.bytesSinceCheckpoint == 0 && checkpointCommit == versions.latest.commit }

  func checkpointLatest() throws(StoreError) {
    try log.checkFence()
    try log.drain()
    let latest = versions.latest
    try checkpoint(Draft(latest, generation: latest.generation + 1))
  }

  /// Writes the copies that a relocation has made, all else that is only in memory, and the pages of the
  /// store's own trees from `limit` on. If it throws, nothing has changed. Called with all three locks held.
  func checkpoint(_ relocation: TransactionState, behind limit: UInt64) throws(StoreError) {
    let version = Version(relocating: relocation)
    relocation.end()
    var draft = Draft(version, generation: version.generation)
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
    let draft = Draft(committing: transaction, timestamp: timestamp)
    let version = try checkpointing.withLock { () throws(StoreError) in
      try state.withLock { () throws(StoreError) in
        try checkNumbersLeft(for: transaction)
        try log.drain()
        giveBackUnusedEarlyPages(of: transaction.dirty)
        let version = try checkpoint(draft)
        restateIfWorthwhile { (body) throws(StoreError) in try body() }
        return version
      }
    }
    transaction.end()
    return version
  }

  /// The state that a checkpoint writes.
  struct Draft {
    var commit: UInt64
    var timestamp: Int64
    var directory: TreeDirectory
    var roots: [TreeRoot]
    var nextTreeID: UInt32
    var generation: UInt64
    var link: CommitLink
    /// The changes of a transaction that the checkpoint commits, or of a relocation.
    var changes: DirtySet?
    /// True if the checkpoint commits a transaction, so that no reader sees its changes yet.
    var isUnseen = false
    /// True if room must be left for transactions that only remove.
    var leavesReserve = false
    /// The page from which on pages of the store's own trees move to the front of the file.
    var relocationLimit: UInt64?

    /// Makes the draft of a version, as a checkpoint of `generation` has it.
    init(_ version: Version, generation: UInt64) {
      commit = version.commit
      timestamp = version.timestamp
      directory = version.directory
      roots = version.roots
      nextTreeID = version.nextTreeID
      self.generation = generation
      link = version.link
    }

    /// Makes the draft of the state after a transaction, which the checkpoint commits.
    init(committing transaction: TransactionState, timestamp: Int64) {
      commit = transaction.commit
      self.timestamp = timestamp
      directory = transaction.directory
      roots = transaction.roots
      nextTreeID = transaction.nextTreeID
      generation = transaction.base.generation + 1
      link = transaction.link
      changes = transaction.dirty
      isUnseen = true
      leavesReserve = transaction.log.hasAdditions
    }
  }

  @discardableResult
  private func checkpoint(_ draft: Draft) throws(StoreError) -> Version {
    try makeRoomForCheckpointRecord()
    dead.beginCheckpoint()
    var plan: CheckpointPlan?
    do throws(StoreError) {
      let counted = try CheckpointPlan(draft, in: self, .replacing)
      plan = counted
      draft.changes?.useUp()
      return try finish(counted, try write(counted) { (body) throws(StoreError) in try body() })
    } catch {
      // After any failure, nothing refers to the pages that were taken.
      if let plan { giveUp(plan) } else { dead.cancelCheckpoint() }
      throw error
    }
  }

  /// Steps 3 and 4, and the changes in memory that follow.
  private func finish(_ plan: CheckpointPlan, _ written: WrittenCheckpoint) throws(StoreError) -> Version {
    let (draft, pages) = (plan.draft, written.pages)
    var record = record(draft, written)
    let appended: LogWriter.Appended
    do throws(StoreError) {
      appended = try append(&record)
      try log.wait(for: appended.position.sequence, isDurable: true)
      try writeAnchor(appended, commit: draft.commit)
    } catch {
      takeBack(written.space)
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
    dirtyByteCount = 0
    dirtyRuns = RunDemand()
    dirtyAfterCommit = draft.commit
    noteLog(upTo: log.appendedByteCount)
    note(draft, pages, replayEpoch: appended.position.use.epoch)
    plan.editor.end()
    plan.spaceEditor.end()
    conclude(written, record: record, from: version.generation)
    let finished = [draft.changes, plan.editor.dirty, plan.spaceEditor.dirty]
    for case let dirty? in finished { retire(dirty.finish(), from: version.generation) }
    retire(pages.replaced, from: version.generation)
    events.wroteCheckpoint(of: draft.commit, pageCount: pages.count, isConcurrent: false)
    return version
  }

  /// Notes that a checkpoint is durable, and that the newest anchor leads to it. Called with `checkpointing`
  /// and `state` held.
  func note(_ draft: Draft, _ pages: CheckpointPages, replayEpoch: UInt32) {
    catalogued = Catalogue.Content(
      names: draft.directory.names,
      roots: pages.roots,
      pageCounts: pages.pageCounts
    )
    extents.noteCheckpoint(replayingFromEpoch: replayEpoch)
    checkpointCount += 1
    pagesWritten += pages.count
  }

  /// Returns the record of a checkpoint. Its replay begins at `replayStart`, or, if that is nil, at the record
  /// after it.
  func record(_ draft: Draft, _ written: WrittenCheckpoint, replayStart: LogTail? = nil) -> CheckpointRecord {
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
      previousSpaceTree: lastRecord.spaceTree
    )
  }

  /// Makes the log continue in another extent if the record of a checkpoint may not fit. This comes before
  /// the checkpoint takes pages: on a full disk the log takes some that no accepted commit needs.
  private func makeRoomForCheckpointRecord() throws(StoreError) {
    var record = lastRecord
    record.logExtents = extents.extents
    let byteCount = LogRecordHeader.encodedByteCount + record.encoded().count
    if log.hasRoom(forRecord: byteCount, isCheckpoint: true) { return }
    try log.moveOn(to: nextLogExtent(forRecord: byteCount))
  }

  /// Appends a checkpoint's record, and sets its replay start if it has none. Called with `state` held.
  func append(_ record: inout CheckpointRecord) throws(StoreError) -> LogWriter.Appended {
    var bytes = [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + record.encoded()
    if !log.hasRoom(forRecord: bytes.count, isCheckpoint: true) {
      // A new extent lies after the end that the record knows, where recovery finds it.
      try log.moveOn(to: nextLogExtent(forRecord: bytes.count))
    }
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
      if !isAnchorDurable { try file.synchronizeApart() }
      try write(anchor, in: nextAnchorSlot)
    }
    anchors.add(anchor)
    nextAnchorSlot = 1 - nextAnchorSlot
  }

  /// Sets the closing mark in the newest anchor: its checkpoint's record is the last of the log. The anchor
  /// is overwritten in place, because the other one is durable and leads to the same state. Without another
  /// anchor, or after a failure because of which that record isn't the last, this does nothing.
  private func addClosingMark() throws(StoreError) {
    guard anchors.count == FileLayout.anchorOffsets.count, isCheckpointLast else { return }
    anchors.close()
    try log.fencing { () throws(StoreError) in try write(anchors[0], in: 1 - nextAnchorSlot) }
  }

  private func write(_ anchor: Anchor, in slot: Int) throws(StoreError) {
    try anchor.encoded(identity).withBytes { bytes throws(StoreError) in
      try file.write(bytes, at: FileLayout.anchorOffsets[slot])
    }
    isAnchorDurable = false
  }
}
