import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

struct OverflowTests {
  /// Lengths on both sides of every boundary of the layout.
  private func lengths(_ geometry: PageGeometry) -> [Int] {
    let inline = geometry.leafEntryLimit - PageSlot.byteCount - LeafCell.keyOffset - 2
    let chunk = PageGeometry.chunkPayload
    let boundaries = [inline, geometry.capacity, chunk, 2 * chunk, 3 * chunk + geometry.capacity]
    return [0, 1] + boundaries.flatMap { [$0 - 1, $0, $0 + 1] }
  }

  @Test(arguments: TreeOracleTests.pageSizes)
  func valuesOfEveryLengthComeBack(pageSize: Int) throws {
    var generator = SeededGenerator("valuesOfEveryLengthComeBack")
    let fixture = TreeFixture(pageSize: pageSize)
    let values = lengths(fixture.pool.geometry).map { generator.bytes($0) }
    try fixture.write { editor in
      for (index, value) in values.enumerated() { try editor.put([UInt8(index), 1], value) }
    }
    for isReopened in [false, true] {
      if isReopened { try fixture.reopen() }
      for (index, value) in values.enumerated() {
        #expect(try fixture.reader.value(for: [UInt8(index), 1]) == value)
      }
      #expect(fixture.problems() == [])
    }
  }

  @Test(arguments: TreeOracleTests.pageSizes)
  func keysOfEveryLengthAreKept(pageSize: Int) throws {
    let fixture = TreeFixture(pageSize: pageSize)
    let last = StoreLimits.keyByteCount
    try fixture.write { editor in
      for count in 0...last where count % 3 == 0 || count > last - 4 {
        try editor.put([UInt8](repeating: 7, count: count), [UInt8(count & 0xFF)])
      }
    }
    try fixture.reopen()
    #expect(fixture.problems() == [])
    let counts = (0...last).filter { $0 % 3 == 0 || $0 > last - 4 }
    #expect(try fixture.reader.list().map(\.key.count) == counts)
    #expect(try fixture.reader.rank(of: [UInt8](repeating: 7, count: last)) == counts.count - 1)
  }

  @Test(arguments: [4_096, 8_192, 16_384, 32_768, 65_536])
  func everyPageHoldsEightEntriesOfTheLongestKeys(pageSize: Int) throws {
    let geometry = PageGeometry(pageSize: pageSize)
    let separator = PageSlot.byteCount + BranchCell.keyOffset + geometry.inlineKeyLimit
    #expect(8 * separator <= geometry.capacity)
    #expect(geometry.splitKeyLength + ChildReference.byteCount <= geometry.inlineKeyLimit)

    // Keys that differ in their last bytes only: the separators are as long as the keys.
    let fixture = TreeFixture(pageSize: pageSize)
    let prefix = [UInt8](repeating: 0x55, count: 4_000)
    try fixture.write { editor in
      for number in 0..<2_000 as Range<UInt32> {
        let tail = withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
        try editor.put(prefix + tail, tail)
      }
    }
    #expect(fixture.problems() == [])
    #expect(fixture.root.height <= 5)
  }

  @Test func aDamagedChunkIsReported() throws {
    let fixture = TreeFixture(pageSize: 4_096)
    let value = [UInt8](repeating: 9, count: 200_000)
    try fixture.write { editor in try editor.put([1], value) }
    try fixture.reopen()
    #expect(try fixture.reader.value(for: [1]) == value)
    for number in fixture.file.numbers {
      let intact = fixture.file[number]
      fixture.file[number][100] ^= 1
      let damaged = PagePool(pageSize: 4_096, loader: fixture.file)
      let reader = TreeReader(core: TreeCore(root: fixture.root, pool: damaged), owner: damaged)
      #expect(throws: StoreError.self) { try reader.value(for: [1]) }
      fixture.file[number] = intact
    }
  }
}
