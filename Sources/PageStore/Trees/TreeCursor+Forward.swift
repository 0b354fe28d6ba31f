extension TreeCursor {
  /// The value for a key that isn't below the current entry's, or nil when there is none; the cursor moves to
  /// the first entry that isn't below the key.
  ///
  /// A key in the leaf at hand is found without a walk from the root: reading ascending keys costs a step
  /// each where they lie close together.
  package mutating func find(forward key: UnsafeRawBufferPointer) throws(StoreError) -> ValueBytes? {
    try checkUnchanged()
    if isAtEntry {
      let found = try leaf.lowerBound(of: SearchKey(key), in: core.pages)
      if found.index < end {
        index = max(index, found.index)
        return found.isEqual ? try core.value(leaf, leaf.slot(found.index)) : nil
      }
    }
    guard try seek(to: key) else { return nil }
    let found = try leaf.lowerBound(of: SearchKey(key), in: core.pages)
    return found.isEqual ? try core.value(leaf, leaf.slot(found.index)) : nil
  }

  /// The current entry's value, which stays valid beyond the cursor's next move: while the snapshot lives, or
  /// until the tree's next change in a write transaction.
  package func valueBytes() throws(StoreError) -> ValueBytes {
    precondition(isAtEntry, "a cursor has a value only at an entry")
    return try core.value(leaf, leaf.slot(index))
  }
}
