extension TreeCursor {
  /// The value for a key that isn't below the current entry's, or nil when there is none; the cursor moves to
  /// the first entry that isn't below the key.
  ///
  /// A key in the leaf at hand is found without a walk from the root: reading ascending keys costs a step
  /// each where they lie close together. The value is valid until the cursor moves.
  package mutating func find(
    forward key: UnsafeRawBufferPointer
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    try checkUnchanged()
    let key = SearchKey(key)
    if isAtEntry {
      let place = try place(of: key)
      if place.index < end {
        index = max(index, place.index)
        return place.isEqual ? try value() : nil
      }
    }
    guard try seek(to: UnsafeRawBufferPointer(start: key.start, count: key.count)) else { return nil }
    return try place(of: key).isEqual ? try value() : nil
  }

  /// Where in the leaf a key is.
  private mutating func place(of key: SearchKey) throws(StoreError) -> (index: Int, isEqual: Bool) {
    // Only keys that overflow lead out of the leaf.
    if leaf.flags & PageFlags.hasOverflow == 0 { return try leaf.lowerBound(of: key, in: core.pages) }
    return try walking { cursor throws(StoreError) in
      try cursor.leaf.lowerBound(of: key, in: cursor.core.pages)
    }
  }
}
