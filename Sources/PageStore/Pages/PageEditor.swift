/// Changes a page in place: a frame of its transaction, which no other thread sees.
///
/// Every change keeps the invariants that ``PageImage/validate(_:as:)`` checks: cells lie within the heap,
/// and cells, garbage and prefix add up to it.
struct PageEditor {
  let base: UnsafeMutableRawPointer
  let geometry: PageGeometry

  @inline(__always)
  init(_ base: UnsafeMutableRawPointer, _ geometry: PageGeometry) {
    self.base = base
    self.geometry = geometry
  }

  @inline(__always)
  var image: PageImage { PageImage(UnsafeRawPointer(base)) }

  /// Initialises the header of an empty page.
  func initializeHeader(treeID: UInt32, level: UInt8, birth: UInt64) {
    base.initializeMemory(as: UInt8.self, repeating: 0, count: PageHeader.byteCount)
    base.storeLittle(birth, PageHeader.birth)
    base.storeLittle(PageImage.identity(treeID: treeID, level: level), PageHeader.treeID)
    base.storeLittle(UInt32(geometry.pageSize), PageHeader.heapStart)
  }

  // MARK: Entries

  /// Inserts an entry at `index`. False, with nothing changed, if there is no room for it, or its key lacks
  /// the page's prefix.
  @inline(__always)
  func insert(_ entry: PageEntry, at index: Int) -> Bool {
    let image = self.image
    guard hasPrefix(entry, image) else { return false }
    let prefixCount = image.prefixLength
    let isLeaf = image.isLeaf
    let length = Self.cellLength(of: entry, isLeaf: isLeaf, skipping: prefixCount)
    let count = image.count
    let heap = image.heapStart &- length
    guard heap >= PageHeader.byteCount &+ PageSlot.byteCount &* (count &+ 1) else { return false }
    let word = Self.writeCell(entry, isLeaf: isLeaf, skipping: prefixCount, in: base, at: heap)
    let slot = base + (PageHeader.byteCount &+ PageSlot.byteCount &* index)
    slot.advanced(by: PageSlot.byteCount).copyMemory(
      from: slot,
      byteCount: PageSlot.byteCount &* (count &- index)
    )
    slot.storeLittle(word.rawValue, 0)
    base.storeLittle(UInt16(truncatingIfNeeded: count &+ 1), PageHeader.slotCount)
    base.storeLittle(UInt32(truncatingIfNeeded: heap), PageHeader.heapStart)
    noteFlags(word.flags)
    return true
  }

  /// Removes the entry at `index`.
  func remove(at index: Int) {
    let image = self.image
    let count = image.count
    addGarbage(image.cellLength(image.slot(index)))
    let slot = base + (PageHeader.byteCount &+ PageSlot.byteCount &* index)
    slot.copyMemory(
      from: slot + PageSlot.byteCount,
      byteCount: PageSlot.byteCount &* (count &- index &- 1)
    )
    base.storeLittle(UInt16(truncatingIfNeeded: count &- 1), PageHeader.slotCount)
  }

  /// Replaces the value, or the reference to it, of the leaf's entry at `index`. False, with nothing changed,
  /// if there is no room for it.
  func replacePayload(at index: Int, with payload: UnsafeRawBufferPointer, overflows: Bool) -> Bool {
    let image = self.image
    let slot = image.slot(index)
    let keyBytes = slot.keyLength &+ slot.keyRestLength
    let old = image.leafPayload(slot).count
    var offset = slot.offset
    if payload.count > old {
      let length = LeafCell.keyOffset &+ keyBytes &+ payload.count
      guard length <= image.freeBytes else { return false }
      addGarbage(LeafCell.keyOffset &+ keyBytes &+ old)
      offset = image.heapStart &- length
      (base + (offset &+ LeafCell.keyOffset)).copyMemory(
        from: base + (slot.offset &+ LeafCell.keyOffset),
        byteCount: keyBytes
      )
      base.storeLittle(UInt32(truncatingIfNeeded: offset), PageHeader.heapStart)
    } else {
      addGarbage(old &- payload.count)
    }
    let flags = (slot.flags & PageSlot.keyOverflows) | (overflows ? PageSlot.valueOverflows : 0)
    base.storeLittle(UInt16(truncatingIfNeeded: payload.count), offset &+ LeafCell.valueLength)
    (base + (offset &+ LeafCell.keyOffset &+ keyBytes)).copyMemory(
      from: payload.start,
      byteCount: payload.count
    )
    let word = PageSlotWord(head: slot.head, offset: offset, keyLength: slot.keyLength, flags: flags)
    base.storeLittle(word.rawValue, PageHeader.byteCount &+ PageSlot.byteCount &* index)
    noteFlags(flags)
    return true
  }

