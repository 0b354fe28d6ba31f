import Foundation
import TestSupport
import Testing

@testable import PageStore

/// Pages that only commits before the last sync reach.
struct UnsyncedMemoryTests {
  private static let budget = 4 << 20

  private static func key(_ index: Int) -> [UInt8] { bytes(String(format: "key%08d", index)) }

  /// The store makes no sync by itself here, because no time passes. The test runs at three sizes, so that growth
  /// shows.
  @Test(arguments: [500, 1_000, 2_000], [Durability.relaxed, .full])
  func commitsDoNotGatherMemoryUntilTheNextSync(commitCount: Int, _ durability: Durability) throws {
    var generator = SeededGenerator("commitsDoNotGatherMemoryUntilTheNextSync")
    var fixture = StoreFixture()
    fixture.options.durability = durability
    fixture.options.cacheBytes = Self.budget
    fixture.options.dirtyMemoryBytes = Self.budget
    let store = try fixture.open()
    let count = 10_000
    try store.write { transaction in
      try transaction.tree("t").append(
        sorted: (0..<count).map { (key: Self.key($0), value: [UInt8](repeating: 7, count: 100)) }
      )
    }
    var mostResident: UInt64 = 0
    for round in 0..<commitCount {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for _ in 0..<20 {
          try tree.put(Self.key(generator.number(in: 0...(count - 1))), bytes("\(round)"))
        }
      }
      mostResident = max(mostResident, try store.statistics.residentBytes)
    }
    // Both budgets, and one commit's pages.
    #expect(mostResident < UInt64(2 * Self.budget + (256 << 10)), "\(mostResident)")
    try store.close()
    #expect(try fixture.open().verify().isEmpty)
  }

  @Test func largeValuesCountToo() throws {
    var fixture = StoreFixture()
    fixture.options.durability = .relaxed
    fixture.options.cacheBytes = Self.budget
    fixture.options.dirtyMemoryBytes = Self.budget
    let store = try fixture.open()
    var mostResident: UInt64 = 0
    for round in 0..<500 {
      try store.write { transaction in
        try transaction.tree("t").put(
          bytes("large"),
          [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 40_000)
        )
      }
      mostResident = max(mostResident, try store.statistics.residentBytes)
    }
    #expect(mostResident < UInt64(2 * Self.budget + (256 << 10)), "\(mostResident)")
  }
}
