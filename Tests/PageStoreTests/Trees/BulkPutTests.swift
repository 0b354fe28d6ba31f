import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Many entries in one call, in any order.
struct BulkPutTests {
  private typealias Entry = (key: [UInt8], value: [UInt8])

  private func entry(_ number: Int, _ value: String) -> Entry {
    (key: withUnsafeBytes(of: UInt32(number).bigEndian) { [UInt8]($0) }, value: bytes(value))
  }

  private func entries(of store: Store) throws -> [[UInt8]: [UInt8]] {
    var found: [[UInt8]: [UInt8]] = [:]
    var cursor = try store.snapshot().tree("t").cursor()
    while try cursor.next() { found[[UInt8](try cursor.key())] = [UInt8](try cursor.value()) }
    return found
  }

  @Test(arguments: [false, true]) func entriesTakeThePlaceOfThoseWithTheSameKeys(isShuffled: Bool) throws {
    var generator = SeededGenerator("entriesTakeThePlaceOfThoseWithTheSameKeys")
    let store = try Store.inMemory()
    let old = stride(from: 0, to: 9_000, by: 3).map { entry($0, "old") }
    #expect(try store.write { try $0.tree("t").put(contentsOf: old) } == 0)
    let new = (0..<6_000).map { entry($0, "new \($0)") }
    let given = isShuffled ? new.shuffled(using: &generator) : new
    #expect(try store.write { try $0.tree("t").put(contentsOf: given) } == 2_000)
    var expected = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0.value) })
    for entry in new { expected[entry.key] = entry.value }
    #expect(try entries(of: store) == expected)
    #expect(try store.verify() == [])
  }

  @Test func ofAKeyThatComesTwiceTheLastValueStays() throws {
    let store = try Store.inMemory()
    let given = [entry(1, "first"), entry(2, "only"), entry(1, "last")]
    #expect(try store.write { try $0.tree("t").put(contentsOf: given) } == 1)
    let expected = Dictionary(uniqueKeysWithValues: given.dropFirst().map { ($0.key, $0.value) })
    #expect(try entries(of: store) == expected)
  }

  @Test func entriesBeforeOneThatIsRefusedStay() throws {
    let store = try Store.inMemory()
    let tooLong = (key: [UInt8](repeating: 1, count: StoreLimits.keyByteCount + 1), value: bytes("none"))
    try store.write { transaction in
      let tree = try transaction.tree("t")
      let given = [entry(2, "two"), entry(1, "one"), tooLong, entry(3, "three")]
      #expect(code { _ = try tree.put(contentsOf: given) } == .keyTooLong)
    }
    #expect(try entries(of: store) == [entry(1, "one").key: bytes("one"), entry(2, "two").key: bytes("two")])
  }
}
