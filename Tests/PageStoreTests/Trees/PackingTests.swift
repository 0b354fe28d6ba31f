import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Packing of half-empty leaves: the same entries in fewer pages.
struct PackingTests {
  /// Packs the whole tree, some pages in each transaction; returns how many transactions that took.
  private func pack(_ fixture: TreeFixture, pageLimit: Int) throws -> Int {
    var key: [UInt8]? = []
    var rounds = 0
    while let start = key {
      rounds += 1
      key = try fixture.write { editor in
        guard case .resume(let next) = try editor.pack(from: start, pageLimit: pageLimit) else { return nil }
        #expect(start.lexicographicallyPrecedes(next))
        return next
      }
    }
    return rounds
  }

  private func entries(of fixture: TreeFixture) throws -> [[UInt8]] {
    var entries: [[UInt8]] = []
    try fixture.reader.forEach { key, value in
      entries.append(key.withUnsafeBytes { [UInt8]($0) } + value.withUnsafeBytes { [UInt8]($0) })
      return true
    }
    return entries
  }

  private func pageCount(of fixture: TreeFixture) throws -> Int {
    var count = 0
    func visit(_ reference: ChildReference, _ level: Int) throws {
      count += 1
      let page = try fixture.pool.map.page(
        reference,
        identity: PageImage.identity(treeID: 7, level: UInt8(level))
      )
      guard level > 0 else { return }
      for index in 0..<page.count { try visit(ChildReference(loading: page.reference(index)), level - 1) }
    }
    if fixture.root.height > 0 { try visit(fixture.root.reference, Int(fixture.root.height) - 1) }
    return count
  }

  @Test(arguments: TreeOracleTests.pageSizes)
  func packedTreesHaveTheSameEntriesInFewerPages(pageSize: Int) throws {
    var generator = SeededGenerator("packedTreesHaveTheSameEntriesInFewerPages \(pageSize)")
    for _ in 0..<3 {
      let fixture = TreeFixture(pageSize: pageSize)
      // Some keys and values overflow; some keys differ only in the part that isn't in the page.
      let common = generator.bytes(generator.pick([0, 3, 1_500]))
      let keys = (0..<generator.number(in: 0...6_000)).map { _ in
        generator.chance(1, in: 200) ? common + generator.bytes(2_000) : common + generator.bytes(12)
      }
      try fixture.write { editor in
        for key in keys {
          try editor.put(
            key,
            generator.bytes(generator.chance(1, in: 300) ? 30_000 : generator.number(in: 0...120))
          )
        }
      }
      if generator.chance(1, in: 2) { try fixture.checkpoint() }
      let doomed = keys.shuffled(using: &generator).prefix(keys.count * generator.number(in: 0...9) / 10)
      try fixture.write { editor in for key in doomed { try editor.remove(key) } }
      if generator.chance(1, in: 2) { try fixture.checkpoint() }
      let before = try entries(of: fixture)
      let pagesBefore = try pageCount(of: fixture)
      _ = try pack(fixture, pageLimit: generator.pick([1, 20, 100_000]))
      #expect(fixture.problems() == [])
      #expect(try entries(of: fixture) == before)
      #expect(try pageCount(of: fixture) <= pagesBefore)
      try fixture.checkpoint()
      #expect(fixture.problems() == [])
      #expect(try entries(of: fixture) == before)
    }
  }

  @Test(arguments: TreeOracleTests.pageSizes)
  func halfEmptyLeavesBecomeHalfAsMany(pageSize: Int) throws {
    var generator = SeededGenerator("halfEmptyLeavesBecomeHalfAsMany \(pageSize)")
    let fixture = TreeFixture(pageSize: pageSize)
    let keys = (0..<30_000).map { _ in generator.bytes(16) }
    try fixture.write { editor in
      for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { try editor.put(key, key + key) }
    }
    let full = try pageCount(of: fixture)
    try fixture.write { editor in
      for key in keys.shuffled(using: &generator).prefix(15_000) { try editor.remove(key) }
    }
    _ = try pack(fixture, pageLimit: 64)
    #expect(Double(try pageCount(of: fixture)) <= 0.56 * Double(full) + 2)
    // Packing again gains next to nothing: it divides the leaves into other runs, of which one may be worthwhile.
    let packed = try pageCount(of: fixture)
    #expect(try pack(fixture, pageLimit: 100_000) == 1)
    #expect(Double(try pageCount(of: fixture)) >= 0.95 * Double(packed))
  }
}
