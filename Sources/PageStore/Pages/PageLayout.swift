/// Byte offsets of a page's header. Docs/FileFormat.md, "Pages", has the same table; a test compares the two.
enum PageHeader {
  static let byteCount = 64

  /// XXH64 of every byte after this field.
  static let checksum = 0
  static let number = 8
  static let birth = 16
  static let treeID = 24
  static let kind = 28
  static let level = 29
  static let flags = 30

  // Leaves and branches.
  static let slotCount = 32
  static let prefixLength = 34
  static let heapStart = 36
  static let garbage = 40
  /// The end of the fields of leaves and branches.
  static let treePageEnd = 44

  // Overflow chunks.
  static let payloadLength = 32
  static let chunkIndex = 36
  static let nextChecksum = 40
  static let totalLength = 48
}

/// The kind of a page.
enum PageKind: UInt8, Sendable {
  /// Keys and values.
  case leaf = 1
  /// Separators and child references.
  case branch = 2
  /// Part of a value, or the rest of a key, that is too long for its leaf or branch.
  case overflow = 3
}

/// Bits of a page's flags.
enum PageFlags {
  /// Set if an entry refers to overflow pages; it may stay set after the last of them was removed.
  static let hasOverflow: UInt16 = 1
  static let known: UInt16 = 1
  /// Only in memory: the frame was evicted and must not be read (``PageCache``).
  static let evicted: UInt16 = 1 << 15
  /// Only in memory: the leaf or branch was read from the file, so that it may be forged. This process has laid
  /// out all others that transactions change.
  static let loaded: UInt16 = 1 << 14
}

/// A slot, 8 bytes: the offset of an entry's cell, and the head and length of its key.
enum PageSlot {
  static let byteCount = 8
  /// The first four bytes of the key after the page's prefix, big-endian, zero bytes added where there are
  /// fewer.
  static let head = 0
  static let headByteCount = 4
  static let offset = 4
  static let lengthAndFlags = 6

  /// The low bits of the length field: bytes of the key that are in the cell.
  static let lengthMask: UInt16 = 0x1FFF
  /// The value is in overflow pages; the cell holds a reference to them.
  static let valueOverflows: UInt16 = 1 << 14
  /// The rest of the key is in overflow pages; the cell holds a reference to them after the key's bytes.
  static let keyOverflows: UInt16 = 1 << 15
  static let known: UInt16 = lengthMask | valueOverflows | keyOverflows
}

/// Constants that follow from the page size of a store.
struct PageGeometry: Hashable, Sendable {
  let pageSize: Int
  /// log2 of the page size.
  let pageShift: Int

  init(pageSize: Int) {
    if !Self.allows(pageSize) { fatalError("a page size is a power of two from 4,096 to 65,536") }
    self.pageSize = pageSize
    self.pageShift = pageSize.trailingZeroBitCount
  }

  static func allows(_ pageSize: Int) -> Bool {
    pageSize >= 4_096 && pageSize <= 65_536 && pageSize & (pageSize - 1) == 0
  }

  /// Bytes of a page after its header.
  var capacity: Int { pageSize - PageHeader.byteCount }

  /// The longest key that is kept completely in a page: an eighth of a page less the other bytes of a
  /// branch's entry, so that eight entries always fit.
  var inlineKeyLimit: Int { min(StoreLimits.keyByteCount, pageSize / 8 - 80) }

  /// Bytes of a longer key that are kept in the page; the rest is in overflow pages.
  var splitKeyLength: Int { inlineKeyLimit - ChildReference.byteCount }

  /// The longest common prefix of a page: short enough to leave the bytes of a slot's head in the cell of
  /// every key that overflows.
  var prefixLimit: Int { splitKeyLength - PageSlot.headByteCount }

  /// The most bytes a leaf's entry may take, slot included: half a leaf, so that two always fit and a page of
  /// entries can always be divided. A value that would make it larger goes to overflow pages.
  var leafEntryLimit: Int { capacity / 2 }

  /// Returns whether a value of `valueCount` bytes is kept in the leaf with a key of `keyCount` bytes.
  func keepsValueInline(keyCount: Int, valueCount: Int) -> Bool {
    let key = count(ofKeyInCell: keyCount)
    return PageSlot.byteCount + LeafCell.keyOffset + key + valueCount <= leafEntryLimit
  }

  private func count(ofKeyInCell keyCount: Int) -> Int {
    keyCount <= inlineKeyLimit ? keyCount : splitKeyLength + ChildReference.byteCount
  }

  /// Payload of a full overflow chunk. Every chunk but a value's last is full: 64 KiB with its header.
  static let chunkPayload = chunkByteCount - PageHeader.byteCount
  static let chunkByteCount = 65_536

  /// Returns the number of pages that an overflow of `byteCount` bytes takes in the file.
  func overflowPageCount(_ byteCount: Int) -> Int {
    let (full, rest) = byteCount.quotientAndRemainder(dividingBy: Self.chunkPayload)
    let tail = rest == 0 ? 0 : (rest + PageHeader.byteCount + pageSize - 1) >> pageShift
    return full * (Self.chunkByteCount >> pageShift) + tail
  }
}

/// A leaf's cell: the length of the value or of the reference to it, the key after the page's prefix, the
/// reference to the key's rest if there is one, and the value or the reference to it.
enum LeafCell {
  static let valueLength = 0
  static let keyOffset = 2
}

/// A branch's cell: the child reference, the separator after the page's prefix, and the reference to the
/// separator's rest if there is one. The first entry's separator is empty and stands for "below every key".
enum BranchCell {
  static let reference = 0
  static let keyOffset = 32
}

extension ChildReference {
  /// Reads the 32 bytes at `bytes`.
  @inline(__always)
  init(loading bytes: UnsafeRawPointer) {
    let mask = PageLocation.numberMask
    location = PageLocation(rawValue: bytes.loadLittle(0))
    checksum = bytes.loadLittle(8)
    birth = bytes.loadLittle(16) & mask
    count = bytes.loadLittle(24) & mask
  }

  /// Writes the 32 bytes at `bytes`.
  @inline(__always)
  func store(to bytes: UnsafeMutableRawPointer) {
    bytes.storeLittle(location.rawValue, 0)
    bytes.storeLittle(checksum, 8)
    bytes.storeLittle(birth, 16)
    bytes.storeLittle(count, 24)
  }
}

extension UnsafeRawPointer {
  /// Returns the little-endian integer at `offset`, aligned or not.
  @inline(__always)
  func loadLittle<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type = T.self) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

extension UnsafeMutableRawPointer {
  /// Returns the little-endian integer at `offset`, aligned or not.
  @inline(__always)
  func loadLittle<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type = T.self) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// Stores `value` at `offset`, little-endian, aligned or not.
  @inline(__always)
  func storeLittle<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, _ offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
  }
}
