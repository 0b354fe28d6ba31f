/// Checks complete trees, page by page, and reports all problems instead of stopping at the first.
///
/// Invariants of a tree, by the numbers that reports use:
///
/// 1. Every page matches its reference: checksum, number, birth, tree, level, entry count.
/// 2. Every page is reached once, counting all trees of a store.
/// 3. Keys ascend strictly within a page; each page's keys lie between its parent's separators.
/// 4. Every slot's head is that of its key, and every key has the page's prefix by construction.
/// 5. The counts in references are the numbers of entries below them.
/// 6. Overflow pages have the checksums and lengths of their references, and a tree with overflow is marked
///    so.
/// 7. No page is younger than the version that it is in, and the unused bytes of its header are zero.
///
/// A page that can't be read is one problem; the walk continues with its siblings. No page is visited twice,
/// so the walk ends even if the pages are forged.
struct TreeVerifier {
  private let pool: PagePool
  /// The numbers of all pages that were reached so far, in all trees.
  private(set) var visited: Set<UInt64> = []
  private(set) var problems: [IntegrityProblem] = []
  /// The number of pages that were reached, overflow pages included, in the file or in memory.
  private(set) var pageCount = 0
  /// The number of reached pages that are in the store's file, including frames that a checkpoint has
  /// written.
  private(set) var storedPageCount = 0

  init(pool: PagePool) { self.pool = pool }

  /// Checks a tree.
  ///
  /// - Parameters:
  ///   - name: the tree's name in reports.
  ///   - commit: the commit of the tree's version.
  mutating func verify(_ root: TreeRoot, name: String, at commit: UInt64 = .max) {
    var walk = Walk(core: TreeCore(root: root, pool: pool), name: name, hasOverflow: root.hasOverflow)
    guard root.height > 0 else {
      if !root.reference.location.isNone || root.count != 0 {
        report("An empty tree's root isn't empty.", walk, nil)
      }
      return
    }
    guard Int(root.height) <= TreeLimits.height else {
      return report("A tree is impossibly high.", walk, nil)
    }
    if root.reference.birth > commit {
      report("A tree has a page of a later commit.", walk, root.reference.location)
    }
    verifyPage(root.reference, level: Int(root.height) - 1, lower: nil, upper: nil, &walk)
  }

  private struct Walk {
    let core: TreeCore
    let name: String
    /// True if the tree is marked as having overflow, or is one of the store's own, which have no mark.
    var hasOverflow: Bool

    init(core: TreeCore, name: String, hasOverflow: Bool) {
      self.core = core
      self.name = name
      self.hasOverflow = hasOverflow || core.root.treeID <= SpaceTree.treeID
    }
  }

  private mutating func report(_ message: String, _ walk: Walk, _ location: PageLocation?) {
    let page = location.flatMap { $0.isFrame || $0.number >= SpillFile.firstNumber ? nil : $0.number }
    let pageSize = UInt64(pool.geometry.pageSize)
    problems.append(IntegrityProblem(message: message, tree: walk.name, page: page, of: pageSize))
  }

  /// Reports the error with which a page couldn't be read. For an overflow, the error's context may name a
  /// later page than the first.
  private mutating func report(_ error: StoreError, _ walk: Walk, _ location: PageLocation) {
    report(error.message, walk, error.context.page.map(PageLocation.page) ?? location)
  }

  /// Checks a page and everything below it, whose keys must be at least `lower` and below `upper`.
  private mutating func verifyPage(
    _ reference: ChildReference,
    level: Int,
    lower: [UInt8]?,
    upper: [UInt8]?,
    _ walk: inout Walk
  ) {
    let place = reference.location.isFrame ? pool.storedPlace(ofPage: reference) : nil
    guard visit(reference.location, pageCount: 1, storedAt: place) else {
      return report("A page is referred to twice.", walk, reference.location)
    }
    let frame: UInt64
    let page: PageImage
    do throws(StoreError) {
      (frame, page) = try pool.copy(reference, identity: walk.core.identity(level))
    } catch {
      return report(error, walk, reference.location)
    }
    defer { pool.arena.free(CollectionOfOne(frame)) }
    if !page.hasSoundStructure(pool.geometry, inFile: !reference.location.isFrame) {
      return report("A page's contents contradict each other.", walk, reference.location)
    }
    if !reference.location.isFrame, page.hasStrayHeaderBytes {
      report("A page's header has bytes set that mean nothing.", walk, reference.location)
    }
    let keys = keys(of: page, &walk)
    verifyOrder(page, keys, lower: lower, upper: upper, reference, walk)
    verifyCount(page, reference, walk)
    for index in 0..<page.count {
      if level == 0 {
        verifyValue(page, index, &walk)
      } else {
        verifyPage(
          ChildReference(loading: page.reference(index)),
          level: level - 1,
          lower: index == 0 ? lower : keys[index],
          upper: index + 1 < page.count ? keys[index + 1] : upper,
          &walk
        )
      }
    }
  }

