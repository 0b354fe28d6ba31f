import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

struct VersionTests {
  @Test func anOldVersionStaysWhatItWas() throws {
    var generator = SeededGenerator("anOldVersionStaysWhatItWas")
    let fixture = TreeFixture(pageSize: 4_096)
    var oracle = SortedArrayOracle()
    var versions: [(reader: TreeReader, entries: [SortedArrayOracle.Entry])] = []
    for round in 0..<20 {
      versions.append((fixture.reader, oracle.entries))
      try fixture.write { editor in
        for _ in 0..<150 {
          let key = KeyStyle.ragged.key(&generator)
          if generator.chance(1, in: 3) {
            try editor.remove(key)
            oracle.remove(key)
          } else {
            let value = generator.value(upTo: 9_000)
            try editor.put(key, value)
            oracle.put(key, value)
          }
        }
      }
      if round % 6 == 5 { try fixture.checkpoint() }
    }
    for version in versions { #expect(sameEntries(try version.reader.list(), version.entries)) }
  }

  enum PathMove: CaseIterable, Sendable { case removalOfNothing, appendOfNothing }

  /// Both move the editor's path, without a change, to a leaf that the transaction doesn't own.
  @Test(arguments: PathMove.allCases)
  func anInsertionNearTheLastOneFindsThatThePathHasMoved(move: PathMove) throws {
    let fixture = TreeFixture(pageSize: 4_096)
    func key(_ number: Int, _ more: UInt8...) -> [UInt8] {
      [UInt8(number >> 8), UInt8(number & 0xFF)] + more
    }
    try fixture.write { editor in
      for number in 0..<2_000 { try editor.put(key(number), [1, 2, 3, 4]) }
    }
    let before = fixture.reader
    let entries = try before.list()
    try fixture.write { editor in
      // The first one divides a full leaf, the second one has room.
      for more in 1...2 as ClosedRange<UInt8> { try editor.put(near: key(3, more), [1]) }
      switch move {
      case .removalOfNothing: #expect(try editor.remove(key(1_998, 1)) == false)
      case .appendOfNothing:
        var appender = try TreeAppender(editor)
        #expect(try appender.finish() == 0)
      }
      try editor.put(near: key(1_998, 2), [2])
      #expect(editor.count == 2_003)
    }
    #expect(sameEntries(try before.list(), entries))
    #expect(fixture.problems() == [])
  }

  @Test func anAbandonedTransactionLeavesNothingBehind() throws {
    struct Abandoned: Error {}
    var generator = SeededGenerator("anAbandonedTransactionLeavesNothingBehind")
    let fixture = TreeFixture(pageSize: 4_096)
    try fixture.write { editor in
      for index in 0..<2_000 { try editor.put(generator.bytes(12), generator.bytes(index % 300)) }
    }
    let before = try fixture.reader.list()
    let memory = fixture.pool.residentByteCount
    #expect(throws: Abandoned.self) {
      try fixture.write { editor in
        for _ in 0..<1_000 { try editor.put(generator.bytes(12), generator.bytes(5_000)) }
        try editor.removeRange(KeyRange(upper: .including([0x80])))
        throw Abandoned()
      }
    }
    #expect(sameEntries(try fixture.reader.list(), before))
    #expect(fixture.pool.residentByteCount == memory)
  }

  @Test func retiredMemoryIsAllThatAVersionNoLongerNeeds() throws {
    var generator = SeededGenerator("retiredMemoryIsAllThatAVersionNoLongerNeeds")
    let fixture = TreeFixture(pageSize: 4_096)
    for _ in 0..<12 {
      let (_, retired) = try fixture.writeRetiring { editor in
        for _ in 0..<400 {
          let key = KeyStyle.longPrefix.key(&generator)
          if generator.chance(1, in: 3) {
            try editor.remove(key)
          } else {
            try editor.put(key, generator.value(upTo: 6_000))
          }
        }
        let low = KeyStyle.longPrefix.key(&generator)
        try editor.removeRange(KeyRange(lower: .including(low), upper: .including(low + [0xFF])))
      }
      fixture.pool.free(retired)
      #expect(fixture.problems() == [])
    }
    let (_, retired) = try fixture.writeRetiring { editor in try editor.removeAll() }
    fixture.pool.free(retired)
    #expect(fixture.root.height == 0)
    #expect(fixture.pool.residentByteCount == 0)
  }

  @Test func removingEverythingOneByOneFreesAllMemory() throws {
    var generator = SeededGenerator("removingEverythingOneByOneFreesAllMemory")
    let fixture = TreeFixture(pageSize: 4_096)
    var keys: [[UInt8]] = []
    let (_, first) = try fixture.writeRetiring { editor in
      for _ in 0..<1_500 {
        let key = KeyStyle.longPrefix.key(&generator)
        try editor.put(key, generator.value(upTo: 6_000))
        keys.append(key)
      }
    }
    fixture.pool.free(first)
    keys.shuffle(using: &generator)
    let (_, retired) = try fixture.writeRetiring { editor in
      for key in keys { try editor.remove(key) }
      #expect(editor.height == 0)
    }
    fixture.pool.free(retired)
    #expect(fixture.pool.residentByteCount == 0)
  }

  /// The cursor's pages may have been used for other entries since, also the pages of a long key and of a long value.
  @Test func aCursorOverAChangedTreeIsRefused() throws {
    let fixture = TreeFixture(pageSize: 4_096)
    try fixture.write { editor in
      let long = [UInt8](repeating: 0, count: StoreLimits.keyByteCount)
      try editor.put(long, [UInt8](repeating: 1, count: 10_000))
      for byte in 1..<100 as Range<UInt8> { try editor.put([byte], [byte]) }
      var cursor = TreeCursor(
        core: editor.core,
        range: .all,
        owner: editor,
        changes: UnsafePointer(editor.changes)
      )
      #expect(try cursor.next())
      #expect(try cursor.value().count == 10_000)
      try editor.put([200], [])
      var codes: [StoreError.Code] = []
      do throws(StoreError) { _ = try cursor.key() } catch { codes.append(error.code) }
      do throws(StoreError) { _ = try cursor.value() } catch { codes.append(error.code) }
      do throws(StoreError) { _ = try cursor.next() } catch { codes.append(error.code) }
      #expect(codes == [.cursorInvalidated, .cursorInvalidated, .cursorInvalidated])
    }
  }

  @Test func limitsAreEnforcedWithoutAChange() throws {
    let fixture = TreeFixture(pageSize: 4_096)
    try fixture.write { editor in
      let longest = [UInt8](repeating: 1, count: StoreLimits.keyByteCount)
      try editor.put(longest, [1])
      #expect(throws: StoreError.self) { try editor.put(longest + [1], [1]) }
      #expect(try editor.remove(longest + [1]) == false)
      #expect(editor.count == 1)
      #expect(editor.isIntact)
    }
    #expect(try fixture.reader.value(for: [UInt8](repeating: 1, count: StoreLimits.keyByteCount)) == [1])
  }
}
