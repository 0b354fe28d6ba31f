@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The mark of a closed store in its newest anchor: its checkpoint's record is the last of the log.
struct ClosingMarkTests {
  /// Makes a closed store with so much log that a search of the log would be noticed.
  private func closed(after steps: (Store) throws -> Void = { _ in }) throws -> StoreFixture {
    var fixture = StoreFixture()
    fixture.options.initialLogByteCount = 2 << 20
    let store = try fixture.open()
    for index in 0..<3 { try store.put("k\(index)", "v") }
    try steps(store)
    try store.close()
    var later = StoreFixture(fixture.disk.afterProcessDeath())
    later.options = fixture.options
    return later
  }

  /// The disk after a power failure that lost all that was not synced.
  private func afterPowerFailure(_ fixture: StoreFixture) -> SimulatedDisk {
    SimulatedDisk(fixture.disk.crashPoint.image(.allLost, seed: 0))
  }

  private func mark(_ disk: SimulatedDisk) throws -> Anchor? {
    let file = StoreFile(disk, path: "")
    guard case .store(let blocks) = try FixedBlocks.read(file) else { return nil }
    return blocks.closingAnchor?.anchor
  }

  private func changingCalls(_ disk: SimulatedDisk) -> Int {
    DiskCall.allCases.filter(\.changes).reduce(0) { $0 + disk.statistics.count($1) }
  }

  @Test func openingAClosedStoreDoesNotSearchTheLog() throws {
    for checkpoints in [false, true] {
      for isReadOnly in [false, true] {
        var fixture = try closed { if checkpoints { try $0.checkpoint() } }
        fixture.options.isReadOnly = isReadOnly
        let store = try fixture.open()
        #expect(store.lastCommit == 3)
        #expect(try store.value("k2") == "v")
        #expect(fixture.disk.statistics.byteCount(.read) < 48 << 10)
        #expect(changingCalls(fixture.disk) == 0)
      }
    }
  }

  @Test func aSessionThatWritesNothingLeavesTheMark() throws {
    let fixture = try closed()
    let store = try fixture.open()
    try store.close()
    #expect(fixture.disk.statistics.count(.write) + fixture.disk.statistics.count(.writeDurably) == 0)
    #expect(try mark(fixture.disk) != nil)
  }

  @Test func theMarkIsTakenBackOnceAndDurablyBeforeTheFirstRecord() throws {
    let fixture = try closed()
    let store = try fixture.open()
    #expect(try mark(fixture.disk) != nil)
    try store.put("a", "1", durability: .relaxed)
    #expect(fixture.disk.statistics.count(.writeDurably) == 1)
    #expect(try mark(afterPowerFailure(fixture)) == nil)
    try store.put("b", "2")
    // The sync of the file that covers both records is the only other one.
    #expect(fixture.disk.statistics.count(.writeDurably) == 1)
    #expect(try mark(fixture.disk) == nil)
  }

  @Test func rotAfterReopeningIsRefused() throws {
    let fixture = try closed()
    let store = try fixture.open()
    let before = fixture.disk.content.bytes
    try store.put("a", "1")
    let after = fixture.disk.content.bytes
    // In the record, which is in the first log extent; behind that, room was made for pages.
    let log = before.indices.prefix(12_288 + fixture.options.initialLogByteCount)
    let place = try #require(log.last { before[$0] != after[$0] })
    try store.put("b", "2")
    var rotten = fixture.disk.crashPoint.image(.allLost, seed: 0).bytes
    rotten[place] ^= 1
    let later = StoreFixture(SimulatedDisk(SparseBytes(rotten)))
    #expect(code { _ = try later.open() } == .corrupt)
  }

  @Test func aMarkThatHasComeBackIsNotBelieved() throws {
    let fixture = try closed()
    let anchors = fixture.disk.content.bytes(in: 4_096..<12_288)
    let store = try fixture.open()
    try store.put("a", "1")
    try store.put("b", "2")
    var stale = fixture.disk.crashPoint.image(.allLost, seed: 0)
    stale.write(anchors, at: 4_096)
    let later = StoreFixture(SimulatedDisk(stale))
    #expect(try mark(later.disk) != nil)
    let reopened = try later.open()
    #expect(reopened.lastCommit == 5)
    // Recovery removes the mark before it writes again the records that it has accepted.
    #expect(try mark(later.disk) == nil)
  }

  @Test func aStoreThatWasKilledAfterACheckpointIsMarkedWhenItIsClosedNext() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    try store.checkpoint()
    let later = StoreFixture(fixture.disk.afterProcessDeath())
    try later.open().close()
    #expect(try mark(afterPowerFailure(later)) != nil)
  }

  @Test func oneLegibleAnchorIsNeverWrittenOver() throws {
    // A store in which nothing was ever committed has one anchor only.
    let fixture = StoreFixture()
    try fixture.open().close()
    #expect(try mark(fixture.disk) == nil)
    try StoreFixture(afterPowerFailure(fixture)).open().put("a", "1")
  }

  @Test func aFailureToTakeTheMarkBackFencesTheStore() throws {
    for damage in Damage.allCases {
      let fixture = try closed()
      let store = try fixture.open()
      fixture.disk.inject(DiskFault(.writeDurably, at: 0, .error(5)))
      #expect(code { try store.put("a", "1") } == .outcomeUnknown)
      #expect(code { try store.put("a", "1") } == .fenced)
      #expect(try store.value("k1") == "v")
      let reopened = try fixture.reopened(powerFailed: true, damage: damage)
      #expect(reopened.lastCommit == 3)
      try reopened.put("a", "2")
      #expect(try reopened.verify() == [])
    }
  }
}
