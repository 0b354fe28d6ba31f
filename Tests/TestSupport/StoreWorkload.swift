import PageStore

/// Generates changes of a store: small and large, in trees that grow, shrink, appear and disappear.
public struct StoreWorkload {
  /// The kinds of transactions.
  public enum Shape: CaseIterable, Sendable {
    /// A few puts and removes.
    case small
    /// A value that is written ahead of the log record, among a few other changes.
    case largeValue
    /// More than fits a log record.
    case bulk
    /// Hundreds of entries appended in order, or a range removed.
    case range
    /// Values that make the file grow, short enough for the log.
    case growth
    /// The large values removed, most of them.
    case shrinkage
    /// A tree dropped, another created.
    case trees
    /// A few entries removed, and one put that records it: a deletion that may use the reserve of a full disk.
    case deletion
  }

  private var generator: SeededGenerator
  private let keyCount: Int
  private var appended: UInt64 = 0

  /// Keys are drawn from `keyCount` different ones in each tree.
  public init(seed: UInt64, keyCount: Int = 600) {
    generator = SeededGenerator(seed: seed)
    self.keyCount = keyCount
  }

  /// The changes of one transaction on a store that holds `state`.
  public mutating func operations(_ shape: Shape, on state: StoreState) -> [StoreOperation] {
    switch shape {
    case .small: return smallChanges(generator.number(in: 1...12))
    case .largeValue: return smallChanges(2) + [largePut()] + smallChanges(1)
    case .bulk: return bulkPuts()
    case .growth: return growingPuts()
    case .shrinkage: return removalsOfLargeValues(from: state)
    case .range: return [generator.chance(1, in: 2) ? append() : removal(from: state)]
    case .trees: return treeChanges(on: state)
    case .deletion: return recordedRemovals(from: state)
    }
  }

  /// Returns changes that don't depend on the store's contents, and always have an effect: as many as asked for, and
  /// one of a few bytes.
  mutating func groupOperations(_ counts: ClosedRange<Int>) -> [StoreOperation] {
    appended += 1
    let key = Array("group \(appended)".utf8.suffix(7))
    return smallChanges(generator.number(in: counts)) + [
      .put(tree: "t0", key: key, value: generator.bytes(16))
    ]
  }

  private mutating func smallChanges(_ count: Int) -> [StoreOperation] {
    (0..<count).map { _ in
      let tree = "t\(generator.number(in: 0...2))"
      let key = key(generator.number(in: 0...keyCount - 1))
      if generator.chance(1, in: 4) { return .remove(tree: tree, key: key) }
      return .put(tree: tree, key: key, value: smallValue())
    }
  }

  /// Short keys, keys with long common prefixes, and now and then a key near the limit.
  private func key(_ number: Int) -> [UInt8] {
    let digits = Array(String(number, radix: 7).utf8)
    switch number % 8 {
    case 0: return digits
    case 1: return [UInt8](repeating: UInt8(number & 0xFF), count: number % 40)
    case 2: return Array("a common prefix of many keys, ".utf8) + digits
    case 3 where number % 64 == 3:
      return [UInt8](repeating: 0x6B, count: StoreLimits.keyByteCount - 8) + digits
    case 3: return Array("prefix/".utf8) + digits + [0xFF, 0]
    default: return withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
    }
  }

  private mutating func smallValue() -> [UInt8] {
    switch generator.number(in: 0...19) {
    case 0: []
    case 1: generator.bytes(generator.number(in: 1_000...5_000))
    case 2: generator.bytes(generator.number(in: 5_000...StoreLimits.loggedValueByteCount / 4))
    default: generator.bytes(generator.number(in: 1...120))
    }
  }

  private mutating func largePut() -> StoreOperation {
    let limit = StoreLimits.loggedValueByteCount
    let count = generator.pick([limit, limit + 1, generator.number(in: limit + 2...3 * limit)])
    return .put(tree: "large", key: key(generator.number(in: 0...5)), value: generator.bytes(count))
  }

  private mutating func growingPuts() -> [StoreOperation] {
    (0..<generator.number(in: 3...7)).map { number in
      .put(tree: "large", key: key(number), value: generator.bytes(StoreLimits.loggedValueByteCount - number))
    }
  }

  /// Removes all large values but for one, and makes one small change.
  private mutating func removalsOfLargeValues(from state: StoreState) -> [StoreOperation] {
    let entries = state.trees["large"]?.entries.shuffled(using: &generator) ?? []
    return entries.dropFirst().map { .remove(tree: "large", key: $0.key) } + smallChanges(1)
  }

  /// Removes up to four entries of a tree, and puts one into a tree of records.
  private mutating func recordedRemovals(from state: StoreState) -> [StoreOperation] {
    let trees = state.trees.filter { $0.key != "deletions" && $0.value.count > 0 }.keys.sorted()
    guard let tree = trees.randomElement(using: &generator), let oracle = state.trees[tree] else {
      return smallChanges(1)
    }
    let first = generator.number(in: 0...oracle.count - 1)
    let removed = oracle.entries[first..<Swift.min(oracle.count, first + generator.number(in: 1...4))]
    appended += 1
    let key = withUnsafeBytes(of: appended.bigEndian) { Array($0) }
    return [.markAsDeletion] + removed.map { .remove(tree: tree, key: $0.key) }
      + [.put(tree: "deletions", key: key, value: generator.bytes(generator.number(in: 16...200)))]
  }

  private mutating func bulkPuts() -> [StoreOperation] {
    let valueByteCount = 20_000
    return (0...StoreLimits.logRecordByteCount / valueByteCount * 5 / 4).map { number in
      .put(tree: "bulk", key: key(number), value: generator.bytes(valueByteCount))
    }
  }

  private mutating func append() -> StoreOperation {
    let entries = (0..<generator.number(in: 1...300)).map { _ in
      appended += 1
      let key = withUnsafeBytes(of: appended.bigEndian) { Array($0) }
      return (key: key, value: generator.bytes(generator.number(in: 0...60)))
    }
    return .append(tree: "sequence", entries: entries)
  }

  private mutating func removal(from state: StoreState) -> StoreOperation {
    guard let tree = state.trees.keys.sorted().randomElement(using: &generator),
      let oracle = state.trees[tree],
      oracle.count > 0
    else { return append() }
    let first = generator.number(in: 0...oracle.count - 1)
    let last = Swift.min(oracle.count - 1, first + generator.number(in: 0...oracle.count / 3))
    let range = KeyRange(
      lower: .including(oracle.entries[first].key),
      upper: .including(oracle.entries[last].key)
    )
    return .removeRange(tree: tree, range: range)
  }

  private mutating func treeChanges(on state: StoreState) -> [StoreOperation] {
    // The tree of appended entries stays: its keys must go on ascending.
    let names = state.trees.keys.sorted().filter { $0 != "sequence" }
    let dropped: [StoreOperation] = names.randomElement(using: &generator).map { [.drop(tree: $0)] } ?? []
    return dropped + [.create(tree: "empty\(generator.number(in: 0...3))")] + smallChanges(3)
  }
}
