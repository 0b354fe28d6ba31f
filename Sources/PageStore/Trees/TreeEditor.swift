/// Changes one tree within one write transaction.
///
/// The version with which the transaction began doesn't change. Before its first change a page is copied to a
/// frame of the transaction, and so are the pages above it; afterwards it is changed in place. Every rewrite
/// of pages (division, merge, evening out, removal of garbage) lists their entries as ``PageEntry``s and lays
/// them out in new frames.
///
/// Used by one thread at a time. After an error that is caused by the file or its contents, the tree's state
/// is undefined, ``isIntact`` is false, and the transaction has to be aborted.
final class TreeEditor {
  private(set) var root: TreeRoot
  let pool: PagePool
  let map: PageMap
  let dirty: DirtySet
  let geometry: PageGeometry
  /// False after a failure in the middle of a change.
  private(set) var isIntact = true

  /// True if an operation will need the path again after its caller has done other work: between two entries
  /// of a bulk append, and while ``replace(near:_:)`` runs its closure, which may change other trees.
  var isPathInUse = false

  /// True if a bulk append waits for its next entry. The tree's counts aren't up to date then.
  var isAppending = false

  /// The value of ``changes`` for which the path leads to the last change, through frames of the transaction;
  /// ``noFinger`` once the path leads elsewhere, even if only for reading.
  private var fingerChanges = TreeEditor.noFinger
  private static let noFinger = UInt64.max

  /// Counts changes, so that cursors notice that their leaf may have changed.
  let changes: UnsafeMutablePointer<UInt64>
  /// The value of ``changes`` for which the newest cursor is valid.
  var cursorChanges = TreeEditor.noFinger
  /// The number of cursors over the tree that exist.
  let cursorCount: UnsafeMutablePointer<Int>
  /// The path of the current operation: its pages from the leaf (level 0) to the root.
  let path: UnsafeMutablePointer<PathStep>
  /// Room for the references of an overflowing entry (value, key's rest), and for that of an overflowing
  /// separator.
  private let references: UnsafeMutableRawPointer

  struct PathStep {
    var page: PageImage
    /// In a branch, the index of the child on the path.
    var index: Int
  }

  init(root: TreeRoot, dirty: DirtySet) {
    self.root = root
    self.dirty = dirty
    pool = dirty.pool
    map = dirty.pool.map
    geometry = dirty.pool.geometry
    changes = .allocate(capacity: 1)
    changes.initialize(to: 0)
    cursorCount = .allocate(capacity: 1)
    cursorCount.initialize(to: 0)
    path = .allocate(capacity: TreeLimits.height + 1)
    references = .allocate(byteCount: 3 * ChildReference.byteCount, alignment: 8)
  }

  deinit {
    changes.deallocate()
    cursorCount.deallocate()
    path.deallocate()
    references.deallocate()
  }

  /// The present version of the tree, for lookups until the next change.
  var core: TreeCore { TreeCore(root: root, pool: pool) }

  /// Entries in the tree.
  var count: Int { Int(truncatingIfNeeded: root.count) }

  /// The tree's height in pages.
  var height: Int { Int(root.height) }

  // MARK: Operations

