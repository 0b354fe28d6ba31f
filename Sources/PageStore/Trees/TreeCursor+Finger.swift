// Lookups that begin at the cursor's position.

extension TreeCursor {
  /// Returns the value for a key; nil if there is none. The cursor moves to the first entry of its range that
  /// isn't below the key.
  ///
  /// A key in the current leaf, or in the next one, is found without a search from the root: for ascending
  /// keys that are close together, a lookup costs a step. Keys in any other order are found as well. The
  /// value is valid until the cursor moves.
  package mutating func find(near key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
    try checkUnchanged()
    let key = SearchKey(key)
    if isAtEntry {
      let position = try position(of: key)
      // The key is one of the leaf, or between two of them. Before the leaf's first key and after its last,
      // another leaf may have it.
      if position.index < end, position.index > lowest || position.isEqual { return try value(at: position) }
      if position.index == leaf.count, end == leaf.count, try moveToNextLeaf(for: key) {
        let position = try self.position(of: key)
        if position.index >= lowest, position.index < end { return try value(at: position) }
      }
    }
    guard try seek(to: UnsafeRawBufferPointer(start: key.start, count: key.count)) else { return nil }
    return try value(at: position(of: key))
  }

  /// Moves to the first entry of the range, in this leaf, that isn't below a key; returns its value if it has
  /// the key.
  private mutating func value(
    at position: (index: Int, isEqual: Bool)
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    index = max(position.index, lowest)
    return position.isEqual && position.index == index ? try value() : nil
  }

  /// Moves to the next leaf under the same parent if the separators prove that the key belongs there. The
  /// cursor isn't at an entry of the leaf yet.
  private mutating func moveToNextLeaf(for key: SearchKey) throws(StoreError) -> Bool {
    guard core.root.height > 1 else { return false }
    return try walking { cursor throws(StoreError) in
      var level = Int(cursor.core.root.height) - 1
      var page = try cursor.core.rootPage()
      while level > 1 {
        page = try cursor.core.child(page, Int(cursor.path[level]), below: level)
        level -= 1
      }
      let next = Int(cursor.path[1]) + 1
      guard page.surelyHas(key, below: next, cursor.core.pages.geometry) else { return false }
      cursor.path[1] = UInt16(truncatingIfNeeded: next)
      try cursor.enter(cursor.core.child(page, next, below: 1))
      cursor.index = cursor.lowest
      return true
    }
  }

  /// Returns the position of a key in the leaf.
  private mutating func position(of key: SearchKey) throws(StoreError) -> (index: Int, isEqual: Bool) {
    // Only keys that overflow need pages other than the leaf.
    if leaf.flags & PageFlags.hasOverflow == 0 { return try leaf.lowerBound(of: key, in: core.pages) }
    return try walking { cursor throws(StoreError) in
      try cursor.leaf.lowerBound(of: key, in: cursor.core.pages)
    }
  }
}

extension OrderedTree {
  /// Calls `body` for each of the keys, in their order, with its position among them and its value, or nil
  /// when there is none.
  ///
  /// Keys may come in any order. If they ascend and are close together in the tree, a lookup costs a step
  /// instead of O(log *n*).
  public func forEachValue(
    for keys: some Sequence<[UInt8]>,
    _ body: (_ position: Int, _ value: RawSpan?) throws -> Void
  ) throws {
    var cursor = try cursor(in: .all)
    for (position, key) in keys.enumerated() {
      try key.withUnsafeBytes { key in
        let value = try cursor.find(near: key)
        try body(position, value?.bytes)
      }
    }
  }
}
