@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// Calls that are made with bytes of the tree itself, or in the middle of another call.
struct AliasTests {
  @Test func aValueMadeOfItsOwnOldBytesIsLoggedAsItIsStored() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    let value = (0..<60).map { UInt8($0) }
    try store.write { transaction in
      let tree = try transaction.tree("t")
      try tree.put(bytes("k"), value)
      try tree.withValue(for: bytes("k")) { old in
        guard let old else { return }
        let key = bytes("k")
        try tree.put(key.span.bytes, old.extracting(20..<60))
      }
    }
    let expected = Array(value[20...])
    for reopened in [store, try fixture.reopened(powerFailed: true)] {
      #expect(try reopened.snapshot().tree("t").value(for: bytes("k")) == expected)
    }
  }

  @Test func aTreeIsOfNoUseInTheMiddleOfABulkAppend() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for index in 0..<200 { try tree.put([0, UInt8(index)], [UInt8](repeating: 1, count: 100)) }
      var index: UInt8 = 0
      let added = try tree.append { take throws(StoreError) in
        #expect(
          code { try tree.put([UInt8(5), index], [UInt8](repeating: 2, count: 1_000)) } == .nestedWrite
        )
        #expect(code { _ = try tree.remove([0, index]) } == .nestedWrite)
        #expect(code { _ = try tree.removeRange(.all) } == .nestedWrite)
        #expect(code { _ = try tree.count } == .nestedWrite)
        #expect(code { _ = try tree.append(sorted: [(key: [9], value: [9])]) } == .nestedWrite)
        #expect(code { try transaction.dropTree("t") } == .nestedWrite)
        guard index < 100 else { return false }
        index += 1
        try take([1, index].span.bytes, [UInt8](repeating: 3, count: 100).span.bytes)
        return true
      }
      #expect(added == 100)
      #expect(try tree.count == 300)
    }
    for reopened in [store, try fixture.reopened(powerFailed: true)] {
      #expect(try reopened.snapshot().tree("t").count == 300)
      #expect(try reopened.verify() == [])
    }
  }
}
