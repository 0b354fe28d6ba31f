extension TreeEditor {
  /// Replaces the value of a key by the value that `body` returns for it. If `body` returns nil, the value
  /// stays. The key is probably near the key of the last change.
  ///
  /// - Returns: whether the tree has the key.
  func replace(
    near key: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer?
  ) throws(StoreError) -> Bool {
    guard height > 0, key.count <= StoreLimits.keyByteCount else { return false }
    try checkIntact()
    return try reading { () throws(StoreError) in
      let known = try fingerPosition(of: SearchKey(key))
      let position = if let known { known } else { try descend(to: SearchKey(key)) }
      guard position.isEqual else { return false }
      let leaf = path[0].page
      let old = try core.value(leaf, leaf.slot(position.index))
      isPathInUse = true
      defer { isPathInUse = false }
      guard let new = try old.withBytes(body) else { return true }
      try change { () throws(StoreError) in
        path[0].index = position.index
        if known == nil { try makePathWritable() }
        try replaceValue(at: position.index, keyCount: key.count, with: new)
      }
      return true
    }
  }
}
