import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// A transaction's copy of a page: as the page lies in memory, or laid out again.
struct PageCopyTests {
  private static let keys = (0..<20).map { [UInt8(0x41 + $0), 1, 2, 3] }
  private static let geometry = PageGeometry(pageSize: 4_096)

  /// Makes a tree of one leaf, whose cells lie in the order of their keys, which is not how a page is laid out. It is
  /// in the file and in the cache.
  private func fixture(removing removedCount: Int) throws -> TreeFixture {
    let fixture = TreeFixture(pageSize: Self.geometry.pageSize)
    try fixture.write { editor in
      for key in Self.keys.reversed() { try editor.put(key, [UInt8](repeating: key[0], count: 40)) }
      for key in Self.keys.prefix(removedCount) { try editor.remove(key) }
    }
    try fixture.checkpoint()
    return fixture
  }

  /// The layout of a page.
  private struct Layout: Equatable {
    var garbage: Int
    var offsets: [Int]

    init(_ page: PageImage) {
      garbage = page.garbage
      offsets = (0..<page.count).map { page.slot($0).offset }
    }
  }

  /// Returns the layouts of the leaf, and of a transaction's copy of it.
  private func layouts(_ fixture: TreeFixture) throws -> [Layout] {
    var layouts: [Layout] = []
    try fixture.write { editor in
      for _ in 0..<2 { try editor.makeWritable(Self.keys[9]) { layouts.append(Layout($0)) } }
    }
    #expect(fixture.problems().isEmpty)
    return layouts
  }

  @Test func aPageOfThisProcessIsCopiedAsItLies() throws {
    let layouts = try layouts(try fixture(removing: 5))
    #expect(layouts[0].garbage > 0)
    #expect(layouts[1] == layouts[0])
  }

  @Test func aPageThatWasReadIsCopiedAsItLiesIfItHasNoGarbage() throws {
    let fixture = try fixture(removing: 0)
    try fixture.reopen()
    let layouts = try layouts(fixture)
    #expect(layouts[0].offsets == layouts[0].offsets.sorted())
    #expect(layouts[1] == layouts[0])
  }

  @Test func aPageThatWasReadIsLaidOutAgainIfItHasGarbage() throws {
    let fixture = try fixture(removing: 5)
    try fixture.reopen()
    let layouts = try layouts(fixture)
    #expect(layouts[0].garbage > 0)
    #expect(layouts[1].garbage == 0)
    // The copy is this process's own, and so is the page that a checkpoint makes of it.
    try fixture.checkpoint()
    try fixture.write { try $0.remove(Self.keys[9]) }
    try fixture.checkpoint()
    #expect(try self.layouts(fixture)[1].garbage > 0)
  }

  /// Two entries of a forged page have one cell, so that a shorter value of one would shorten the other's.
  @Test func aChangeOfOneEntryLeavesAnotherThatHadItsCell() throws {
    let fixture = try fixture(removing: 0)
    let number = fixture.root.reference.location.number
    var page = fixture.file[number]
    let slot = PageHeader.byteCount + PageSlot.byteCount * 8
    for byte in PageSlot.offset..<PageSlot.lengthAndFlags {
      page[slot + byte] = page[slot + PageSlot.byteCount + byte]
    }
    fixture.forge(page: number, page)
    try fixture.write { editor in
      try editor.put(Self.keys[9], [1])
      try editor.makeWritable(Self.keys[9]) { page in
        #expect(page.hasSoundStructure(Self.geometry, inFile: false))
      }
    }
    #expect(try fixture.reader.entry(at: 8)?.value.count == 40)
  }

  /// Compares the check of a page's cells with sorting them, over pages with exchanged slots and wrong lengths.
  @Test func cellsAdjoinIfSortedCellsDo() throws {
    var generator = SeededGenerator("cellsAdjoinIfSortedCellsDo")
    var counts = [false: 0, true: 0]
    for _ in 0..<2_000 {
      let fixture = TreeFixture(pageSize: Self.geometry.pageSize)
      try fixture.write { editor in
        for _ in 0..<generator.number(in: 1...12) {
          try editor.put(generator.bytes(6), generator.bytes(generator.number(in: 0...3)))
        }
      }
      try fixture.checkpoint()
      var bytes = fixture.file[fixture.root.reference.location.number]
      forge(&bytes, &generator)
      bytes.withUnsafeBytes { bytes in
        let page = PageImage(bytes.start)
        guard page.hasSoundStructure(Self.geometry, inFile: true) else { return }
        #expect(page.cellsAdjoin(Self.geometry) == sortedCellsAdjoin(page))
        counts[page.cellsAdjoin(Self.geometry), default: 0] += 1
      }
    }
    #expect(counts.values.allSatisfy { $0 > 100 })
  }

  /// Makes slots refer to the cells of others, and gives bytes to the garbage or takes them from it.
  private func forge(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
    let count = Int(bytes[PageHeader.slotCount])
    for _ in 0..<generator.number(in: 0...3) {
      let slot = PageHeader.byteCount + PageSlot.byteCount * generator.number(in: 0...(count - 1))
      let other = PageHeader.byteCount + PageSlot.byteCount * generator.number(in: 0...(count - 1))
      for byte in 0..<PageSlot.byteCount { bytes[slot + byte] = bytes[other + byte] }
    }
    // The sum of the lengths stays right, so that only the cells' offsets tell.
    bytes[PageHeader.garbage] = bytes.withUnsafeBytes { bytes in
      let page = PageImage(bytes.start)
      let cells = (0..<page.count).reduce(0) { $0 + page.cellLength(page.slot($1)) }
      return UInt8(clamping: Self.geometry.pageSize - page.prefixLength - page.heapStart - cells)
    }
  }

  private func sortedCellsAdjoin(_ page: PageImage) -> Bool {
    if page.garbage > 0 { return false }
    var end = page.heapStart
    let slots = (0..<page.count).map(page.slot).sorted { $0.offset < $1.offset }
    for slot in slots {
      if slot.offset != end { return false }
      end += page.cellLength(slot)
    }
    return end == Self.geometry.pageSize - page.prefixLength
  }
}
