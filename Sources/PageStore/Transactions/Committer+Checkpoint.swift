/// Checkpoints: what a version has only in memory becomes pages of the file, and the log before it dispensable.
///
/// The order is what makes them safe. (1) Everything in the log is made durable. (2) Pages go to space that nothing
/// refers to, and are synced. (3) The checkpoint record goes to the log, synced. (4) The older anchor is rewritten.
/// It needs no sync of its own until the store is closed: until it is durable, the other anchor and the log lead to the
/// same state, and the next checkpoint's step 2 comes before anything that the other anchor needs is reused.
extension Committer {
  /// Makes the newest version the one that recovery begins with.
  func checkpoint(isClosing: Bool = false) throws(StoreError) {
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
      dirty: DirtySet(commit: base.commit, pool: pool)
    )
    try checkpoint(draft, isClosing: isClosing)
  }

  /// Commits a transaction that is too large for a log record, or has a value that is, as a checkpoint of all
  /// commits up to and including it: what is large is written once. Throws with nothing of it left.
  func checkpoint(including state: TransactionState, timestamp: Int64) throws(StoreError) -> Version {
    try log.drain()
    let roots = state.roots
    let draft = Draft(
      commit: state.commit,
      timestamp: timestamp,
      directory: state.directory,
      roots: roots,
      nextTreeID: state.nextTreeID,
      generation: state.base.generation + 1,
      dirty: state.dirty
    )
    let version = try checkpoint(draft, isClosing: false)
    state.end()
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
    /// Owns the catalogue's new pages, and with a large transaction all of its pages.
    var dirty: DirtySet
  }

  @discardableResult
  private func checkpoint(_ draft: Draft, isClosing: Bool) throws(StoreError) -> Version {
    // Whatever fails, nothing refers to space that was taken for pages.
    let spaceBefore = space
    var images = WrittenPages()
    do {
      let pages = try writePages(of: draft)
      images = pages.images
      if isClosing { space.release() }
      return try finish(draft, pages)
    } catch {
      space = spaceBefore
      pool.discard(images)
      draft.dirty.abort()
      throw error
    }
  }

  private struct CheckpointPages {
    var roots: [TreeRoot]
    var catalogue: TreeRoot
    var images = WrittenPages()
    var replaced = RetiredMemory()
  }

  /// Steps 1 and 2: everything that is only in memory goes to one new extent, which is synced.
  private func writePages(of draft: Draft) throws(StoreError) -> CheckpointPages {
    let editor = TreeEditor(root: catalogue, dirty: draft.dirty)
    defer { editor.end() }
    // The catalogue's final values are known only when the trees have been written, but take as much room as these.
    try updateCatalogue(editor, draft, roots: draft.roots)
    let roots = Set(draft.roots.filter(\.reference.location.isFrame))
    let count =
      PageWriter.pageCount(of: roots, in: pool) + PageWriter.pageCount(of: [editor.root], in: pool)
    guard count > 0 else { return CheckpointPages(roots: draft.roots, catalogue: editor.root) }

    let extent = try space.takePageExtent(byteCount: (count + 1) * pageSize)
    var writer = PageWriter(pool: pool, firstPage: extent.offset / pageSize + 1)
    let output = PageOutput(file: file, offset: extent.offset)
    do {
      try output.append(extentHeaderPage(extent, draft))
      let sink: PageWriter.Sink = { (image) throws(StoreError) in try output.append(image) }
      var written = CheckpointPages(roots: [], catalogue: catalogue)
      for root in draft.roots { written.roots.append(try writer.write(root, to: sink)) }
      try updateCatalogue(editor, draft, roots: written.roots)
      written.catalogue = try writer.write(editor.root, to: sink)
      precondition(
        writer.nextPage <= extent.end / pageSize,
        "a checkpoint's pages fit the extent counted for them"
      )
      try output.flush()
      // guard: sync-checkpoint-pages
      try log.fencing { () throws(StoreError) in try file.synchronize() }
      written.images = writer.images
      written.replaced = writer.replaced
      pagesWritten += count
      return written
    } catch {
      pool.discard(writer.images)
      throw error
    }
  }

  /// Makes the catalogue say `roots`, changing as little as possible.
  private func updateCatalogue(
    _ editor: TreeEditor,
    _ draft: Draft,
    roots: [TreeRoot]
  ) throws(StoreError) {
    // A dropped tree's name, and its place, may belong to another tree by now.
    for case let old? in catalogued where draft.directory.slot(of: old.name) == nil {
      try Array(old.name.utf8).withBytes { key throws(StoreError) in _ = try editor.remove(key) }
    }
    for (slot, name) in draft.directory.names.enumerated() {
      guard let name, slot >= catalogued.count || catalogued[slot]?.root != roots[slot] else { continue }
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

  /// Steps 3 and 4, and what follows from them in memory.
  private func finish(_ draft: Draft, _ pages: CheckpointPages) throws(StoreError) -> Version {
    let appended = try appendRecord(draft, pages)
    try log.wait(for: appended.position.sequence, isDurable: true)
    try log.fencing { () throws(StoreError) in
      try writeAnchor(appended, commit: draft.commit)
    }
    let version = Version(
      commit: draft.commit,
      timestamp: draft.timestamp,
      generation: draft.generation,
      directory: draft.directory,
      roots: pages.roots,
      nextTreeID: draft.nextTreeID,
      sequence: appended.position.sequence,
      durability: .full
    )
    pool.adopt(pages.images)
    versions.install(version)
    catalogue = pages.catalogue
    catalogued = draft.directory.names.enumerated().map { slot, name in
      name.map { CataloguedTree(name: $0, root: pages.roots[slot]) }
    }
    extents.noteCheckpoint(inEpoch: appended.position.use.epoch)
    checkpointCommit = draft.commit
    log.markCheckpoint()
    checkpointCount += 1
    setDirtyPageCount(0)
    retire(draft.dirty.finish(), from: version.generation)
    retire(pages.replaced, from: version.generation)
    return version
  }

  private func appendRecord(_ draft: Draft, _ pages: CheckpointPages) throws(StoreError) -> LogWriter.Appended
  {
    func encoded() -> [UInt8] {
      let content = CheckpointRecord(
        commit: draft.commit,
        timestamp: draft.timestamp,
        catalogue: pages.catalogue,
        nextTreeID: draft.nextTreeID,
        previousCheckpointEpoch: extents.checkpointEpoch,
        end: space.end,
        logExtents: extents.extents,
        gaps: space.gaps
      )
      return [UInt8](repeating: 0, count: LogRecordHeader.encodedByteCount) + content.encoded()
    }
    var record = encoded()
    if !log.hasRoom(forRecord: record.count, isCheckpoint: true) {
      try log.moveOn(to: nextLogExtent(forRecord: record.count))
      // There may be one more log extent to list.
      record = encoded()
    }
    return try log.append(
      &record,
      .init(kind: .checkpoint, commit: draft.commit, timestamp: draft.timestamp, durability: .full)
    ) { $0 }
  }

  private func writeAnchor(_ record: LogWriter.Appended, commit: UInt64) throws(StoreError) {
    let anchor = Anchor(
      checkpoint: record.position,
      recordByteCount: record.byteCount,
      recordChecksum: record.checksum,
      commit: commit
    )
    try anchor.encoded(identity).withBytes { bytes throws(StoreError) in
      try file.write(bytes, at: FileLayout.anchorOffsets[nextAnchorSlot])
    }
    isAnchorDurable = false
    nextAnchorSlot = 1 - nextAnchorSlot
  }
}

/// Gathers a checkpoint's images into large writes.
private final class PageOutput {
  private let file: StoreFile
  private var offset: UInt64
  private var buffer: [UInt8] = []

  private static let batchByteCount = 1 << 20

  init(file: StoreFile, offset: UInt64) {
    self.file = file
    self.offset = offset
  }

  func append(_ bytes: [UInt8]) throws(StoreError) {
    try bytes.withBytes { bytes throws(StoreError) in try append(bytes) }
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.batchByteCount { try flush() }
  }

  func flush() throws(StoreError) {
    try buffer.withBytes { bytes throws(StoreError) in try file.write(bytes, at: offset) }
    offset += UInt64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }
}
