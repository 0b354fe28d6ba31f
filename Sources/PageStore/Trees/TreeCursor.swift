/// A position in a tree, which moves entry by entry through a range of keys, in both directions.
///
/// A new cursor is before the first entry of the range for ``next()``, and after the last one for
/// ``previous()``. A cursor over a snapshot stays valid. A cursor over a write transaction's tree is valid
/// until the tree's next change; then moving it throws `.cursorInvalidated`.
///
/// ```swift
/// var cursor = try tree.cursor(in: .prefix([7]))
/// while try cursor.next() {
///   let isShort = try cursor.withEntry { key, value in value.byteCount < 100 }
/// }
/// ```
public struct TreeCursor: ~Copyable {
  // The state for steps within a leaf: the leaf, the part of it that is in the range, and a buffer in which
  // keys are put together. Its first bytes are the leaf's common prefix.
  @usableFromInline var leafStart: UnsafeRawPointer
  @usableFromInline var index: Int
  @usableFromInline var lowest: Int
  @usableFromInline var end: Int
  @usableFromInline let changes: UnsafePointer<UInt64>
  @usableFromInline let expectedChanges: UInt64
  @usableFromInline var keyBuffer: UnsafeMutableRawBufferPointer
  @usableFromInline var prefixCount: Int

  /// The indices of the children on the path from the root (highest level) to the leaf's parent (level 1).
  var path = InlineArray<24, UInt16>(repeating: 0)
  var place: Place = .start
  /// Entries of the leaves that the cursor has left since it last turned or searched.
  private var passedCount: UInt64 = 0
  private var passesUpwards = true
  let range: KeyRange
  let core: TreeCore
  /// Keeps the version alive.
  let owner: AnyObject
  /// Counts the cursors over the tree of a transaction; nil for a snapshot's. It belongs to ``owner``.
  private let count: UnsafeMutablePointer<Int>?
  /// The current value if it overflows.
  var loaded: ValueBytes?
  /// Protects the leaf and the current value; nil before the first search.
  private var reader: Reader?

  var leaf: PageImage { PageImage(leafStart) }

  enum Place {
    /// Before the range for ``next()``, after it for ``previous()``.
    case start
    /// At an entry of the leaf.
    case entry
    /// After the last entry of the range.
    case afterLast
    /// Before the first entry of the range.
    case beforeFirst
  }

  init(
    core: TreeCore,
    range: KeyRange,
    owner: AnyObject,
    changes: UnsafePointer<UInt64>,
    countedIn count: UnsafeMutablePointer<Int>? = nil
  ) {
    self.core = core
    self.range = range
    self.owner = owner
    self.count = count
    count?.pointee += 1
    self.changes = changes
    expectedChanges = changes.pointee
    // Not read before a step has found a leaf: `index` and `end` are equal until then.
    leafStart = UnsafeRawPointer(changes)
    index = 0
    lowest = 0
    end = 0
    keyBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    prefixCount = 0
  }

  deinit {
    keyBuffer.deallocate()
    count?.pointee -= 1
    reader?.leave()
  }

  /// Runs a part of a step that follows references, in a read section. Afterwards only memory that it has
  /// protected is valid. If it fails, the cursor stays at its entry, or, if it has left the leaf already,
  /// becomes like a new one.
  mutating func walking<R>(
    _ body: (inout TreeCursor) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let reader = begin()
    defer { reader.end(visiting: Int(core.root.height)) }
    let (path, leafStart, passedCount, passesUpwards) = (path, leafStart, passedCount, passesUpwards)
    do throws(StoreError) {
      try core.checkUnexpired()
      return try body(&self)
    } catch {
      // The restored path leads to the current leaf; without a leaf it isn't used.
      if self.leafStart == leafStart { self.path = path } else { _ = leave(.start) }
      (self.passedCount, self.passesUpwards) = (passedCount, passesUpwards)
      throw error
    }
  }

  /// Notes that the cursor is about to step over the end of its leaf. Throws `corrupt` if it has passed more
  /// entries than the tree has: pages of a forged file may be referred to many times, and a walk through them
  /// would not end.
  mutating func notePassing(_ after: Bool) throws(StoreError) {
    if after != passesUpwards { forgetPassed(upwards: after) }
    passedCount &+= UInt64(leaf.count)
    guard passedCount < core.root.count else {
      throw StoreError(.corrupt, "A tree has more entries than its root claims.")
    }
  }

