extension PageImage {
  /// Checks the bytes of a page that was just read: afterwards no access by slot can leave the page, even if
  /// the bytes are forged. The order of keys is not checked; a wrong order gives wrong answers, which
  /// ``TreeVerifier`` finds, but never a trap.
  func validate(_ geometry: PageGeometry, as reference: ChildReference) throws(StoreError) {
    let expectedNumber = reference.location.number
    let covered = UnsafeRawBufferPointer(start: base + 8, count: geometry.pageSize - 8)
    // guard: check-page
    guard checksum == reference.checksum, XXH64.hash(covered) == checksum else {
      throw StoreError(.corrupt, "A page's checksum is wrong.", context: .init(page: expectedNumber))
    }
    guard number == expectedNumber, birth == reference.birth else {
      throw StoreError(.corrupt, "A page is not the one referred to.", context: .init(page: expectedNumber))
    }
    // Forged pages without entries could be referred to millions of times, and a walk would visit each
    // without finding an entry.
    guard hasSoundStructure(geometry, inFile: true), entryCount == reference.count, reference.count > 0 else {
      throw StoreError(
        .corrupt,
        "A page's contents contradict each other.",
        context: .init(page: expectedNumber)
      )
    }
  }

  /// Entries in a leaf, or below a branch according to its references.
  private var entryCount: UInt64? {
    if isLeaf { return UInt64(count) }
    var sum: UInt64 = 0
    for index in 0..<count {
      sum += reference(index).loadLittle(24, as: UInt64.self) & PageLocation.numberMask
    }
    return sum
  }

  /// True if any header byte of a leaf or branch that belongs to no field is not zero.
  var hasStrayHeaderBytes: Bool {
    UnsafeRawBufferPointer(start: base, count: PageHeader.byteCount)[PageHeader.treePageEnd...].contains {
      $0 != 0
    }
  }

  /// Returns whether header, slots and cells are consistent and lie within the page. A page that is `inFile`
  /// must not refer to frames.
  func hasSoundStructure(_ geometry: PageGeometry, inFile: Bool) -> Bool {
    let expectedKind = isLeaf ? PageKind.leaf : PageKind.branch
    guard kind == expectedKind.rawValue, flags & ~PageFlags.known == 0, level < TreeLimits.height else {
      return false
    }
    let heapEnd = geometry.pageSize - prefixLength
    guard prefixLength <= geometry.prefixLimit, heapStart <= heapEnd, freeBytes >= 0, isLeaf || count > 0
    else { return false }
    var cellBytes = 0
    for index in 0..<count {
      guard let length = soundCellLength(index, heapEnd: heapEnd, inFile: inFile, geometry) else {
        return false
      }
      cellBytes += length
    }
    return heapEnd - heapStart == cellBytes + garbage
  }

  /// Returns the length of an entry's cell, or nil when the cell isn't sound.
  private func soundCellLength(_ index: Int, heapEnd: Int, inFile: Bool, _ geometry: PageGeometry) -> Int? {
    let slot = self.slot(index)
    let lead = isLeaf ? LeafCell.keyOffset : BranchCell.keyOffset
    guard slot.lengthAndFlags & ~PageSlot.known == 0, slot.offset >= heapStart,
      slot.offset + lead + slot.keyLength + slot.keyRestLength <= heapEnd
    else { return nil }
    let length = cellLength(slot)
    guard slot.offset + length <= heapEnd, hasSoundKey(slot, index: index, inFile: inFile, geometry) else {
      return nil
    }
    if slot.keyOverflows || slot.valueOverflows, flags & PageFlags.hasOverflow == 0 { return nil }
    if isLeaf {
      guard !slot.valueOverflows || hasSoundOverflowValue(slot, inFile: inFile) else { return nil }
      return length
    }
    guard !slot.valueOverflows, isSoundReference(reference(index), inFile: inFile) else { return nil }
    // A page of the file has entries.
    let count = reference(index).loadLittle(24, as: UInt64.self)
    return inFile && count == 0 ? nil : length
  }

  /// Returns whether the cells of a sound page fill its heap without overlaps. False for a page with garbage,
  /// which may lie under its cells. O(entries + bytes of the page / 64).
  ///
  /// Each byte of the heap lies in an odd number of cells if the offsets at which cells begin or end cancel out
  /// in pairs, except the heap's own start and end. The cells together are as long as the heap, so that each
  /// byte lies in exactly one of them.
  func cellsAdjoin(_ geometry: PageGeometry) -> Bool {
    guard garbage == 0 else { return false }
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: geometry.pageSize / 64) { bounds in
      bounds.initialize(repeating: 0)
      // No cell begins at 0, and the last may end with the page.
      func toggle(_ offset: Int) {
        let bit = offset - 1
        bounds[bit >> 6] ^= 1 &<< UInt64(truncatingIfNeeded: bit & 63)
      }
      toggle(heapStart)
      toggle(geometry.pageSize - prefixLength)
      for index in 0..<count {
        let slot = self.slot(index)
        toggle(slot.offset)
        toggle(slot.offset + cellLength(slot))
      }
      return bounds.allSatisfy { $0 == 0 }
    }
  }

  private func hasSoundKey(_ slot: PageSlotWord, index: Int, inFile: Bool, _ geometry: PageGeometry) -> Bool {
    if !isLeaf, index == 0 { return slot.keyLength == 0 && !slot.keyOverflows }
    let inline = prefixLength + slot.keyLength
    guard slot.keyOverflows else { return inline <= geometry.inlineKeyLimit }
    let rest = ChildReference(loading: keyRest(slot))
    return inline == geometry.splitKeyLength && isSoundReference(keyRest(slot), inFile: inFile)
      && rest.count > 0 && inline + Int(rest.count) <= StoreLimits.keyByteCount
  }

  private func hasSoundOverflowValue(_ slot: PageSlotWord, inFile: Bool) -> Bool {
    let payload = leafPayload(slot)
    guard payload.count == ChildReference.byteCount, isSoundReference(payload.start, inFile: inFile) else {
      return false
    }
    let count = ChildReference(loading: payload.start).count
    return count > 0 && count <= UInt64(StoreLimits.valueByteCount)
  }

  /// Returns whether a reference can be followed: its reserved bits are zero, and only a page in memory
  /// refers to a frame.
  private func isSoundReference(_ bytes: UnsafeRawPointer, inFile: Bool) -> Bool {
    let location = PageLocation(rawValue: bytes.loadLittle(0))
    let tag = location.isFrame && !inFile ? PageLocation.frameTag : 0
    return !location.isNone && location.rawValue == location.number | tag
      && bytes.loadLittle(16, as: UInt64.self) <= min(birth, PageLocation.numberMask)
      && bytes.loadLittle(24, as: UInt64.self) <= PageLocation.numberMask
  }
}
