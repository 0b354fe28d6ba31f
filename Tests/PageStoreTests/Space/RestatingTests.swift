@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Checkpoints whose record is written again, so that the pages which they replaced are free at once.
struct RestatingTests {
  /// The record goes to a new extent after the end that it states, and replay begins behind it.
  @Test func aCheckpointWhoseReplayBeginsAfterItsEndOpens() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    func put(_ key: UInt8, byteCount: Int) throws {
      try store.write { try $0.tree("t").put([key], [UInt8](repeating: key, count: byteCount)) }
    }
    try put(0, byteCount: 2_000_000)
    var key: UInt8 = 1
    while store.committer.log.hasRoom(forRecord: 400, isCheckpoint: true) {
      // Values so large are committed by a checkpoint each.
      try put(key, byteCount: 70_000)
      key += 1
    }
    // It replaces so many pages that its record is written again.
    try put(0, byteCount: 2_000_001)
    let record = store.committer.lastRecord
    let start = try #require(record.replayStart)
    try #require(start.position.use.extent.offset >= record.end)
    #expect(try store.verify() == [])
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.snapshot().tree("t").value(for: [0])?.count == 2_000_001)
    try reopened.put("a", "1")
    try reopened.checkpoint()
    #expect(try reopened.verify() == [])
  }
}
