import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

struct DurabilityTests {
  @Test func aFullCommitSurvivesAPowerFailure() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    #expect(try fixture.reopened(powerFailed: true).value("a") == "1")
  }

  @Test func aRelaxedCommitSurvivesTheProcessButNotThePower() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1", durability: .relaxed)
    #expect(try store.value("a") == "1")
    #expect(try fixture.reopened().value("a") == "1")
    #expect(try fixture.reopened(powerFailed: true).value("a") == nil)
  }

  @Test func aRelaxedCommitIsSyncedWhenItsTimeIsUp() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1", durability: .relaxed)
    fixture.schedule.run()
    #expect(try fixture.reopened(powerFailed: true).value("a") == "1")
    withExtendedLifetime(store) {}
  }

  @Test func aRelaxedCommitIsSyncedInTimeEvenIfSomebodyElseWritesMeanwhile() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1", durability: .relaxed)
    try store.write { transaction in
      fixture.schedule.run()
      #expect(try fixture.reopened(powerFailed: true).value("a") == "1")
      try transaction.tree("t").put(bytes("b"), bytes("2"))
    }
    for _ in 0..<3 { fixture.schedule.run() }
    #expect(try fixture.reopened(powerFailed: true).value("b") == "2")
    #expect(try store.verify() == [])
  }

  @Test func aFullCommitCoversTheRelaxedOnesBeforeIt() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1", durability: .relaxed)
    try store.put("b", "2", durability: .relaxed)
    try store.put("c", "3")
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.value("a") == "1")
    #expect(try reopened.value("c") == "3")
  }

  @Test func oneFullCommitIsOneSyncedWrite() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    let before = fixture.disk.statistics
    try store.put("a", "2")
    let after = fixture.disk.statistics
    #expect(after.count(.writeDurably) - before.count(.writeDurably) == 1)
    #expect(after.count(.write) == before.count(.write))
    #expect(after.count(.synchronize) == before.count(.synchronize))
    #expect(after.byteCount(.writeDurably) - before.byteCount(.writeDurably) == 512)
  }

  @Test func withoutSynchronisedWritesACommitSyncsTheFile() throws {
    let fixture = StoreFixture()
    fixture.disk.inject(DiskFault(.writeDurably, at: 0, .error(EOPNOTSUPP), isSticky: true))
    let store = try fixture.open()
    try store.put("a", "1")
    #expect(try fixture.reopened(powerFailed: true).value("a") == "1")
    withExtendedLifetime(store) {}
  }

  @Test func aStoreWithoutSyncsLosesNoOrder() throws {
    var fixture = StoreFixture()
    fixture.options.durability = .none
    let store = try fixture.open()
    let before = fixture.disk.statistics.count(.synchronize)
    for index in 0..<5 { try store.put("k\(index)", "v") }
    #expect(fixture.disk.statistics.count(.synchronize) == before)
    #expect(fixture.disk.statistics.count(.writeDurably) == 0)
    try store.checkpoint()
    #expect(try fixture.reopened(powerFailed: true).value("k4") == "v")
  }

  @Test func closingMakesDurableWhatTheProcessBeforeLeftInThePageCache() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    // A checkpoint syncs everything but the anchor. The next process finds a store that needs no recovery.
    try store.checkpoint()
    let next = StoreFixture(fixture.disk.afterProcessDeath())
    try next.open().close()
    let isAllDurable = !next.disk.crashPoint.hasUnsynced
    #expect(isAllDurable)
  }

  @Test func syncingNothingIsForWholeStores() throws {
    let store = try StoreFixture().open()
    #expect(code { try store.put("a", "1", durability: Durability.none) } == .invalidOptions)
  }

  @Test func anIdleStoreWritesAWatermark() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    let before = try store.statistics.bytesLogged
    fixture.schedule.run()
    #expect(try store.statistics.bytesLogged == before + 512)
    // The record vouches for the commit, so there is nothing left to write.
    fixture.schedule.run()
    #expect(try store.statistics.bytesLogged == before + 512)
    #expect(try store.verify() == [])
  }

  @Test func closingLeavesNothingToReplay() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for index in 0..<10 { try store.put("k\(index)", "v", durability: .relaxed) }
    try store.close()
    let calls = fixture.disk.statistics
    let later = SimulatedDisk(fixture.disk.crashPoint.image(.allLost, seed: 0))
    let reopened = try fixture.open(later)
    #expect(reopened.lastCommit == 10)
    #expect(later.statistics.count(.write) + later.statistics.count(.writeDurably) == 0)
    #expect(calls.count(.truncate) > 0)
  }

  @Test func anEmptyStoreIsSmall() throws {
    for pageSize in [4_096, 8_192, 16_384, 32_768, 65_536] {
      let disk = SimulatedDisk()
      var options = StoreOptions()
      options.pageSize = pageSize
      let store = try Store.open(file: disk, path: "", options: options, environment: .system)
      try store.close()
      #expect(disk.byteCount() <= 128 << 10)
    }
  }
}
