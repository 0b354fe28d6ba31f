import TestSupport
import Testing

@testable import PageStore

/// Cursors that meet a page that can't be read for a moment.
struct CursorFailureTests {
  private static let count = 3_000

  private static func key(_ index: Int) -> [UInt8] { bytes("key\(index + 100_000)") }

  /// A tree whose pages are all in the file, and none in memory.
  private static func makeTree() throws -> TreeFixture {
    let fixture = TreeFixture(pageSize: 4_096, cacheByteBudget: 64 << 10)
    try fixture.write { editor in
      for index in 0..<count { try editor.put(key(index), bytes("value \(index)")) }
    }
    try fixture.reopen()
    return fixture
  }

  @Test(arguments: [false, true]) func aStepThatFailedCanBeTakenAgain(isReversed: Bool) throws {
    let fixture = try Self.makeTree()
    var cursor = fixture.reader.cursor()
    var found: [[UInt8]] = []
    var failureCount = 0
    while true {
      let held = fixture.file.numbers.map { ($0, fixture.file[$0]) }
      // All pages that aren't in memory are missing for a moment.
      for (number, _) in held { fixture.file[number] = [] }
      var isThere: Bool?
      do throws(StoreError) {
        isThere = try isReversed ? cursor.previous() : cursor.next()
      } catch {
        failureCount += 1
      }
      for (number, page) in held { fixture.file[number] = page }
      if isThere == nil { isThere = try isReversed ? cursor.previous() : cursor.next() }
      guard isThere == true else { break }
      found.append([UInt8](try cursor.key()))
    }
    #expect(failureCount > 5)
    let all = (0..<Self.count).map(Self.key)
    #expect(found == (isReversed ? all.reversed() : all))
  }

  @Test func aSeekThatFailedLeavesNothingBehind() throws {
    let fixture = try Self.makeTree()
    var cursor = fixture.reader.cursor()
    #expect(try cursor.seek(to: Self.key(1_000)))
    let held = fixture.file.numbers.map { ($0, fixture.file[$0]) }
    for (number, _) in held { fixture.file[number] = [] }
    #expect(throws: StoreError.self) { _ = try cursor.seek(to: Self.key(2_500)) }
    for (number, page) in held { fixture.file[number] = page }
    var index = 1_000
    while try cursor.next() {
      index += 1
      #expect([UInt8](try cursor.key()) == Self.key(index))
    }
    #expect(index == Self.count - 1)
  }
}
