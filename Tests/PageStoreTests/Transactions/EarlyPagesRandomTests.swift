import Foundation
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Random transactions that write pages early, compared with a dictionary for each tree.
struct EarlyPagesRandomTests {
  private static let names = ["a", "b", "c"]
  private typealias Content = [String: [[UInt8]: [UInt8]]]

  private struct Abandoned: Error {}

  @Test func transactionsDoWhatTheirChangesSay() throws {
    for round in 0..<TestEffort.times(1) { try run(round) }
  }

  private func run(_ round: Int) throws {
    let seed = mixed(SeededGenerator.seedOfThisRun(), UInt64(round))
    var generator = SeededGenerator(seed: seed)
    var fixture = StoreFixture(pageSize: generator.pick([4_096, 8_192]))
    fixture.options.transactionByteCount = generator.pick([16 << 10, 64 << 10, 256 << 10])
    fixture.options.cacheBytes = generator.pick([64 << 10, 1 << 20])
    var store = try fixture.open()
    var disk = fixture.disk
    var content: Content = [:]
    var snapshots: [(Snapshot, Content)] = []
    var earlyCount = 0
    for step in 0..<8 {
      let comment: Comment = "CAMBIUM_SEED=\(SeededGenerator.seedOfThisRun()), round \(round), step \(step)"
      // Frames in memory, some of which a concurrent checkpoint has written.
      for _ in 0..<generator.number(in: 0...6) {
        try store.write { transaction in
          let name = generator.pick(Self.names)
          let (key, value) = (key(generator.number(in: 0...4_000)), value(&generator))
          try transaction.tree(name).put(key, value)
          content[name, default: [:]][key] = value
        }
        if generator.chance(1, in: 3) { try store.checkpointConcurrently() }
      }
      var changed = content
      do {
        try store.write { transaction in
          try change(&transaction, &changed, in: store, &generator, comment)
          if transaction.hasWrittenEarly { earlyCount += 1 }
          if generator.chance(1, in: 4) { throw Abandoned() }
        }
        content = changed
      } catch is Abandoned {}
      try compare(try store.snapshot(), with: content, comment)
      for (snapshot, before) in snapshots { try compare(snapshot, with: before, comment) }
      if generator.chance(1, in: 2) { snapshots.append((try store.snapshot(), content)) }
      if generator.chance(1, in: 3) { snapshots = [] }
      if generator.chance(1, in: 3) { try store.checkpointConcurrently() }
      if generator.chance(1, in: 4) { try store.compact() }
      #expect(try store.verify() == [], comment)
      expectUsesAddUp(store, comment)
      if generator.chance(1, in: 4) {
        snapshots = []
        disk = SimulatedDisk(disk.crashPoint.image(generator.pick(Damage.allCases), seed: seed))
        store = try fixture.open(disk)
      }
    }
    #expect(earlyCount > 0, "seed \(seed)")
  }

