/// Insertion into the path's leaf, and replacement of a value in it.
extension TreeEditor {
  /// Makes the first leaf of an empty tree.
  func startTree(with key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let frame = dirty.allocateFrame()
    let page = PageEditor(pool.arena.address(frame), geometry)
    page.initializeHeader(treeID: root.treeID, level: 0, birth: dirty.commit)
    _ = page.insert(makeEntry(key, value), at: 0)
    setRoot(
      ChildReference(location: .frame(frame), checksum: 0, birth: dirty.commit, count: 1),
      height: 1
    )
  }

  /// Inserts an entry into the path's leaf, which is divided if there is no room.
  @inline(__always)
  func insert(_ entry: PageEntry, at index: Int) throws(StoreError) {
    if editor(path[0].page).insert(entry, at: index) {
      keepFinger()
      return
    }
    try insertWithNewLeaf(entry, at: index)
  }

  @inline(never)
  private func insertWithNewLeaf(_ entry: PageEntry, at index: Int) throws(StoreError) {
    let bias = bias(ofInsertionAt: index, level: 0)
    if bias == .ascending, try addLastLeaf(entry) { return }
    try withUnsafePointer(to: entry) { (entry) throws(StoreError) in
      let replacement = UnsafeBufferPointer(start: entry, count: 1)
      try rewrite(0, replacing: index..<index, with: replacement, bias: bias)
    }
  }

  /// Replaces the value of an entry in the path's leaf.
  func replaceValue(
    at index: Int,
    keyCount: Int,
    with value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    let page = path[0].page
    let slot = page.slot(index)
    if slot.valueOverflows {
      dirty.retireOverflow(ChildReference(loading: page.leafPayload(slot).start), treeID: root.treeID)
    }
    let payload = makePayload(value, keyCount: keyCount)
    if editor(page).replacePayload(at: index, with: payload.bytes, overflows: payload.overflows) {
      keepFinger()
      return
    }
    var entry = PageEntry(page, index, geometry)
    entry.payload = payload.bytes.start
    entry.payloadCount = payload.bytes.count
    entry.valueOverflows = payload.overflows
    try withUnsafePointer(to: entry) { (entry) throws(StoreError) in
      try rewrite(
        0,
        replacing: index..<(index + 1),
        with: UnsafeBufferPointer(start: entry, count: 1),
        bias: .balanced
      )
    }
  }

  /// Returns the bias that shows whether an insertion continues an ascending or descending sequence at an end
  /// of the whole tree.
  func bias(ofInsertionAt index: Int, level: Int) -> Partition.Bias {
    let count = path[level].page.count
    let upper = (level + 1)..<max(level + 1, height)
    if index == count, upper.allSatisfy({ path[$0].index == path[$0].page.count - 1 }) { return .ascending }
    if index == 0, upper.allSatisfy({ path[$0].index == 0 }) { return .descending }
    return .balanced
  }
}
