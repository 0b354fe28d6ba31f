/// Appends entries with ascending keys to the end of a tree, and fills each page before it begins the next.
///
/// From the first ``append(_:_:)`` to ``finish()`` nothing else can use the editor: the counts in branches
/// are updated only when a page is full, and at the end.
struct TreeAppender: ~Copyable {
  private let editor: TreeEditor
  /// The last key that was appended, or the tree's last key before.
  private var lastKey: [UInt8] = []
  private var hasLastKey = false
  /// Entries that were appended to the last leaf and aren't counted in its branches yet.
  private var uncounted = 0
  private(set) var count = 0

  init(_ editor: TreeEditor) throws(StoreError) {
    self.editor = editor
    lastKey.reserveCapacity(64)
    try editor.checkIntact()
    guard let key = try editor.lastKey() else { return }
    lastKey = key
    hasLastKey = true
  }

  /// Appends an entry. Throws `.keysOutOfOrder`, without a change, if the key isn't above the last one.
  mutating func append(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    try TreeEditor.checkLengths(key, value)
    editor.isAppending = false
    defer { editor.isAppending = true }
    try editor.checkIntact()
    guard !hasLastKey || isAboveLast(key) else {
      throw StoreError(
        .keysOutOfOrder,
        "Keys given to a bulk append must ascend, and be above the tree's last."
      )
    }
    if count == 0, editor.height > 0 {
      // From here on the path consists of the transaction's own frames, which aren't evicted.
      try editor.change { () throws(StoreError) in
        try editor.descendToEnd()
        try editor.makePathWritable()
      }
    }
    if editor.appendInPlace(key, value) {
      uncounted &+= 1
    } else {
      let uncounted = self.uncounted
      try editor.change { () throws(StoreError) in
        editor.addToCounts(uncounted)
        try editor.appendWithNewLeaf(key, value)
      }
      self.uncounted = 0
    }
    lastKey.removeAll(keepingCapacity: true)
    lastKey.append(contentsOf: key)
    hasLastKey = true
    count &+= 1
    editor.isPathInUse = true
  }

  var isOverLimit: Bool { editor.dirty.isOverLimit }

  /// Updates all counts and evens out the last pages. Returns how many entries were appended.
  mutating func finish() throws(StoreError) -> Int {
    editor.isAppending = false
    editor.isPathInUse = false
    guard count > 0 else { return 0 }
    let uncounted = self.uncounted
    try editor.change { () throws(StoreError) in
      editor.addToCounts(uncounted)
      try editor.mendSeam(at: TreeEditor.highestKey)
    }
    return count
  }

  private func isAboveLast(_ key: UnsafeRawBufferPointer) -> Bool {
    lastKey.withUnsafeBytes { ByteComparison.compare(key, $0) > 0 }
  }
}

extension TreeEditor {
  /// Returns the tree's last key, or nil if it is empty.
  fileprivate func lastKey() throws(StoreError) -> [UInt8]? {
    guard height > 0 else { return nil }
    return try reading { () throws(StoreError) in
      try descendToEnd()
      let leaf = path[0].page
      return leaf.count == 0 ? nil : try wholeKey(PageEntry(leaf, leaf.count - 1, geometry))
    }
  }

  /// Appends an entry to the path's leaf; false if it doesn't fit there, or needs overflow pages.
  @inline(__always)
  fileprivate func appendInPlace(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    guard height > 0, isPlain(key, value) else { return false }
    let page = path[0].page
    guard editor(page).insert(PageEntry(key: key, payload: value), at: page.count) else { return false }
    changes.pointee &+= 1
    return true
  }

  /// Returns whether an entry takes no overflow pages.
  @inline(__always)
  private func isPlain(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    key.count <= geometry.inlineKeyLimit
      && geometry.keepsValueInline(keyCount: key.count, valueCount: value.count)
  }

  /// Appends an entry for which the path's leaf may have no room. Afterwards the path leads to the new last
  /// leaf.
  fileprivate func appendWithNewLeaf(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    if height == 0 {
      startTree(with: key, value)
    } else {
      addToCounts(1)
      try insert(makeEntry(key, value), at: path[0].page.count)
    }
    try descendToEnd()
  }
}
