extension TreeEditor {
  /// Removes `key` and its value. Returns whether it was there. O(log *n*).
  @discardableResult
  func remove(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard height > 0, key.count <= StoreLimits.keyByteCount else { return false }
    try checkIntact()
    return try reading { () throws(StoreError) in
      let (index, exists) = try descend(to: SearchKey(key))
      guard exists else { return false }
      try change { () throws(StoreError) in
        try makePathWritable()
        try removeFromLeaf(at: index)
      }
      return true
    }
  }

  /// Does what ``remove(_:)`` does, for a key that is probably near the key of the last change: the path of
  /// that change is reused if it leads to `key`.
  @discardableResult
  func remove(near key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard key.count <= StoreLimits.keyByteCount, let position = try fingerPosition(of: SearchKey(key)) else {
      return try remove(key)
    }
    guard position.isEqual else { return false }
    try change { () throws(StoreError) in
      path[0].index = position.index
      try removeFromLeaf(at: position.index)
    }
    return true
  }

  /// Removes an entry from the path's leaf. The path's pages are the transaction's own.
  private func removeFromLeaf(at index: Int) throws(StoreError) {
    addToCounts(-1)
    let leaf = path[0].page
    if leaf.flags & PageFlags.hasOverflow != 0 { retireOverflow(of: leaf, index) }
    editor(leaf).remove(at: index)
    if isUnderfull(leaf) { try mendPath() } else { keepFinger() }
  }

  /// Retires the overflow pages of an entry.
  func retireOverflow(of page: PageImage, _ index: Int) {
    let slot = page.slot(index)
    if slot.keyOverflows {
      dirty.retireOverflow(ChildReference(loading: page.keyRest(slot)), treeID: root.treeID)
    }
    if slot.valueOverflows {
      dirty.retireOverflow(ChildReference(loading: page.leafPayload(slot).start), treeID: root.treeID)
    }
  }

  // MARK: Pages that have become too empty

  /// Called after a removal from the path's page of level `lowest`. Merges or evens out pages that are less
  /// than half full with a neighbour, from there upwards, and shrinks the tree at the root. The path is
  /// invalid afterwards.
  func mendPath(from lowest: Int = 0) throws(StoreError) {
    var level = lowest
    while level < height - 1 {
      guard isUnderfull(path[level].page), try mend(level) else { break }
      level += 1
    }
    try shrinkRoot()
  }

  func isUnderfull(_ page: PageImage) -> Bool { page.usedBytes(geometry) < geometry.capacity / 2 }

  /// Merges the path's page of `level` with a neighbour under the same parent, or, if both don't fit into one
  /// page, divides their entries evenly. Returns false if the parent can't have become underfull, or if it
  /// was rewritten, so that the path no longer leads through it.
  func mend(_ level: Int) throws(StoreError) -> Bool {
    let parent = path[level + 1].page
    guard parent.count > 1 else {
      guard path[level].page.count == 0 else { return true }
      dirty.retirePage(reference(level), treeID: root.treeID)
      editor(parent).remove(at: 0)
      return true
    }
    let left = min(path[level + 1].index, parent.count - 2)
    let references = [left, left + 1].map { ChildReference(loading: parent.reference($0)) }
    let (pages, keepsSeparator) = try combine(parent, left, level: level)
    defer { withExtendedLifetime(pages) {} }
    if !keepsSeparator { retireOverflow(of: parent, left + 1) }
    path[level + 1].index = left
    let isParentCurrent = try replaceChildren(level, count: 2, with: pages)
    for reference in references {
      dirty.retirePage(reference, treeID: root.treeID)
    }
    return isParentCurrent
  }

  /// Lays the entries of two adjacent children out in one new page or two. Also returns whether the separator
  /// between the two has become the key of an entry.
  private func combine(
    _ parent: PageImage,
    _ left: Int,
    level: Int
  ) throws(StoreError) -> (pages: NewPages, keepsSeparator: Bool) {
    let first = try core.child(parent, left, below: level + 1)
    let second = try core.child(parent, left + 1, below: level + 1)
    let pages = try withEntries(ofChildren: left..<left + 2, of: parent, level: level) {
      (entries) throws(StoreError) in try layOut(entries, level: level, bias: .balanced)
    }
    return (pages, level > 0 && first.count > 0 && second.count > 0)
  }

  /// Calls `body` with the entries of adjacent children of a branch; the children are of `level`. The entries
  /// point into the pages.
  func withEntries<R>(
    ofChildren run: Range<Int>,
    of parent: PageImage,
    level: Int,
    _ body: (UnsafeBufferPointer<PageEntry>) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    var pages: [PageImage] = []
    for index in run { pages.append(try core.child(parent, index, below: level + 1)) }
    let entries = UnsafeMutableBufferPointer<PageEntry>.allocate(
      capacity: pages.reduce(0) { $0 + $1.count }
    )
    defer { entries.deallocate() }
    var filled = 0
    for (position, page) in pages.enumerated() {
      for index in 0..<page.count {
        var entry = PageEntry(page, index, geometry)
        // The first entry of a branch gets the separator that the parent has for that branch.
        if level > 0, index == 0, position > 0 {
          entry.takeKey(of: PageEntry(parent, run.lowerBound + position, geometry))
        }
        entries.initializeElement(at: filled, to: entry)
        filled += 1
      }
    }
    return try body(UnsafeBufferPointer(entries))
  }

  /// Removes roots with a single child, and a last leaf without entries.
  func shrinkRoot() throws(StoreError) {
    while height > 0 {
      let page = try core.rootPage()
      guard page.count <= (height > 1 ? 1 : 0) else { return }
      let old = root.reference
      if page.count == 0 {
        setRoot(ChildReference(location: .none, checksum: 0, birth: 0, count: 0), height: 0)
        return dirty.retirePage(old, treeID: root.treeID)
      }
      setRoot(ChildReference(loading: page.reference(0)), height: height - 1)
      dirty.retirePage(old, treeID: root.treeID)
    }
  }
}
