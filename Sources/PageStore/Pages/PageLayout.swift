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
  /// Where the fields of leaves and branches end.
  static let treePageEnd = 44

  // Overflow chunks.
  static let payloadLength = 32
  static let chunkIndex = 36
  static let nextChecksum = 40
  static let totalLength = 48
}

/// What a page holds.
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
  /// An entry refers to overflow pages. Never missing where it is true; may linger after the last one has
  /// gone.
  static let hasOverflow: UInt16 = 1
  static let known: UInt16 = 1
  /// In memory alone: the frame is not to be read any more (``PageCache``).
  static let evicted: UInt16 = 1 << 15
}

/// A slot: where an entry's cell is and what it takes to find its key. 8 bytes.
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
  /// The key goes on in overflow pages; the cell holds a reference to them after the key's bytes.
  static let keyOverflows: UInt16 = 1 << 15
  static let known: UInt16 = lengthMask | valueOverflows | keyOverflows
}

/// What follows from the size of a store's pages.
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

  /// The longest key that is kept whole: an eighth of a page less what an entry of a branch takes besides, so
  /// that eight entries always fit.
  var inlineKeyLimit: Int { min(StoreLimits.keyByteCount, pageSize / 8 - 80) }

  /// How much of a longer key stays in the page; the rest is in an overflow page.
  var splitKeyLength: Int { inlineKeyLimit - ChildReference.byteCount }

  /// The longest prefix that a page's keys share implicitly: short enough to leave the bytes of a slot's head
  /// in the cell of every key that overflows.
  var prefixLimit: Int { splitKeyLength - PageSlot.headByteCount }

  /// The most bytes a leaf's entry may take, slot included: half a leaf, so that two always fit and a page of
  /// entries can always be divided. A value that would make it larger goes to overflow pages.
  var leafEntryLimit: Int { capacity / 2 }

  /// The bytes of a key that are in the page.
  func inlineLength(ofKey count: Int) -> Int { count <= inlineKeyLimit ? count : splitKeyLength }

  /// Whether a value of `valueCount` bytes stays in the leaf beside a key of `keyCount` bytes.
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

  /// Pages that an overflow of `byteCount` bytes takes in the file.
  func overflowPageCount(_ byteCount: Int) -> Int {
    let (full, rest) = byteCount.quotientAndRemainder(dividingBy: Self.chunkPayload)
    let tail = rest == 0 ? 0 : (rest + PageHeader.byteCount + pageSize - 1) >> pageShift
    return full * (Self.chunkByteCount >> pageShift) + tail
  }
}

/// A leaf's cell: length of the value's part, key after the page's prefix, reference to the key's rest if
/// there is one, value or the reference to it.
enum LeafCell {
  static let valueLength = 0
  static let keyOffset = 2
}

/// A branch's cell: child reference, separator after the page's prefix, reference to the separator's rest if
/// there is one. The first entry's separator is empty and stands for "below every key".
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
  /// The little-endian integer at `offset`, aligned or not.
  @inline(__always)
  func loadLittle<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type = T.self) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

extension UnsafeMutableRawPointer {
  /// The little-endian integer at `offset`, aligned or not.
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
