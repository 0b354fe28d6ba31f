/// Changes one tree within one write transaction.
///
/// The version the transaction began with stays as it is: a page is copied to a frame of the transaction
/// before its first change, and so are the pages above it; after that it is changed in place. Where pages are
/// rewritten at all (divided, merged, evened out, or only tidied up), their entries are listed as
/// ``PageEntry``s and laid out anew in fresh frames; there is one way to do it.
///
/// Used by one thread at a time. After an error that comes from the file or its contents the tree is in no
/// definite state, ``isIntact`` is false, and the transaction has to be aborted.
final class TreeEditor {
  private(set) var root: TreeRoot
  let pool: PagePool
  let map: PageMap
  let dirty: DirtySet
  let geometry: PageGeometry
  /// False after a failure in the middle of a change.
  private(set) var isIntact = true

  /// Whether a bulk append waits for its next entry: the tree's counts are not what they will be.
  var isAppending = false

  /// What keeps pages of the file in memory while an operation goes through them.
  private let reader: Reader
  private var isReading = false

  /// The count of changes after which the path led to the place of the last change, in pages of the transaction's own.
  /// No count at all once the path leads elsewhere, be it only to read.
  private var fingerChanges = TreeEditor.noFinger
  private static let noFinger = UInt64.max

  /// Counts changes, so that cursors find out that what they point to may be gone.
  let changes: UnsafeMutablePointer<UInt64>
  /// The pages from a leaf (0) to the root that the current operation goes through.
  let path: UnsafeMutablePointer<PathStep>
  /// Room for the references of an entry that overflows (value, key's rest) and of a separator that does.
  private let references: UnsafeMutableRawPointer

  struct PathStep {
    var page: PageImage
    /// In a branch, the child that the path goes through.
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
    path = .allocate(capacity: TreeLimits.height + 1)
    references = .allocate(byteCount: 3 * ChildReference.byteCount, alignment: 8)
    reader = map.enter()
    reader.end(visiting: 0)
  }

  deinit {
    reader.leave()
    changes.deallocate()
    path.deallocate()
    references.deallocate()
  }

  /// The tree as it is now, for lookups until the next change.
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

  /// ``put(_:_:)`` for a key that is likely to lie near the last one's: the path to that is used again if it leads there.
  @discardableResult
  func put(
    near key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) -> Bool {
    guard fingerChanges == changes.pointee else { return try put(key, value) }
    try Self.checkLengths(key, value)
    let position = try reading { () throws(StoreError) in
      try path[0].page.lowerBound(of: SearchKey(key), in: map)
    }
    // Between two keys of the leaf, or on one, or behind the tree's last. Before the leaf's first and after its last, another leaf may
    // be the right one.
    guard position.isEqual || position.index > 0 && (position.index < path[0].page.count || isPathAtEnd)
    else {
      return try put(key, value)
    }
    try change { () throws(StoreError) in
      path[0].index = position.index
      try put(key, value, at: position)
    }
    return position.isEqual
  }

  /// Ends the editor's life with its transaction: nothing can be read or changed through it any more.
  func end() {
    changes.pointee &+= 1
    isIntact = false
  }

