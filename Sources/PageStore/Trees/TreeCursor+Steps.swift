import CLinux

// Steps that may leave the leaf, and searches.

extension TreeCursor {
  @usableFromInline
  mutating func advance() throws(StoreError) -> Bool {
    try checkUnchanged()
    switch place {
    case .start, .beforeFirst:
      return try moveToFirst(notBelow: range.lower)
    case .afterLast:
      return false
    case .entry:
      if index + 1 < end {
        index += 1
        return true
      }
      guard end == leaf.count, try moveToNeighbour(after: true) else { return leave(.afterLast) }
      return land(at: 0, .afterLast)
    }
  }

  @usableFromInline
  mutating func retreat() throws(StoreError) -> Bool {
    try checkUnchanged()
    switch place {
    case .start, .afterLast:
      return try moveToLast()
    case .beforeFirst:
      return false
    case .entry:
      if index > lowest {
        index -= 1
        return true
      }
      guard lowest == 0, try moveToNeighbour(after: false) else { return leave(.beforeFirst) }
      return land(at: end - 1, .beforeFirst)
    }
  }

  /// Prefetches the beginning of the entry that is `distance` steps ahead, or back for a negative number, if
  /// the leaf has this entry. The processor loads it while the caller works on the entries before.
  package func prefetch(ahead distance: Int) {
    let place = index &+ distance
    guard place >= lowest, place < end else { return }
    let cell = leafStart + leaf.slot(place).offset
    for line in 0..<2 { clinux_prefetch(cell + line &* 64) }
  }

  func checkUnchanged() throws(StoreError) {
    guard changes.pointee == expectedChanges else {
      throw StoreError(.cursorInvalidated, "The tree was changed after the cursor was made.")
    }
  }

  /// Moves off all entries; returns false.
  mutating func leave(_ place: Place) -> Bool {
    self.place = place
    index = 0
    lowest = 0
    end = 0
    return false
  }

  /// Moves to the entry at `index` if the range has it, and to `otherwise` if not.
  private mutating func land(at index: Int, _ otherwise: Place) -> Bool {
    guard index >= lowest, index < end else { return leave(otherwise) }
    self.index = index
    place = .entry
    return true
  }

  /// Moves to the first entry that is inside the range and not below `bound`.
  mutating func moveToFirst(notBelow bound: KeyRange.Bound) throws(StoreError) -> Bool {
    guard core.root.height > 0 else { return leave(.afterLast) }
    return try walking { cursor throws(StoreError) in
      cursor.forgetPassed()
      return try cursor.walk(toFirstFrom: cursor.descend(to: bound, ifUnbounded: .first))
    }
  }

  /// Moves to the first entry that is inside the range and not below `key`.
  mutating func moveToFirst(notBelow key: SearchKey) throws(StoreError) -> Bool {
    guard core.root.height > 0 else { return leave(.afterLast) }
    return try walking { cursor throws(StoreError) in
      cursor.forgetPassed()
      return try cursor.walk(toFirstFrom: cursor.descend(to: key).index)
    }
  }

  /// Moves to the first entry of the range at or after an index of the leaf.
  private mutating func walk(toFirstFrom first: Int) throws(StoreError) -> Bool {
    var index = max(first, lowest)
    if index == leaf.count {
      guard try moveToLeaf(after: true) else { return leave(.afterLast) }
      index = lowest
    }
    return land(at: index, .afterLast)
  }

  private mutating func moveToLast() throws(StoreError) -> Bool {
    guard core.root.height > 0 else { return leave(.beforeFirst) }
    return try walking { cursor throws(StoreError) in try cursor.walkToLast() }
  }

  private mutating func walkToLast() throws(StoreError) -> Bool {
    forgetPassed()
    let end = try descend(to: range.upper, ifUnbounded: .last)
    if end == 0 {
      guard try moveToLeaf(after: false) else { return leave(.beforeFirst) }
      return land(at: self.end - 1, .beforeFirst)
    }
    return land(at: end - 1, .beforeFirst)
  }

  mutating func moveToEntry(at position: Int) throws(StoreError) -> Bool {
    guard position >= 0, position < core.count else { return leave(.afterLast) }
    return try walking { cursor throws(StoreError) in try cursor.walk(toPosition: position) }
  }

  private mutating func walk(toPosition position: Int) throws(StoreError) -> Bool {
    forgetPassed()
    var level = Int(core.root.height) - 1
    var page = try core.rootPage()
    var remaining = UInt64(position)
    while level > 0 {
      let child = page.child(holding: &remaining)
      path[level] = UInt16(truncatingIfNeeded: child)
      page = try core.child(page, child, below: level)
      level -= 1
    }
    try enter(page)
    return land(at: Int(clamping: remaining), .afterLast)
  }

  private enum Edge { case first, last }

