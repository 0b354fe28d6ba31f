/// The plan of a checkpoint: its pages are counted, and room is taken for them.
struct CheckpointPlan {
  let draft: CheckpointDraft
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
  init(_ draft: CheckpointDraft, in committer: Committer, _ mode: PageWriter.Mode) throws(StoreError) {
    self.draft = draft
    self.mode = mode
    dying = committer.dead.dying.flatMap(\.runs)
    editor = TreeEditor(
      root: committer.lastCheckpoint.record.catalogue.root,
      dirty: DirtySet(commit: draft.commit, pool: committer.pool)
    )
    spaceEditor = TreeEditor(
      root: committer.lastCheckpoint.record.spaceTree.root,
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
        let share = draft.reserveShare
        guard share != .none else { return try space.take(demand, spareCount: spareCount) }
        try committer.keepLogRoom(in: &space)
        let reserve = committer.reserve(
          afterCheckpointOf: draft.directory,
          leaving: share,
          end: space.map.end
        )
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
