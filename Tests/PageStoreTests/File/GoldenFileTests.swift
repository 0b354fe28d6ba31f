@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The bytes of version 4. If one of these fails, the format has changed: give it a new version, or undo the change.
struct GoldenFileTests {
  /// Everything in a file of this kind follows from the clock and the random numbers that the fixture gives.
  private func digest(_ fill: (Store) throws -> Void) throws -> UInt64 {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try fill(store)
    return fixture.disk.content.bytes.withUnsafeBytes { XXH64.hash($0) }
  }

  @Test func anEmptyStoreHasTheBytesOfVersionFour() throws {
    let digest = try digest { _ in }
    #expect(digest == 7_290_237_584_386_874_491)
  }

  @Test func aLogHasTheBytesOfVersionFour() throws {
    let digest = try digest { store in
      try store.put("key", "value")
      try store.put("another", "value", durability: .relaxed)
      try store.write { transaction in
        let tree = try transaction.tree("t")
        try tree.remove(bytes("key"))
        try tree.removeRange(KeyRange(lower: .including(bytes("a"))))
        try transaction.dropTree("t")
      }
    }
    #expect(digest == 15_970_777_663_717_717_610)
  }
}
