import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Lookups of several keys side by side find what lookups one by one would.
struct SeveralKeysTests {
  @Test(arguments: [0, 256 << 20]) func severalKeysAreFoundAsInASortedArray(cacheByteBudget: Int) throws {
    var generator = SeededGenerator("severalKeysAreFoundAsInASortedArray \(cacheByteBudget)")
    for spacing in [1, 3, 1_000, 1 << 40] {
      let fixture = TreeFixture(pageSize: 4_096, cacheByteBudget: cacheByteBudget)
      var oracle = SortedArrayOracle()
      try compare(fixture.reader, oracle, numbers(40, spacing, &generator))
      // One leaf, then two levels, then three.
      for count in [10, 300, 6_000] {
        try fixture.write { editor in
          for number in numbers(count, spacing, &generator) {
            let value = generator.value(upTo: generator.chance(1, in: 20) ? 9_000 : 60)
            try editor.put(Self.key(number), value)
            oracle.put(Self.key(number), value)
          }
        }
        if generator.chance(1, in: 2) { try fixture.reopen() }
        for batch in [0, 1, 15, 16, 17, 200] {
          var wanted = numbers(batch, spacing, &generator)
          if generator.chance(1, in: 2) { wanted.sort() }
          try compare(fixture.reader, oracle, wanted)
        }
        let present = oracle.entries.prefix(500).map { UInt64(bigEndianBytes: $0.key) }
        try compare(fixture.reader, oracle, present)
      }
    }
  }

  @Test func theCallerEndsTheLookups() throws {
    let fixture = TreeFixture(pageSize: 4_096)
    try fixture.write { editor in for number in 0..<100 { try editor.put(Self.key(UInt64(number)), [1]) } }
    var places: [Int] = []
    try fixture.reader.forEachValue(ofKeys: (0..<100).map { UInt64($0).bigEndian }) { place, _ in
      places.append(place)
      return place < 20
    }
    #expect(places == Array(0...20))
  }

  private func compare(_ tree: TreeReader, _ oracle: SortedArrayOracle, _ numbers: [UInt64]) throws {
    var found: [[UInt8]?] = []
    try tree.forEachValue(ofKeys: numbers.map(\.bigEndian)) { place, value in
      #expect(place == found.count)
      found.append(value.map { [UInt8]($0) })
      return true
    }
    #expect(found == numbers.map { oracle.value(for: Self.key($0)) })
  }

  /// Numbers, about half of which are in the tree after a while.
  private func numbers(_ count: Int, _ spacing: Int, _ generator: inout SeededGenerator) -> [UInt64] {
    (0..<count).map { _ in UInt64(generator.number(in: 0...8_000) * spacing) }
  }

  private static func key(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
  }
}

extension UInt64 {
  fileprivate init(bigEndianBytes bytes: [UInt8]) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
