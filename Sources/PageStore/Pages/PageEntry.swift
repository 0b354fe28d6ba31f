/// One entry of a leaf or branch, as pointers to its parts. All code that rewrites pages works on lists of
/// entries.
///
/// It owns no memory; the bytes that it points to don't change until the new pages are built.
struct PageEntry {
  /// The first part of the key, `prefixCount` bytes: the old page's common prefix.
  var prefix: UnsafeRawPointer
  var prefixCount: Int
  /// The rest of the key, as far as it is in the page.
  var suffix: UnsafeRawPointer
  var suffixCount: Int
  /// The reference, of 32 bytes, to the part of the key that isn't in the page.
  var keyRest: UnsafeRawPointer?
  /// In a leaf, the value or the reference to its overflow; in a branch, the child reference.
  var payload: UnsafeRawPointer
  var payloadCount: Int
  /// True if the payload is a reference to an overflowing value.
  var valueOverflows: Bool

  /// Bytes of the key in the page, shared prefix included.
  @inline(__always)
  var keyCount: Int { prefixCount &+ suffixCount }

  var flags: UInt16 {
    (keyRest == nil ? 0 : PageSlot.keyOverflows) | (valueOverflows ? PageSlot.valueOverflows : 0)
  }

  /// Returns the number of bytes of slot and cell in a page without a common prefix.
  @inline(__always)
  func byteCount(isLeaf: Bool) -> Int {
    PageSlot.byteCount &+ (isLeaf ? LeafCell.keyOffset : 0) &+ keyCount &+ payloadCount
      &+ keyRestCount
  }

  /// Bytes of the reference to the key's rest.
  @inline(__always)
  var keyRestCount: Int { keyRest == nil ? 0 : ChildReference.byteCount }

  /// Makes an entry with a complete key that is kept in the page.
  init(key: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer) {
    prefix = key.start
    prefixCount = 0
    suffix = key.start
    suffixCount = key.count
    keyRest = nil
    self.payload = payload.start
    payloadCount = payload.count
    valueOverflows = false
  }

  /// Makes the entry at `index` of a page.
  @inline(__always)
  init(_ page: PageImage, _ index: Int, _ geometry: PageGeometry) {
    let slot = page.slot(index)
    prefix = page.prefix(geometry)
    suffixCount = slot.keyLength
    keyRest = slot.keyOverflows ? page.keyRest(slot) : nil
    valueOverflows = slot.valueOverflows
    if page.isLeaf {
      prefixCount = page.prefixLength
      suffix = page.leafKey(slot)
      let bytes = page.leafPayload(slot)
      payload = bytes.start
      payloadCount = bytes.count
    } else {
      // The first separator is empty: "below every key".
      prefixCount = index == 0 ? 0 : page.prefixLength
      suffix = page.branchKey(slot)
      payload = page.base + slot.offset
      payloadCount = ChildReference.byteCount
    }
  }

  /// Replaces the key by that of `other`.
  mutating func takeKey(of other: PageEntry) {
    prefix = other.prefix
    prefixCount = other.prefixCount
    suffix = other.suffix
    suffixCount = other.suffixCount
    keyRest = other.keyRest
  }

  /// Makes the separator empty, like the separator of a branch's first entry.
  mutating func removeKey() {
    prefixCount = 0
    suffixCount = 0
    keyRest = nil
  }

  /// Shortens the key to its first `count` bytes, all of which are in the page.
  mutating func truncateKey(to count: Int) {
    prefixCount = min(prefixCount, count)
    suffixCount = count - prefixCount
    keyRest = nil
  }

  /// Copies the key's bytes in the page, from `offset` on.
  @inline(__always)
  func copyKey(from offset: Int, to target: UnsafeMutableRawPointer) {
    var written = 0
    if offset < prefixCount {
      written = prefixCount &- offset
      ShortCopy.copy(from: prefix + offset, to: target, count: written)
    }
    let start = max(0, offset &- prefixCount)
    ShortCopy.copy(from: suffix + start, to: target + written, count: suffixCount &- start)
  }

  /// Returns the key's bytes in the page from `offset` on if they are contiguous; otherwise nil.
  @inline(__always)
  func keyBytes(from offset: Int) -> UnsafeRawPointer? {
    offset >= prefixCount ? suffix + (offset &- prefixCount) : nil
  }

  /// True if the payload follows the key, as it does in the cell of a leaf.
  @inline(__always)
  var isInOneCell: Bool { payload == suffix + suffixCount && keyRest == nil }

  /// The key's bytes in the page.
  var keyInPage: [UInt8] {
    // The initializer would write the count of the empty array that all threads share.
    if keyCount == 0 { return [] }
    return [UInt8](unsafeUninitializedCapacity: keyCount) { buffer, count in
      if let target = buffer.baseAddress { copyKey(from: 0, to: UnsafeMutableRawPointer(target)) }
      count = keyCount
    }
  }

  /// Returns byte `index` of the key.
  @inline(__always)
  private func keyByte(_ index: Int) -> UInt8 {
    index < prefixCount
      ? prefix.load(fromByteOffset: index, as: UInt8.self)
      : suffix.load(fromByteOffset: index &- prefixCount, as: UInt8.self)
  }

  /// Returns the length of the common prefix of this key and that of `other`, as far as they are in their
  /// pages.
  func commonPrefix(with other: PageEntry) -> Int {
    let limit = min(keyCount, other.keyCount)
    var shared = 0
    if prefixCount == other.prefixCount {
      if prefix != other.prefix {
        shared = ByteComparison.commonPrefix(prefix, other.prefix, limit: prefixCount)
        if shared < prefixCount { return shared }
      }
      return prefixCount
        &+ ByteComparison.commonPrefix(suffix, other.suffix, limit: limit &- prefixCount)
    }
    while shared < limit, keyByte(shared) == other.keyByte(shared) { shared &+= 1 }
    return shared
  }
}
