/// The writing of a checkpoint's pages: first those of the trees and the catalogue, then those of the space
/// tree, which records the pages in use that result.
extension Committer {
  /// Writes and syncs everything that is only in memory, and the record of pages in use that results. Called
  /// with `checkpointing` held; `withState` runs the parts that need `state`.
  func write(_ plan: CheckpointPlan, withState: WithState) throws(StoreError) -> WrittenCheckpoint {
    let output = pageOutput()
    let sink: PageWriter.Sink = { (number, image) throws(StoreError) in try output.append(image, at: number) }
    var pages = CheckpointPages(catalogue: lastCheckpoint.record.catalogue)
    var sealed: SealedSpace?
    do throws(StoreError) {
      try writeTrees(plan, &pages, to: sink)
      try withState { () throws(StoreError) in sealed = try seal(plan, pages) }
      guard var sealed else { throw StoreError(.fenced, "a checkpoint was given up") }
      try writeSpaceTree(plan, &sealed, &pages, to: sink)
      let written = WrittenCheckpoint(pages: pages, space: sealed)
      if written.isSynced {
        try output.finish()
        // guard: sync-checkpoint-pages
        try log.fencing { () throws(StoreError) in try file.synchronizeApart() }
        anchors.noteSync()
      }
      return written
    } catch {
      output.stop()
      pool.discard(pages.images)
      if let sealed { try withState { () throws(StoreError) in undo(sealed) } }
      throw error
    }
  }

  /// Returns an output for pages of a checkpoint or of a transaction.
  func pageOutput() -> PageOutput {
    PageOutput(file: file, pageSize: pageSize, environment: environment) {
      [log, file] (range) throws(StoreError) in
      // guard: fence-failed-writeback, without it: try? file.startWriteback(range)
      try log.fencing { () throws(StoreError) in try file.startWriteback(range) }
    }
  }

  /// Writes the pages of the named trees that are only in memory, and those of the catalogue with their new
  /// roots.
  private func writeTrees(
    _ plan: CheckpointPlan,
    _ pages: inout CheckpointPages,
    to sink: PageWriter.Sink
  ) throws(StoreError) {
    let draft = plan.draft
    var writer = PageWriter(
      pool: pool,
      mode: plan.mode,
      placement: plan.taken.placement,
      packings: plan.packings,
      unseenCommit: draft.isUnseen ? draft.commit : nil
    )
    // Images that were written are in `images` even if this fails.
    defer { pages.images += writer.images }
    var counts = pageCounts(beforeWriting: plan)
    for (slot, root) in draft.roots.enumerated() {
      let before = writer.pageCount
      pages.roots.append(try writer.write(root, to: sink))
      counts[slot] += Int(writer.pageCount - before)
    }
    pages.pageCounts = counts
    pages.replaced += writer.replaced
    pages.stored = writer.stored
    try updateCatalogue(plan.editor, draft, roots: pages.roots, pageCounts: counts)

    var catalogue = PageWriter(pool: pool, mode: .replacing, placement: writer.placement)
    defer { pages.images += catalogue.images }
    pages.catalogue.root = try catalogue.write(plan.editor.root, to: sink)
    pages.replaced += catalogue.replaced
    pages.spare = catalogue.placement.rest
    pages.count = writer.pageCount + catalogue.pageCount
    let replacedCount = plan.editor.dirty.retiredPages.count
    pages.catalogue.note(written: catalogue.pageCount, replaced: replacedCount)
  }

  /// Returns the number of pages in the file that each tree of the draft keeps, by slot.
  private func pageCounts(beforeWriting plan: CheckpointPlan) -> [Int] {
    let (roots, catalogued) = (plan.draft.roots, lastCheckpoint.trees)
    var counts: [Int] = roots.indices.map { slot in
      let isSameTree = slot < catalogued.roots.count && catalogued.roots[slot].treeID == roots[slot].treeID
      let before = isSameTree ? catalogued.pageCounts[slot] : 0
      return before + (plan.draft.changes?.early.counts[roots[slot].treeID] ?? 0)
    }
    var dead: [UInt32: Int] = [:]
    for run in plan.dying + filePages(of: plan.replaced) {
      dead[run.treeID, default: 0] += Int(run.count)
    }
    for slot in roots.indices { counts[slot] -= min(counts[slot], dead[roots[slot].treeID] ?? 0) }
    return counts
  }

