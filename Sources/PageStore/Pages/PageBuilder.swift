/// Lays entries out in fresh pages, densely and in order.
struct PageBuilder {
  let geometry: PageGeometry
  let isLeaf: Bool

  /// Writes `entries` into `page`, with their longest common prefix. They fit, according to ``Partition``.
  ///
  /// A single key shares all its bytes with all keys of its page. Only `lonePrefix` bytes of it become the
  /// prefix, so that the next insertion need not rewrite the page.
  ///
  /// Throws `corrupt` if keys are not in order, as may be in forged pages: then the common prefix of the
  /// first and the last key need not be that of the others.
  func build(
    _ page: UnsafeMutableRawPointer,
    treeID: UInt32,
    level: UInt8,
    birth: UInt64,
    entries: UnsafeBufferPointer<PageEntry>,
    lonePrefix: Int
  ) throws(StoreError) {
    PageEditor(page, geometry).initializeHeader(treeID: treeID, level: level, birth: birth)
    let keyedCount = isLeaf ? entries.count : entries.count - 1
    let shared = commonPrefix(entries)
    let prefixCount = keyedCount > 1 ? shared : min(lonePrefix, shared)
    var heap = geometry.pageSize - prefixCount
    if prefixCount > 0 { copyPrefix(prefixCount, of: entries[entries.count - 1], to: page + heap) }
    var flags: UInt16 = 0
    var slot = page + PageHeader.byteCount
    for index in 0..<entries.count {
      var entry = entries[index]
      let isFirstOfBranch = !isLeaf && index == 0
      if isFirstOfBranch { entry.removeKey() }
      let skipped = isFirstOfBranch ? 0 : prefixCount
      guard entry.keyCount >= skipped else {
        throw StoreError(.corrupt, "Keys of a page don't ascend.", context: .init(tree: "\(treeID)"))
      }
      heap &-= PageEditor.cellLength(of: entry, isLeaf: isLeaf, skipping: skipped)
      let word = PageEditor.writeCell(entry, isLeaf: isLeaf, skipping: skipped, in: page, at: heap)
      slot.storeLittle(word.rawValue, 0)
      slot += PageSlot.byteCount
      flags |= word.flags
    }
    page.storeLittle(UInt16(entries.count), PageHeader.slotCount)
    page.storeLittle(UInt16(prefixCount), PageHeader.prefixLength)
    page.storeLittle(UInt32(heap), PageHeader.heapStart)
    page.storeLittle(flags == 0 ? 0 : PageFlags.hasOverflow, PageHeader.flags)
  }

  private func copyPrefix(_ count: Int, of entry: PageEntry, to target: UnsafeMutableRawPointer) {
    let first = min(count, entry.prefixCount)
    target.copyMemory(from: entry.prefix, byteCount: first)
    (target + first).copyMemory(from: entry.suffix, byteCount: count - first)
  }

  /// Returns the length of the common prefix of all keys of sorted entries: that of the first and the last
  /// key.
  private func commonPrefix(_ entries: UnsafeBufferPointer<PageEntry>) -> Int {
    let first = isLeaf ? 0 : 1
    guard entries.count > first else { return 0 }
    return min(entries[first].commonPrefix(with: entries[entries.count - 1]), geometry.prefixLimit)
  }
}

/// The division of entries among pages.
struct Partition {
  /// The indices of the entries with which pages begin; the first is 0.
  private(set) var starts: [Int] = [0]

  /// The insertions to expect after one at an end of the tree.
  enum Bias {
    case balanced
    /// Keys arrive in ascending order, so the left page is filled.
    case ascending
    /// Keys arrive in descending order, so the right page is filled.
    case descending
  }

  /// Divides `entries` into as few pages as possible: one, or two of even size (of uneven size if `bias` says
  /// that keys arrive in order), or more if the loss of a common prefix makes the entries grow.
  init(
    _ entries: UnsafeBufferPointer<PageEntry>,
    isLeaf: Bool,
    geometry: PageGeometry,
    bias: Bias = .balanced
  ) {
    let sizes = EntrySizes(entries, isLeaf: isLeaf, geometry: geometry)
    let capacity = geometry.capacity
    if sizes.byteCount(0, entries.count) <= capacity { return }
    if let middle = Self.middle(sizes, capacity, bias) {
      starts.append(middle)
      return
    }
    starts = sizes.starts(upTo: capacity)
  }

