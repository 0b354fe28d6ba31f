import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Files that a crash has left longer than their extents.
struct SurplusTests {
  private struct Abandoned: Error {}

  private let fixture: StoreFixture

  init() {
    var fixture = StoreFixture()
    fixture.options.dirtyMemoryBytes = 1 << 20
    fixture.options.cacheBytes = 256 << 10
    // So long that no log extent, whose header recovery would find, lies behind the pages.
    fixture.options.initialLogByteCount = 1 << 20
    fixture.options.compaction = nil
    self.fixture = fixture
  }

  private func fill(_ tree: String, _ transaction: inout WriteTransaction) throws {
    let tree = try transaction.tree(tree)
    for number in 0..<40_000 {
      let key = withUnsafeBytes(of: UInt64(number).bigEndian) { [UInt8]($0) }
      try tree.put(key, [UInt8](repeating: 7, count: 1_000))
    }
  }

  /// Opens the store of a crash, commits something small and closes the store. Expects that the file then ends with its
  /// extents, and that the next opening doesn't read what was behind them.
  private func expectShort(_ crashed: SimulatedDisk) throws {
    let store = try fixture.open(crashed)
    let total = try store.spaceLedger().totalBytes
    // Recovery doesn't count the rest of the file.
    try #require(crashed.content.byteCount > total + (16 << 20))
    try store.put("a", "1")
    #expect(try store.verify() == [])
    try store.close()
    #expect(crashed.content.byteCount < total + (4 << 20))

    let next = crashed.afterProcessDeath()
    let reopened = try fixture.open(next)
    #expect(next.statistics.count(.read) < 500)
    #expect(try reopened.value("a") == "1")
    #expect(try reopened.verify() == [])
  }

  @Test func theRoomOfATransactionThatACrashHasEndedIsGivenBack() throws {
    let first = try fixture.open()
    try first.write { try fill("kept", &$0) }
    try first.close()
    let disk = fixture.disk.afterProcessDeath()
    let store = try fixture.open(disk)
    try #require(store.committer.lastCheckpoint.record.tailOffset > 0)
    var crashed: SimulatedDisk?
    #expect(throws: Abandoned.self) {
      try store.write { transaction in
        try fill("lost", &transaction)
        crashed = disk.afterProcessDeath()
        throw Abandoned()
      }
    }
    disk.cut()
    try expectShort(try #require(crashed))
  }

  /// A power failure may take back that a file was made shorter.
  @Test func aFileThatALostTruncationHasLeftLongBecomesShorter() throws {
    let store = try fixture.open()
    try store.write { try fill("kept", &$0) }
    try store.close()
    let disk = fixture.disk.afterProcessDeath()
    let surplus = [UInt8](repeating: 1, count: 20 << 20)
    let written = surplus.withUnsafeBytes { disk.write($0, at: disk.content.byteCount) }
    try #require(written == surplus.count)
    try expectShort(disk)
  }

  /// A hole takes no time to give back, so its length must not count.
  @Test func holesAreGivenBackInAFewPieces() throws {
    try fixture.open().close()
    let disk = fixture.disk.afterProcessDeath()
    disk.tellHoles()
    try #require(disk.truncate(to: 1 << 34) == 0)
    let surplus = [UInt8](repeating: 1, count: 20 << 20)
    let written = surplus.withUnsafeBytes { disk.write($0, at: 1 << 33) }
    try #require(written == surplus.count)

    let store = try fixture.open(disk)
    try store.put("a", "1")
    try store.close()
    #expect(disk.content.byteCount < 4 << 20)
    #expect(disk.statistics.count(.truncate) < 60)
  }
}
