extension TreeEditor {
  /// Removes every entry whose key is in `range`; returns how many there were. Changes O(log *n*) pages. Of
  /// the pages in the file that are completely in the range, it reads the branches, to retire the pages below
  /// them, and the leaves only if the tree has overflow.
  @discardableResult
  func removeRange(_ range: KeyRange) throws(StoreError) -> Int {
    try checkIntact()
    let doomed = try core.count(in: range)
    guard doomed > 0 else { return 0 }
    try change { () throws(StoreError) in
      let trimmed = try trim(root.reference, level: height - 1, range)
      guard let trimmed else {
        return setRoot(ChildReference(location: .none, checksum: 0, birth: 0, count: 0), height: 0)
      }
      setRoot(trimmed, height: height)
      try mendSeam(at: range.lower.key ?? [])
      try mendSeam(at: range.upper.key ?? Self.highestKey)
    }
    return doomed
  }

  /// Removes all entries, and retires all pages.
  func removeAll() throws(StoreError) {
    try change { () throws(StoreError) in
      guard height > 0 else { return }
      try drop(root.reference, level: height - 1)
      setRoot(ChildReference(location: .none, checksum: 0, birth: 0, count: 0), height: 0)
    }
  }

  /// A key that isn't below any other.
  static let highestKey = [UInt8](repeating: 0xFF, count: StoreLimits.keyByteCount)

  // MARK: Trimming

  /// Removes the entries in `range` from a subtree. Returns the reference to the rest; nil if nothing is
  /// left.
  private func trim(
    _ reference: ChildReference,
    level: Int,
    _ range: KeyRange
  ) throws(StoreError) -> ChildReference? {
    if range == .all {
      try drop(reference, level: level)
      return nil
    }
    let page = try map.page(reference, identity: core.identity(level))
    return level == 0 ? try trimLeaf(page, reference, range) : try trimBranch(page, reference, level, range)
  }

  private func trimLeaf(
    _ page: PageImage,
    _ reference: ChildReference,
    _ range: KeyRange
  ) throws(StoreError) -> ChildReference? {
    let first = try index(of: range.lower, in: page, skipsEqual: false) ?? 0
    let end = try index(of: range.upper, in: page, skipsEqual: true) ?? page.count
    guard first < end else { return reference }
    for index in first..<end { retireOverflow(of: page, index) }
    let kept = (0..<first).map { PageEntry(page, $0, geometry) }
    return try rebuild(kept + (end..<page.count).map { PageEntry(page, $0, geometry) }, reference, level: 0)
  }

  private func index(
    of bound: KeyRange.Bound,
    in page: PageImage,
    skipsEqual: Bool
  ) throws(StoreError) -> Int? {
    guard let key = bound.key else { return nil }
    let position = try key.withBytes { key throws(StoreError) in
      try page.lowerBound(of: SearchKey(key), in: map)
    }
    let skips = bound.isIncluding ? skipsEqual : !skipsEqual
    return position.index + (skips && position.isEqual ? 1 : 0)
  }

  private func trimBranch(
    _ page: PageImage,
    _ reference: ChildReference,
    _ level: Int,
    _ range: KeyRange
  ) throws(StoreError) -> ChildReference? {
    let first = try childIndex(for: range.lower, in: page) ?? 0
    let last = try childIndex(for: range.upper, in: page) ?? page.count - 1
    // Only in a forged page can the last child come before the first.
    guard first <= last else { return reference }
    // Room for the references to the rests of the children at the ends of the range, to which the entries
    // will point.
    let trimmed = UnsafeMutableRawPointer.allocate(byteCount: 2 * ChildReference.byteCount, alignment: 8)
    defer { trimmed.deallocate() }
    var entries = (0..<first).map { PageEntry(page, $0, geometry) }
    for index in first...last {
      let child = ChildReference(loading: page.reference(index))
      let part = KeyRange(
        lower: index == first ? range.lower : .unbounded,
        upper: index == last ? range.upper : .unbounded
      )
      if let rest = try trim(child, level: level - 1, part) {
        let target = index == first ? trimmed : trimmed + ChildReference.byteCount
        rest.store(to: target)
        var entry = PageEntry(page, index, geometry)
        entry.payload = UnsafeRawPointer(target)
        entries.append(entry)
      } else {
        retireOverflow(of: page, index)
      }
    }
    entries += (last + 1..<max(last + 1, page.count)).map { PageEntry(page, $0, geometry) }
    // The first separator is now the branch's empty one, so it is no longer stored.
    if let rest = entries.first?.keyRest {
      dirty.retireOverflow(ChildReference(loading: rest), treeID: root.treeID)
    }
    return try rebuild(entries, reference, level: level)
  }

