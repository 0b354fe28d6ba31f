import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

struct TreeOracleTests {
  static let pageSizes = [4_096, 8_192, 65_536]

  @Test(arguments: pageSizes, KeyStyle.allCases)
  func aTreeAnswersLikeASortedArray(pageSize: Int, style: KeyStyle) throws {
    var generator = SeededGenerator("aTreeAnswersLikeASortedArray \(pageSize) \(style)")
    let fixture = TreeFixture(pageSize: pageSize, cacheByteBudget: generator.pick([0, 256 << 20]))
    var oracle = SortedArrayOracle()
    for round in 0..<18 {
      // Growing for two thirds of the time, then shrinking.
      let puts = round < 12 ? 4 : 1
      let before = (version: fixture.reader, entries: oracle.entries)
      try fixture.write { editor in
        for _ in 0..<120 {
          try change(editor, &oracle, style, &generator, puts: puts, pageSize: pageSize)
        }
        try compareSamples(editor.reader, oracle, style, &generator)
      }
      #expect(sameEntries(try before.version.list(), before.entries))
      if generator.chance(1, in: 2) { try fixture.checkpointConcurrently() }
      if generator.chance(1, in: 4) { try fixture.checkpoint() }
      if generator.chance(1, in: 5) { try fixture.reopen() }
      #expect(fixture.problems() == [])
      try compareWhole(fixture.reader, oracle)
    }
  }

