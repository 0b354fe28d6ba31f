@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Snapshots that are kept while the store continues to change.
struct StaggeredReadersTests {
  private static func key(_ index: Int) -> [UInt8] { bytes("key\(index + 100_000)") }

  private static func filled(_ fixture: StoreFixture, count: Int) throws -> Store {
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for index in 0..<count { try tree.put(key(index), bytes("value 0")) }
    }
    return store
  }

  @Test func aSnapshotHoldsOnlyWhatItReaches() throws {
    var fixture = StoreFixture()
    fixture.options.durability = .none
    let store = try Self.filled(fixture, count: 4_000)
    let snapshot = try store.snapshot()
    let before = try store.statistics.residentBytes
    for round in 1...2_000 {
      try store.write { transaction in
        try transaction.tree("t").put(Self.key(round * 7 % 4_000), bytes("value \(round)"))
      }
    }
    // The snapshot's version and the newest version take memory, the 1,999 versions between them take none.
    #expect(try store.statistics.residentBytes < 2 * before + (128 << 10))
    #expect(try snapshot.tree("t").value(for: Self.key(7)) == bytes("value 0"))
  }

  @Test func aHundredReadersDoNotFillTheMemory() throws {
    var generator = SeededGenerator("aHundredReadersDoNotFillTheMemory")
    var fixture = StoreFixture()
    fixture.options.durability = .none
    fixture.options.cacheBytes = 1 << 20
    fixture.options.dirtyMemoryBytes = 8 << 20
    let count = 20_000
    let store = try Self.filled(fixture, count: count)
    var newest = Array(repeating: 0, count: count)
    var readers: [(snapshot: Snapshot, round: Int, values: [Int])] = []
    var mostResident: UInt64 = 0
    let rounds = 400
    for round in 1...rounds {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for _ in 0..<200 {
          let index = generator.number(in: 0...(count - 1))
          try tree.put(Self.key(index), bytes("value \(round)"))
          newest[index] = round
        }
      }
      if round % 4 == 0 {
        readers.append((try store.snapshot(), round, newest))
        // The store defers no work here: its own work is done.
        mostResident = max(mostResident, try store.statistics.residentBytes)
      }
      if readers.count > 60, round % 8 == 0 {
        let reader = readers.remove(at: generator.number(in: 0...(readers.count - 1)))
        try Self.check(reader.snapshot, reader.values, &generator)
      }
    }
    let spilled = try store.statistics.spilledBytes
    #expect(spilled > 20 << 20)
    // Dirty pages, the cache, pages that are held until they are spilled, and the branches.
    #expect(mostResident < 20 << 20)
    for reader in readers { try Self.check(reader.snapshot, reader.values, &generator) }
    #expect(try store.verify().isEmpty)
    readers.removeAll()
    try store.write { try $0.tree("t").put(bytes("last"), []) }
    #expect(try store.statistics.spilledBytes == 0)
    try store.close()
    let reopened = try fixture.open()
    #expect(try reopened.verify().isEmpty)
    #expect(try reopened.snapshot().tree("t").count == count + 1)
  }

  private static func check(
    _ snapshot: Snapshot,
    _ values: [Int],
    _ generator: inout SeededGenerator
  ) throws {
    let tree = try snapshot.tree("t")
    for _ in 0..<300 {
      let index = generator.number(in: 0...(values.count - 1))
      #expect(try tree.value(for: key(index)) == bytes("value \(values[index])"))
    }
  }

  @Test func largeValuesAreSpilledToo() throws {
    var fixture = StoreFixture()
    fixture.options.durability = .none
    fixture.options.dirtyMemoryBytes = 1 << 20
    let store = try fixture.open()
    var snapshots: [Snapshot] = []
    for round in 0..<200 {
      try store.write { transaction in
        try transaction.tree("t").put(bytes("large"), [UInt8](repeating: UInt8(round), count: 20_000 + round))
      }
      snapshots.append(try store.snapshot())
    }
    #expect(try store.statistics.spilledBytes > 1 << 20)
    #expect(try store.statistics.residentBytes < 3 << 20)
    for (round, snapshot) in snapshots.enumerated() {
      let value = try snapshot.tree("t").value(for: bytes("large"))
      #expect(value == [UInt8](repeating: UInt8(round), count: 20_000 + round))
    }
  }

  @Test func aSpillFileThatCanNotBeWrittenLosesNothing() throws {
    var fixture = StoreFixture()
    fixture.options.durability = .none
    fixture.options.dirtyMemoryBytes = 1 << 20
    var environment = fixture.environment
    environment.makeSpillFile = { () throws(StoreError) in throw StoreError(.diskFull, "no room") }
    let store = try fixture.open(in: environment)
    var snapshots: [Snapshot] = []
    for round in 0..<100 {
      try store.write { transaction in
        try transaction.tree("t").put(bytes("large"), [UInt8](repeating: UInt8(round), count: 20_000))
      }
      snapshots.append(try store.snapshot())
    }
    #expect(try store.statistics.spilledBytes == 0)
    for (round, snapshot) in snapshots.enumerated() {
      let value = try snapshot.tree("t").value(for: bytes("large"))
      #expect(value == [UInt8](repeating: UInt8(round), count: 20_000))
    }
  }
}
