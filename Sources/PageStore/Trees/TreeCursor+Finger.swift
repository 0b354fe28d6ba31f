// Lookups that begin where the cursor is.

extension TreeCursor {
  /// The value for a key, or nil when there is none; the cursor moves to the first entry of its range that isn't below the key.
  ///
  /// A key in the leaf at hand, or in the next one, is found without a search from the root: keys that ascend, and lie close
  /// together, cost a step each. Keys in any order are found all the same. The value is valid until the cursor moves.
  package mutating func find(near key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
    try checkUnchanged()
    let key = SearchKey(key)
    if isAtEntry {
      let position = try position(of: key)
      // Between two keys of the leaf, or on one. Before its first and after its last, another leaf may be the right one.
      if position.index < end, position.index > lowest || position.isEqual { return try value(at: position) }
      if position.index == leaf.count, end == leaf.count, try moveToNextLeaf(for: key) {
        let position = try self.position(of: key)
        if position.index >= lowest, position.index < end { return try value(at: position) }
      }
    }
    guard try seek(to: UnsafeRawBufferPointer(start: key.start, count: key.count)) else { return nil }
    return try value(at: position(of: key))
  }

  /// Moves to an entry of the leaf that is the first of the range not below a key; returns its value if it has the key.
  private mutating func value(
    at position: (index: Int, isEqual: Bool)
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    index = max(position.index, lowest)
    return position.isEqual && position.index == index ? try value() : nil
  }

  /// Moves to the next leaf under the same parent if its separators tell that the key is there and nowhere else. The cursor is at
  /// no entry of it yet.
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

  /// Where in the leaf a key is.
  private mutating func position(of key: SearchKey) throws(StoreError) -> (index: Int, isEqual: Bool) {
    // Only keys that overflow lead out of the leaf.
    if leaf.flags & PageFlags.hasOverflow == 0 { return try leaf.lowerBound(of: key, in: core.pages) }
    return try walking { cursor throws(StoreError) in
      try cursor.leaf.lowerBound(of: key, in: cursor.core.pages)
    }
  }
}

extension OrderedTree {
  /// Calls `body` for each of the keys, in their order, with its position among them and its value, or nil when there is none.
  ///
  /// Keys may come in any order; where they ascend, and lie close together in the tree, a lookup costs a step instead of
  /// O(log *n*).
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
