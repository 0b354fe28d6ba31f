/// What a checkpoint is about to write: counted, so that room for it can be taken first.
struct CheckpointPlan {
  let draft: Committer.Draft
  let mode: PageWriter.Mode
  /// Of the catalogue; its changes are as large as they will be.
  let editor: TreeEditor
  /// Pages to be written, without the extent's header.
  let pageCount: UInt64
  /// Where they go, if there are any.
  var extent: Extent?

  init(_ draft: Committer.Draft, in committer: Committer, _ mode: PageWriter.Mode) throws(StoreError) {
    self.draft = draft
    self.mode = mode
    editor = TreeEditor(root: committer.catalogue, dirty: draft.dirty)
    do {
      // The catalogue's final values are known only when the trees have been written, but take as much room as these.
      try committer.updateCatalogue(editor, draft, roots: draft.roots.map { committer.pool.storedRoot($0) })
    } catch {
      editor.end()
      throw error
    }
    let roots = Set(draft.roots.filter(\.reference.location.isFrame))
    pageCount =
      PageWriter.pageCount(of: roots, mode, in: committer.pool)
      + PageWriter.pageCount(of: [editor.root], .replacing, in: committer.pool)
  }
}

/// What a checkpoint has written.
struct CheckpointPages {
  var roots: [TreeRoot]
  var catalogue: TreeRoot
  var images = WrittenPages()
  var replaced = RetiredMemory()
  var stored = StoredFrames()
  var count: UInt64 = 0
}

extension Committer {
  /// Writes everything that is only in memory to one new extent, and syncs it. Needs no lock but `checkpointing`.
  func write(_ plan: CheckpointPlan) throws(StoreError) -> CheckpointPages {
    guard let extent = plan.extent else {
      return CheckpointPages(roots: plan.draft.roots.map { pool.storedRoot($0) }, catalogue: plan.editor.root)
    }
    var trees = PageWriter(
      pool: pool,
      mode: plan.mode,
      firstPage: extent.offset / pageSize + 1,
      unseenCommit: plan.draft.isUnseen ? plan.draft.commit : nil
    )
    var catalogue = PageWriter(pool: pool, mode: .replacing, firstPage: 0)
    let output = PageOutput(file: file, offset: extent.offset)
    do {
      try output.append(extentHeaderPage(extent, plan.draft))
      let sink: PageWriter.Sink = { (image) throws(StoreError) in try output.append(image) }
      var written = CheckpointPages(roots: [], catalogue: plan.editor.root)
      for root in plan.draft.roots { written.roots.append(try trees.write(root, to: sink)) }
      try updateCatalogue(plan.editor, plan.draft, roots: written.roots)
      catalogue = PageWriter(pool: pool, mode: .replacing, firstPage: trees.nextPage)
      written.catalogue = try catalogue.write(plan.editor.root, to: sink)
      precondition(
        catalogue.nextPage <= extent.end / pageSize,
        "a checkpoint's pages fit the extent counted for them"
      )
      try output.flush()
      // guard: sync-checkpoint-pages
      try log.fencing { () throws(StoreError) in try file.synchronizeApart() }
      isAnchorDurable = true
      written.images.pages = trees.images.pages + catalogue.images.pages
      written.images.converted = trees.images.converted
      written.replaced.frames = trees.replaced.frames + catalogue.replaced.frames
      written.replaced.blobs = trees.replaced.blobs + catalogue.replaced.blobs
      written.stored = trees.stored
      written.count = plan.pageCount
      return written
    } catch {
      pool.discard(trees.images)
      pool.discard(catalogue.images)
      throw error
    }
  }

  /// Makes the catalogue say `roots`, changing as little as possible.
  func updateCatalogue(_ editor: TreeEditor, _ draft: Draft, roots: [TreeRoot]) throws(StoreError) {
    // A dropped tree's name, and its place, may belong to another tree by now.
    for case let old? in catalogued.names where draft.directory.slot(of: old) == nil {
      try Array(old.utf8).withBytes { key throws(StoreError) in _ = try editor.remove(key) }
    }
    for (slot, name) in draft.directory.names.enumerated() {
      let isUnchanged =
        slot < catalogued.names.count && catalogued.names[slot] != nil
        && catalogued.roots[slot] == roots[slot]
      guard let name, !isUnchanged else { continue }
      try Array(name.utf8).withBytes { key throws(StoreError) in
        try Catalogue.encoded(roots[slot]).withBytes { value throws(StoreError) in
          _ = try editor.put(key, value)
        }
      }
    }
  }

  private func extentHeaderPage(_ extent: Extent, _ draft: Draft) -> [UInt8] {
    let header = ExtentHeader(
      kind: .pages,
      extent: extent,
      salt: environment.random(),
      commit: draft.commit
    )
    let block = header.encodedBlock(identity)
    return block + [UInt8](repeating: 0, count: Int(pageSize) - block.count)
  }
}
