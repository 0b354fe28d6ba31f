/// A place in a tree, moved entry by entry through a range of keys, in both directions.
///
/// A new cursor stands before the range's first entry and, as far as ``previous()`` is concerned, after its
/// last. Over a snapshot it stays good as long as it exists. Over a write transaction's tree it is good until
/// the tree's next change; then moving it throws `.cursorInvalidated`.
///
/// ```swift
/// var cursor = try tree.cursor(in: .prefix([7]))
/// while try cursor.next() {
///   let isShort = try cursor.withEntry { key, value in value.byteCount < 100 }
/// }
/// ```
public struct TreeCursor: ~Copyable {
  // What a step within a leaf needs: the leaf, the part of it that is in the range, and a buffer where keys
  // are put together. Its first bytes are the leaf's common prefix.
  @usableFromInline var leafStart: UnsafeRawPointer
  @usableFromInline var index: Int
  @usableFromInline var lowest: Int
  @usableFromInline var end: Int
  @usableFromInline let changes: UnsafePointer<UInt64>
  @usableFromInline let expectedChanges: UInt64
  @usableFromInline var keyBuffer: UnsafeMutableRawBufferPointer
  @usableFromInline var prefixCount: Int

  /// Children that lead from the root (highest level) to the leaf's parent (level 1).
  var path = InlineArray<24, UInt16>(repeating: 0)
  var place: Place = .start
  let range: KeyRange
  let core: TreeCore
  /// Keeps the version alive.
  let owner: AnyObject
  /// The current value if it overflows.
  var loaded: ValueBytes?

  var leaf: PageImage { PageImage(leafStart) }

  enum Place {
    /// Before the range for a step forwards, after it for a step backwards.
    case start
    /// At an entry of the leaf.
    case entry
    /// Past the last entry of the range.
    case afterLast
    /// Before its first.
    case beforeFirst
  }

  init(core: TreeCore, range: KeyRange, owner: AnyObject, changes: UnsafePointer<UInt64>) {
    self.core = core
    self.range = range
    self.owner = owner
    self.changes = changes
    expectedChanges = changes.pointee
    // Never read before a step has found a leaf: `index` and `end` say that there is nothing.
    leafStart = UnsafeRawPointer(changes)
    index = 0
    lowest = 0
    end = 0
    keyBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    prefixCount = 0
  }

