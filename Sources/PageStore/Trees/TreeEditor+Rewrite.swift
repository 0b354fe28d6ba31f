extension TreeEditor {
  /// Calls `body` with the entries of a page, which point into it.
  func withEntries<R, E: Error>(
    of page: PageImage,
    _ body: (UnsafeMutableBufferPointer<PageEntry>) throws(E) -> R
  ) throws(E) -> R {
    let count = page.count
    let entries = UnsafeMutableBufferPointer<PageEntry>.allocate(capacity: count)
    defer { entries.deallocate() }
    for index in 0..<count { entries.initializeElement(at: index, to: PageEntry(page, index, geometry)) }
    return try body(entries)
  }

  /// Rewrites the path's page of `level` with `replacement` instead of the entries at `range`, in as many
  /// pages as necessary, and updates the parent.
  func rewrite(
    _ level: Int,
    replacing range: Range<Int>,
    with replacement: UnsafeBufferPointer<PageEntry>,
    bias: Partition.Bias
  ) throws(StoreError) {
    let page = path[level].page
    let count = page.count
    let total = count - range.count + replacement.count
    let entries = UnsafeMutableBufferPointer<PageEntry>.allocate(capacity: total)
    defer { entries.deallocate() }
    for index in 0..<range.lowerBound {
      entries.initializeElement(at: index, to: PageEntry(page, index, geometry))
    }
    for index in 0..<replacement.count {
      entries.initializeElement(at: range.lowerBound + index, to: replacement[index])
    }
    for index in range.upperBound..<count {
      entries.initializeElement(
        at: index - range.count + replacement.count,
        to: PageEntry(page, index, geometry)
      )
    }
    let old = reference(level)
    let pages = try layOut(
      UnsafeBufferPointer(entries),
      level: level,
      bias: bias,
      lonePrefix: page.prefixLength
    )
    defer { withExtendedLifetime(pages) {} }
    _ = try replaceChildren(level, count: 1, with: pages)
    dirty.retirePage(old, treeID: root.treeID)
  }

  /// Lays entries out in new frames.
  func layOut(
    _ entries: UnsafeBufferPointer<PageEntry>,
    level: Int,
    bias: Partition.Bias,
    lonePrefix: Int = 0
  ) throws(StoreError) -> NewPages {
    let starts = Partition(entries, isLeaf: level == 0, geometry: geometry, bias: bias).starts
    return try layOut(entries, dividedAt: starts, level: level, lonePrefix: lonePrefix)
  }

  /// Lays entries out in new frames, which begin with the entries at `starts`.
  func layOut(
    _ entries: UnsafeBufferPointer<PageEntry>,
    dividedAt starts: [Int],
    level: Int,
    lonePrefix: Int = 0
  ) throws(StoreError) -> NewPages {
    let isLeaf = level == 0
    let pages = NewPages(capacity: starts.count)
    for (position, start) in starts.enumerated() {
      let end = position + 1 < starts.count ? starts[position + 1] : entries.count
      let run = UnsafeBufferPointer(rebasing: entries[start..<end])
      let reference = try buildPage(run, level: level, lonePrefix: lonePrefix)
      if position == 0 {
        pages.append(reference)
      } else if isLeaf {
        try appendLeaf(reference, after: entries[start - 1], first: entries[start], to: pages)
      } else {
        pages.append(reference, separator: entries[start])
      }
    }
    return pages
  }

  /// Lays entries out in one new frame, in which they fit.
  func buildPage(
    _ entries: UnsafeBufferPointer<PageEntry>,
    level: Int,
    lonePrefix: Int
  ) throws(StoreError) -> ChildReference {
    let frame = dirty.allocateFrame()
    try PageBuilder(geometry: geometry, isLeaf: level == 0).build(
      pool.arena.address(frame),
      treeID: root.treeID,
      level: UInt8(level),
      birth: dirty.commit,
      entries: entries,
      lonePrefix: lonePrefix
    )
    return ChildReference(
      location: .frame(frame),
      checksum: 0,
      birth: dirty.commit,
      count: Self.entryCount(entries, isLeaf: level == 0)
    )
  }

  /// Begins a new leaf after the tree's last one, to which the path leads, if that is full and has no
  /// garbage. Otherwise returns false, with nothing changed.
  func addLastLeaf(_ entry: PageEntry) throws(StoreError) -> Bool {
    let last = path[0].page
    let needed = entry.byteCount(isLeaf: true) - min(last.prefixLength, entry.keyCount)
    guard last.garbage == 0, last.freeBytes < needed, last.count > 0 else { return false }
    let pages = NewPages(capacity: 2)
    defer { withExtendedLifetime(pages) {} }
    // The counts on the path include the new entry already.
    var kept = reference(0)
    kept.count = UInt64(last.count)
    pages.append(kept)
    let lastEntry = PageEntry(last, last.count - 1, geometry)
    // The keys of the new leaf will have the common prefix of the full one's, perhaps without the last digit
    // of a counter.
    let shared = PageEntry(last, 0, geometry).commonPrefix(with: lastEntry)
    let fresh = try withUnsafePointer(to: entry) { entry throws(StoreError) in
      let entries = UnsafeBufferPointer(start: entry, count: 1)
      return try buildPage(entries, level: 0, lonePrefix: max(0, shared - 1))
    }
    try appendLeaf(fresh, after: lastEntry, first: entry, to: pages)
    _ = try replaceChildren(0, count: 1, with: pages)
    return true
  }

  private static func entryCount(_ entries: UnsafeBufferPointer<PageEntry>, isLeaf: Bool) -> UInt64 {
    if isLeaf { return UInt64(entries.count) }
    var sum: UInt64 = 0
    for entry in entries { sum &+= ChildReference(loading: entry.payload).count }
    return sum
  }

  /// Adds a leaf with the shortest separator between it and the one before: the first key of the leaf up to
  /// the first byte in which it differs from the last key before.
  private func appendLeaf(
    _ reference: ChildReference,
    after last: PageEntry,
    first: PageEntry,
    to pages: NewPages
  ) throws(StoreError) {
    let shared = first.commonPrefix(with: last)
    if shared < first.keyCount, shared < last.keyCount || last.keyRest == nil {
      var separator = first
      separator.truncateKey(to: shared + 1)
      pages.append(reference, separator: separator)
      return
    }
    // The bytes in the pages don't distinguish the keys: the rest of one or both is in overflow pages.
    let lastKey = try wholeKey(last)
    let firstKey = try wholeKey(first)
    let common = firstKey.withUnsafeBytes { first in
      lastKey.withUnsafeBytes { last in
        ByteComparison.commonPrefix(first.start, last.start, limit: min(first.count, last.count))
      }
    }
    let length = min(common + 1, firstKey.count)
    firstKey[..<length].withUnsafeBytes { key in
      pages.append(reference, separator: makeSeparator(key))
    }
  }

  /// Returns the complete key of an entry.
  func wholeKey(_ entry: PageEntry) throws(StoreError) -> [UInt8] {
    var key = [UInt8](unsafeUninitializedCapacity: entry.keyCount) { buffer, count in
      if let target = buffer.baseAddress { entry.copyKey(from: 0, to: UnsafeMutableRawPointer(target)) }
      count = entry.keyCount
    }
    if let rest = entry.keyRest {
      let tail = try map.overflow(ChildReference(loading: rest), treeID: root.treeID)
      tail.withBytes { key.append(contentsOf: $0) }
    }
    return key
  }

  /// Replaces `count` children of the path's branch above `level`, beginning with the one on the path, by
  /// `pages`. The first new page keeps the separator of the first old one. Returns whether the branch was
  /// changed in place, so that the path still leads through it.
  func replaceChildren(_ level: Int, count: Int, with pages: NewPages) throws(StoreError) -> Bool {
    guard level < height - 1 else {
      try growRoot(level, pages)
      return false
    }
    setReference(level, pages.reference(0))
    let parentLevel = level + 1
    let index = path[parentLevel].index
    let parent = editor(path[parentLevel].page)
    for _ in 1..<max(1, count) { parent.remove(at: index + 1) }
    for position in 1..<max(1, pages.count) {
      if parent.insert(pages[position], at: index + position) { continue }
      let rest = UnsafeBufferPointer(rebasing: pages.entries[position..<pages.count])
      let at = index + position
      try rewrite(
        parentLevel,
        replacing: at..<at,
        with: rest,
        bias: bias(ofInsertionAt: at, level: parentLevel)
      )
      return false
    }
    return true
  }

  /// Makes `pages`, of `level`, the tree: a single page becomes the root, several get a new root above them.
  private func growRoot(_ level: Int, _ pages: NewPages) throws(StoreError) {
    guard pages.count > 1 else { return setRoot(pages.reference(0), height: level + 1) }
    // In a forged tree, full pages at every level could be divided once too often.
    guard level + 1 < TreeLimits.height else {
      throw StoreError(.corrupt, "A tree is impossibly high.", context: .init(tree: "\(root.treeID)"))
    }
    let upper = try layOut(UnsafeBufferPointer(pages.entries), level: level + 1, bias: .balanced)
    defer { withExtendedLifetime(upper) {} }
    try growRoot(level + 1, upper)
  }
}