  /// Replaces a branch's child reference.
  @inline(__always)
  func setReference(_ index: Int, _ reference: ChildReference) {
    reference.store(to: base + image.slot(index).offset)
  }

  /// Adds to the count of entries below a branch's child.
  @inline(__always)
  func addToCount(ofChild index: Int, _ difference: Int) {
    let cell = base + image.slot(index).offset
    cell.storeLittle(cell.loadLittle(24, as: UInt64.self) &+ UInt64(bitPattern: Int64(difference)), 24)
  }

  // MARK: Parts

  private func hasPrefix(_ entry: PageEntry, _ image: PageImage) -> Bool {
    let count = image.prefixLength
    if count == 0 { return true }
    guard entry.keyCount >= count else { return false }
    let prefix = image.prefix(geometry)
    let first = min(count, entry.prefixCount)
    return ByteComparison.commonPrefix(entry.prefix, prefix, limit: first) == first
      && ByteComparison.commonPrefix(entry.suffix, prefix + first, limit: count &- first) == count &- first
  }

  private func addGarbage(_ count: Int) {
    base.storeLittle(UInt32(truncatingIfNeeded: image.garbage &+ count), PageHeader.garbage)
  }

  @inline(__always)
  private func noteFlags(_ slotFlags: UInt16) {
    if slotFlags != 0 { base.storeLittle(image.flags | PageFlags.hasOverflow, PageHeader.flags) }
  }

  /// Returns the number of bytes of the cell of `entry` in a page whose prefix has the first `skipped` bytes
  /// of the key.
  @inline(__always)
  static func cellLength(of entry: PageEntry, isLeaf: Bool, skipping skipped: Int) -> Int {
    entry.byteCount(isLeaf: isLeaf) &- PageSlot.byteCount &- skipped
  }

  /// Writes the cell of `entry` at `offset` of a page and returns its slot.
  @inline(__always)
  static func writeCell(
    _ entry: PageEntry,
    isLeaf: Bool,
    skipping skipped: Int,
    in page: UnsafeMutableRawPointer,
    at offset: Int
  ) -> PageSlotWord {
    let keyLength = entry.keyCount &- skipped
    let cell = page + offset
    let key = cell + (isLeaf ? LeafCell.keyOffset : BranchCell.keyOffset)
    let bytes = entry.keyBytes(from: skipped)
    if isLeaf { cell.storeLittle(UInt16(truncatingIfNeeded: entry.payloadCount), LeafCell.valueLength) }
    if isLeaf, let bytes, entry.isInOneCell {
      ShortCopy.copy(from: bytes, to: key, count: keyLength &+ entry.payloadCount)
    } else {
      entry.copyKey(from: skipped, to: key)
      var end = key + keyLength
      if let rest = entry.keyRest {
        end.copyMemory(from: rest, byteCount: ChildReference.byteCount)
        end += ChildReference.byteCount
      }
      (isLeaf ? end : cell).copyMemory(from: entry.payload, byteCount: entry.payloadCount)
    }
    // A load from the source needn't wait for the copy.
    let head = ByteComparison.head(bytes ?? UnsafeRawPointer(key), keyLength)
    return PageSlotWord(head: head, offset: offset, keyLength: keyLength, flags: entry.flags)
  }
}
