import BenchmarkHarness
import PageStore

/// PageStore through its public calls.
final class CambiumKeyValuePeer: KeyValuePeer {
  static let name = "Cambium"
  static let version = "this source tree"
  static let groupsCommits = true

  private static let tree = "entry"
  private let store: Store

  init(folder: String, isNew: Bool, cacheBytes: Int) throws {
    var options = StoreOptions()
    options.cacheBytes = cacheBytes
    store = try Store.open(at: folder + "/store.cambium", options: options)
    if isNew { try store.write { transaction in _ = try transaction.tree(Self.tree) } }
  }

  func close() throws { try store.close() }

  func output() throws -> StoreOutput? {
    let statistics = try store.statistics
    return StoreOutput(bytesWritten: statistics.bytesWritten, syncs: statistics.syncs)
  }

  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws {
    try store.write { transaction in
      let tree = try transaction.tree(Self.tree)
      guard isSorted else {
        for number in order { try put(entries, number, 0, tree) }
        return
      }
      var numbers = order.makeIterator()
      try tree.append(next: { take throws(StoreError) in
        guard let number = numbers.next() else { return false }
        try entries.withKey(number) { key throws(StoreError) in
          try entries.withValue(number) { value throws(StoreError) in try take(key.bytes, value.bytes) }
        }
        return true
      })
    }
  }

  func get(_ entries: Entries, order: ArraySlice<Int>) throws -> Checksum {
    let tree = try store.snapshot().tree(Self.tree)
    var sum = Checksum()
    for number in order {
      try entries.withKey(number) { key in
        let isFound = try tree.withValue(for: key.bytes) { value in
          guard let value else { return false }
          value.withUnsafeBytes { sum.add($0) }
          return true
        }
        guard isFound else { throw PeerError(peer: Self.name, message: "a key is missing") }
      }
    }
    return sum
  }

  func scan() throws -> Checksum {
    let tree = try store.snapshot().tree(Self.tree)
    var sum = Checksum()
    try tree.forEach { key, value in
      key.withUnsafeBytes { sum.add($0) }
      value.withUnsafeBytes { sum.add($0) }
      return true
    }
    return sum
  }

  func put(_ entries: Entries, _ change: Change) throws {
    try store.write { transaction in
      let tree = try transaction.tree(Self.tree)
      for number in change.order { try put(entries, number, change.shift, tree) }
    }
  }

  func putEach(_ entries: Entries, _ change: Change) throws {
    for number in change.order {
      try store.write { transaction in
        try put(entries, number, change.shift, transaction.tree(Self.tree))
      }
    }
  }

  func count(from lower: [UInt8], to upper: [UInt8]) throws -> Int {
    try store.snapshot().tree(Self.tree).count(
      in: KeyRange(lower: .including(lower), upper: .excluding(upper))
    )
  }

  private func put(_ entries: Entries, _ number: Int, _ shift: Int, _ tree: WriteTree) throws {
    try entries.withChanged(number, shift) { key, value in _ = try tree.put(key.bytes, value.bytes) }
  }
}