  /// Notes that `count` pages from `location` on were reached; false if one of them was reached before.
  private mutating func visit(
    _ location: PageLocation,
    pageCount count: Int,
    storedAt place: StoredPlace?
  ) -> Bool {
    pageCount += count
    if location.isFrame {
      let place = place ?? .none
      if !place.isNone, place.number < SpillFile.firstNumber { storedPageCount += count }
      return true
    }
    storedPageCount += count
    for number in location.number..<(location.number + UInt64(count))
    where !visited.insert(number).inserted {
      return false
    }
    return true
  }

  /// Returns the complete keys of a page; nil for a key that can't be read.
  private mutating func keys(of page: PageImage, _ walk: inout Walk) -> [[UInt8]?] {
    var keys: [[UInt8]?] = []
    keys.reserveCapacity(page.count)
    for index in 0..<page.count {
      let entry = PageEntry(page, index, pool.geometry)
      var key: [UInt8]? = entry.keyInPage
      if let rest = entry.keyRest {
        let tail = overflow(ChildReference(loading: rest), &walk)
        if let tail { tail.withBytes { key?.append(contentsOf: $0) } } else { key = nil }
      }
      keys.append(key)
    }
    return keys
  }

  private mutating func verifyOrder(
    _ page: PageImage,
    _ keys: [[UInt8]?],
    lower: [UInt8]?,
    upper: [UInt8]?,
    _ reference: ChildReference,
    _ walk: Walk
  ) {
    let firstKeyed = page.isLeaf ? 0 : 1
    var previous: [UInt8]?
    for index in stride(from: firstKeyed, to: keys.count, by: 1) {
      guard let key = keys[index] else { continue }
      if let previous, !previous.lexicographicallyPrecedes(key) {
        report("Keys of a page don't ascend.", walk, reference.location)
      }
      previous = key
      let head = key.dropFirst(page.prefixLength).withUnsafeBytes { ByteComparison.head($0.start, $0.count) }
      if page.head(index) != head {
        report("A slot's head doesn't match its key.", walk, reference.location)
      }
    }
    let known = keys.dropFirst(firstKeyed)
    if let lower, let first = known.first ?? nil, first.lexicographicallyPrecedes(lower) {
      report("A page has a key below its separator.", walk, reference.location)
    }
    if let upper, let last = known.last ?? nil, !last.lexicographicallyPrecedes(upper) {
      report("A page has a key above the next separator.", walk, reference.location)
    }
  }

  private mutating func verifyCount(_ page: PageImage, _ reference: ChildReference, _ walk: Walk) {
    var count = UInt64(page.count)
    if !page.isLeaf {
      count = (0..<page.count).reduce(0) { $0 &+ page.count(ofChild: $1) }
    }
    if count != reference.count {
      report("A reference's count of entries is wrong.", walk, reference.location)
    }
  }

  private mutating func verifyValue(_ page: PageImage, _ index: Int, _ walk: inout Walk) {
    let slot = page.slot(index)
    guard slot.valueOverflows else { return }
    _ = overflow(ChildReference(loading: page.leafPayload(slot).start), &walk)
  }

  /// Reads and verifies an overflow. Its pages are noted only when they were read: a forged length may claim
  /// more pages than there is memory to note.
  private mutating func overflow(_ reference: ChildReference, _ walk: inout Walk) -> ValueBytes? {
    if !walk.hasOverflow {
      report("A tree has overflow, but is recorded without any.", walk, nil)
      walk.hasOverflow = true
    }
    let isKnown = !reference.location.isFrame && visited.contains(reference.location.number)
    do throws(StoreError) {
      let value = isKnown ? nil : try pool.copyOverflow(reference, treeID: walk.core.root.treeID)
      let pages = pool.geometry.overflowPageCount(Int(reference.count))
      let place = reference.location.isFrame ? pool.storedPlace(ofOverflow: reference) : nil
      if let value, visit(reference.location, pageCount: pages, storedAt: place) { return value }
      report("An overflow page is referred to twice.", walk, reference.location)
    } catch {
      report(error, walk, reference.location)
    }
    return nil
  }
}
