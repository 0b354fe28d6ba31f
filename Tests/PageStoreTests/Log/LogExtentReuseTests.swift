@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// The log extents of a store that is never closed.
struct LogExtentReuseTests {
  @Test func theLogMovesThroughItsExtentsAndUsesThemAgain() throws {
    var fixture = StoreFixture()
    fixture.options.checkpointLogBytes = 200 << 10
    let store = try fixture.open()
    var sizes: [UInt64] = []
    for round in 0..<40 {
      for index in 0..<10 { try store.put("k\(index)", String(repeating: "\(round % 10)", count: 9_000)) }
      sizes.append(try store.statistics.logExtentBytes)
    }
    #expect(try store.statistics.checkpoints > 5)
    #expect(sizes.last == sizes[20])
    #expect(try store.verify() == [])
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(reopened.lastCommit == 400)
    #expect(try reopened.value("k3") == String(repeating: "9", count: 9_000))
    #expect(try reopened.verify() == [])
  }

  /// The size of new log extents follows the store's size. A store that grows a little needs no new log extents for
  /// that. New ones lie at the end of the file, so each would make the file longer.
  @Test func aStoreThatGrowsSlowlyUsesItsLogExtentsAgain() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    var generator = SeededGenerator(seed: 1)
    var count = 0
    func put(_ number: Int) throws {
      let key = bytes("\(number)")
      try store.write(durability: .relaxed) { try $0.tree("t").put(key, generator.bytes(2_000)) }
    }
    func round() throws {
      // A log that becomes a little longer now and then needs one extent more.
      for _ in 0..<generator.number(in: 200...1_200) { try put(generator.number(in: 0...count - 1)) }
      for number in count..<count + 40 { try put(number) }
      count += 40
      try store.checkpointConcurrently()
    }
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<12_000 { try tree.put(bytes("\(number)"), generator.bytes(2_000)) }
    }
    count = 12_000
    for _ in 0..<8 { try round() }
    let (length, live) = (fixture.disk.content.byteCount, try store.spaceLedger().liveBytes)
    for _ in 0..<24 { try round() }
    let growth = try store.spaceLedger().liveBytes - live
    #expect(fixture.disk.content.byteCount <= length + 2 * growth + 1 << 20)
    #expect(try store.verify() == [])
  }
}
