import PageStore

/// Compares the contents of a snapshot with an oracle.
public struct SnapshotComparison {
  /// The number of positions, keys and ranges that are looked up in each tree, besides the walk over all of it.
  public var sampleCount = 6
  private var generator: SeededGenerator

  public init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Returns the first difference between the two, or nil. Reads every entry of every tree, and looks up ranks, counts
  /// and positions. Throws the store's errors.
  public mutating func difference(of snapshot: Snapshot, from state: StoreState) throws -> String? {
    let names = try snapshot.treeNames.sorted()
    let expected = state.trees.keys.sorted()
    guard names == expected else { return "trees \(names) instead of \(expected)" }
    for name in names {
      guard let oracle = state.trees[name] else { continue }
      let tree = try snapshot.tree(name)
      if let difference = try entriesDifference(of: tree, from: oracle)
        ?? samplesDifference(of: tree, from: oracle)
      {
        return "tree \(name): \(difference)"
      }
    }
    return nil
  }

  private mutating func entriesDifference(
    of tree: TreeReader,
    from oracle: SortedArrayOracle
  ) throws -> String? {
    let count = try tree.count
    guard count == oracle.count else { return "count \(count) instead of \(oracle.count)" }
    let isReversed = generator.chance(1, in: 3)
    var digest: UInt64 = 0
    var walked = 0
    var difference: String?
    try tree.forEach(in: .all, reversed: isReversed) { key, value in
      guard walked < oracle.count else {
        difference = "more entries than \(oracle.count)"
        return false
      }
      let expected = oracle.entries[isReversed ? oracle.count - 1 - walked : walked]
      guard key.holds(expected.key) else {
        difference = "another key at position \(walked) of the walk"
        return false
      }
      digest &+= key.withUnsafeBytes { key in value.withUnsafeBytes { entryDigest(key, $0) } }
      walked += 1
      return true
    }
    if let difference { return difference }
    guard walked == oracle.count else { return "\(walked) entries instead of \(oracle.count)" }
    return digest == oracle.digest ? nil : "a value differs"
  }

  private mutating func samplesDifference(
    of tree: TreeReader,
    from oracle: SortedArrayOracle
  ) throws -> String? {
    if try tree.entry(at: oracle.count) != nil { return "an entry at position \(oracle.count)" }
    guard oracle.count > 0 else { return nil }
    for _ in 0..<sampleCount {
      let position = generator.number(in: 0...oracle.count - 1)
      let (key, value) = oracle.entries[position]
      guard let entry = try tree.entry(at: position), key.equals(entry.key), value.equals(entry.value) else {
        return "another entry at position \(position)"
      }
      guard try tree.rank(of: key) == position else { return "another rank than \(position)" }
      guard value.equals(try tree.value(for: key)) else { return "another value at position \(position)" }
      let other = oracle.entries[generator.number(in: 0...oracle.count - 1)].key
      let (low, high) = key.precedes(other) ? (key, other) : (other, key)
      let range = KeyRange(lower: .excluding(low), upper: .including(high))
      guard try tree.count(in: range) == oracle.positions(in: range).count else {
        return "another count in a range"
      }
      let absent = key + [0]
      guard try tree.contains(absent) == (oracle.value(for: absent) != nil) else {
        return "an absent key is there"
      }
    }
    return nil
  }
}

extension RawSpan {
  /// Whether the bytes are these.
  fileprivate func holds(_ bytes: [UInt8]) -> Bool {
    withUnsafeBytes { bytes.equals($0) }
  }
}
