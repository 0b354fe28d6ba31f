@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// Room for values of several pages, whose pages must be adjacent.
struct OverflowRoomTests {
  /// Values of three pages.
  private func put(_ numbers: some Sequence<Int>, in store: Store) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in numbers { try tree.put(bytes("\(number)"), [UInt8](repeating: 1, count: 10_000)) }
    }
  }

  /// No free run is as long as all values of the transaction together.
  @Test func aFullDiskTakesValuesThatFitIntoSeveralRuns() throws {
    var fixture = StoreFixture()
    fixture.options.initialLogByteCount = 4 << 20
    let store = try fixture.open()
    try put(0..<200, in: store)
    try store.checkpoint()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in stride(from: 0, to: 200, by: 2) { try tree.remove(bytes("\(number)")) }
    }
    for _ in 0..<2 { try store.checkpoint() }
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    try put(200..<240, in: store)
    #expect(throws: Never.self) { try store.checkpoint() }
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.snapshot().tree("t").count == 140)
    #expect(try reopened.verify() == [])
  }
}
