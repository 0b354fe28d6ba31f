extension TreeEditor {
  /// The progress of a relocation in a tree.
  enum Progress {
    case done
    /// The rest of the tree begins at this key.
    case resume(at: [UInt8])
  }

  /// Copies the pages whose number in the file is `limit` or more, with their paths from the root, so that
  /// the next checkpoint writes them elsewhere. The tree's contents don't change. Stops when the transaction
  /// has copied `pageLimit` pages.
  ///
  /// Reads the branches and the leaves that move; other leaves only if the tree has overflow.
  ///
  /// - Parameter room: the room for overflow; nil for a tree without overflow. What doesn't fit there stays:
  ///   moving it would make the file longer.
  func relocate(
    behind limit: UInt64,
    to room: RelocationRoom? = nil,
    from start: [UInt8],
    pageLimit: Int
  ) throws(StoreError) -> Progress {
    guard height > 0 else { return .done }
    var key = start
    return try change { () throws(StoreError) in
      while true {
        if dirty.filePageCount >= pageLimit { return .resume(at: key) }
        try key.withBytes { key throws(StoreError) in _ = try descend(to: SearchKey(key)) }
        if isPathBehind(limit, room) { try movePath(behind: limit, to: room) }
        guard let next = try nextKey(behind: limit) else { return .done }
        key = next
      }
    }
  }

  /// Returns whether a page of the path, or overflow to which it refers and that can move, is at `limit` or
  /// after it.
  private func isPathBehind(_ limit: UInt64, _ room: RelocationRoom?) -> Bool {
    (0..<height).contains { level in
      isBehind(limit, pool.filePage(reference(level)))
        || root.hasOverflow && firstOverflow(behind: limit, to: room, in: path[level].page) != nil
    }
  }

  private func isBehind(_ limit: UInt64, _ page: UInt64?) -> Bool { page.map { $0 >= limit } ?? false }

  /// Returns the offset in a page of the first reference to overflow at `limit` or after it, for which there
  /// is room; nil if there is none.
  private func firstOverflow(behind limit: UInt64, to room: RelocationRoom?, in page: PageImage) -> Int? {
    page.overflowReferences.first { offset in
      let overflow = ChildReference(loading: page.base + offset)
      guard isBehind(limit, pool.filePage(ofOverflow: overflow)) else { return false }
      var runs = dirty.runs
      runs.add(overflowOf: UInt64(geometry.overflowPageCount(Int(overflow.count))))
      return room?.holds(runs) ?? true
    }
  }

  private func movePath(behind limit: UInt64, to room: RelocationRoom?) throws(StoreError) {
    try makePathWritable()
    guard root.hasOverflow else { return }
    for level in 0..<height {
      let page = path[level].page
      // A copy is no longer behind the limit.
      while let offset = firstOverflow(behind: limit, to: room, in: page) {
        let old = ChildReference(loading: page.base + offset)
        let value = try map.overflow(old, treeID: root.treeID)
        let copy = value.withBytes { dirty.allocateBlob(copying: $0) }
        copy.store(to: UnsafeMutableRawPointer(mutating: page.base + offset))
        dirty.retireOverflow(old, treeID: root.treeID)
      }
    }
  }

  /// Returns the first key of the next leaf that may have to move; nil if there is none.
  private func nextKey(behind limit: UInt64) throws(StoreError) -> [UInt8]? {
    for level in stride(from: 1, to: height, by: 1) {
      let step = path[level]
      let following = (step.index + 1)..<max(step.index + 1, step.page.count)
      // Only the lowest branches have references to leaves, which tell their page numbers.
      let next = following.first { index in
        level > 1 || root.hasOverflow
          || isBehind(limit, pool.filePage(ChildReference(loading: step.page.reference(index))))
      }
      if let next { return try wholeKey(PageEntry(step.page, next, geometry)) }
    }
    return nil
  }
}

extension PagePool {
  /// Returns the page of the store's file to which a reference leads, or to which its frame was written; nil
  /// if there is none.
  func filePage(_ reference: ChildReference) -> UInt64? {
    reference.location.isFrame ? filePage(storedPlace(ofPage: reference)) : reference.location.number
  }

  /// Returns the first page of the store's file to which a reference to overflow leads, or to which its
  /// buffer was written; nil if there is none.
  func filePage(ofOverflow reference: ChildReference) -> UInt64? {
    reference.location.isFrame ? filePage(storedPlace(ofOverflow: reference)) : reference.location.number
  }

  private func filePage(_ place: StoredPlace) -> UInt64? {
    place.isNone || place.number >= SpillFile.firstNumber ? nil : place.number
  }
}
