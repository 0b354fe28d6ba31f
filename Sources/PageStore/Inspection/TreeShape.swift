/// The shape of a tree: its levels, and their pages and entries.
package struct TreeShape: Sendable, Encodable {
  /// The pages of one level; level 0 is that of the leaves.
  package struct Level: Sendable, Encodable {
    package var level: Int
    package var pages = 0
    /// Entries of leaves, children of branches.
    package var entries = 0
    /// Bytes of the pages that are free, or lost among the cells.
    package var unusedBytes = 0
    /// Bytes of the keys' common prefixes, each counted once a page.
    package var prefixBytes = 0
  }

  package var name: String
  package var treeID: UInt32
  package var entries: UInt64
  package var pageSize: Int
  /// From the root down.
  package var levels: [Level]
  /// The number of overflowing values and keys, and of their pages.
  package var overflows = 0
  package var overflowPages = 0
  /// Pages that no checkpoint has written yet.
  package var pagesInMemoryOnly = 0

  /// Bytes of all the tree's pages.
  package var byteCount: Int {
    (levels.reduce(0) { $0 + $1.pages } + overflowPages) * pageSize
  }
}

extension TreeReader {
  /// The number of the tree, which all its pages have.
  package var treeID: UInt32 { core.root.treeID }

  /// Counts the tree's pages and their contents. O(pages).
  package func shape(named name: String) throws(StoreError) -> TreeShape {
    let height = Int(core.root.height)
    var shape = TreeShape(
      name: name,
      treeID: core.root.treeID,
      entries: core.root.count,
      pageSize: core.pages.geometry.pageSize,
      levels: (0..<height).reversed().map { TreeShape.Level(level: $0) }
    )
    var visited: Set<UInt64> = []
    if height > 0 { try core.add(core.root.reference, level: height - 1, to: &shape, &visited) }
    return shape
  }
}

extension TreeCore {
  fileprivate func add(
    _ reference: ChildReference,
    level: Int,
    to shape: inout TreeShape,
    _ visited: inout Set<UInt64>
  ) throws(StoreError) {
    // In a forged tree many pages may refer to the same one: to count it each time could take forever.
    guard visited.insert(reference.location.rawValue).inserted else {
      throw StoreError(.corrupt, "a page is referred to twice", context: .init(tree: shape.name))
    }
    let (frame, page) = try pool.copy(reference, identity: identity(level))
    defer { pool.arena.free(CollectionOfOne(frame)) }
    let slot = shape.levels.count - 1 - level
    shape.levels[slot].pages += 1
    shape.levels[slot].entries += page.count
    shape.levels[slot].unusedBytes += page.freeBytes + page.garbage
    shape.levels[slot].prefixBytes += page.prefixLength
    if reference.location.isFrame, pool.storedPlace(ofPage: reference).isNone { shape.pagesInMemoryOnly += 1 }
    for offset in page.overflowReferences {
      let overflow = ChildReference(loading: page.base + offset)
      shape.overflows += 1
      shape.overflowPages += pages.geometry.overflowPageCount(Int(clamping: overflow.count))
    }
    if level == 0 { return }
    for index in 0..<page.count {
      try add(ChildReference(loading: page.reference(index)), level: level - 1, to: &shape, &visited)
    }
  }
}