  private func expectUsesAddUp(_ store: Store, _ comment: Comment) {
    #expect(throws: Never.self, comment) {
      try store.committer.state.withLock { _ = try store.committer.pageUses() }
    }
  }

  private func compare(_ snapshot: Snapshot, with content: Content, _ comment: Comment) throws {
    for name in Self.names {
      let expected = (content[name] ?? [:]).sorted { $0.key.lexicographicallyPrecedes($1.key) }
      var found: [(key: [UInt8], value: [UInt8])] = []
      try snapshot.treeIfPresent(name)?.forEach { key, value in
        found.append((Array(key), Array(value)))
        return true
      }
      #expect(found.count == expected.count, comment)
      #expect(zip(found, expected).allSatisfy { $0.key == $1.key && $0.value == $1.value }, comment)
    }
  }

  // MARK: Changes

  private func change(
    _ transaction: inout WriteTransaction,
    _ content: inout Content,
    in store: Store,
    _ generator: inout SeededGenerator,
    _ comment: Comment
  ) throws {
    for _ in 0..<generator.number(in: 4...14) {
      let name = generator.pick(Self.names)
      // Other threads may do this while a transaction runs.
      if generator.chance(1, in: 8) { try store.checkpointConcurrently() }
      if generator.chance(1, in: 8) { expectUsesAddUp(store, comment) }
      switch generator.number(in: 0...8) {
      case 0: try append(to: transaction.tree(name), &content[name, default: [:]], &generator)
      case 1: try removeRange(of: transaction.tree(name), &content[name, default: [:]], &generator)
      case 2: try copy(name, into: generator.pick(Self.names.filter { $0 != name }), &transaction, &content)
      case 3: try replaceNeighbours(in: transaction.tree(name), &content[name, default: [:]], &generator)
      case 4: try readBack(transaction.tree(name), content[name] ?? [:], comment)
      case 5 where generator.chance(1, in: 4) && content[name] != nil:
        _ = try transaction.tree(name)
        try transaction.dropTree(name)
        content[name] = nil
      default: try put(into: transaction.tree(name), &content[name, default: [:]], &generator)
      }
    }
  }

  private func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }

  private func value(_ generator: inout SeededGenerator) -> [UInt8] {
    generator.bytes(
      generator.chance(1, in: 200) ? generator.number(in: 3_000...40_000) : generator.number(in: 0...400)
    )
  }

  /// Puts and removes entries anywhere.
  private func put(
    into tree: WriteTree,
    _ content: inout [[UInt8]: [UInt8]],
    _ generator: inout SeededGenerator
  ) throws {
    for _ in 0..<generator.number(in: 10...600) {
      var key = key(generator.number(in: 0...3_000))
      // A key with pages of its own.
      if generator.chance(1, in: 40) { key += [UInt8](repeating: UInt8(key[3] % 3), count: 2_000) }
      if generator.chance(1, in: 5) {
        #expect(try tree.remove(key) == (content.removeValue(forKey: key) != nil))
      } else {
        let value = value(&generator)
        #expect(try tree.put(key, value) == (content.updateValue(value, forKey: key) != nil))
      }
    }
  }

  /// Appends entries in the order of their keys, after the tree's last key.
  private func append(
    to tree: WriteTree,
    _ content: inout [[UInt8]: [UInt8]],
    _ generator: inout SeededGenerator
  ) throws {
    let last = content.keys.max { $0.lexicographicallyPrecedes($1) }
    let first = (last.map { $0.prefix(4).reduce(0) { $0 << 8 | Int($1) } } ?? 0) + 1
    var entries: [(key: [UInt8], value: [UInt8])] = []
    for number in 0..<generator.number(in: 1...800) {
      entries.append((key(first + 3 * number), value(&generator)))
    }
    #expect(try tree.append(sorted: entries) == entries.count)
    for (key, value) in entries { content[key] = value }
  }

  private func removeRange(
    of tree: WriteTree,
    _ content: inout [[UInt8]: [UInt8]],
    _ generator: inout SeededGenerator
  ) throws {
    let lower = generator.number(in: 0...4_000)
    let bounds = (key(lower), key(lower + generator.number(in: 0...1_000)))
    let count = content.count
    content = content.filter {
      $0.key.lexicographicallyPrecedes(bounds.0) || !$0.key.lexicographicallyPrecedes(bounds.1)
    }
    #expect(
      try tree.removeRange(KeyRange(lower: .including(bounds.0), upper: .excluding(bounds.1))) == count
        - content.count
    )
  }

  /// Puts entries of one tree into another while a cursor moves over the first, or while one of its values is in use.
  private func copy(
    _ name: String,
    into other: String,
    _ transaction: inout WriteTransaction,
    _ content: inout Content
  ) throws {
    let (source, target) = (try transaction.tree(name), try transaction.tree(other))
    var copied: [[UInt8]: [UInt8]] = [:]
    try source.forEach { key, value in
      try key.withUnsafeBytes { key in
        try value.withUnsafeBytes { value in
          _ = try target.put(key, value)
          copied[Array(key)] = Array(value)
        }
      }
      return copied.count < 800
    }
    content[other, default: [:]].merge(copied) { $1 }
    for key in copied.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(60) {
      try key.withUnsafeBytes { bytes in
        guard let found = try source.find(bytes) else { throw Abandoned() }
        try found.withBytes { value in
          for number in 0..<8 {
            let longer = key + [UInt8(number)]
            _ = try longer.withUnsafeBytes { try target.put($0, value) }
          }
        }
      }
      for number in 0..<8 { content[other, default: [:]][key + [UInt8(number)]] = content[name]?[key] }
    }
  }

  private func replaceNeighbours(
    in tree: WriteTree,
    _ content: inout [[UInt8]: [UInt8]],
    _ generator: inout SeededGenerator
  ) throws {
    for key in content.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where generator.chance(3, in: 4)
    {
      let new = value(&generator)
      let isThere = try key.withUnsafeBytes { key in
        try new.withUnsafeBytes { new in try tree.replace(near: key) { _ in new } }
      }
      #expect(isThere)
      content[key] = new
    }
  }

  private func readBack(_ tree: WriteTree, _ content: [[UInt8]: [UInt8]], _ comment: Comment) throws {
    #expect(try tree.count == content.count, comment)
    var count = 0
    try tree.forEach { key, value in
      count += 1
      return content[Array(key)] == Array(value)
    }
    #expect(count == content.count, comment)
  }
}

extension Array<UInt8> {
  fileprivate init(_ span: RawSpan) { self = span.withUnsafeBytes { [UInt8]($0) } }
}