  /// Runs one change, which makes cursors stale and, if it fails, the tree unusable.
  @inline(__always)
  func change<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try checkIntact()
    changes.pointee &+= 1
    isIntact = false
    let result = try reading(body)
    isIntact = true
    return result
  }

  /// Runs an operation, or a part of one, while the pages that it finds stay where they are.
  @inline(__always)
  func reading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    if isReading { return try body() }
    isReading = true
    reader.begin()
    defer {
      reader.end(visiting: height)
      isReading = false
    }
    return try body()
  }

  /// Throws if the transaction has ended, or failed in the middle of a change, or if a bulk append is going on.
  func checkIntact() throws(StoreError) {
    guard isIntact else {
      throw StoreError(.transactionEnded, "The write transaction has ended or has failed.")
    }
    if isAppending {
      throw StoreError(.nestedWrite, "The tree is in the middle of a bulk append.")
    }
  }

  static func checkLengths(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    guard key.count <= StoreLimits.keyByteCount else {
      throw StoreError(.keyTooLong, "A key of \(key.count) bytes; \(StoreLimits.keyByteCount) are the limit.")
    }
    guard value.count <= StoreLimits.valueByteCount else {
      throw StoreError(
        .valueTooLong,
        "A value of \(value.count) bytes; \(StoreLimits.valueByteCount) are the limit."
      )
    }
  }

  // MARK: The path

  /// Notes the pages from the root to the leaf where `key` is or would be, and finds its position there.
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

  /// Makes every page of the path one that the transaction may change, from the root down to a level.
  @inline(__always)
  func makePathWritable(downTo lowest: Int = 0) throws(StoreError) {
    var level = height &- 1
    while level >= lowest {
      if !dirty.owns(path[level].page, at: reference(level).location) { try copyPage(level) }
      level &-= 1
    }
  }

  /// The reference by which the path's page of `level` is reached.
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

  /// Gives the transaction its own copy of the path's page of `level`; the pages above are its own already.
  ///
  /// A page from the file is laid out anew instead of copied: in a forged one cells may overlap, and changing
  /// one must not change the lengths in another.
  private func copyPage(_ level: Int) throws(StoreError) {
    let old = path[level].page
    let oldReference = reference(level)
    let frame = dirty.allocateFrame()
    let bytes = pool.arena.address(frame)
    if oldReference.location.isFrame, old.base == pool.arena.address(oldReference.location.number) {
      copyUsedBytes(old, to: bytes)
      bytes.storeLittle(dirty.commit, PageHeader.birth)
    } else {
      try withEntries(of: old) { entries throws(StoreError) in
        try PageBuilder(geometry: geometry, isLeaf: level == 0).build(
          bytes,
          treeID: root.treeID,
          level: UInt8(level),
          birth: dirty.commit,
          entries: UnsafeBufferPointer(entries),
          lonePrefix: old.prefixLength
        )
      }
    }
    setReference(
      level,
      ChildReference(
        location: .frame(frame),
        checksum: 0,
        birth: dirty.commit,
        count: oldReference.count
      )
    )
    dirty.retirePage(oldReference, treeID: root.treeID)
    path[level].page = PageImage(UnsafeRawPointer(bytes))
  }

  /// Copies all but the number and checksum, which frames don't have.
  private func copyUsedBytes(_ page: PageImage, to target: UnsafeMutableRawPointer) {
    let low = PageHeader.byteCount + PageSlot.byteCount * page.count
    let rest = PageHeader.birth
    (target + rest).copyMemory(from: page.base + rest, byteCount: low - rest)
    let heap = page.heapStart
    (target + heap).copyMemory(from: page.base + heap, byteCount: geometry.pageSize - heap)
    FrameHeader(target).clearEvicted()
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

  /// An editor of a page that the transaction owns.
  @inline(__always)
  func editor(_ page: PageImage) -> PageEditor {
    PageEditor(UnsafeMutableRawPointer(mutating: page.base), geometry)
  }

  func setRoot(_ reference: ChildReference, height: Int) {
    root.reference = reference
    root.height = UInt8(height)
  }

  // MARK: Entries

  /// The entry for a new key, its overflowing parts in buffers of the transaction. Valid until the next call.
  @inline(__always)
  func makeEntry(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> PageEntry {
    var entry = makeKey(key, payload: value, rest: references + ChildReference.byteCount)
    let payload = makePayload(value, keyCount: key.count)
    entry.payload = payload.bytes.start
    entry.payloadCount = payload.bytes.count
    entry.valueOverflows = payload.overflows
    return entry
  }

  /// A branch's entry with the separator `key`, still without a child. Valid until the next call.
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

  /// What a leaf holds for a value: the value, or a reference to its overflow. Valid until the next call.
  @inline(__always)
  private func makePayload(
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

  func startTree(with key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let frame = dirty.allocateFrame()
    let page = PageEditor(pool.arena.address(frame), geometry)
    page.initializeHeader(treeID: root.treeID, level: 0, birth: dirty.commit)
    _ = page.insert(makeEntry(key, value), at: 0)
    setRoot(
      ChildReference(location: .frame(frame), checksum: 0, birth: dirty.commit, count: 1),
      height: 1
    )
  }

  /// Puts an entry into the path's leaf, dividing it if there is no room.
  @inline(__always)
  func insert(_ entry: PageEntry, at index: Int) throws(StoreError) {
    if editor(path[0].page).insert(entry, at: index) {
      fingerChanges = changes.pointee
      return
    }
    try insertWithNewLeaf(entry, at: index)
  }

  @inline(never)
  private func insertWithNewLeaf(_ entry: PageEntry, at index: Int) throws(StoreError) {
    let bias = bias(ofInsertionAt: index, level: 0)
    if bias == .ascending, try addLastLeaf(entry) { return }
    try withUnsafePointer(to: entry) { (entry) throws(StoreError) in
      let replacement = UnsafeBufferPointer(start: entry, count: 1)
      try rewrite(0, replacing: index..<index, with: replacement, bias: bias)
    }
  }

  /// Gives the path's entry another value.
  private func replaceValue(
    at index: Int,
    keyCount: Int,
    with value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    let page = path[0].page
    let slot = page.slot(index)
    if slot.valueOverflows {
      dirty.retireOverflow(ChildReference(loading: page.leafPayload(slot).start), treeID: root.treeID)
    }
    let payload = makePayload(value, keyCount: keyCount)
    if editor(page).replacePayload(at: index, with: payload.bytes, overflows: payload.overflows) {
      fingerChanges = changes.pointee
      return
    }
    var entry = PageEntry(page, index, geometry)
    entry.payload = payload.bytes.start
    entry.payloadCount = payload.bytes.count
    entry.valueOverflows = payload.overflows
    try withUnsafePointer(to: entry) { (entry) throws(StoreError) in
      try rewrite(
        0,
        replacing: index..<(index + 1),
        with: UnsafeBufferPointer(start: entry, count: 1),
        bias: .balanced
      )
    }
  }

  /// Whether the path leads to the tree's last leaf.
  private var isPathAtEnd: Bool {
    (1..<max(1, height)).allSatisfy { path[$0].index == path[$0].page.count - 1 }
  }

  /// Whether an insertion continues an ascending or descending run at an end of the whole tree.
  func bias(ofInsertionAt index: Int, level: Int) -> Partition.Bias {
    let count = path[level].page.count
    let upper = (level + 1)..<max(level + 1, height)
    if index == count, upper.allSatisfy({ path[$0].index == path[$0].page.count - 1 }) { return .ascending }
    if index == 0, upper.allSatisfy({ path[$0].index == 0 }) { return .descending }
    return .balanced
  }
}
