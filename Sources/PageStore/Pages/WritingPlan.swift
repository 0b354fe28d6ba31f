/// The pages that writing trees will take, counted before any is written.
struct WritingPlan {
  private(set) var demand = PageDemand()
  /// Plans for the leaves below branches of level 1, by the branch's frame. The writer may use them only if no
  /// transaction changes these pages before it writes them.
  private(set) var packings: [UInt64: LeafPacking] = [:]
  private let mode: PageWriter.Mode
  private let pool: PagePool

  init(_ roots: some Sequence<TreeRoot>, _ mode: PageWriter.Mode, in pool: PagePool) {
    self.mode = mode
    self.pool = pool
    for root in roots where root.height > 0 { add(root.reference) }
  }

  private mutating func add(_ reference: ChildReference) {
    guard reference.location.isFrame, pool.storedPlace(ofPage: reference).isNone else { return }
    let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
    demand.singles += 1
    addOverflow(of: page)
    if page.isLeaf { return }
    if page.level == 1, mode == .replacing { return addLeaves(of: page, in: reference.location.number) }
    for index in 0..<page.count { add(child: index, of: page) }
  }

  private mutating func add(child index: Int, of branch: PageImage) {
    add(ChildReference(loading: branch.reference(index)))
  }

  private mutating func addLeaves(of branch: PageImage, in frame: UInt64) {
    let packing = LeafPacking(branch, in: pool)
    packings[frame] = packing
    for part in packing.parts {
      switch part {
      case .kept(let index): add(child: index, of: branch)
      case .packed(_, let starts): demand.singles += UInt64(starts.count)
      }
    }
  }

  private mutating func addOverflow(of page: PageImage) {
    for offset in page.overflowReferences {
      let reference = ChildReference(loading: page.base + offset)
      guard reference.location.isFrame, pool.storedPlace(ofOverflow: reference).isNone else { continue }
      demand.add(overflowOf: UInt64(pool.geometry.overflowPageCount(Int(reference.count))))
    }
  }
}
