@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// A full disk and a log that has one extent, as after the creation of a store, or after a compaction.
struct FullDiskOneLogExtentTests {
  private func key(_ number: Int) -> [UInt8] {
    let digits = "\(number)"
    return bytes("k" + String(repeating: "0", count: 6 - digits.count) + digits)
  }

  /// A store that one large transaction has filled, and whose reserve for removals was set aside by a small one.
  private func fullStore(_ fixture: StoreFixture) throws -> Store {
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<6_000 { try tree.put(key(number), [UInt8](repeating: 1, count: 900)) }
    }
    try store.put("zzz", "1")
    try #require(store.committer.extents.extents.count == 1)
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    return store
  }

  /// The log's only extent is never free: the log has to go on in the room that is kept for it.
  @Test func aProgramCanGoOnRemoving() throws {
    let fixture = StoreFixture()
    let store = try fullStore(fixture)
    for number in 0..<300 {
      let failure = code { _ = try store.write { try $0.tree("t").remove(key(number)) } }
      try #require(failure == nil, "removal \(number)")
    }
    #expect(throws: Never.self) { try store.checkpoint() }
    #expect(try store.verify() == [])
  }

  /// A longer record than the room is for doesn't use it up.
  @Test func aLongRecordLeavesTheRoomOfTheLog() throws {
    let store = try fullStore(StoreFixture())
    let room = try #require(store.committer.space?.logRoomPageCount)
    #expect(room > 0)
    let failure = code { _ = try store.committer.nextLogExtent(forRecord: 4 << 20) }
    #expect(failure == .diskFull)
    #expect(store.committer.space?.logRoomPageCount == room)
    #expect(try store.verify() == [])
  }

  /// Before the store is closed, and after it was opened again.
  @Test func aStoreWhoseLogIsUsedUpCanBeEmptied() throws {
    let fixture = StoreFixture()
    var store = try fullStore(fixture)
    var number = 0
    while number < 300, code({ _ = try store.write { try $0.tree("t").remove(key(number)) } }) == nil {
      number += 1
    }
    #expect(code { _ = try store.write { try $0.tree("t").removeRange(.all) } } == nil)
    #expect(code { try store.close() } == nil)
    store = try fixture.open()
    #expect(code { _ = try store.write { try $0.tree("t").removeRange(.all) } } == nil)
  }
}
