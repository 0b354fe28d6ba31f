@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Warnings about data that the file keeps twice and of which one copy is left, and problems where no copy is left.
struct LastCopyTests {
  private let fixture = StoreFixture()

  private func store() throws -> Store {
    let store = try fixture.open()
    for round in 0..<3 {
      for index in 0..<50 { try store.put("k\(index)", String(repeating: "v", count: 100 + round)) }
      try store.checkpoint()
    }
    // Log extents that no checkpoint lists yet.
    for index in 0..<50 { try store.put("k\(index)", String(repeating: "w", count: 3_000)) }
    return store
  }

  private func damage(_ offset: UInt64, byteCount: Int = 64) {
    let garbage = [UInt8](repeating: 0x5A, count: byteCount)
    _ = garbage.withUnsafeBytes { fixture.disk.write($0, at: offset) }
  }

  private func extents(_ store: Store) throws -> [ExtentHeader] {
    let file = StoreFile(fixture.disk, path: "")
    let identity = store.committer.identity
    var walk = try ExtentWalk(
      file,
      identity,
      from: FileLayout.firstExtentOffset(pageSize: UInt64(identity.pageSize))
    )
    var found: [ExtentHeader] = []
    while let next = try walk.next() { found.append(next.header) }
    return found
  }

  /// Returns the warning after the damage, and checks that there was none before.
  private func warning(_ store: Store, _ damage: () -> Void) throws -> String {
    #expect(try store.verify(includingWarnings: true) == [])
    damage()
    #expect(try store.verify() == [])
    let found = try store.verify(includingWarnings: true)
    #expect(found.count == 1 && found.allSatisfy(\.isWarning))
    return found.first?.message ?? ""
  }

  @Test func aStoreThatWasJustMadeHasNoWarnings() throws {
    let store = try fixture.open()
    #expect(try store.verify(includingWarnings: true) == [])
    try store.put("a", "b")
    #expect(try store.verify(includingWarnings: true) == [])
  }

  @Test(arguments: [0, 1]) func aDamagedAnchorIsAWarning(slot: Int) throws {
    let store = try store()
    let message = try warning(store) { damage(FileLayout.anchorOffsets[slot]) }
    #expect(message.contains("anchor"))
  }

  @Test(arguments: [0, UInt64(ExtentHeader.copyOffset)])
  func aDamagedHeaderOfAnyExtentIsAWarning(copy: UInt64) throws {
    let count = try extents(store()).count
    #expect(count >= 3)
    for place in 0..<count {
      let test = LastCopyTests()
      let store = try test.store()
      let extent = try test.extents(store)[place].extent
      let message = try test.warning(store) { test.damage(extent.offset + copy) }
      #expect(message.contains("headers of the extent at byte \(extent.offset)"))
    }
  }

  @Test(arguments: [LogExtentUseHeader.offset, LogExtentUseHeader.copyOffset])
  func aDamagedUseHeaderIsAWarning(copy: Int) throws {
    let store = try store()
    let log = try #require(extents(store).last { $0.kind == .log })
    let message = try warning(store) { damage(log.extent.offset + UInt64(copy)) }
    #expect(message.contains("use headers of the log extent at byte \(log.extent.offset)"))
  }

  @Test func aLogExtentThatHasLostBothHeadersIsAProblem() throws {
    let count = try extents(store()).count
    for place in 0..<count {
      let test = LastCopyTests()
      let store = try test.store()
      let header = try test.extents(store)[place]
      guard header.kind == .log else { continue }
      test.damage(header.extent.offset)
      test.damage(header.extent.offset + UInt64(ExtentHeader.copyOffset))
      let problems = try store.verify()
      #expect(
        problems.contains {
          $0.message.contains("byte \(header.extent.offset) has no legible header") && !$0.isWarning
        }
      )
    }
  }
}
