@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The room for removals that commits and compactions leave.
struct RemovalReserveTests {
  /// It is written as a checkpoint, because it is longer than a record of the log can be.
  @Test func aLargeTransactionLeavesRoomForRemovals() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<6_000 { try tree.put(bytes("k\(number)"), [UInt8](repeating: 1, count: 900)) }
    }
    // Another program fills the disk.
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    #expect(code { _ = try store.write { try $0.tree("t").remove(bytes("k0")) } } == nil)
    #expect(code { _ = try store.write { try $0.tree("t").removeRange(.all) } } == nil)
  }

  @Test func aCompactionLeavesRoomForRemovals() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<6_000 { try tree.put(bytes("k\(number)"), [UInt8](repeating: 1, count: 900)) }
    }
    _ = try store.write { try $0.tree("t").removeRange(KeyRange(upper: .excluding(bytes("k3")))) }
    try store.compact()
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    for number in 4_000..<4_100 {
      let failure = code { _ = try store.write { try $0.tree("t").remove(bytes("k\(number)")) } }
      try #require(failure == nil, "removal \(number)")
    }
    #expect(code { _ = try store.write { try $0.tree("t").removeRange(.all) } } == nil)
    #expect(try store.verify() == [])
  }

  /// These are records of the log.
  @Test func smallTransactionsLeaveRoomForRemovals() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for part in 0..<6 {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for number in part * 1_000..<part * 1_000 + 1_000 {
          try tree.put(bytes("k\(number)"), [UInt8](repeating: 1, count: 900))
        }
      }
    }
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    #expect(code { _ = try store.write { try $0.tree("t").remove(bytes("k0")) } } == nil)
    #expect(code { _ = try store.write { try $0.tree("t").removeRange(.all) } } == nil)
  }
}