  /// Seals the checkpoint's record of the pages in use and of the file: what commits take from then on
  /// belongs to later checkpoints. Makes the space tree in memory record these pages. Called with
  /// `checkpointing` and `state` held.
  private func seal(_ plan: CheckpointPlan, _ pages: CheckpointPages) throws(StoreError) -> SealedSpace {
    let deaths = filePages(of: plan.replaced)
    let givenUp = extents.giveUp(keeping: keptLogByteCount)
    do throws(StoreError) {
      return try withSpace { (space) throws(StoreError) in
        var spare = plan.taken.spare
        // The file may have grown since the plan, for the pages of this checkpoint or of commits.
        let bound = spaceTreePageLimit(end: space.map.end)
        let extra = try space.take(bound - min(bound, UInt64(spare.reduce(0) { $0 + $1.count })))
        spare += extra
        var reached = pagesReached(by: plan, pages, after: space.map.recordable, deaths, givenUp)
        let needsSync = space.needsSync
        space.beginSync()
        let own: [Range<UInt64>]
        do throws(StoreError) {
          own = try SpaceTree.update(
            plan.spaceEditor,
            from: space.map.recorded,
            to: &reached,
            end: space.map.end,
            takingFrom: &spare
          )
        } catch {
          space.giveBack(extra)
          throw error
        }
        return SealedSpace(
          needsSync: needsSync,
          reached: reached,
          ownPages: own,
          spare: spare,
          extra: extra,
          deaths: deaths + filePages(of: plan.spaceEditor.dirty.retiredSoFar),
          spaceTree: lastCheckpoint.record.spaceTree,
          end: space.end,
          tailOffset: givenUp.first { $0.extent.end == space.end }?.extent.offset ?? space.tailOffset,
          logExtents: extents.extents,
          givenUp: givenUp
        )
      }
    } catch {
      extents.takeBack(givenUp)
      throw error
    }
  }

  /// Returns the pages that the checkpoint reaches, without the new ones of its space tree, and header pages.
  ///
  /// - Parameters:
  ///   - recordable: the pages in use before the checkpoint's changes.
  ///   - deaths: pages that the checkpoint's own changes have replaced.
  ///   - givenUp: log extents that become page extents.
  private func pagesReached(
    by plan: CheckpointPlan,
    _ pages: CheckpointPages,
    after recordable: PageBitmap,
    _ deaths: [PageRun],
    _ givenUp: [LogExtentUse]
  ) -> PageBitmap {
    var reached = recordable
    for run in plan.taken.singles + plan.taken.runs { reached.insert(run) }
    if let changes = plan.draft.changes { reached.formUnion(changes.early.reached) }
    for run in pages.spare { reached.remove(run) }
    for run in plan.dying + deaths { reached.remove(run.range) }
    for use in givenUp {
      let header = use.extent.offset / pageSize
      reached.insert(header..<header + 1)
    }
    return reached
  }

  /// Writes the pages of the space tree that are only in memory.
  private func writeSpaceTree(
    _ plan: CheckpointPlan,
    _ space: inout SealedSpace,
    _ pages: inout CheckpointPages,
    to sink: PageWriter.Sink
  ) throws(StoreError) {
    var writer = PageWriter(pool: pool, mode: .replacing, placement: PagePlacement(singles: space.ownPages))
    defer { pages.images += writer.images }
    space.spaceTree.root = try writer.write(plan.spaceEditor.root, to: sink)
    space.spaceTree.note(written: writer.pageCount, replaced: plan.spaceEditor.dirty.retiredPages.count)
    pages.replaced += writer.replaced
    pages.count += writer.pageCount
  }

  /// Updates the catalogue to `roots`, with as few changes as possible.
  func updateCatalogue(
    _ editor: TreeEditor,
    _ draft: CheckpointDraft,
    roots: [TreeRoot],
    pageCounts: [Int]
  ) throws(StoreError) {
    let catalogued = lastCheckpoint.trees
    // The name and the slot of a dropped tree may belong to another tree by now.
    for case let old? in catalogued.names where draft.directory.slot(of: old) == nil {
      try Array(old.utf8).withBytes { key throws(StoreError) in _ = try editor.remove(key) }
    }
    for (slot, name) in draft.directory.names.enumerated() {
      let isUnchanged =
        slot < catalogued.names.count && catalogued.names[slot] != nil
        && catalogued.roots[slot] == roots[slot]
      guard let name, !isUnchanged else { continue }
      try Array(name.utf8).withBytes { key throws(StoreError) in
        try Catalogue.encoded(roots[slot], pageCount: pageCounts[slot]).withBytes {
          value throws(StoreError) in
          _ = try editor.put(key, value)
        }
      }
    }
  }
}
