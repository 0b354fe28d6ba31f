/// Pages that a transaction writes to the file before it is committed, because it takes more memory than it
/// may.
///
/// They go to free pages that no checkpoint records, so nothing has to be undone after a crash. The steps,
/// for one batch of subtrees after another: (1) Its pages are counted, and room is taken for them. (2) They
/// are written. (3) The trees refer to the pages of the file, and the frames are part of the cache. The
/// transaction is committed as a checkpoint (``checkpoint(including:timestamp:)``), whose sync makes the
/// pages durable.
extension Committer {
  /// Writes the pages that a transaction has in memory to the file. Stops while a checkpoint is being
  /// written, or if the disk has no room. If it throws, the trees can't be used any more. Called by the
  /// thread that runs the transaction, with the writer lock held.
  func writeEarly(_ transaction: TransactionState, _ editors: [TreeEditor]) throws(StoreError) {
    try log.checkFence()
    let (dirty, limit) = (transaction.dirty, limits.transactionByteCount)
    // If much stays in memory, the next attempt is worthwhile only when there is more.
    defer { dirty.byteLimit = max(limit, dirty.byteCount + limit / 4) }
    dirty.freeSpares()
    defer { pool.reuseFreed() }
    if limits.lendsCacheToTransactions, dirty.byteCount - pool.cache.unusedByteCount < limit { return }
    // A checkpoint may write and evict frames that this transaction's trees share with earlier versions.
    guard checkpointing.lockIfFree() else { return }
    defer { checkpointing.unlock() }
    var written = DirtySet.Written()
    defer { dirty.forget(written) }
    for batch in earlyBatches(of: editors) {
      guard let taken = try takeEarlyPages(batch.demand, dirty) else { return }
      transaction.log.giveUp()
      try write(batch, to: taken, dirty, &written)
    }
  }

  /// Subtrees that are written together.
  private struct EarlyBatch {
    var subtrees: [EarlySubtree] = []
    var demand = PageDemand()
    var packings: [UInt64: LeafPacking] = [:]
  }

  /// The least number of pages of a batch. Packed leaves are in memory twice while a batch is written.
  private var earlyBatchPageCount: UInt64 { min(256, UInt64(limits.transactionByteCount) / pageSize / 4) }

  /// Divides the subtrees that can be written early into batches.
  private func earlyBatches(of editors: [TreeEditor]) -> [EarlyBatch] {
    var batches = [EarlyBatch()]
    for subtree in editors.flatMap({ $0.earlySubtrees() }) {
      let plan = WritingPlan(CollectionOfOne(subtree.root), .replacing, in: pool)
      batches[batches.count - 1].subtrees.append(subtree)
      batches[batches.count - 1].demand += plan.demand
      batches[batches.count - 1].packings.merge(plan.packings) { $1 }
      if batches[batches.count - 1].demand.count >= earlyBatchPageCount { batches.append(EarlyBatch()) }
    }
    return batches.filter { !$0.subtrees.isEmpty }
  }

  /// Takes pages, and makes sure that as much is left as accepted commits need. Nil, with nothing taken, if
  /// the disk has no room for that.
  private func takeEarlyPages(_ demand: PageDemand, _ dirty: DirtySet) throws(StoreError) -> PageSpace.Taken?
  {
    do throws(StoreError) {
      return try state.withLock { () throws(StoreError) in
        giveBackUnusedEarlyPages(of: dirty)
        return try withSpace { (space) throws(StoreError) in
          try space.take(demand, leaving: reserve(end: space.map.end))
        }
      }
    } catch  where error.code == .diskFull && !log.isFenced {
      return nil
    }
  }

  /// Writes the subtrees of a batch, and makes their trees refer to the pages.
  private func write(
    _ batch: EarlyBatch,
    to taken: PageSpace.Taken,
    _ dirty: DirtySet,
    _ written: inout DirtySet.Written
  ) throws(StoreError) {
    let output = pageOutput()
    var writer = PageWriter(
      pool: pool,
      mode: .replacing,
      placement: taken.placement,
      packings: batch.packings,
      unseenCommit: dirty.commit,
      reusesFrames: false
    )
    var references: [ChildReference] = []
    var counts: [UInt32: Int] = [:]
    do throws(StoreError) {
      for subtree in batch.subtrees {
        let before = writer.pageCount
        let root = try writer.write(subtree.root) { (number, image) throws(StoreError) in
          try output.append(image, at: number)
        }
        references.append(root.reference)
        counts[root.treeID, default: 0] += Int(writer.pageCount - before)
      }
      try output.finish()
    } catch {
      output.stop()
      pool.discard(writer.images)
      state.withLock { space?.giveBack(taken.singles + taken.runs) }
      throw error
    }
    pool.adopt(writer.images)
    for (subtree, reference) in zip(batch.subtrees, references) { subtree.refer(to: reference) }
    dirty.noteWritten(cached: writer.images.converted.map(\.frame), replaced: writer.replaced, in: &written)
    dirty.early.add(taken.singles + taken.runs, except: writer.placement.rest, counts: counts)
    state.withLock { work.pagesWritten += writer.pageCount }
  }

  /// Makes the pages free that the transaction has taken and to which nothing refers. Called with `state`
  /// held.
  func giveBackUnusedEarlyPages(of dirty: DirtySet) { giveBack(earlyPages: dirty.early.takeUnused()) }

  /// Makes all pages free that a transaction without effect has taken. Takes `state` if there are any.
  func giveBackEarlyPages(of transaction: TransactionState) {
    let runs = transaction.dirty.early.all
    if runs.isEmpty { return }
    state.withLock { giveBack(earlyPages: runs) }
  }

  /// Makes pages free that a transaction has taken. Called with `state` held.
  private func giveBack(earlyPages runs: [Range<UInt64>]) {
    if runs.isEmpty { return }
    // The cache must not have the old contents when the pages get new ones.
    pool.cache.drop(runs.lazy.flatMap(\.self))
    space?.giveBack(runs)
  }
}
