@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

struct LargeTransactionTests {
  private func value(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return generator.bytes(count)
  }

  @Test(arguments: [1, 4_000, 65_535, 65_536, 65_537, 200_000, 1_000_000])
  func aValueOfAnyLengthSurvives(_ count: Int) throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("before", "1", durability: .relaxed)
    let value = value(count, seed: UInt64(count))
    try store.write { try $0.tree("t").put(bytes("large"), value) }
    try store.put("after", "2")
    #expect(try store.snapshot().tree("t").value(for: bytes("large")) == value)
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.snapshot().tree("t").value(for: bytes("large")) == value)
    #expect(try reopened.value("before") == "1")
    #expect(try reopened.value("after") == "2")
    #expect(try reopened.verify() == [])
  }

  @Test func aLargeValueIsWrittenOnceWithTwoSyncs() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    let before = fixture.disk.statistics
    let value = value(300_000, seed: 1)
    try store.write { try $0.tree("t").put(bytes("large"), value) }
    let after = fixture.disk.statistics
    let syncs =
      after.count(.synchronize) + after.count(.writeDurably) - before.count(.synchronize)
      - before.count(.writeDurably)
    #expect(syncs == 2)
    let written =
      after.byteCount(.write) + after.byteCount(.writeDurably) - before.byteCount(.write)
      - before.byteCount(.writeDurably)
    #expect(written < 340_000)
  }

  @Test func aLargeTransactionIsACheckpointThatHoldsAllCommitsBeforeIt() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1", durability: .relaxed)
    try store.write { transaction in
      let tree = try transaction.tree("bulk")
      for index in 0..<9_000 {
        let key = withUnsafeBytes(of: UInt64(index).bigEndian) { Array($0) }
        try tree.put(key, value(600, seed: UInt64(index)))
      }
    }
    #expect(try store.statistics.checkpointCommit == 2)
    #expect(try store.statistics.logBytes == 0)
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(reopened.lastCommit == 2)
    #expect(try reopened.value("a") == "1")
    #expect(try reopened.snapshot().tree("bulk").count == 9_000)
    #expect(try reopened.verify() == [])
  }

  @Test func aSnapshotFromBeforeALargeTransactionStaysAsItWas() throws {
    let store = try StoreFixture().open()
    for index in 0..<50 { try store.put("k\(index)", "old") }
    let snapshot = try store.snapshot()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for index in 0..<50 { try tree.put(bytes("k\(index)"), value(100_000, seed: UInt64(index))) }
    }
    try store.checkpoint()
    for index in 0..<50 { try store.put("k\(index)", "newer") }
    try store.checkpoint()
    for index in 0..<50 { #expect(try snapshot.tree("t").value(for: bytes("k\(index)")) == bytes("old")) }
    #expect(try store.value("k7") == "newer")
  }
}
