@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The calls of `progress` while a compaction looks for leaves to pack.
struct CompactionProgressTests {
  /// In a store without half-empty leaves `progress` is called before every leaf has been read.
  @Test func aCompactionThatFindsNothingToPackCanBeCancelled() throws {
    let fixture = StoreFixture()
    try fixture.open().write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<6_000 { try tree.put(bytes("k\(number)"), [UInt8](repeating: 1, count: 900)) }
    }
    let disk = fixture.disk.afterProcessDeath()
    let store = try fixture.open(disk)
    let before = disk.statistics.count(.read)
    var readCount = 0
    try store.compact { _ in
      readCount = disk.statistics.count(.read) - before
      return false
    }
    // There are some 1,500 leaves.
    #expect(readCount < 750, "\(readCount) reads before the first call")
  }
}
