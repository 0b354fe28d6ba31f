import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

struct FillTests {
  /// Bytes used in each page but the root, as a share of the page's capacity.
  private func fills(_ fixture: TreeFixture) throws -> [Double] {
    var fills: [Double] = []
    func visit(_ reference: ChildReference, _ level: Int) throws {
      let page = try fixture.pool.map.page(
        reference,
        identity: PageImage.identity(treeID: 7, level: UInt8(level))
      )
      if reference != fixture.root.reference {
        let geometry = fixture.pool.geometry
        fills.append(Double(page.usedBytes(geometry)) / Double(geometry.capacity))
      }
      guard level > 0 else { return }
      for index in 0..<page.count { try visit(ChildReference(loading: page.reference(index)), level - 1) }
    }
    if fixture.root.height > 0 { try visit(fixture.root.reference, Int(fixture.root.height) - 1) }
    return fills
  }

  private func load(
    _ fixture: TreeFixture,
    _ count: Int,
    _ generator: inout SeededGenerator
  ) throws -> [[UInt8]] {
    let keys = (0..<count).map { _ in generator.bytes(16) }
    let value = generator.bytes(100)
    try fixture.write { editor in for key in keys { try editor.put(key, value) } }
    return keys
  }

  /// The least fill of a page that a removal has touched: half, less an entry. Entries can't be cut, so two halves
  /// can't always be even.
  private func least(_ pageSize: Int) -> Double { 0.5 - 200.0 / Double(pageSize) }