  /// Moves to the leaf of a bound and returns an index in it: that of the first entry after a lower bound, or
  /// one past the last entry before an upper one.
  private mutating func descend(
    to bound: KeyRange.Bound,
    ifUnbounded edge: Edge
  ) throws(StoreError) -> Int {
    guard let key = bound.key else { return try descend(to: edge) }
    let isAfterEqual = bound.isIncluding == (edge == .last)
    let position = try key.withBytes { key throws(StoreError) in try descend(to: SearchKey(key)) }
    return position.index + (isAfterEqual && position.isEqual ? 1 : 0)
  }

  /// Moves to the leaf in which a key is or would be, and returns its index there.
  private mutating func descend(to key: SearchKey) throws(StoreError) -> (index: Int, isEqual: Bool) {
    var level = Int(core.root.height) - 1
    var page = try core.rootPage()
    while level > 0 {
      let child = try page.childIndex(for: key, in: core.pages)
      path[level] = UInt16(truncatingIfNeeded: child)
      page = try core.child(page, child, below: level)
      level -= 1
    }
    let position = try page.lowerBound(of: key, in: core.pages)
    try enter(page)
    return position
  }

  private mutating func descend(to edge: Edge) throws(StoreError) -> Int {
    let page = try walkDown(from: core.rootPage(), level: Int(core.root.height) - 1, edge)
    try enter(page)
    return edge == .first ? 0 : page.count
  }

  /// Follows the first or the last children of a subtree down to the leaf.
  private mutating func walkDown(
    from start: PageImage,
    level top: Int,
    _ edge: Edge
  ) throws(StoreError) -> PageImage {
    var page = start
    var level = top
    while level > 0 {
      let child = edge == .first ? 0 : page.count - 1
      path[level] = UInt16(truncatingIfNeeded: child)
      page = try core.child(page, child, below: level)
      level -= 1
    }
    return page
  }

  private mutating func moveToNeighbour(after: Bool) throws(StoreError) -> Bool {
    try walking { cursor throws(StoreError) in try cursor.moveToLeaf(after: after) }
  }

  /// Moves to the next or previous leaf; false if there is none. The pages of the path are found again from
  /// the root, by index: that costs a few loads a leaf, but the cursor needn't hold them.
  private mutating func moveToLeaf(after: Bool) throws(StoreError) -> Bool {
    let top = Int(core.root.height) - 1
    var level = top
    var page = try core.rootPage()
    var turn: (page: PageImage, level: Int)?
    while level > 0 {
      let child = Int(path[level])
      if after ? child + 1 < page.count : child > 0 { turn = (page, level) }
      // The leaf itself isn't looked up again: the cache would take that for a second use.
      if level > 1 { page = try core.child(page, child, below: level) }
      level -= 1
    }
    guard let turn else { return false }
    try notePassing(after)
    path[turn.level] = after ? path[turn.level] &+ 1 : path[turn.level] &- 1
    let child = Int(path[turn.level])
    let start = try core.child(turn.page, child, below: turn.level)
    // Most walks continue with the next leaf.
    let next = after ? child + 1 : child - 1
    if turn.level == 1, next >= 0, next < turn.page.count {
      core.pages.prefetch(referredToAt: turn.page.reference(next))
    }
    try enter(walkDown(from: start, level: turn.level - 1, after ? .first : .last))
    return true
  }

  /// Makes `page` the cursor's leaf, and finds the part of it that is in the range.
  mutating func enter(_ page: PageImage) throws(StoreError) {
    let lowest = try index(of: range.lower, in: page, inclusiveSkips: false) ?? 0
    let end = try index(of: range.upper, in: page, inclusiveSkips: true) ?? page.count
    setLeaf(page)
    self.lowest = lowest
    self.end = end
  }

  /// Returns the index of a bound in `page`; nil if it is unbounded. The key of an `including` bound itself
  /// is skipped if `inclusiveSkips`, that of an `excluding` one if not.
  private func index(
    of bound: KeyRange.Bound,
    in page: PageImage,
    inclusiveSkips: Bool
  ) throws(StoreError) -> Int? {
    switch bound {
    case .unbounded:
      return nil
    case .including(let key):
      let position = try page.lowerBound(of: key, in: core.pages)
      return position.index + (inclusiveSkips && position.isEqual ? 1 : 0)
    case .excluding(let key):
      let position = try page.lowerBound(of: key, in: core.pages)
      return position.index + (!inclusiveSkips && position.isEqual ? 1 : 0)
    }
  }
}

extension PageImage {
  /// Returns the index of the branch's child that holds the entry with `position` entries of the branch
  /// before it. Sets `position` to the number of entries before that entry within the child.
  fileprivate func child(holding position: inout UInt64) -> Int {
    var child = 0
    let last = count - 1
    while child < last {
      let below = count(ofChild: child)
      if position < below { break }
      position -= below
      child += 1
    }
    return child
  }

  fileprivate func lowerBound(
    of key: [UInt8],
    in pages: PageMap
  ) throws(StoreError) -> (index: Int, isEqual: Bool) {
    try key.withBytes { bytes throws(StoreError) in try lowerBound(of: SearchKey(bytes), in: pages) }
  }
}
