// How much room a checkpoint needs, known before it writes anything.

extension PageWriter {
  /// How many pages writing `roots` will take.
  static func pageCount(of roots: some Sequence<TreeRoot>, _ mode: Mode, in pool: PagePool) -> UInt64 {
    var count: UInt64 = 0
    for root in roots where root.height > 0 { count += pageCount(of: root.reference, mode, in: pool) }
    return count
  }

  private static func pageCount(of reference: ChildReference, _ mode: Mode, in pool: PagePool) -> UInt64 {
    guard reference.location.isFrame, pool.storedPlace(ofPage: reference).isNone else { return 0 }
    let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
    var count: UInt64 = 1
    if page.flags & PageFlags.hasOverflow != 0 { count += overflowPageCount(of: page, in: pool) }
    if page.isLeaf { return count }
    if page.level == 1, mode == .replacing { return count + packedLeafPageCount(of: page, in: pool) }
    for index in 0..<page.count {
      count += pageCount(of: ChildReference(loading: page.reference(index)), mode, in: pool)
    }
    return count
  }

  private static func packedLeafPageCount(of branch: PageImage, in pool: PagePool) -> UInt64 {
    let packing = LeafPacking(branch, in: pool)
    var count: UInt64 = 0
    if !packing.packsAny {
      for index in 0..<branch.count {
        count += pageCount(of: ChildReference(loading: branch.reference(index)), .replacing, in: pool)
      }
      return count
    }
    for part in packing.parts {
      switch part {
      case .kept(let index):
        count += pageCount(of: ChildReference(loading: branch.reference(index)), .replacing, in: pool)
      case .packed(_, let starts): count += UInt64(starts.count)
      }
    }
    return count
  }

  private static func overflowPageCount(of page: PageImage, in pool: PagePool) -> UInt64 {
    var count: UInt64 = 0
    for index in 0..<page.count {
      for offset in page.overflowReferences(index) {
        let reference = ChildReference(loading: page.base + offset)
        guard reference.location.isFrame, pool.storedPlace(ofOverflow: reference).isNone else { continue }
        count += UInt64(pool.geometry.overflowPageCount(Int(reference.count)))
      }
    }
    return count
  }
}
