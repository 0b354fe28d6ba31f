@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Room for values of several pages, whose pages must be adjacent.
struct OverflowRoomTests {
  private let fixture: StoreFixture

  init() {
    var fixture = StoreFixture()
    fixture.options.initialLogByteCount = 4 << 20
    self.fixture = fixture
  }

  private func put(_ numbers: some Sequence<Int>, byteCount: Int, in store: Store) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in numbers { try tree.put(bytes("\(number)"), [UInt8](repeating: 1, count: byteCount)) }
    }
  }

  /// A store with many short runs of free pages.
  private func fragmentedStore() throws -> Store {
    let store = try fixture.open()
    try put(0..<200, byteCount: 10_000, in: store)
    try store.checkpoint()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in stride(from: 0, to: 200, by: 2) { try tree.remove(bytes("\(number)")) }
    }
    for _ in 0..<2 { try store.checkpoint() }
    return store
  }

  /// Makes the disk full, and puts forty values of three pages each: no run of free pages has room for all of
  /// them.
  private func fill(_ store: Store, _ disk: SimulatedDisk) throws {
    let map = try #require(store.committer.space).map
    let longest = map.free.runs(in: 0..<map.end).map(\.count).max() ?? 0
    #expect(longest < 120)
    disk.setCapacity(disk.content.byteCount)
    try put(200..<240, byteCount: 10_000, in: store)
    #expect(throws: Never.self) { try store.checkpoint() }
    #expect(try store.snapshot().tree("t").value(for: bytes("239"))?.count == 10_000)
    #expect(try store.verify() == [])
  }

  @Test func aFullDiskTakesValuesThatFitIntoSeveralRuns() throws {
    let store = try fragmentedStore()
    try fill(store, fixture.disk)
    #expect(try fixture.reopened(powerFailed: true).snapshot().tree("t").count == 140)
  }

  /// After opening, no free page is known to have blocks.
  @Test func aFullDiskTakesThemAfterTheProcessHasDied() throws {
    _ = try fragmentedStore()
    let disk = fixture.disk.afterProcessDeath()
    let store = try fixture.open(disk)
    try store.put("first", "1")
    try fill(store, disk)
  }

  /// A value that a transaction has put and then removed or replaced needs no room.
  @Test func aTransactionMayRemoveItsLongestValue() throws {
    let store = try fixture.open()
    for shorter in [0, 5_000, 20_000] {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        try tree.put(bytes("long"), [UInt8](repeating: 1, count: 60_000))
        try tree.put(bytes("short"), [UInt8](repeating: 1, count: 20_000))
        if shorter > 0 {
          try tree.put(bytes("long"), [UInt8](repeating: 1, count: shorter))
        } else {
          try tree.remove(bytes("long"))
        }
      }
    }
    #expect(try fixture.reopened(powerFailed: true).verify() == [])
  }
}