  /// Divides the entries of leaves into pages of at most `budget` bytes, the last two of even size.
  init(filling entries: UnsafeBufferPointer<PageEntry>, upTo budget: Int, geometry: PageGeometry) {
    let sizes = EntrySizes(entries, isLeaf: true, geometry: geometry)
    starts = sizes.starts(upTo: budget)
    guard starts.count > 1 else { return }
    let (beforeLast, last) = (starts[starts.count - 2], starts[starts.count - 1])
    let middle = sizes.halfway(from: beforeLast, to: entries.count)
    if middle > beforeLast, middle < last, sizes.byteCount(middle, entries.count) <= budget {
      starts[starts.count - 1] = middle
    }
  }

  /// Returns whether a branch can hold `entries`.
  static func fitsOnePage(_ entries: [PageEntry], geometry: PageGeometry) -> Bool {
    entries.withUnsafeBufferPointer { entries in
      EntrySizes(entries, isLeaf: false, geometry: geometry).byteCount(0, entries.count) <= geometry.capacity
    }
  }

  /// Returns the index that divides the entries most evenly into two pages that both fit; nil if there is
  /// none.
  private static func middle(_ sizes: EntrySizes, _ capacity: Int, _ bias: Bias) -> Int? {
    let count = sizes.count
    func fits(_ middle: Int) -> Bool {
      middle > 0 && middle < count && sizes.byteCount(0, middle) <= capacity
        && sizes.byteCount(middle, count) <= capacity
    }
    switch bias {
    case .ascending where fits(count - 1): return count - 1
    case .descending where fits(1): return 1
    default: break
    }
    let center = sizes.halfway(from: 0, to: count)
    for distance in 0..<count {
      if fits(center - distance) { return center - distance }
      if fits(center + distance) { return center + distance }
      if center - distance <= 0, center + distance >= count { break }
    }
    return nil
  }
}

/// The sizes of runs of entries, computed from running sums.
private struct EntrySizes {
  private let entries: UnsafeBufferPointer<PageEntry>
  private let isLeaf: Bool
  private let geometry: PageGeometry
  private var sums: [Int]

  init(_ entries: UnsafeBufferPointer<PageEntry>, isLeaf: Bool, geometry: PageGeometry) {
    self.entries = entries
    self.geometry = geometry
    self.isLeaf = isLeaf
    sums = [Int](unsafeUninitializedCapacity: entries.count + 1) { sums, count in
      var sum = 0
      sums[0] = 0
      for index in 0..<entries.count {
        sum &+= entries[index].byteCount(isLeaf: isLeaf)
        sums[index &+ 1] = sum
      }
      count = entries.count + 1
    }
  }

  var count: Int { entries.count }

  /// Returns the number of bytes that the entries `first..<end` take in a page of their own.
  func byteCount(_ first: Int, _ end: Int) -> Int {
    let whole = sums[end] - sums[first]
    let firstKeyed = isLeaf ? first : first + 1
    // A branch's first separator isn't stored.
    let unstored = isLeaf ? 0 : entries[first].keyCount + entries[first].keyRestCount
    guard end - firstKeyed > 1 else { return whole - unstored }
    let prefix = min(entries[firstKeyed].commonPrefix(with: entries[end - 1]), geometry.prefixLimit)
    return whole - unstored - (end - firstKeyed - 1) * prefix
  }

  /// Returns the entries with which the pages begin. Each page takes at most `budget` bytes, or has one
  /// entry, and is as full as possible.
  func starts(upTo budget: Int) -> [Int] {
    var starts = [0]
    var end = endOfPage(from: 0, upTo: budget)
    while end < count {
      starts.append(end)
      end = endOfPage(from: end, upTo: budget)
    }
    return starts
  }

  /// Returns the end of the longest run of entries from `first` on that takes at most `budget` bytes; of one
  /// entry at least. Compares O(log n) keys: a longer run never takes fewer bytes, because the common prefix
  /// of sorted keys only becomes shorter.
  private func endOfPage(from first: Int, upTo budget: Int) -> Int {
    (first + 1..<max(first + 1, count)).partitionPoint { byteCount(first, $0 + 1) > budget }
  }

  /// Returns the index at which half of the bytes of the entries `first..<end` are reached.
  func halfway(from first: Int, to end: Int) -> Int {
    let half = (sums[first] + sums[end]) / 2
    return (first + 1..<end).partitionPoint { sums[$0] >= half }
  }
}
