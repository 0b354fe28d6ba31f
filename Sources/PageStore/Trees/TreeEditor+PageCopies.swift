/// Copies of pages, which a transaction makes before it changes them.
extension TreeEditor {
  /// Replaces the path's page of `level` by a copy of the transaction's own. The pages above are its own
  /// already.
  ///
  /// A page that was read from the file is laid out again unless its cells are found to lie side by side: in a
  /// forged page cells may overlap, and a change of one cell must not change the length of another.
  func copyPage(_ level: Int) throws(StoreError) {
    let old = path[level].page
    let oldReference = reference(level)
    let frame = dirty.allocateFrame()
    let bytes = pool.arena.address(frame)
    if old.flags & PageFlags.loaded == 0 || old.cellsAdjoin(geometry) {
      copyUsedBytes(old, to: bytes)
      bytes.storeLittle(dirty.commit, PageHeader.birth)
    } else {
      try withEntries(of: old) { entries throws(StoreError) in
        try PageBuilder(geometry: geometry, isLeaf: level == 0).build(
          bytes,
          treeID: root.treeID,
          level: UInt8(level),
          birth: dirty.commit,
          entries: UnsafeBufferPointer(entries),
          lonePrefix: old.prefixLength
        )
      }
    }
    setReference(
      level,
      ChildReference(
        location: .frame(frame),
        checksum: 0,
        birth: dirty.commit,
        count: oldReference.count
      )
    )
    dirty.retirePage(oldReference, treeID: root.treeID)
    path[level].page = PageImage(UnsafeRawPointer(bytes))
  }

  /// Copies the used bytes, except number and checksum, which frames don't have.
  private func copyUsedBytes(_ page: PageImage, to target: UnsafeMutableRawPointer) {
    let low = PageHeader.byteCount + PageSlot.byteCount * page.count
    let rest = PageHeader.birth
    (target + rest).copyMemory(from: page.base + rest, byteCount: low - rest)
    let heap = page.heapStart
    (target + heap).copyMemory(from: page.base + heap, byteCount: geometry.pageSize - heap)
    // No field is there, so that only a forged page has other bytes.
    (target + PageHeader.treePageEnd).initializeMemory(
      as: UInt8.self,
      repeating: 0,
      count: PageHeader.byteCount - PageHeader.treePageEnd
    )
    FrameHeader(target).clearMarks()
  }
}
