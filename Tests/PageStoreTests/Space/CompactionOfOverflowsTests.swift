@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Compaction of a file whose free pages lie between values that are too long for them.
struct CompactionOfOverflowsTests {
  private static let pairCount = 60

  /// Values of 50 pages, with holes of some 20 pages between them.
  private func fragmentedStore(_ fixture: StoreFixture) throws -> Store {
    let store = try fixture.open()
    for number in 0..<Self.pairCount {
      // Each is so large that a checkpoint of its own commits it.
      for (prefix, byteCount) in [("a", 200_000), ("b", 80_000)] {
        _ = try store.write {
          try $0.tree("t").put(bytes("\(prefix)\(number)"), [UInt8](repeating: 1, count: byteCount))
        }
      }
    }
    _ = try store.write { try $0.tree("t").removeRange(.prefix(bytes("b"))) }
    for round in 0..<2 {
      try store.put("c", "\(round)")
      try store.checkpoint()
    }
    return store
  }

  private var fixture: StoreFixture {
    var fixture = StoreFixture()
    fixture.options.initialLogByteCount = 1 << 20
    return fixture
  }

  /// No value fits into the holes, so none moves.
  @Test func theFileGetsNoLonger() throws {
    let store = try fragmentedStore(fixture)
    var reports: [CompactionProgress] = []
    try store.compact {
      reports.append($0)
      return true
    }
    for report in reports { #expect(report.currentBytes <= report.startBytes, "\(report)") }
    #expect(try store.verify() == [])
  }

  /// A quarter of the file is free, and there is no room behind the file.
  @Test func aFullDiskIsNoReasonToFail() throws {
    let fixture = fixture
    let store = try fragmentedStore(fixture)
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    #expect(throws: Never.self) { try store.compact() }
    #expect(try store.verify() == [])
  }
}
