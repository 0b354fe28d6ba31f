@_spi(Testing) import TestSupport

@_spi(Testing) @testable import PageStore

/// A closed store with an example of everything that `verify` checks.
enum SampleStore {
  /// Trees: `rows` has branches, `large` overflows of one and of several pages, `none` is empty, `t` is a lone leaf.
  static func content() throws -> SparseBytes {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for round in 0..<3 {
      try store.write { transaction in
        let rows = try transaction.tree("rows")
        for number in 0..<300 {
          try rows.put(bytes("row \(1_000 + number)"), [UInt8](repeating: UInt8(round), count: 300))
        }
        let large = try transaction.tree("large")
        for number in 0..<4 {
          try large.put(
            bytes("value \(number)"),
            [UInt8](repeating: UInt8(number), count: 3_000 + 20_000 * number)
          )
        }
        let none = try transaction.tree("none")
        try none.put(bytes("a"), [])
        _ = try none.remove(bytes("a"))
        try transaction.tree("t").put(bytes("key"), bytes("value"))
      }
      try store.checkpoint()
    }
    try store.close()
    return fixture.disk.content
  }
}