  @Test(arguments: TreeOracleTests.pageSizes)
  func randomRemovalKeepsPagesHalfFull(pageSize: Int) throws {
    var generator = SeededGenerator("randomRemovalKeepsPagesHalfFull")
    let fixture = TreeFixture(pageSize: pageSize)
    let keys = try load(fixture, 20_000, &generator).shuffled(using: &generator)
    try fixture.write { editor in for key in keys.prefix(17_000) { try editor.remove(key) } }
    // An insertion at an end of the tree may have begun a leaf there, and no removal has touched that leaf since.
    let list = try fixture.reader.list()
    let ends = [try #require(list.first).key, try #require(list.last).key]
    try fixture.write { editor in for key in ends { try editor.remove(key) } }
    #expect(fixture.problems() == [])
    #expect(try fills(fixture).allSatisfy { $0 >= least(pageSize) })
  }

  /// Insertions in order fill one leaf after the other, so the leaf at that end has few entries at first.
  @Test(arguments: TreeOracleTests.pageSizes, [false, true])
  func theLeafAtAnEndIsMendedByTheFirstRemovalThatTouchesIt(pageSize: Int, isAscending: Bool) throws {
    let fixture = TreeFixture(pageSize: pageSize)
    var keys: [[UInt8]] = []
    // Insert until the tree has four leaves or more, and has just begun one of them.
    while try fills(fixture).count < 4 || fills(fixture).allSatisfy({ $0 > 0.25 }) {
      let number = UInt32(isAscending ? keys.count : 1_000_000 - keys.count)
      keys.append(withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) })
      try fixture.write { editor in try editor.put(keys[keys.count - 1], [UInt8](repeating: 7, count: 100)) }
      try #require(keys.count < 10_000)
    }
    try fixture.write { editor in try editor.remove(keys[0]) }
    #expect(try fills(fixture).count { $0 < least(pageSize) } == 1)
    try fixture.write { editor in try editor.remove(keys[keys.count - 1]) }
    #expect(try fills(fixture).allSatisfy { $0 >= least(pageSize) })
    #expect(fixture.problems() == [])
  }

  @Test(arguments: TreeOracleTests.pageSizes)
  func rangeRemovalKeepsPagesHalfFull(pageSize: Int) throws {
    var generator = SeededGenerator("rangeRemovalKeepsPagesHalfFull")
    let fixture = TreeFixture(pageSize: pageSize)
    _ = try load(fixture, 20_000, &generator)
    for _ in 0..<40 {
      try fixture.write { editor in
        let low = generator.bytes(16)
        var high = low
        high[0] = high[0] &+ 5
        try editor.removeRange(KeyRange(lower: .including(low), upper: .excluding(high)))
      }
      #expect(fixture.problems() == [])
    }
    let fills = try fills(fixture)
    let poor = fills.filter { $0 < least(pageSize) }
    #expect(poor.count <= max(2, fills.count / 20))
  }

  @Test(arguments: TreeOracleTests.pageSizes)
  func aCheckpointPacksLeavesThatRandomInsertionLeftHalfEmpty(pageSize: Int) throws {
    var generator = SeededGenerator("aCheckpointPacksLeavesThatRandomInsertionLeftHalfEmpty")
    let fixture = TreeFixture(pageSize: pageSize)
    let keys = try load(fixture, 20_000, &generator)
    let before = try fixture.reader.list()
    let old = fixture.reader
    try fixture.checkpoint()
    #expect(fixture.problems() == [])
    let fills = try fills(fixture)
    #expect(fills.reduce(0, +) / Double(fills.count) > 0.85)
    #expect(sameEntries(try fixture.reader.list(), before))
    #expect(sameEntries(try old.list(), before))
    // A few later changes make a few pages new, not all.
    try fixture.write { editor in for key in keys.prefix(3) { try editor.put(key, [1]) } }
    #expect(try fixture.checkpoint() <= 3 * UInt64(fixture.root.height))
    try fixture.reopen()
    #expect(fixture.problems() == [])
    #expect(try fixture.reader.count == keys.count)
  }

  @Test func appendingFillsPages() throws {
    let fixture = TreeFixture(pageSize: 8_192)
    try fixture.write { editor in
      var appender = try TreeAppender(editor)
      for index in 0..<30_000 as Range<UInt32> {
        try withUnsafeBytes(of: index.bigEndian) { key in try appender.append(key, key) }
      }
      #expect(try appender.finish() == 30_000)
    }
    #expect(fixture.problems() == [])
    let fills = try fills(fixture)
    #expect(fills.reduce(0, +) / Double(fills.count) > 0.97)
    #expect(fills.allSatisfy { $0 > 0.48 })
    #expect(try fixture.reader.count(in: .all) == 30_000)
  }

  @Test func ascendingInsertionFillsPages() throws {
    let fixture = TreeFixture(pageSize: 8_192)
    try fixture.write { editor in
      for index in 0..<30_000 as Range<UInt32> {
        try withUnsafeBytes(of: index.bigEndian) { key in _ = try editor.put(key, key) }
      }
    }
    let fills = try fills(fixture)
    #expect(fills.reduce(0, +) / Double(fills.count) > 0.95)
  }

  @Test func appendingContinuesATree() throws {
    var generator = SeededGenerator("appendingContinuesATree")
    for style in [KeyStyle.ragged, .longPrefix] {
      let fixture = TreeFixture(pageSize: 4_096)
      let keys = Set((0..<3_000).map { _ in style.key(&generator) }).sorted {
        $0.lexicographicallyPrecedes($1)
      }
      var expected: [(key: [UInt8], value: [UInt8])] = []
      for part in 0..<5 {
        let slice = keys[(keys.count * part / 5)..<(keys.count * (part + 1) / 5)]
        try fixture.write { editor in
          var appender = try TreeAppender(editor)
          for key in slice {
            let value = generator.value(upTo: 9_000)
            try key.withUnsafeBytes { key in try value.withUnsafeBytes { try appender.append(key, $0) } }
            expected.append((key: key, value: value))
          }
          _ = try appender.finish()
        }
        #expect(fixture.problems() == [])
      }
      #expect(sameEntries(try fixture.reader.list(), expected))
    }
  }

  @Test func appendingRefusesKeysOutOfOrder() throws {
    let fixture = TreeFixture(pageSize: 4_096)
    try fixture.write { editor in
      try editor.put([5], [])
      var appender = try TreeAppender(editor)
      func code(_ key: [UInt8]) -> StoreError.Code? {
        do throws(StoreError) {
          try key.withBytes { (key) throws(StoreError) in try appender.append(key, key) }
          return nil
        } catch { return error.code }
      }
      #expect(code([5]) == .keysOutOfOrder)
      #expect(code([4, 9]) == .keysOutOfOrder)
      #expect(code([5, 0]) == nil)
      #expect(code([]) == .keysOutOfOrder)
      #expect(code([6]) == nil)
      #expect(try appender.finish() == 2)
    }
    #expect(try fixture.reader.list().map(\.key) == [[5], [5, 0], [6]])
  }
}
