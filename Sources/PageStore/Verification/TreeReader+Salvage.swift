extension TreeReader {
  /// Calls `body` with every entry that can be read, in order. Pages that can't be read are skipped, and no
  /// page is visited twice: so the walk ends even where ``forEach(in:reversed:_:)`` would throw, or would
  /// never end.
  ///
  /// Returns whether every page was read. O(pages). Adds nothing to the cache.
  package func forEachReadable(
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    var walk = SalvageWalk(core: core)
    if core.root.height > 0 { walk.visit(core.root.reference, level: Int(core.root.height) - 1, body) }
    return walk.isComplete
  }
}

/// A walk from the root to the leaves that skips damaged pages.
private struct SalvageWalk {
  typealias Body = (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void

  let core: TreeCore
  private(set) var isComplete = true
  private var visited: Set<UInt64> = []

  init(core: TreeCore) { self.core = core }

  mutating func visit(_ reference: ChildReference, level: Int, _ body: Body) {
    let location = reference.location.rawValue
    guard !visited.contains(location),
      let (frame, page) = try? core.pool.copy(reference, identity: core.identity(level))
    else {
      isComplete = false
      return
    }
    visited.insert(location)
    defer { core.pool.arena.free(CollectionOfOne(frame)) }
    for index in 0..<page.count {
      if level > 0 {
        visit(ChildReference(loading: page.reference(index)), level: level - 1, body)
      } else {
        do throws(StoreError) { try visitEntry(page, index, body) } catch { isComplete = false }
      }
    }
  }

  private func visitEntry(_ page: PageImage, _ index: Int, _ body: Body) throws(StoreError) {
    let entry = PageEntry(page, index, core.pool.geometry)
    var key = entry.keyInPage
    if let rest = entry.keyRest { try overflow(rest).withBytes { key.append(contentsOf: $0) } }
    let inline = UnsafeRawBufferPointer(start: entry.payload, count: entry.payloadCount)
    guard entry.valueOverflows else { return key.withUnsafeBytes { body($0, inline) } }
    let value = try overflow(entry.payload)
    key.withUnsafeBytes { key in value.withBytes { body(key, $0) } }
  }

  private func overflow(_ reference: UnsafeRawPointer) throws(StoreError) -> ValueBytes {
    try core.pool.copyOverflow(ChildReference(loading: reference), treeID: core.root.treeID)
  }
}