  private func change(
    _ editor: TreeEditor,
    _ oracle: inout SortedArrayOracle,
    _ style: KeyStyle,
    _ generator: inout SeededGenerator,
    puts: Int,
    pageSize: Int
  ) throws {
    switch generator.number(in: 0...11) {
    case 0...(2 * puts):
      let key = style.key(&generator)
      let value = generator.value(upTo: 2 * pageSize)
      #expect(try editor.put(key, value) == (oracle.put(key, value) != nil))
      for _ in 0..<generator.pick([0, 0, 3]) {
        if generator.chance(1, in: 8) {
          // Nothing changes, but the path now leads to another leaf.
          let absent = style.key(&generator)
          if oracle.value(for: absent) == nil { #expect(try editor.remove(absent) == false) }
        }
        // Most of them end up in the same leaf.
        let next = generator.chance(1, in: 6) ? style.key(&generator) : Array((key + [0]).prefix(4_000))
        let value = generator.value(upTo: generator.pick([10, pageSize]))
        #expect(try editor.put(near: next, value) == (oracle.put(next, value) != nil))
      }
    case 11 where generator.chance(1, in: 6):
      let range = self.range(style, &generator)
      #expect(try editor.removeRange(range) == oracle.removeRange(range))
    case 10 where !oracle.entries.isEmpty:
      try changeNeighbours(editor, &oracle, style, &generator, pageSize: pageSize)
    case _ where !oracle.entries.isEmpty && generator.chance(3, in: 4):
      let key = generator.pick(oracle.entries).key
      #expect(try editor.remove(key))
      oracle.remove(key)
    default:
      let key = style.key(&generator)
      #expect(try editor.remove(key) == (oracle.remove(key) != nil))
    }
  }

  /// Removes ascending keys, most of which exist, or gives them other values, each starting from the position of the
  /// one before.
  private func changeNeighbours(
    _ editor: TreeEditor,
    _ oracle: inout SortedArrayOracle,
    _ style: KeyStyle,
    _ generator: inout SeededGenerator,
    pageSize: Int
  ) throws {
    let start = generator.number(in: 0...oracle.count - 1)
    let keys = oracle.entries[start...].prefix(generator.pick([1, 5, 60])).map(\.key)
    let removesMost = generator.chance(1, in: 2)
    for key in keys where !generator.chance(1, in: 5) {
      if generator.chance(1, in: 10) {
        let other = style.key(&generator)
        #expect(try editor.remove(near: other) == (oracle.remove(other) != nil))
      }
      if removesMost, !generator.chance(1, in: 6) {
        #expect(try editor.remove(near: key) == (oracle.remove(key) != nil))
      } else {
        let value = generator.value(upTo: generator.pick([10, pageSize]))
        let isKept = generator.chance(1, in: 8)
        let old = oracle.value(for: key)
        #expect(try editor.replace(near: key, by: isKept ? nil : value) == old)
        if !isKept, old != nil { oracle.put(key, value) }
      }
    }
  }

  private func range(_ style: KeyStyle, _ generator: inout SeededGenerator) -> KeyRange {
    func bound() -> KeyRange.Bound {
      switch generator.number(in: 0...8) {
      case 0: .unbounded
      case 1...4: .including(style.key(&generator))
      default: .excluding(style.key(&generator))
      }
    }
    return KeyRange(lower: bound(), upper: bound())
  }

  private func compareWhole(_ tree: some OrderedTree, _ oracle: SortedArrayOracle) throws {
    #expect(try tree.count == oracle.count)
    #expect(sameEntries(try tree.list(), oracle.entries))
    #expect(sameEntries(try tree.list(reversed: true), oracle.entries.reversed()))
  }

  private func compareSamples(
    _ tree: some OrderedTree,
    _ oracle: SortedArrayOracle,
    _ style: KeyStyle,
    _ generator: inout SeededGenerator
  ) throws {
    for _ in 0..<12 {
      let key = style.key(&generator)
      #expect(try tree.value(for: key) == oracle.value(for: key))
      #expect(try tree.contains(key) == (oracle.value(for: key) != nil))
      #expect(try tree.rank(of: key) == oracle.rank(of: key))
      let range = self.range(style, &generator)
      #expect(try tree.count(in: range) == oracle.entries(in: range).count)
      #expect(sameEntries(try tree.list(range), oracle.entries(in: range)))
      #expect(sameEntries(try tree.list(range, reversed: true), oracle.entries(in: range).reversed()))
      try compareSeek(tree, oracle, range, key)
    }
    if let position = oracle.entries.indices.randomElement(using: &generator) {
      let entry = try tree.entry(at: position)
      #expect(entry?.key == oracle.entries[position].key)
      #expect(entry?.value == oracle.entries[position].value)
      #expect(try tree.value(for: oracle.entries[position].key) == oracle.entries[position].value)
    }
    try compareNear(tree, oracle, style, &generator)
    #expect(try tree.entry(at: oracle.count) == nil)
    #expect(try tree.entry(at: -1) == nil)
  }

  /// Looks up keys from the position of a cursor: keys that exist and others, ascending or not.
  private func compareNear(
    _ tree: some OrderedTree,
    _ oracle: SortedArrayOracle,
    _ style: KeyStyle,
    _ generator: inout SeededGenerator
  ) throws {
    var keys = (0..<30).map { _ in style.key(&generator) }
    if let start = oracle.entries.indices.randomElement(using: &generator) {
      let step = generator.pick([1, 2, 7])
      keys += stride(from: start, to: min(oracle.count, start + 40 * step), by: step).map {
        oracle.entries[$0].key
      }
    }
    if generator.chance(2, in: 3) { keys.sort { $0.lexicographicallyPrecedes($1) } }
    let range = generator.chance(1, in: 2) ? .all : range(style, &generator)
    let positions = oracle.positions(in: range)
    var cursor = try tree.cursor(in: range)
    for key in keys {
      let target = max(oracle.rank(of: key), positions.lowerBound)
      let isInside = target < positions.upperBound
      let found = try key.withUnsafeBytes { try cursor.find(near: $0).map { [UInt8]($0) } }
      let expected = isInside && oracle.entries[target].key == key ? oracle.entries[target].value : nil
      #expect(found == expected)
      #expect(cursor.isAtEntry == isInside)
      if isInside { #expect(try cursor.position == target) }
    }
    try tree.forEachValue(for: keys) { position, value in
      var found: [UInt8]?
      if let value { found = value.withUnsafeBytes { [UInt8]($0) } }
      #expect(found == oracle.value(for: keys[position]))
    }
  }

  private func compareSeek(
    _ tree: some OrderedTree,
    _ oracle: SortedArrayOracle,
    _ range: KeyRange,
    _ key: [UInt8]
  ) throws {
    let positions = oracle.positions(in: range)
    let target = max(oracle.rank(of: key), positions.lowerBound)
    var cursor = try tree.cursor(in: range)
    let found = try cursor.seek(to: key)
    #expect(found == (target < positions.upperBound))
    guard found else { return }
    #expect([UInt8](try cursor.key()) == oracle.entries[target].key)
    #expect(try cursor.position == target)
    let hasNext = try cursor.next()
    #expect(hasNext == (target + 1 < positions.upperBound))
    if hasNext { #expect([UInt8](try cursor.key()) == oracle.entries[target + 1].key) }
  }
}