  /// Notes that the cursor begins a new walk.
  mutating func forgetPassed(upwards: Bool = true) {
    passedCount = 0
    passesUpwards = upwards
  }

  private mutating func begin() -> Reader {
    if let reader {
      reader.begin()
      return reader
    }
    let reader = core.pages.enter()
    self.reader = reader
    return reader
  }

  // MARK: Moving

  /// Steps to the next entry of the range; from the start, to its first. Returns false past the last one.
  /// Amortised O(1).
  @inlinable
  public mutating func next() throws(StoreError) -> Bool {
    if index &+ 1 < end, changes.pointee == expectedChanges {
      index &+= 1
      return true
    }
    return try advance()
  }

  /// Steps to the previous entry of the range; from the start, to its last. Returns false before the first
  /// one. Amortised O(1).
  @inlinable
  public mutating func previous() throws(StoreError) -> Bool {
    if index > lowest, index < end, changes.pointee == expectedChanges {
      index &-= 1
      return true
    }
    return try retreat()
  }

  /// Moves to the first entry of the range that isn't below `key`. Returns false if there is none. O(log
  /// *n*).
  public mutating func seek(to key: [UInt8]) throws(StoreError) -> Bool {
    try key.withBytes { key throws(StoreError) in try seek(to: key) }
  }

