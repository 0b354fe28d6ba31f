import BenchmarkHarness
import PageStore

/// The bytes that Cambium writes for a commit of one record and two index entries, the shape of an object's save. They
/// are only counted: such a commit takes as long as any other of its size.
enum IndexedCommits {
  static let title = "one record of 100 bytes and two index entries"
  private static let commits = 500

  /// Of each commit, on average.
  struct Output {
    /// The bytes of the log's records, padding included.
    var bytesLogged: Double
    /// All bytes written, new extents of the log included.
    var bytesWritten: Double
    var syncs: Double
  }

  static func measure(in folder: String, _ entries: Entries) throws -> Output {
    let store = try Store.open(at: folder + "/store.cambium")
    for number in 0..<10 { try commit(entries, number, to: store) }
    let before = try store.statistics
    for number in 10..<10 + commits { try commit(entries, number, to: store) }
    let after = try store.statistics
    try store.close()
    func each(_ count: UInt64) -> Double { Double(count) / Double(commits) }
    return Output(
      bytesLogged: each(after.bytesLogged - before.bytesLogged),
      bytesWritten: each(after.bytesWritten - before.bytesWritten),
      syncs: each(after.syncs - before.syncs)
    )
  }

  private static func commit(_ entries: Entries, _ number: Int, to store: Store) throws {
    let key = entries.key(number)
    let id = Array(key.suffix(8))
    let value = entries.withValue(number) { Array($0) }
    try store.write { transaction in
      try transaction.tree("record").put(id, value)
      // As in an index: the indexed value, then the record's ID, and no value.
      try transaction.tree("byName").put(key + id, [])
      try transaction.tree("byAge").put(Array(key.prefix(8)) + id, [])
    }
  }
}