/// New pages, as the entries that their parent will have for them, with the bytes to which the entries point.
final class NewPages {
  private(set) var entries: UnsafeMutableBufferPointer<PageEntry>
  private(set) var count = 0
  private var storage: [UnsafeMutableRawPointer] = []

  init(capacity: Int) {
    entries = .allocate(capacity: capacity)
  }

  deinit {
    entries.deallocate()
    for block in storage { block.deallocate() }
  }

  subscript(position: Int) -> PageEntry { entries[position] }

  func reference(_ position: Int) -> ChildReference { ChildReference(loading: entries[position].payload) }

  /// Adds a page. `separator` has the key of its entry, which the first page doesn't need.
  func append(_ reference: ChildReference, separator: PageEntry? = nil) {
    let keyCount = separator?.keyCount ?? 0
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: 2 * ChildReference.byteCount + keyCount,
      alignment: 8
    )
    storage.append(block)
    let key = block + 2 * ChildReference.byteCount
    separator?.copyKey(from: 0, to: key)
    reference.store(to: block)
    var entry = PageEntry(
      key: UnsafeRawBufferPointer(start: key, count: keyCount),
      payload: UnsafeRawBufferPointer(start: block, count: ChildReference.byteCount)
    )
    if let rest = separator?.keyRest {
      let copy = block + ChildReference.byteCount
      copy.copyMemory(from: rest, byteCount: ChildReference.byteCount)
      entry.keyRest = UnsafeRawPointer(copy)
    }
    entries.initializeElement(at: count, to: entry)
    count += 1
  }
}
