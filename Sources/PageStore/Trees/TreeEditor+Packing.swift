/// Packing of half-empty leaves, for compaction.
extension TreeEditor {
  /// Lays the entries of adjacent leaves out in fewer, nearly full leaves where that saves at least one page
  /// in twelve (``LeafPacking``). The tree keeps its entries. Stops when the transaction has changed
  /// `pageLimit` pages, or this call has examined as many leaves.
  ///
  /// Every leaf is read once.
  func pack(from start: [UInt8], pageLimit: Int) throws(StoreError) -> Progress {
    guard height > 1 else { return .done }
    var key = start
    var unread = pageLimit
    return try change { () throws(StoreError) in
      while true {
        if dirty.filePageCount >= pageLimit || unread <= 0 { return .resume(at: key) }
        try key.withBytes { key throws(StoreError) in _ = try descend(to: SearchKey(key)) }
        let first = path[1].index
        let run = first..<min(first + min(Self.packedLeafCount, 2 * pageLimit), path[1].page.count)
        unread -= run.count
        let next = try firstKey(behind: run.upperBound)
        try pack(run)
        guard let next else { return .done }
        key = next
      }
    }
  }

  /// Leaves that are packed at once, unless fewer pages than half as many may be changed.
  private static let packedLeafCount = 32

  /// Returns the first key of the child at `index` of the path's lowest branch, or of the next branch if
  /// there is no such child. Nil at the end of the tree.
  private func firstKey(behind index: Int) throws(StoreError) -> [UInt8]? {
    for level in 1..<height {
      let page = path[level].page
      let next = level == 1 ? index : path[level].index + 1
      if next < page.count { return try wholeKey(PageEntry(page, next, geometry)) }
    }
    return nil
  }

  /// Packs a run of leaves below the path's lowest branch, if that is worthwhile.
  private func pack(_ run: Range<Int>) throws(StoreError) {
    var used = 0
    for index in run { used += try core.child(path[1].page, index, below: 1).usedBytes(geometry) }
    let budget = LeafPacking.budget(geometry, isDense: true)
    guard LeafPacking.isWorthwhile(pages: used / budget + 1, insteadOf: run.count) else { return }
    path[1].index = run.lowerBound
    let pages = try withEntries(ofChildren: run, of: path[1].page, level: 0) { (entries) throws(StoreError) in
      let starts = Partition(filling: entries, upTo: budget, geometry: geometry).starts
      guard LeafPacking.isWorthwhile(pages: starts.count, insteadOf: run.count) else {
        return NewPages?.none
      }
      return try layOut(entries, dividedAt: starts, level: 0)
    }
    guard let pages else { return }
    defer { withExtendedLifetime(pages) {} }
    try makePathWritable(downTo: 1)
    let parent = path[1].page
    let old = run.map { ChildReference(loading: parent.reference($0)) }
    for index in run.dropFirst() { retireOverflow(of: parent, index) }
    let isPathCurrent = try replaceChildren(0, count: run.count, with: pages)
    for reference in old { dirty.retirePage(reference, treeID: root.treeID) }
    if isPathCurrent { try mendPath(from: 1) } else { try shrinkRoot() }
  }
}
