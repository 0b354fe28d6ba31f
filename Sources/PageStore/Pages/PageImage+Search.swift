import CLinux

/// A key to search for. Its bytes don't move during the call.
struct SearchKey {
  let start: UnsafeRawPointer
  let count: Int

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    start = bytes.start
    count = bytes.count
  }
}

extension PageImage {
  /// Returns the first entry of a leaf whose key is not below `key`, and whether it is that key.
  ///
  /// Heads decide nearly every step without access to a cell, which makes up most of a lookup's speed.
  @inline(__always)
  func lowerBound(of key: SearchKey, in pages: PageMap) throws(StoreError) -> (index: Int, isEqual: Bool) {
    let count = self.count
    let prefixLength = self.prefixLength
    if prefixLength > 0 {
      let order = comparePrefix(prefixLength, key, pages.geometry)
      if order > 0 { return (0, false) }
      if order < 0 { return (count, false) }
    }
    let rest = key.start + prefixLength
    let restCount = key.count &- prefixLength
    let head = ByteComparison.head(rest, restCount)
    var index = firstHead(notBelow: head, from: 0, to: count)
    // Among entries with the same head as the key, the cells decide.
    var end = count
    if index < count, self.head(index) == head, index &+ 4 < count, self.head(index &+ 4) == head {
      end = firstHead(above: head, from: index &+ 4, to: count)
      while end &- index > 4 {
        let middle = (index &+ end) >> 1
        let order = try compareEntry(slot(middle), LeafCell.keyOffset, rest, restCount, pages)
        if order == 0 { return (middle, true) }
        if order < 0 { index = middle &+ 1 } else { end = middle }
      }
    }
    while index < end {
      let slot = self.slot(index)
      guard slot.head == head else { break }
      let order = try compareEntry(slot, LeafCell.keyOffset, rest, restCount, pages)
      if order >= 0 { return (index, order == 0) }
      index &+= 1
    }
    return (index, false)
  }

  /// Returns the index of the child below which `key` is or would be: the last one whose separator isn't
  /// above it.
  @inline(__always)
  func childIndex(for key: SearchKey, in pages: PageMap) throws(StoreError) -> Int {
    let count = self.count
    let prefixLength = self.prefixLength
    if prefixLength > 0 {
      let order = comparePrefix(prefixLength, key, pages.geometry)
      if order > 0 { return 0 }
      if order < 0 { return count &- 1 }
    }
    let rest = key.start + prefixLength
    let restCount = key.count &- prefixLength
    let head = ByteComparison.head(rest, restCount)
    var end = firstHead(above: head, from: 1, to: count)
    var index = end
    // Among entries with the same head as the key, find the first that is above the key, from the right.
    if index > 5, self.head(index &- 5) == head {
      index = firstHead(notBelow: head, from: 1, to: index &- 5)
      while end &- index > 4 {
        let middle = (index &+ end) >> 1
        if try compareEntry(slot(middle), BranchCell.keyOffset, rest, restCount, pages) <= 0 {
          index = middle &+ 1
        } else {
          end = middle
        }
      }
    }
    while end > 1 {
      let slot = self.slot(end &- 1)
      if slot.head != head { break }
      if try compareEntry(slot, BranchCell.keyOffset, rest, restCount, pages) <= 0 { break }
      end &-= 1
    }
    return end &- 1
  }

  /// Prefetches the cell that a leaf probably has for `key`, judged by the heads alone. The processor loads
  /// it while the caller continues.
  @inline(__always)
  func prefetchCell(for key: SearchKey) {
    let count = self.count
    let prefixLength = min(self.prefixLength, key.count)
    let head = ByteComparison.head(key.start + prefixLength, key.count &- prefixLength)
    let index = firstHead(notBelow: head, from: 0, to: count)
    guard index < count else { return }
    let cell = base + slot(index).offset
    // Most values are no longer than these cache lines.
    for line in 0..<4 { clinux_prefetch(cell + line &* 64) }
  }

  /// Returns whether a key belongs below a branch's child, judged by the heads alone: false if they don't
  /// decide.
  func surelyHas(_ key: SearchKey, below child: Int, _ geometry: PageGeometry) -> Bool {
    guard child < count else { return false }
    if prefixLength > 0, comparePrefix(prefixLength, key, geometry) != 0 { return false }
    let head = ByteComparison.head(key.start + prefixLength, key.count &- prefixLength)
    return (child == 0 || self.head(child) < head) && (child + 1 < count && head < self.head(child + 1))
  }

  /// Compares the page's prefix with the start of `key`: zero if the key begins with it.
  @inline(__always)
  private func comparePrefix(_ prefixLength: Int, _ key: SearchKey, _ geometry: PageGeometry) -> Int {
    let start = base + (geometry.pageSize &- prefixLength)
    return ByteComparison.compare(start, prefixLength, key.start, min(prefixLength, key.count))
  }

  @inline(__always)
  private func firstHead(notBelow head: UInt32, from first: Int, to end: Int) -> Int {
    partitionHeads(from: first, to: end) { $0 < head }
  }

  @inline(__always)
  private func firstHead(above head: UInt32, from first: Int, to end: Int) -> Int {
    partitionHeads(from: first, to: end) { $0 <= head }
  }

  /// Returns the first slot from `first` on whose head makes `isBefore` false. The slots for which it is true
  /// come first.
  ///
  /// Each round reads seven slots, an eighth of the range apart, and counts. The reads are independent of
  /// each other: in a page that isn't in the processor's caches, a round costs one access to memory, where
  /// binary search costs one a step. And there is no branch to mispredict.
  @inline(__always)
  private func partitionHeads(from first: Int, to end: Int, _ isBefore: (UInt32) -> Bool) -> Int {
    var low = first
    var count = end &- first
    while count >= 8 {
      let step = count >> 3
      var before = 0
      for part in 1...7 { before &+= isBefore(self.head(low &+ part &* step &- 1)) ? 1 : 0 }
      low &+= before &* step
      count = before == 7 ? count &- 7 &* step : step &- 1
    }
    var before = 0
    for index in 0..<count { before &+= isBefore(self.head(low &+ index)) ? 1 : 0 }
    return low &+ before
  }

  /// Compares an entry's key with the key that consists of the page's prefix and `rest`.
  @inline(__always)
  private func compareEntry(
    _ slot: PageSlotWord,
    _ keyOffset: Int,
    _ rest: UnsafeRawPointer,
    _ restCount: Int,
    _ pages: PageMap
  ) throws(StoreError) -> Int {
    if slot.keyOverflows { return try compareOverflowing(slot, rest, restCount, pages) }
    return ByteComparison.compare(base + (slot.offset &+ keyOffset), slot.keyLength, rest, restCount)
  }

  /// Compares the key of an entry whose rest is in an overflow page, which is read only if necessary.
  @inline(never)
  private func compareOverflowing(
    _ slot: PageSlotWord,
    _ rest: UnsafeRawPointer,
    _ restCount: Int,
    _ pages: PageMap
  ) throws(StoreError) -> Int {
    let common = min(slot.keyLength, restCount)
    let order = ByteComparison.compare(key(slot), common, rest, common)
    if order != 0 { return order }
    if restCount <= slot.keyLength { return 1 }
    let tail = try pages.overflow(ChildReference(loading: keyRest(slot)), treeID: treeID)
    return tail.withBytes { tail in
      ByteComparison.compare(
        tail.start,
        tail.count,
        rest + slot.keyLength,
        restCount &- slot.keyLength
      )
    }
  }
}