  private func childIndex(for bound: KeyRange.Bound, in page: PageImage) throws(StoreError) -> Int? {
    guard let key = bound.key else { return nil }
    return try key.withBytes { key throws(StoreError) in
      try page.childIndex(for: SearchKey(key), in: map)
    }
  }

  /// Builds a new page from entries of an old one, which is retired; nil if there are no entries.
  private func rebuild(
    _ entries: [PageEntry],
    _ old: ChildReference,
    level: Int
  ) throws(StoreError) -> ChildReference? {
    defer { dirty.retirePage(old, treeID: root.treeID) }
    guard !entries.isEmpty else { return nil }
    let storage = UnsafeMutableBufferPointer<PageEntry>.allocate(capacity: entries.count)
    defer { storage.deallocate() }
    _ = storage.initialize(from: entries)
    return try buildPage(UnsafeBufferPointer(storage), level: level, lonePrefix: 0)
  }

  /// Retires all pages of a subtree.
  private func drop(_ reference: ChildReference, level: Int) throws(StoreError) {
    if reference.location.isFrame {
      // Only leaves without overflow are evicted.
      if !pool.isEvicted(reference) {
        try dropContents(of: map.page(reference, identity: core.identity(level)), level: level)
      }
    } else if level > 0 || root.hasOverflow {
      try dropContents(ofStored: reference, level: level)
    }
    dirty.retirePage(reference, treeID: root.treeID)
  }

  private func dropContents(of page: PageImage, level: Int) throws(StoreError) {
    for index in 0..<page.count {
      if page.flags & PageFlags.hasOverflow != 0 { retireOverflow(of: page, index) }
      if level > 0 { try drop(ChildReference(loading: page.reference(index)), level: level - 1) }
    }
  }

  /// Retires what a page of the file refers to, without adding the page to the cache. If the page is damaged,
  /// the pages below it can't be found: they stay in use, which `Store.verify()` reports.
  private func dropContents(ofStored reference: ChildReference, level: Int) throws(StoreError) {
    do throws(StoreError) {
      let (frame, page) = try pool.copy(reference, identity: core.identity(level))
      defer { pool.arena.free(CollectionOfOne(frame)) }
      try dropContents(of: page, level: level)
    } catch  where error.code == .corrupt {
    }
  }

  // MARK: Mending

  /// Merges or evens out pages that a removal has left less than half full, on the path to `key` and right of
  /// it. It begins at the root, because a merge of branches makes the pages at their seam neighbours.
  func mendSeam(at key: [UInt8]) throws(StoreError) {
    // Every round but the last mends a page. The number of rounds is limited, because large entries can't
    // always be divided evenly.
    for _ in 0..<(4 * TreeLimits.height) {
      try shrinkRoot()
      guard height > 1 else { return }
      try key.withBytes { key throws(StoreError) in _ = try descend(to: SearchKey(key)) }
      guard let level = try levelToMend() else { return }
      try makePathWritable()
      _ = try mend(level)
    }
  }

  /// Returns the highest level at which the path's page or its right neighbour is underfull and can be
  /// mended; nil if there is none.
  private func levelToMend() throws(StoreError) -> Int? {
    for level in (0..<(height - 1)).reversed() {
      let parent = path[level + 1]
      guard parent.page.count > 1 else { continue }
      if isUnderfull(path[level].page) { return level }
      guard parent.index + 1 < parent.page.count else { continue }
      let neighbour = try core.child(parent.page, parent.index + 1, below: level + 1)
      guard isUnderfull(neighbour) else { continue }
      return level
    }
    return nil
  }
}

extension KeyRange.Bound {
  /// The bound's key.
  var key: [UInt8]? {
    switch self {
    case .unbounded: nil
    case .including(let key), .excluding(let key): key
    }
  }

  var isIncluding: Bool {
    if case .including = self { true } else { false }
  }
}