  /// Moves as ``seek(to:)`` does, for borrowed bytes.
  package mutating func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    try checkUnchanged()
    if let lowest = range.lower.key, lowest.withUnsafeBytes({ ByteComparison.compare(key, $0) < 0 }) {
      return try moveToFirst(notBelow: range.lower)
    }
    return try moveToFirst(notBelow: SearchKey(key))
  }

  /// Moves to the entry that has `position` entries of the whole tree before it. Returns false if there is
  /// none or it isn't in the range. O(log *n*).
  public mutating func seek(toPosition position: Int) throws(StoreError) -> Bool {
    try checkUnchanged()
    return try moveToEntry(at: position)
  }

  // MARK: The entry

  /// True if the cursor is at an entry.
  public var isAtEntry: Bool { place == .entry }

  /// Returns the current entry's key, in one piece. Valid until the cursor moves.
  @inlinable
  package mutating func key() throws(StoreError) -> UnsafeRawBufferPointer {
    guard index < end else { fatalError("a cursor has a key only at an entry") }
    // The key's offset and length are read at the offsets that PageSlot defines. The code is spelled out so
    // that it can be inlined into other modules.
    let slot = leafStart.loadUnaligned(fromByteOffset: 64 &+ 8 &* index, as: UInt64.self).littleEndian
    let count = Int(truncatingIfNeeded: (slot >> 48) & 0x1FFF)
    let keyCount = prefixCount &+ count
    guard slot >> 63 == 0, keyCount <= keyBuffer.count, let target = keyBuffer.baseAddress else {
      return try unusualKey()
    }
    let source = leafStart + (Int(truncatingIfNeeded: (slot >> 32) & 0xFFFF) &+ 2)
    ShortCopy.copy(from: source, to: target + prefixCount, count: count)
    return UnsafeRawBufferPointer(start: UnsafeRawPointer(target), count: keyCount)
  }

  /// Returns the current entry's value. Valid until the cursor moves.
  @inlinable
  package mutating func value() throws(StoreError) -> UnsafeRawBufferPointer {
    guard index < end else { fatalError("a cursor has a value only at an entry") }
    let slot = leafStart.loadUnaligned(fromByteOffset: 64 &+ 8 &* index, as: UInt64.self).littleEndian
    // Neither the value nor the key overflows.
    guard slot >> 62 == 0 else { return try unusualValue() }
    let cell = leafStart + Int(truncatingIfNeeded: (slot >> 32) & 0xFFFF)
    let count = cell.loadUnaligned(as: UInt16.self).littleEndian
    let keyCount = Int(truncatingIfNeeded: (slot >> 48) & 0x1FFF)
    return UnsafeRawBufferPointer(start: cell + (2 &+ keyCount), count: Int(count))
  }

  /// Returns the current key, if it has overflow pages, or the buffer is too small for it.
  @usableFromInline
  mutating func unusualKey() throws(StoreError) -> UnsafeRawBufferPointer {
    try checkUnchanged()
    return try walking { cursor throws(StoreError) in
      let slot = cursor.leaf.slot(cursor.index)
      var rest: ValueBytes?
      if slot.keyOverflows {
        rest = try cursor.core.pages.overflow(
          ChildReference(loading: cursor.leaf.keyRest(slot)),
          treeID: cursor.core.root.treeID
        )
      }
      return cursor.putTogether(slot, rest)
    }
  }

  /// Copies the current key into the buffer.
  private mutating func putTogether(_ slot: PageSlotWord, _ rest: ValueBytes?) -> UnsafeRawBufferPointer {
    let count = prefixCount + slot.keyLength
    growKeyBuffer(max(1, count + (rest?.bytes.count ?? 0)))
    let suffix = UnsafeRawBufferPointer(start: leaf.leafKey(slot), count: slot.keyLength)
    UnsafeMutableRawBufferPointer(rebasing: keyBuffer[prefixCount...]).copyMemory(from: suffix)
    guard let rest else { return UnsafeRawBufferPointer(rebasing: keyBuffer[..<count]) }
    return rest.withBytes { rest in
      UnsafeMutableRawBufferPointer(rebasing: keyBuffer[count...]).copyMemory(from: rest)
      return UnsafeRawBufferPointer(rebasing: keyBuffer[..<(count + rest.count)])
    }
  }

  /// Returns the current value, if it or its key has overflow pages.
  @usableFromInline
  mutating func unusualValue() throws(StoreError) -> UnsafeRawBufferPointer {
    try checkUnchanged()
    return try walking { cursor throws(StoreError) in
      let value = try cursor.core.value(cursor.leaf, cursor.leaf.slot(cursor.index))
      cursor.reader?.protect(value: value.base)
      cursor.loaded = value
      return value.bytes
    }
  }

  /// Calls `body` with the current entry's key and value.
  public mutating func withEntry<R>(_ body: (RawSpan, RawSpan) throws -> R) throws -> R {
    try checkUnchanged()
    let key = try key()
    let value = try value()
    return try body(key.bytes, value.bytes)
  }

  /// The number of entries in the tree before the current one. O(log *n*).
  public var position: Int {
    get throws(StoreError) {
      try checkUnchanged()
      if !isAtEntry { fatalError("a cursor has a position only at an entry") }
      let reader = core.pages.enter()
      defer { reader.leave(visiting: Int(core.root.height)) }
      try core.checkUnexpired()
      var level = Int(core.root.height) - 1
      var page = try core.rootPage()
      var total = core.root.count
      var rank: UInt64 = 0
      while level > 0 {
        let child = Int(path[level])
        rank &+= page.entries(before: child, of: total)
        total = page.count(ofChild: child)
        page = try core.child(page, child, below: level)
        level -= 1
      }
      return Int(truncatingIfNeeded: rank) &+ index
    }
  }

  /// Grows the buffer for a key of `count` bytes, and keeps the prefix.
  private mutating func growKeyBuffer(_ count: Int) {
    guard keyBuffer.count < count else { return }
    let fresh = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(64, min(2 * count, StoreLimits.keyByteCount)),
      alignment: 8
    )
    fresh.copyMemory(from: UnsafeRawBufferPointer(keyBuffer))
    keyBuffer.deallocate()
    keyBuffer = fresh
  }

  /// Makes `page` the leaf, and copies its prefix to the start of the key buffer.
  mutating func setLeaf(_ page: PageImage) {
    leafStart = page.base
    loaded = nil
    reader?.protect(page: page.base)
    prefixCount = page.prefixLength
    guard prefixCount > 0 else { return }
    growKeyBuffer(prefixCount)
    let prefix = UnsafeRawBufferPointer(start: page.prefix(core.pages.geometry), count: prefixCount)
    keyBuffer.copyMemory(from: prefix)
  }
}
