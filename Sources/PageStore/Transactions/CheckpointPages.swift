/// The plan of a checkpoint: its pages are counted, and room is taken for them.
struct CheckpointPlan {
  let draft: Committer.Draft
  let mode: PageWriter.Mode
  /// The editor of the catalogue. Its changes have their final size, but not their final values.
  let editor: TreeEditor
  /// The editor of the space tree.
  let spaceEditor: TreeEditor
  /// Pages of the file that the checkpoint before reaches and this one doesn't.
  let dying: [PageRun]
  let demand: PageDemand
  /// Plans for the leaves of the store's trees. There are none for the catalogue: the checkpoint changes it
  /// again before writing it.
  let packings: [UInt64: LeafPacking]
  let taken: PageSpace.Taken

  /// Counts and takes room. Called with `checkpointing` and `state` held. Throws `diskFull`, with nothing
  /// taken.
  init(_ draft: Committer.Draft, in committer: Committer, _ mode: PageWriter.Mode) throws(StoreError) {
    self.draft = draft
    self.mode = mode
    dying = committer.dead.dying.flatMap(\.runs)
    editor = TreeEditor(
      root: committer.catalogue,
      dirty: DirtySet(commit: draft.commit, pool: committer.pool)
    )
    spaceEditor = TreeEditor(
      root: committer.lastRecord.spaceTree.root,
      dirty: DirtySet(commit: draft.commit, pool: committer.pool)
    )
    do throws(StoreError) {
      // The final values of the catalogue are known only when the trees are written, but take as much room as
      // these.
      let roots = draft.roots.map { committer.pool.storedRoot($0) }
      try committer.updateCatalogue(editor, draft, roots: roots, pageCounts: roots.map { _ in 0 })
      if let limit = draft.relocationLimit {
        for tree in [editor, spaceEditor] { _ = try tree.relocate(behind: limit, from: [], pageLimit: .max) }
      }
      let frames = Set(draft.roots.filter(\.reference.location.isFrame))
      let trees = WritingPlan(frames, mode, in: committer.pool)
      packings = trees.packings
      var demand = trees.demand
      demand += WritingPlan([editor.root], .replacing, in: committer.pool).demand
      self.demand = demand
      taken = try committer.withSpace { (space) throws(StoreError) in
        let spareCount = committer.spaceTreePageLimit(end: space.map.end)
        guard draft.leavesReserve else { return try space.take(demand, spareCount: spareCount) }
        try committer.keepLogRoom(in: &space)
        let reserve = committer.reserve(afterCheckpointOf: draft.directory, end: space.map.end)
        return try space.take(demand, spareCount: spareCount, leaving: reserve)
      }
    } catch {
      for editor in [editor, spaceEditor] { editor.abandon() }
      throw error
    }
  }

  /// The memory and pages that this checkpoint has replaced so far, except those of the space tree.
  var replaced: RetiredMemory {
    var memory = editor.dirty.retiredSoFar
    if let changes = draft.changes { memory += changes.retiredSoFar }
    return memory
  }
}

extension TreeEditor {
  /// Ends the editing of one of the store's own trees, and frees the memory that it has allocated.
  func abandon() {
    end()
    dirty.abort()
  }
}

/// The pages that a checkpoint has written.
struct CheckpointPages {
  var roots: [TreeRoot] = []
  /// The number of each tree's pages in the file, by slot.
  var pageCounts: [Int] = []
  var catalogue: StoredTree
  var images = WrittenPages()
  var replaced = RetiredMemory()
  var stored = StoredFrames()
  /// The number of pages that were written.
  var count: UInt64 = 0
  /// Pages that were taken and not used.
  var spare: [Range<UInt64>] = []
}

/// The pages that a checkpoint has written, and its record of the file.
struct WrittenCheckpoint {
  var pages: CheckpointPages
  var space: SealedSpace

  /// True if the file was synced for the checkpoint.
  var isSynced: Bool { pages.count > 0 || space.needsSync }
}

/// The state of the file that a checkpoint records.
struct SealedSpace {
  /// True if the checkpoint records headers of extents that aren't synced yet.
  var needsSync: Bool
  /// The pages that the checkpoint reaches, and header pages.
  var reached: PageBitmap
  /// The pages of the space tree that records ``reached``.
  var ownPages: [Range<UInt64>]
  /// Pages that were taken for the space tree and not used.
  var spare: [Range<UInt64>]
  /// Pages that were taken for the space tree only when the checkpoint was sealed.
  var extra: [Range<UInt64>]
  /// Pages that the checkpoint before reaches and this one doesn't, and that aren't in ``DeadPages``.
  var deaths: [PageRun]
  var spaceTree: StoredTree
  var end: UInt64
  var tailOffset: UInt64
  var logExtents: [Extent]
  /// Log extents that the checkpoint no longer lists.
  var givenUp: [LogExtentUse]
}

extension Committer {
  /// Runs a part of writing a checkpoint with `state` held: a concurrent checkpoint takes it for that part,
  /// others hold it throughout.
  typealias WithState = (() throws(StoreError) -> Void) throws(StoreError) -> Void

  /// Writes and syncs everything that is only in memory, and the record of pages in use that results. Called
  /// with `checkpointing` held; `withState` runs the parts that need `state`.
  func write(_ plan: CheckpointPlan, withState: WithState) throws(StoreError) -> WrittenCheckpoint {
    let output = PageOutput(file: file, pageSize: pageSize, environment: environment)
    let sink: PageWriter.Sink = { (number, image) throws(StoreError) in try output.append(image, at: number) }
    var pages = CheckpointPages(catalogue: lastRecord.catalogue)
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
        isAnchorDurable = true
      }
      return written
    } catch {
      output.stop()
      pool.discard(pages.images)
      if let sealed { try withState { () throws(StoreError) in takeBack(sealed) } }
      throw error
    }
  }

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
    let roots = plan.draft.roots
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

  /// Settles the checkpoint's record of the pages in use and of the file. Called with `checkpointing` and
  /// `state` held.
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
          spaceTree: lastRecord.spaceTree,
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
    _ draft: Draft,
    roots: [TreeRoot],
    pageCounts: [Int]
  ) throws(StoreError) {
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