  deinit { keyBuffer.deallocate() }

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
    try checkUnchanged()
    if let lowest = range.lower.key, key.lexicographicallyPrecedes(lowest) {
      return try moveToFirst(notBelow: range.lower)
    }
    return try moveToFirst(notBelow: .including(key))
  }

  /// ``seek(to:)`` for borrowed bytes.
  package mutating func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    try seek(to: [UInt8](key))
  }

  /// Moves to the entry that has `position` entries of the whole tree before it. Returns false if there is
  /// none or it isn't in the range. O(log *n*).
  public mutating func seek(toPosition position: Int) throws(StoreError) -> Bool {
    try checkUnchanged()
    return try moveToEntry(at: position)
  }

  // MARK: The entry

  /// Whether the cursor is at an entry.
  public var isAtEntry: Bool { place == .entry }

  /// The current entry's key, in one piece. Valid until the cursor moves.
  @inlinable
  package mutating func key() throws(StoreError) -> UnsafeRawBufferPointer {
    guard index < end else { preconditionFailure("a cursor has a key only at an entry") }
    // Offset and length of the key are where PageSlot says; spelled out to be inlined into other modules.
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

  /// The current entry's value. Valid until the cursor moves.
  @inlinable
  package mutating func value() throws(StoreError) -> UnsafeRawBufferPointer {
    guard index < end else { preconditionFailure("a cursor has a value only at an entry") }
    let slot = leafStart.loadUnaligned(fromByteOffset: 64 &+ 8 &* index, as: UInt64.self).littleEndian
    // Neither the value nor the key overflows.
    guard slot >> 62 == 0 else { return try unusualValue() }
    let cell = leafStart + Int(truncatingIfNeeded: (slot >> 32) & 0xFFFF)
    let count = cell.loadUnaligned(as: UInt16.self).littleEndian
    let keyCount = Int(truncatingIfNeeded: (slot >> 48) & 0x1FFF)
    return UnsafeRawBufferPointer(start: cell + (2 &+ keyCount), count: Int(count))
  }

  /// A key that goes on in an overflow page, or that the buffer is too small for.
  @usableFromInline
  mutating func unusualKey() throws(StoreError) -> UnsafeRawBufferPointer {
    let slot = leaf.slot(index)
    let count = prefixCount + slot.keyLength
    var rest: ValueBytes?
    if slot.keyOverflows {
      rest = try core.pages.overflow(
        ChildReference(loading: leaf.keyRest(slot)),
        treeID: core.root.treeID
      )
    }
    growKeyBuffer(max(1, count + (rest?.bytes.count ?? 0)))
    let suffix = UnsafeRawBufferPointer(start: leaf.leafKey(slot), count: slot.keyLength)
    UnsafeMutableRawBufferPointer(rebasing: keyBuffer[prefixCount...]).copyMemory(from: suffix)
    guard let rest else { return UnsafeRawBufferPointer(rebasing: keyBuffer[..<count]) }
    return rest.withBytes { rest in
      UnsafeMutableRawBufferPointer(rebasing: keyBuffer[count...]).copyMemory(from: rest)
      return UnsafeRawBufferPointer(rebasing: keyBuffer[..<(count + rest.count)])
    }
  }

  /// A value that lies in overflow pages, or whose key does.
  @usableFromInline
  mutating func unusualValue() throws(StoreError) -> UnsafeRawBufferPointer {
    let value = try core.value(leaf, leaf.slot(index))
    loaded = value
    return value.bytes
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
      precondition(isAtEntry, "a cursor has a position only at an entry")
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

  /// Makes room for a key of `count` bytes and keeps the prefix.
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

  /// Makes `page` the leaf, its prefix the beginning of every key.
  private mutating func setLeaf(_ page: PageImage) {
    leafStart = page.base
    loaded = nil
    prefixCount = page.prefixLength
    guard prefixCount > 0 else { return }
    growKeyBuffer(prefixCount)
    let prefix = UnsafeRawBufferPointer(start: page.prefix(core.pages.geometry), count: prefixCount)
    keyBuffer.copyMemory(from: prefix)
  }
}

// MARK: Steps that leave the leaf

extension TreeCursor {
  @usableFromInline
  mutating func advance() throws(StoreError) -> Bool {
    try checkUnchanged()
    switch place {
    case .start, .beforeFirst:
      return try moveToFirst(notBelow: range.lower)
    case .afterLast:
      return false
    case .entry:
      if index + 1 < end {
        index += 1
        return true
      }
      guard end == leaf.count, try moveToLeaf(after: true) else { return leave(.afterLast) }
      return settle(at: 0, .afterLast)
    }
  }

  @usableFromInline
  mutating func retreat() throws(StoreError) -> Bool {
    try checkUnchanged()
    switch place {
    case .start, .afterLast:
      return try moveToLast()
    case .beforeFirst:
      return false
    case .entry:
      if index > lowest {
        index -= 1
        return true
      }
      guard lowest == 0, try moveToLeaf(after: false) else { return leave(.beforeFirst) }
      return settle(at: end - 1, .beforeFirst)
    }
  }

  func checkUnchanged() throws(StoreError) {
    guard changes.pointee == expectedChanges else {
      throw StoreError(.cursorInvalidated, "The tree was changed after the cursor was made.")
    }
  }

  private mutating func leave(_ place: Place) -> Bool {
    self.place = place
    index = 0
    lowest = 0
    end = 0
    return false
  }

  /// Stands at `index` if the range has it, else beyond the range.
  private mutating func settle(at index: Int, _ otherwise: Place) -> Bool {
    guard index >= lowest, index < end else { return leave(otherwise) }
    self.index = index
    place = .entry
    return true
  }

  /// Moves to the first entry that is inside the range and not below `bound`.
  private mutating func moveToFirst(notBelow bound: KeyRange.Bound) throws(StoreError) -> Bool {
    guard core.root.height > 0 else { return leave(.afterLast) }
    let first = try descend(to: bound, ifUnbounded: .first)
    var index = max(first, lowest)
    if index == leaf.count {
      guard try moveToLeaf(after: true) else { return leave(.afterLast) }
      index = lowest
    }
    return settle(at: index, .afterLast)
  }

  private mutating func moveToLast() throws(StoreError) -> Bool {
    guard core.root.height > 0 else { return leave(.beforeFirst) }
    let end = try descend(to: range.upper, ifUnbounded: .last)
    if end == 0 {
      guard try moveToLeaf(after: false) else { return leave(.beforeFirst) }
      return settle(at: self.end - 1, .beforeFirst)
    }
    return settle(at: end - 1, .beforeFirst)
  }

  fileprivate mutating func moveToEntry(at position: Int) throws(StoreError) -> Bool {
    guard position >= 0, position < core.count else { return leave(.afterLast) }
    var level = Int(core.root.height) - 1
    var page = try core.rootPage()
    var remaining = UInt64(position)
    while level > 0 {
      let child = page.child(holding: &remaining)
      path[level] = UInt16(truncatingIfNeeded: child)
      page = try core.child(page, child, below: level)
      level -= 1
    }
    try enter(page)
    return settle(at: Int(clamping: remaining), .afterLast)
  }

  private enum Edge { case first, last }

  /// Goes to the leaf where a bound falls and returns the index there: of the first entry after a lower
  /// bound, one past the last entry before an upper one.
  private mutating func descend(
    to bound: KeyRange.Bound,
    ifUnbounded edge: Edge
  ) throws(StoreError) -> Int {
    let key: [UInt8]
    let inclusive: Bool
    switch bound {
    case .unbounded: return try descend(to: edge)
    case .including(let bytes):
      key = bytes
      inclusive = edge == .last
    case .excluding(let bytes):
      key = bytes
      inclusive = edge == .first
    }
    var level = Int(core.root.height) - 1
    var page = try core.rootPage()
    while level > 0 {
      let child = try page.childIndex(for: key, in: core.pages)
      path[level] = UInt16(truncatingIfNeeded: child)
      page = try core.child(page, child, below: level)
      level -= 1
    }
    let place = try page.lowerBound(of: key, in: core.pages)
    try enter(page)
    return place.index + (inclusive && place.isEqual ? 1 : 0)
  }

  private mutating func descend(to edge: Edge) throws(StoreError) -> Int {
    let page = try walkDown(from: core.rootPage(), level: Int(core.root.height) - 1, edge)
    try enter(page)
    return edge == .first ? 0 : page.count
  }

  /// Follows an edge of a subtree down to its leaf.
  private mutating func walkDown(
    from start: PageImage,
    level top: Int,
    _ edge: Edge
  ) throws(StoreError) -> PageImage {
    var page = start
    var level = top
    while level > 0 {
      let child = edge == .first ? 0 : page.count - 1
      path[level] = UInt16(truncatingIfNeeded: child)
      page = try core.child(page, child, below: level)
      level -= 1
    }
    return page
  }

  /// Moves to the neighbouring leaf; false if there is none. The path's pages are found from the root again,
  /// by index: that costs a few loads per leaf and spares the cursor from holding them.
  private mutating func moveToLeaf(after: Bool) throws(StoreError) -> Bool {
    let top = Int(core.root.height) - 1
    var level = top
    var page = try core.rootPage()
    var turn: (page: PageImage, level: Int)?
    while level > 0 {
      let child = Int(path[level])
      if after ? child + 1 < page.count : child > 0 { turn = (page, level) }
      page = try core.child(page, child, below: level)
      level -= 1
    }
    guard let turn else { return false }
    path[turn.level] = after ? path[turn.level] &+ 1 : path[turn.level] &- 1
    let start = try core.child(turn.page, Int(path[turn.level]), below: turn.level)
    try enter(walkDown(from: start, level: turn.level - 1, after ? .first : .last))
    return true
  }

  /// Makes `page` the cursor's leaf and finds out how much of it the range has. Mostly all of it, which
  /// comparing with its first and last key shows.
  private mutating func enter(_ page: PageImage) throws(StoreError) {
    setLeaf(page)
    lowest = try index(of: range.lower, in: page, inclusiveSkips: false) ?? 0
    end = try index(of: range.upper, in: page, inclusiveSkips: true) ?? page.count
  }

  /// The index in `page` where a bound falls, or nil for none. An `including` bound's own key is skipped if
  /// `inclusiveSkips`, an `excluding` one's if not.
  private func index(
    of bound: KeyRange.Bound,
    in page: PageImage,
    inclusiveSkips: Bool
  ) throws(StoreError) -> Int? {
    switch bound {
    case .unbounded:
      return nil
    case .including(let key):
      let place = try page.lowerBound(of: key, in: core.pages)
      return place.index + (inclusiveSkips && place.isEqual ? 1 : 0)
    case .excluding(let key):
      let place = try page.lowerBound(of: key, in: core.pages)
      return place.index + (!inclusiveSkips && place.isEqual ? 1 : 0)
    }
  }
}

extension PageImage {
  /// The child of a branch with the entry that has `position` entries of the branch before it; leaves what is
  /// left to skip within the child.
  fileprivate func child(holding position: inout UInt64) -> Int {
    var child = 0
    let last = count - 1
    while child < last {
      let below = count(ofChild: child)
      if position < below { break }
      position -= below
      child += 1
    }
    return child
  }

  fileprivate func lowerBound(
    of key: [UInt8],
    in pages: PageMap
  ) throws(StoreError) -> (index: Int, isEqual: Bool) {
    try key.withBytes { bytes throws(StoreError) in try lowerBound(of: SearchKey(bytes), in: pages) }
  }

  fileprivate func childIndex(for key: [UInt8], in pages: PageMap) throws(StoreError) -> Int {
    try key.withBytes { bytes throws(StoreError) in try childIndex(for: SearchKey(bytes), in: pages) }
  }
}