  /// Stores `value` under `key`. Returns whether a value was there before. O(log *n*).
  @discardableResult
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    try Self.checkLengths(key, value)
    return try change { () throws(StoreError) in
      guard height > 0 else {
        startTree(with: key, value)
        return false
      }
      let position = try descend(to: SearchKey(key))
      try makePathWritable()
      try put(key, value, at: position)
      return position.isEqual
    }
  }

  /// Stores a value at a position in the path's leaf.
  @inline(__always)
  private func put(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer,
    at position: (index: Int, isEqual: Bool)
  ) throws(StoreError) {
    if position.isEqual {
      try replaceValue(at: position.index, keyCount: key.count, with: value)
    } else {
      addToCounts(1)
      try insert(makeEntry(key, value), at: position.index)
    }
  }

  /// Does what ``put(_:_:)`` does, for a key that is probably near the key of the last change: the path of
  /// that change is reused if it leads to `key`.
  @discardableResult
  func put(
    near key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) -> Bool {
    try Self.checkLengths(key, value)
    guard let position = try fingerPosition(of: SearchKey(key)) else { return try put(key, value) }
    try change { () throws(StoreError) in
      path[0].index = position.index
      try put(key, value, at: position)
    }
    return position.isEqual
  }

  /// Returns the position of a key in the path's leaf if the last change was made in this leaf and the key
  /// surely belongs there; otherwise nil. If there is a position, the path's pages are the transaction's own.
  func fingerPosition(of key: SearchKey) throws(StoreError) -> (index: Int, isEqual: Bool)? {
    guard fingerChanges == changes.pointee else { return nil }
    let position = try reading { () throws(StoreError) in
      try path[0].page.lowerBound(of: key, in: map)
    }
    // The key is one of the leaf, or between two of them, or after the tree's last. Before the leaf's first
    // key and after its last, another leaf may have it.
    guard position.isEqual || position.index > 0 && (position.index < path[0].page.count || isPathAtEnd)
    else { return nil }
    return position
  }

  /// True if a cursor over the tree may still be valid.
  var hasValidCursor: Bool { cursorCount.pointee > 0 && cursorChanges == changes.pointee }

  /// Makes the next change search from the root: the path's pages may have been written and freed.
  func forgetFinger() { fingerChanges = Self.noFinger }

  /// Keeps the path, which leads to a change that was just made in its leaf, for the next change.
  @inline(__always)
  func keepFinger() { fingerChanges = changes.pointee }

  /// Ends the editor with its transaction: all later calls throw.
  func end() {
    changes.pointee &+= 1
    isIntact = false
  }

  /// Runs a change, which invalidates cursors, and makes the tree unusable if it fails.
  @inline(__always)
  func change<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try checkIntact()
    changes.pointee &+= 1
    isIntact = false
    let result = try reading(body)
    isIntact = true
    return result
  }

  /// Runs an operation, or a part of one, in a read section: pages that it finds stay in memory until it
  /// returns.
  @inline(__always)
  func reading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let isOutermost = dirty.beginReading()
    defer { if isOutermost { dirty.endReading(visiting: height) } }
    return try body()
  }

  /// Throws if the transaction has ended, if a change has failed, or during a bulk append.
  func checkIntact() throws(StoreError) {
    guard isIntact else {
      throw StoreError(.transactionEnded, "The write transaction has ended or has failed.")
    }
    if isAppending {
      throw StoreError(.nestedWrite, "The tree can't be used during a bulk append to it.")
    }
  }

  static func checkLengths(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    guard key.count <= StoreLimits.keyByteCount else {
      throw StoreError(.keyTooLong, "A key has \(key.count) bytes; the limit is \(StoreLimits.keyByteCount).")
    }
    guard value.count <= StoreLimits.valueByteCount else {
      throw StoreError(
        .valueTooLong,
        "A value has \(value.count) bytes; the limit is \(StoreLimits.valueByteCount)."
      )
    }
  }

  // MARK: The path

  /// Makes the path lead to the leaf in which `key` is or would be, and returns its position there.
  @inline(__always)
  func descend(to key: SearchKey) throws(StoreError) -> (index: Int, isEqual: Bool) {
    fingerChanges = Self.noFinger
    let core = self.core
    var level = height &- 1
    var page = try core.rootPage()
    while level > 0 {
      let index = try page.childIndex(for: key, in: map)
      path[level] = PathStep(page: page, index: index)
      page = try core.child(page, index, below: level)
      level &-= 1
    }
    let position = try page.lowerBound(of: key, in: map)
    path[0] = PathStep(page: page, index: position.index)
    return position
  }

  /// Makes the path lead to the tree's last leaf.
  func descendToEnd() throws(StoreError) {
    fingerChanges = Self.noFinger
    var page = try core.rootPage()
    for level in (0..<height).reversed() {
      path[level] = PathStep(page: page, index: level == 0 ? page.count : page.count - 1)
      if level > 0 { page = try core.child(page, page.count - 1, below: level) }
    }
  }

  /// True if the path leads to the tree's last leaf.
  private var isPathAtEnd: Bool {
    (1..<max(1, height)).allSatisfy { path[$0].index == path[$0].page.count - 1 }
  }

  /// Makes the pages of the path writable, from the root down to level `lowest`: copies those that aren't the
  /// transaction's own.
  @inline(__always)
  func makePathWritable(downTo lowest: Int = 0) throws(StoreError) {
    var level = height &- 1
    while level >= lowest {
      if !dirty.owns(path[level].page, at: reference(level).location) { try copyPage(level) }
      level &-= 1
    }
  }

  /// Returns the reference by which the path's page of `level` is reached.
  @inline(__always)
  func reference(_ level: Int) -> ChildReference {
    if level == height &- 1 { return root.reference }
    let parent = path[level &+ 1]
    return ChildReference(loading: parent.page.reference(parent.index))
  }

  /// Replaces the reference by which the path's page of `level` is reached.
  @inline(__always)
  func setReference(_ level: Int, _ reference: ChildReference) {
    if level == height &- 1 {
      root.reference = reference
    } else {
      let parent = path[level &+ 1]
      editor(parent.page).setReference(parent.index, reference)
    }
  }

  /// Adds to the counts in every reference of the path.
  @inline(__always)
  func addToCounts(_ difference: Int) {
    root.reference.count &+= UInt64(bitPattern: Int64(difference))
    var level = height &- 1
    while level > 0 {
      let step = path[level]
      editor(step.page).addToCount(ofChild: step.index, difference)
      level &-= 1
    }
  }

  /// Returns an editor of a page that the transaction owns.
  @inline(__always)
  func editor(_ page: PageImage) -> PageEditor {
    PageEditor(UnsafeMutableRawPointer(mutating: page.base), geometry)
  }

  func setRoot(_ reference: ChildReference, height: Int) {
    root.reference = reference
    root.height = UInt8(height)
  }

  // MARK: Entries

  /// Makes the entry for a new key. Overflowing parts go to buffers of the transaction. Valid until the next
  /// call.
  @inline(__always)
  func makeEntry(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> PageEntry {
    var entry = makeKey(key, payload: value, rest: references + ChildReference.byteCount)
    let payload = makePayload(value, keyCount: key.count)
    entry.payload = payload.bytes.start
    entry.payloadCount = payload.bytes.count
    entry.valueOverflows = payload.overflows
    return entry
  }

  /// Makes a branch's entry with the separator `key`, without a child. Valid until the next call.
  func makeSeparator(_ key: UnsafeRawBufferPointer) -> PageEntry {
    makeKey(
      key,
      payload: UnsafeRawBufferPointer(start: nil, count: 0),
      rest: references + 2 * ChildReference.byteCount
    )
  }

  @inline(__always)
  private func makeKey(
    _ key: UnsafeRawBufferPointer,
    payload: UnsafeRawBufferPointer,
    rest target: UnsafeMutableRawPointer
  ) -> PageEntry {
    var entry = PageEntry(key: key, payload: payload)
    if key.count > geometry.inlineKeyLimit {
      entry.suffixCount = geometry.splitKeyLength
      let rest = UnsafeRawBufferPointer(rebasing: key[geometry.splitKeyLength...])
      allocateOverflow(rest).store(to: target)
      entry.keyRest = UnsafeRawPointer(target)
    }
    return entry
  }

  /// Returns the payload of a leaf's entry: the value, or a reference to its overflow. Valid until the next
  /// call.
  @inline(__always)
  func makePayload(
    _ value: UnsafeRawBufferPointer,
    keyCount: Int
  ) -> (bytes: UnsafeRawBufferPointer, overflows: Bool) {
    if geometry.keepsValueInline(keyCount: keyCount, valueCount: value.count) { return (value, false) }
    allocateOverflow(value).store(to: references)
    return (UnsafeRawBufferPointer(start: references, count: ChildReference.byteCount), true)
  }

  private func allocateOverflow(_ bytes: UnsafeRawBufferPointer) -> ChildReference {
    root.hasOverflow = true
    return dirty.allocateBlob(copying: bytes)
  }
}
