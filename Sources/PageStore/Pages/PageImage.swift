/// A leaf or a branch in memory, as a pointer to its bytes: no ownership, no checks.
///
/// Reading it is safe for two reasons. A page of a file has passed ``validate(_:as:)`` before it is
/// published, so every slot leads to a cell inside the page. And a page that other threads can see is never
/// changed.
///
/// ```
/// 0       64                 64 + 8 × slotCount    heapStart          pageSize − prefixLength   pageSize
/// | header | slots, by key → | free                | cells, any order | the keys' common prefix |
/// ```
struct PageImage {
  let base: UnsafeRawPointer

  @inline(__always)
  init(_ base: UnsafeRawPointer) { self.base = base }

  /// Returns tree, kind and level in one word. A reader compares this word of a page with the one that
  /// follows from the reference. The identity of an evicted frame never matches.
  @inline(__always)
  static func identity(treeID: UInt32, level: UInt8) -> UInt64 {
    let kind = level == 0 ? PageKind.leaf : PageKind.branch
    return UInt64(treeID) | UInt64(kind.rawValue) << 32 | UInt64(level) << 40
  }

  private static let identityMask: UInt64 = (1 << 48) - 1 | UInt64(PageFlags.evicted) << 48

  @inline(__always)
  var identity: UInt64 { base.loadLittle(PageHeader.treeID, as: UInt64.self) & Self.identityMask }

  var checksum: UInt64 { base.loadLittle(PageHeader.checksum) }
  var number: UInt64 { base.loadLittle(PageHeader.number) }
  @inline(__always)
  var birth: UInt64 { base.loadLittle(PageHeader.birth) }
  var treeID: UInt32 { base.loadLittle(PageHeader.treeID) }
  var kind: UInt8 { base.loadLittle(PageHeader.kind) }
  var level: UInt8 { base.loadLittle(PageHeader.level) }
  var flags: UInt16 { base.loadLittle(PageHeader.flags) }
  @inline(__always)
  var isLeaf: Bool { level == 0 }

  @inline(__always)
  var count: Int { Int(base.loadLittle(PageHeader.slotCount, as: UInt16.self)) }
  @inline(__always)
  var prefixLength: Int { Int(base.loadLittle(PageHeader.prefixLength, as: UInt16.self)) }
  @inline(__always)
  var heapStart: Int { Int(base.loadLittle(PageHeader.heapStart, as: UInt32.self)) }
  var garbage: Int { Int(base.loadLittle(PageHeader.garbage, as: UInt32.self)) }

  /// Returns the common prefix of the page's keys; in a branch, of all separators but the first, which is
  /// empty.
  @inline(__always)
  func prefix(_ geometry: PageGeometry) -> UnsafeRawPointer { base + (geometry.pageSize &- prefixLength) }

  /// Bytes between slots and cells.
  var freeBytes: Int { heapStart &- PageHeader.byteCount &- PageSlot.byteCount &* count }

  /// Returns the number of bytes after the header that the entries and the prefix take.
  func usedBytes(_ geometry: PageGeometry) -> Int { geometry.capacity &- freeBytes &- garbage }

  // MARK: Slots and cells

  @inline(__always)
  func slot(_ index: Int) -> PageSlotWord {
    PageSlotWord(base.loadLittle(PageHeader.byteCount &+ PageSlot.byteCount &* index))
  }

  @inline(__always)
  func head(_ index: Int) -> UInt32 {
    base.loadLittle(PageHeader.byteCount &+ PageSlot.byteCount &* index)
  }

  /// Returns the child reference of a branch's entry.
  @inline(__always)
  func reference(_ index: Int) -> UnsafeRawPointer { base + slot(index).offset }

  /// Returns the key of a leaf's entry after the page's prefix, as far as it is in the page.
  @inline(__always)
  func leafKey(_ slot: PageSlotWord) -> UnsafeRawPointer { base + (slot.offset &+ LeafCell.keyOffset) }

  /// Returns the separator of a branch's entry after the page's prefix, as far as it is in the page.
  @inline(__always)
  func branchKey(_ slot: PageSlotWord) -> UnsafeRawPointer { base + (slot.offset &+ BranchCell.keyOffset) }

  @inline(__always)
  func key(_ slot: PageSlotWord) -> UnsafeRawPointer { isLeaf ? leafKey(slot) : branchKey(slot) }

  /// Returns the reference to the rest of a key that overflows.
  func keyRest(_ slot: PageSlotWord) -> UnsafeRawPointer { key(slot) + slot.keyLength }

  /// Returns the value of a leaf's entry, or the reference to its overflow pages.
  @inline(__always)
  func leafPayload(_ slot: PageSlotWord) -> UnsafeRawBufferPointer {
    let cell = base + slot.offset
    let count = Int(cell.loadLittle(LeafCell.valueLength, as: UInt16.self))
    return UnsafeRawBufferPointer(
      start: cell + (LeafCell.keyOffset &+ slot.keyLength &+ slot.keyRestLength),
      count: count
    )
  }

  /// Returns the number of bytes of an entry's cell.
  func cellLength(_ slot: PageSlotWord) -> Int {
    let key = slot.keyLength &+ slot.keyRestLength
    if !isLeaf { return BranchCell.keyOffset &+ key }
    return LeafCell.keyOffset &+ key
      &+ Int((base + slot.offset).loadLittle(LeafCell.valueLength, as: UInt16.self))
  }
}

/// The eight bytes of a slot.
struct PageSlotWord {
  let rawValue: UInt64

  @inline(__always)
  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  @inline(__always)
  init(head: UInt32, offset: Int, keyLength: Int, flags: UInt16) {
    rawValue =
      UInt64(head) | UInt64(UInt16(truncatingIfNeeded: offset)) << 32
      | UInt64(UInt16(truncatingIfNeeded: keyLength) | flags) << 48
  }

  @inline(__always)
  var head: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
  @inline(__always)
  var offset: Int { Int(UInt16(truncatingIfNeeded: rawValue >> 32)) }
  @inline(__always)
  var lengthAndFlags: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }
  @inline(__always)
  var keyLength: Int { Int(lengthAndFlags & PageSlot.lengthMask) }
  /// The flags alone.
  @inline(__always)
  var flags: UInt16 { lengthAndFlags & ~PageSlot.lengthMask }
  @inline(__always)
  var keyOverflows: Bool { lengthAndFlags & PageSlot.keyOverflows != 0 }
  @inline(__always)
  var valueOverflows: Bool { lengthAndFlags & PageSlot.valueOverflows != 0 }
  @inline(__always)
  var keyRestLength: Int { keyOverflows ? ChildReference.byteCount : 0 }
}
