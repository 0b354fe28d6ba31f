// Counting the pages that a checkpoint needs, before it writes any.

extension PageWriter {
  /// The pages that writing the trees of `roots` will take.
  static func demand(of roots: some Sequence<TreeRoot>, _ mode: Mode, in pool: PagePool) -> PageDemand {
    var demand = PageDemand()
    for root in roots where root.height > 0 { add(root.reference, mode, in: pool, to: &demand) }
    return demand
  }

  private static func add(
    _ reference: ChildReference,
    _ mode: Mode,
    in pool: PagePool,
    to demand: inout PageDemand
  ) {
    guard reference.location.isFrame, pool.storedPlace(ofPage: reference).isNone else { return }
    let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
    demand.singles += 1
    addOverflow(of: page, in: pool, to: &demand)
    if page.isLeaf { return }
    if page.level == 1, mode == .replacing { return addPackedLeaves(of: page, in: pool, to: &demand) }
    for index in 0..<page.count {
      add(ChildReference(loading: page.reference(index)), mode, in: pool, to: &demand)
    }
  }

  private static func addPackedLeaves(of branch: PageImage, in pool: PagePool, to demand: inout PageDemand) {
    func add(child index: Int) {
      Self.add(ChildReference(loading: branch.reference(index)), .replacing, in: pool, to: &demand)
    }
    let packing = LeafPacking(branch, in: pool)
    if !packing.packsAny {
      for index in 0..<branch.count { add(child: index) }
      return
    }
    for part in packing.parts {
      switch part {
      case .kept(let index): add(child: index)
      case .packed(_, let starts): demand.singles += UInt64(starts.count)
      }
    }
  }

  private static func addOverflow(of page: PageImage, in pool: PagePool, to demand: inout PageDemand) {
    for offset in page.overflowReferences {
      let reference = ChildReference(loading: page.base + offset)
      guard reference.location.isFrame, pool.storedPlace(ofOverflow: reference).isNone else { continue }
      demand.add(overflowOf: UInt64(pool.geometry.overflowPageCount(Int(reference.count))))
    }
  }
}
