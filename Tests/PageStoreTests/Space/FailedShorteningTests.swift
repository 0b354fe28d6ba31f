import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Closing a store whose file can't be made shorter.
struct FailedShorteningTests {
  /// Returns a store whose last checkpoint reaches a file with free pages, and whose log has a free extent before
  /// the one in use: closing moves the log there, and then moves pages.
  private func looseStore(_ fixture: StoreFixture) throws -> Store {
    let store = try fixture.open()
    for number in 0..<30 {
      for (prefix, byteCount) in [("a", 70_000), ("b", 80_000)] {
        _ = try store.write {
          try $0.tree("t").put(bytes("\(prefix)\(number)"), [UInt8](repeating: 1, count: byteCount))
        }
      }
    }
    _ = try store.write { try $0.tree("t").removeRange(.prefix(bytes("b"))) }
    // Its record is written again, so no page waits for another checkpoint.
    try store.checkpoint()
    let free = try #require(store.committer.extents.freeExtent(byteCount: 16 << 10))
    try #require(free.offset < store.committer.log.tail.position.use.extent.offset)
    return store
  }

  /// The record of a checkpoint that gets the mark is the last of the log.
  private func expectSound(_ disk: SimulatedDisk, _ comment: Comment) throws {
    var later = StoreFixture(disk.afterProcessDeath())
    later.options.isReadOnly = true
    let store = try later.open()
    #expect(try store.verify() == [], comment)
    #expect(try store.snapshot().tree("t").count == 30, comment)
  }

  @Test func noRecordFollowsTheClosingMark() throws {
    for call in [DiskCall.write, .allocate] {
      for position in 0..<16 {
        let fixture = StoreFixture()
        let store = try looseStore(fixture)
        fixture.disk.inject(DiskFault(call, at: position, .error(EIO)))
        try? store.close()
        try expectSound(fixture.disk, "\(call) \(position)")
      }
    }
  }

  @Test func aFullDiskIsNoReasonToRecover() throws {
    let fixture = StoreFixture()
    let store = try looseStore(fixture)
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    #expect(throws: Never.self) { try store.close() }
    try expectSound(fixture.disk, "a full disk")
    #expect(try fixture.open(fixture.disk.afterProcessDeath()).committer.found.wasClosed)
  }
}
