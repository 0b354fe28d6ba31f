/// The plan by which a checkpoint writes the leaves below a branch: as they are, or packed.
///
/// After random insertions leaves are about 70 % full. A checkpoint writes them in any case, so it lays the
/// entries of adjacent leaves out in fewer pages, which are nearly full. The pages in memory don't change.
struct LeafPacking {
  /// How adjacent children of the branch are written.
  enum Part {
    /// The child stays a page of its own.
    case kept(Int)
    /// The entries of these children go to new leaves.
    case packed(Range<Int>, leafStarts: [Int])
  }

  private(set) var parts: [Part] = []
  /// The branch's new entries, without references yet. They point into the old pages.
  private(set) var separators: [PageEntry] = []
  /// True if anything is packed.
  private(set) var packsAny = false

  /// The percentage to which a leaf is filled, so that room for later entries is left.
  private static let fillPercent = 94
  private static let densePercent = 98
  /// Packing has to save at least one page in this number of pages.
  private static let leastSaving = 12

  private let branch: PageImage
  private let pool: PagePool

  /// Plans for a branch of level 1 that is only in memory. The same branch always gets the same plan.
  init(_ branch: PageImage, in pool: PagePool) {
    self.branch = branch
    self.pool = pool
    // Overflowing keys would make separators that overflow; such branches and leaves are not packed.
    if branch.flags & PageFlags.hasOverflow == 0 { packRuns() }
    if packsAny, Partition.fitsOnePage(separators, geometry: pool.geometry) { return }
    packsAny = false
    parts = (0..<branch.count).map(Part.kept)
    separators = []
  }

  private mutating func packRuns() {
    var index = 0
    while index < branch.count {
      let end = endOfRun(from: index)
      if end > index + 1, let starts = pack(index..<end) {
        parts.append(.packed(index..<end, leafStarts: starts))
        packsAny = true
        index = end
      } else {
        for child in index..<max(end, index + 1) { keep(child) }
        index = max(end, index + 1)
      }
    }
  }

  /// Returns a leaf below a branch, if it is only in memory; otherwise nil.
  static func leaf(_ branch: PageImage, _ index: Int, in pool: PagePool) -> PageImage? {
    let reference = ChildReference(loading: branch.reference(index))
    guard reference.location.isFrame, pool.storedPlace(ofPage: reference).isNone else { return nil }
    return PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
  }

  /// Calls `body` with the entries of a run of leaves. They point into the leaves.
  func withEntries<R, E: Error>(
    of run: Range<Int>,
    _ body: (UnsafeBufferPointer<PageEntry>) throws(E) -> R
  ) throws(E) -> R {
    let leaves = run.compactMap { Self.leaf(branch, $0, in: pool) }
    let total = leaves.reduce(0) { $0 + $1.count }
    let entries = UnsafeMutableBufferPointer<PageEntry>.allocate(capacity: total)
    defer { entries.deallocate() }
    var filled = 0
    for leaf in leaves {
      for index in 0..<leaf.count {
        entries.initializeElement(at: filled, to: PageEntry(leaf, index, pool.geometry))
        filled += 1
      }
    }
    return try body(UnsafeBufferPointer(entries))
  }

  private mutating func keep(_ child: Int) {
    parts.append(.kept(child))
    separators.append(PageEntry(branch, child, pool.geometry))
  }

  /// Returns the index after the last of the children from `first` on that can be packed together.
  private func endOfRun(from first: Int) -> Int {
    var end = first
    while end < branch.count, let leaf = Self.leaf(branch, end, in: pool),
      leaf.flags & PageFlags.hasOverflow == 0
    {
      end += 1
    }
    return end
  }

  /// Returns the entries of a run with which new leaves begin; nil if packing doesn't save enough. Adds the
  /// new leaves' separators.
  private mutating func pack(_ run: Range<Int>) -> [Int]? {
    let geometry = pool.geometry
    let used = run.reduce(0) { $0 + (Self.leaf(branch, $1, in: pool)?.usedBytes(geometry) ?? 0) }
    let budget = Self.budget(geometry)
    guard Self.isWorthwhile(pages: used / budget + 1, insteadOf: run.count) else { return nil }
    let (starts, fresh) = withEntries(of: run) { entries in
      let starts = Partition(filling: entries, upTo: budget, geometry: geometry).starts
      return (starts, starts.dropFirst().map { entries[$0].separator(after: entries[$0 - 1]) })
    }
    guard Self.isWorthwhile(pages: starts.count, insteadOf: run.count) else { return nil }
    separators.append(PageEntry(branch, run.lowerBound, geometry))
    separators += fresh
    return starts
  }

  /// Returns the number of bytes to which leaves are filled: by a checkpoint, which leaves room for later
  /// entries, or, if `isDense`, by compaction.
  static func budget(_ geometry: PageGeometry, isDense: Bool = false) -> Int {
    geometry.capacity * (isDense ? densePercent : fillPercent) / 100
  }

  /// Returns whether writing `pages` pages instead of the `old` ones saves enough.
  static func isWorthwhile(pages: Int, insteadOf old: Int) -> Bool { (old - pages) * leastSaving >= old }
}

extension PageEntry {
  /// Returns a branch's entry with the shortest separator between the last key of a leaf and this one, the
  /// first of the next leaf. Both keys are complete in their pages. The entry has no child yet.
  fileprivate func separator(after last: PageEntry) -> PageEntry {
    var separator = self
    separator.truncateKey(to: min(keyCount, commonPrefix(with: last) + 1))
    separator.payloadCount = ChildReference.byteCount
    separator.valueOverflows = false
    return separator
  }
}
