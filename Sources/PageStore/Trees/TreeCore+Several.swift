// Lookups of several keys side by side.

/// Keys of one length, one behind the other. Their bytes don't move during the call.
struct SearchKeys {
  private let bytes: UnsafeRawBufferPointer
  private let keyByteCount: Int
  let count: Int

  /// - Parameter keyByteCount: bytes of each key, at least one.
  init(_ bytes: UnsafeRawBufferPointer, each keyByteCount: Int) {
    self.bytes = bytes
    self.keyByteCount = keyByteCount
    count = bytes.count / keyByteCount
  }

  @inline(__always)
  subscript(place: Int) -> SearchKey {
    SearchKey(UnsafeRawBufferPointer(start: bytes.start + place &* keyByteCount, count: keyByteCount))
  }
}

extension TreeCore {
  /// The most keys whose pages are prefetched before the first is read: as many as ``leaves(of:in:)`` has
  /// room for.
  private static let groupCount = 16

  /// Calls `body` with the position of each key among the keys and its value, or nil for a key that the tree
  /// doesn't have. The calls are in the order in which the keys are given, until `body` returns false. A value
  /// is valid during the call.
  ///
  /// A lookup waits for memory most of the time: for the leaf's heads, then for the entry. Here the leaves of
  /// a group of keys are prefetched together, and then their entries. So the group waits about as long as one
  /// key would.
  func forEachValue(
    of keys: SearchKeys,
    _ body: (_ place: Int, _ value: UnsafeRawBufferPointer?) -> Bool
  ) throws(StoreError) {
    var first = 0
    while first < keys.count {
      let group = first..<min(first &+ Self.groupCount, keys.count)
      let isGoingOn = try reading(lookups: group.count) { () throws(StoreError) in
        try forEachValue(of: keys, in: group, body)
      }
      guard isGoingOn else { return }
      first = group.upperBound
    }
  }

  /// Does what ``forEachValue(of:_:)`` does, for one group, in a read section. Returns false if `body` did.
  private func forEachValue(
    of keys: SearchKeys,
    in group: Range<Int>,
    _ body: (Int, UnsafeRawBufferPointer?) -> Bool
  ) throws(StoreError) -> Bool {
    guard root.height > 0 else { return group.allSatisfy { body($0, nil) } }
    let leaves = try leaves(of: keys, in: group)
    for place in group {
      let (leaf, key) = (PageImage(leaves[place &- group.lowerBound]), keys[place])
      let (index, isEqual) = try leaf.lowerBound(of: key, in: pages)
      let isGoingOn =
        isEqual ? try value(leaf, leaf.slot(index)).withBytes { body(place, $0) } : body(place, nil)
      guard isGoingOn else { return false }
    }
    return true
  }

  /// Returns the addresses of the leaves in which the keys of a group are or would be. The memory of the
  /// leaves and of the entries is being prefetched.
  private func leaves(
    of keys: SearchKeys,
    in group: Range<Int>
  ) throws(StoreError) -> InlineArray<16, UnsafeRawPointer> {
    let top = try rootPage().base
    var leaves = InlineArray<16, UnsafeRawPointer>(repeating: top)
    guard root.height > 1 else { return leaves }
    // First the references to the leaves are found; nothing is read of the leaves yet.
    var references = leaves
    var last: (parent: PageImage, index: Int)?
    for place in group {
      let key = keys[place]
      if let last, last.parent.surelyHas(key, below: last.index, pages.geometry) {
        references[place &- group.lowerBound] = last.parent.reference(last.index)
        continue
      }
      let found = try leafPlace(for: key)
      last = found
      references[place &- group.lowerBound] = found.parent.reference(found.index)
      pages.prefetch(referredToAt: found.parent.reference(found.index))
    }
    for index in 0..<group.count {
      // A leaf is looked up once for all its keys: the cache would take another lookup for another use.
      if index > 0, references[index] == references[index &- 1] {
        leaves[index] = leaves[index &- 1]
      } else {
        leaves[index] = try pages.page(referredToAt: references[index], identity: identity(0)).base
      }
      PageImage(leaves[index]).prefetchCell(for: keys[group.lowerBound &+ index])
    }
    return leaves
  }
}

extension OrderedTree {
  /// Calls `body` with the position of each of several keys of eight bytes and its value, or nil for a key
  /// that the tree doesn't have. The calls are in the order in which the keys are given, until `body` returns
  /// false. A value is valid during the call.
  ///
  /// The keys may be in any order. Several keys are looked up side by side. Where the tree is larger than the
  /// processor's caches, this takes a fraction of the time of as many single lookups.
  ///
  /// In a write transaction, `body` must not change any tree.
  ///
  /// - Parameter keys: the keys' bytes as they lie in memory.
  package func forEachValue(
    ofKeys keys: [UInt64],
    _ body: (_ place: Int, _ value: UnsafeRawBufferPointer?) -> Bool
  ) throws(StoreError) {
    let core = try core
    try keys.withBytes { bytes throws(StoreError) in
      try core.forEachValue(of: SearchKeys(bytes, each: MemoryLayout<UInt64>.size), body)
    }
  }
}
