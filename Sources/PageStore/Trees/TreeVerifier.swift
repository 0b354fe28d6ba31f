/// Checks whole trees, page by page, and reports everything that is wrong instead of stopping at the first
/// problem.
///
/// Invariants of a tree, by the numbers that reports use:
///
/// 1. Every page is what its reference says: checksum, number, birth, tree, level, entry count.
/// 2. Every page is reached once, in all trees of a store together.
/// 3. Keys ascend strictly within a page; each page's keys lie between its parent's separators.
/// 4. Every slot's head is what its key says, and every key has the page's prefix by construction.
/// 5. Counts in references are the numbers of entries below.
/// 6. Overflow pages have the checksums and lengths their references say.
struct TreeVerifier {
  private let pool: PagePool
  /// Page numbers and overflow pages met so far, over all trees.
  private(set) var visited: Set<UInt64> = []
  private(set) var problems: [IntegrityProblem] = []
  /// Pages and overflow chunks' pages that were reached, whether in the file or in memory.
  private(set) var pageCount = 0
  /// Those of them that are in the store's file, if only because a checkpoint has written what is in memory.
  private(set) var storedPageCount = 0

  init(pool: PagePool) { self.pool = pool }

  /// Checks a tree. `name` goes into reports.
  mutating func verify(_ root: TreeRoot, name: String) {
    var walk = Walk(core: TreeCore(root: root, pool: pool), name: name)
    guard root.height > 0 else {
      if !root.reference.location.isNone || root.count != 0 {
        report("An empty tree's root isn't empty.", walk, nil)
      }
      return
    }
    guard Int(root.height) <= TreeLimits.height else {
      return report("A tree is impossibly high.", walk, nil)
    }
    verifyPage(root.reference, level: Int(root.height) - 1, lower: nil, upper: nil, &walk)
  }

  private struct Walk {
    let core: TreeCore
    let name: String
  }

  private mutating func report(_ message: String, _ walk: Walk, _ location: PageLocation?) {
    let page = location.flatMap { $0.isFrame ? nil : $0.number }
    problems.append(IntegrityProblem(message: message, tree: walk.name, page: page))
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
      return report(error.message, walk, reference.location)
    }
    defer { pool.arena.free(CollectionOfOne(frame)) }
    if !page.hasSoundStructure(pool.geometry, inFile: !reference.location.isFrame) {
      return report("A page's contents contradict each other.", walk, reference.location)
    }
    guard let keys = keys(of: page, reference, walk) else { return }
    verifyOrder(page, keys, lower: lower, upper: upper, reference, walk)
    verifyCount(page, reference, walk)
    for index in 0..<page.count {
      if level == 0 {
        verifyValue(page, index, walk)
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

  /// Notes `pageCount` pages from `location` on; false if one was met before.
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

  /// The page's keys, whole.
  private mutating func keys(
    of page: PageImage,
    _ reference: ChildReference,
    _ walk: Walk
  ) -> [[UInt8]]? {
    var keys: [[UInt8]] = []
    keys.reserveCapacity(page.count)
    for index in 0..<page.count {
      let entry = PageEntry(page, index, pool.geometry)
      var key = [UInt8](unsafeUninitializedCapacity: entry.keyCount) { buffer, count in
        if let target = buffer.baseAddress { entry.copyKey(from: 0, to: UnsafeMutableRawPointer(target)) }
        count = entry.keyCount
      }
      if let rest = entry.keyRest {
        guard let tail = overflow(ChildReference(loading: rest), walk) else { return nil }
        tail.withBytes { key.append(contentsOf: $0) }
      }
      keys.append(key)
    }
    return keys
  }

  private mutating func verifyOrder(
    _ page: PageImage,
    _ keys: [[UInt8]],
    lower: [UInt8]?,
    upper: [UInt8]?,
    _ reference: ChildReference,
    _ walk: Walk
  ) {
    let firstKeyed = page.isLeaf ? 0 : 1
    for index in stride(from: firstKeyed, to: keys.count, by: 1) {
      if index > firstKeyed, !keys[index - 1].lexicographicallyPrecedes(keys[index]) {
        report("Keys of a page don't ascend.", walk, reference.location)
      }
      let suffix = keys[index].dropFirst(page.prefixLength)
      let head = suffix.withUnsafeBytes { ByteComparison.head($0.start, $0.count) }
      if page.head(index) != head {
        report("A slot's head isn't its key's.", walk, reference.location)
      }
    }
    if keys.count > firstKeyed {
      if let lower, keys[firstKeyed].lexicographicallyPrecedes(lower) {
        report("A page has a key below its separator.", walk, reference.location)
      }
      if let upper, let last = keys.last, !last.lexicographicallyPrecedes(upper) {
        report("A page has a key above the next separator.", walk, reference.location)
      }
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

  private mutating func verifyValue(_ page: PageImage, _ index: Int, _ walk: Walk) {
    let slot = page.slot(index)
    guard slot.valueOverflows else { return }
    _ = overflow(ChildReference(loading: page.leafPayload(slot).start), walk)
  }

  /// Reads an overflow, checksums and all. Its pages are noted when they have proved to be there: a forged length may name
  /// more of them than there is memory to note.
  private mutating func overflow(_ reference: ChildReference, _ walk: Walk) -> ValueBytes? {
    let isKnown = !reference.location.isFrame && visited.contains(reference.location.number)
    do throws(StoreError) {
      let value = isKnown ? nil : try pool.copyOverflow(reference, treeID: walk.core.root.treeID)
      let pages = pool.geometry.overflowPageCount(Int(reference.count))
      let place = reference.location.isFrame ? pool.storedPlace(ofOverflow: reference) : nil
      if let value, visit(reference.location, pageCount: pages, storedAt: place) { return value }
      report("An overflow page is referred to twice.", walk, reference.location)
    } catch {
      report(error.message, walk, reference.location)
    }
    return nil
  }
}
