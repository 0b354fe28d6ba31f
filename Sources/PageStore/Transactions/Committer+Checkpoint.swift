/// Checkpoints that hold `checkpointing` and `state` throughout, so that nothing is committed meanwhile: what
/// the newest version has only in memory becomes pages of the file, the version itself is replaced by one of
/// these pages, and the log before it is no longer needed. Closing, large transactions and
/// `Store.checkpoint()` write such checkpoints. What a store writes by itself is concurrent:
/// ``checkpointConcurrently(if:)``.
///
/// The order is what makes them safe. (1) Everything in the log is made durable. (2) Pages go to space that nothing
/// refers to, and are synced. (3) The checkpoint record goes to the log, synced. (4) The older anchor is rewritten.
/// It needs no sync of its own until the store is closed: until it is durable, the other anchor and the log lead to the
/// same state, and the next checkpoint's step 2 comes before anything that the other anchor needs is reused.
extension Committer {
  /// Makes the newest version the one that recovery begins with. Called with the writer lock held, or before
  /// the store is shared.
  ///
  /// - Parameter onlyIfNeeded: whether to do nothing if the last checkpoint contains the newest version. That
  ///   is read with both locks held, because a concurrent checkpoint changes it.
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

  /// Makes everything durable, marks the newest anchor, so that the next opening need not search for what may follow it,
  /// and lets nothing be written from then on. When it returns or throws, no write is under way either: whoever opens the
  /// file next must not meet one.
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
        // The newest anchor vouches for the last records of the log, which no later one will.
        // guard: sync-last-anchor
        if !isAnchorDurable { try file.synchronize() }
        events.closed(at: versions.latest.commit)
      }
    }
  }

  /// A file that stays longer than it could be is no failure, unless the log has failed.
  private func tightenAtClose() throws(StoreError) {
    do throws(StoreError) {
      try tighten()
    } catch {
      try log.checkFence()
    }
  }

  /// Whether the last checkpoint contains the newest version, so that recovery has nothing to replay. Called
  /// with `state` held.
  var isCheckpointed: Bool { log.bytesSinceCheckpoint == 0 && checkpointCommit == versions.latest.commit }

  func checkpointLatest() throws(StoreError) {
    try log.checkFence()
    try log.drain()
    let base = versions.latest
    let draft = Draft(
      commit: base.commit,
      timestamp: base.timestamp,
      directory: base.directory,
      roots: base.roots,
      nextTreeID: base.nextTreeID,
      generation: base.generation + 1,
      link: base.link
    )
    try checkpoint(draft)
  }

  /// Writes the copies that a relocation has made, with all else that is only in memory, and what is behind `limit` of the store's own
  /// trees. Throws with nothing of it left.
  func checkpoint(_ relocation: TransactionState, behind limit: UInt64) throws(StoreError) {
    let version = Version(relocating: relocation)
    relocation.end()
    var draft = Draft(
      commit: version.commit,
      timestamp: version.timestamp,
      directory: version.directory,
      roots: version.roots,
      nextTreeID: version.nextTreeID,
      generation: version.generation,
      link: version.link,
      changes: relocation.dirty
    )
    draft.relocationLimit = limit
    do throws(StoreError) {
      try checkpoint(draft)
    } catch {
      abort(relocation)
      throw error
    }
  }

  /// Commits a transaction that is too large for a log record, or has a value that is, as a checkpoint of all
  /// commits up to and including it: what is large is written once. If it throws, the caller aborts the transaction, or tries again
  /// as long as nothing of it has been written (``DirtySet/isUsedUp``).
  func checkpoint(including transaction: TransactionState, timestamp: Int64) throws(StoreError) -> Version {
    let roots = transaction.roots
    let draft = Draft(
      commit: transaction.commit,
      timestamp: timestamp,
      directory: transaction.directory,
      roots: roots,
      nextTreeID: transaction.nextTreeID,
      generation: transaction.base.generation + 1,
      link: transaction.link,
      changes: transaction.dirty,
      isUnseen: true
    )
    let version = try checkpointing.withLock { () throws(StoreError) in
      try state.withLock { () throws(StoreError) in
        try checkNumbersLeft(for: transaction)
        try log.drain()
        let version = try checkpoint(draft)
        restateIfWorthwhile { (body) throws(StoreError) in try body() }
        return version
      }
    }
    transaction.end()
    return version
  }

  /// The state that a checkpoint is about.
  struct Draft {
    var commit: UInt64
    var timestamp: Int64
    var directory: TreeDirectory
    var roots: [TreeRoot]
    var nextTreeID: UInt32
    var generation: UInt64
    var link: CommitLink
    /// The pages of a transaction that is committed by it, or of a relocation.
    var changes: DirtySet?
    /// Whether the commit is only being made, so that nobody reads what it has changed.
    var isUnseen = false
    /// The page from which on the store's own trees move to the front.
    var relocationLimit: UInt64?
  }

  @discardableResult
  private func checkpoint(_ draft: Draft) throws(StoreError) -> Version {
    dead.beginCheckpoint()
    var plan: CheckpointPlan?
    do throws(StoreError) {
      let counted = try CheckpointPlan(draft, in: self, .replacing)
      plan = counted
      draft.changes?.useUp()
      return try finish(counted, try write(counted) { (body) throws(StoreError) in try body() })
    } catch {
      // Whatever failed, nothing refers to room that was taken for pages.
      if let plan { giveUp(plan) } else { dead.cancelCheckpoint() }
      throw error
    }
  }

  /// Steps 3 and 4, and what follows from them in memory.
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
    dirtyRunPageCount = 0
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

  /// Notes that a checkpoint is durable and that the newest anchor leads to it.
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

  /// What the record of a checkpoint says. Replay from it begins with the next record unless `replayStart` says otherwise.
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

  /// Appends a checkpoint's record, and completes it with where its replay begins.
  func append(_ record: inout CheckpointRecord) throws(StoreError) -> LogWriter.Appended {
    var bytes = [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + record.encoded()
    if !log.hasRoom(forRecord: bytes.count, isCheckpoint: true) {
      // An extent that is new is behind the end that the record knows.
      try log.moveOn(to: nextLogExtent(forRecord: bytes.count))
    }
    let appended = try log.append(
      &bytes,
      .init(kind: .checkpoint, commit: record.commit, timestamp: record.timestamp, durability: .full)
    ) { $0 }
    if record.replayStart == nil { record.replayStart = log.tail }
    return appended
  }

  /// Overwrites the older anchor by one that leads to a checkpoint's record. The newer one is durable by then, mostly with
  /// the checkpoint's pages: never can a power failure tear both.
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
    anchors = [anchor] + anchors.prefix(1)
    nextAnchorSlot = 1 - nextAnchorSlot
  }

  /// Says in the newest anchor that its checkpoint's record is the last of the log. It is written over where it is: the
  /// other one is durable, and leads to the same state. If there is no other, nothing is said.
  private func addClosingMark() throws(StoreError) {
    guard anchors.count == FileLayout.anchorOffsets.count else { return }
    anchors[0].isClosed = true
    try log.fencing { () throws(StoreError) in try write(anchors[0], in: 1 - nextAnchorSlot) }
  }

  private func write(_ anchor: Anchor, in slot: Int) throws(StoreError) {
    try anchor.encoded(identity).withBytes { bytes throws(StoreError) in
      try file.write(bytes, at: FileLayout.anchorOffsets[slot])
    }
    isAnchorDurable = false
  }
}
