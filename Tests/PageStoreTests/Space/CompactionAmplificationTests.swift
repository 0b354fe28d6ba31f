@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// The number of bytes that a store writes to make its file shorter by itself, compared with those that its program
/// commits and removes.
struct CompactionAmplificationTests {
  /// The changes that a program makes in a round.
  enum Workload: CaseIterable {
    /// Entries anywhere are overwritten: about half of the file is loose all the time.
    case overwriting
    /// Half of the entries, anywhere, are removed, and as many come back.
    case replacing
    /// All entries but for a few are removed, and as many come back.
    case emptying

    /// The percentage of the committed and removed bytes that compaction may write.
    var share: Int { self == .overwriting ? 0 : 100 }

    /// The entries that each commit of a round removes and puts.
    func commits(of count: Int, using generator: inout SeededGenerator) -> [(removed: [Int], put: [Int])] {
      let order = (0..<count).shuffled(using: &generator)
      switch self {
      case .overwriting: return (0..<8).map { ([], Array(order[$0 * count / 16..<($0 + 1) * count / 16])) }
      case .replacing: return [(Array(order[..<(count / 2)]), []), ([], Array(order[..<(count / 2)]))]
      case .emptying: return [(Array(order[100...]), []), ([], Array(order[100...]))]
      }
    }
  }

  private static let entryCount = 60_000
  private static let value = [UInt8](repeating: 7, count: 100)

  private static func key(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt64(number).bigEndian) { [UInt8]($0) }
  }

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.durability = .relaxed
    options.compaction?.leastLooseBytes = 2 << 20
    options.compaction?.idleTime = .zero
    return options
  }

  private static func commit(_ removed: [Int], _ put: [Int], to store: Store) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in removed { try tree.remove(key(number)) }
      for number in put { try tree.put(key(number), value) }
    }
  }

  /// The store has time for background work after each commit.
  @Test(arguments: Workload.allCases)
  func compactionWritesLessThanIsChanged(_ workload: Workload) throws {
    let seed = SeededGenerator.seedOfThisRun()
    var generator = SeededGenerator(seed: seed)
    let simulated = SimulatedStore(
      disk: SimulatedDisk(),
      history: CommitHistory(()),
      options: Self.options,
      seed: seed
    )
    try simulated.open()
    let store = try simulated.openStore()
    try Self.commit([], Array(0..<Self.entryCount), to: store)
    try store.checkpoint()
    var changedByteCount = 0
    for _ in 0..<6 {
      for (removed, put) in workload.commits(of: Self.entryCount, using: &generator) {
        try Self.commit(removed, put, to: store)
        simulated.idle()
        changedByteCount += (removed.count + put.count) * (Self.key(0).count + Self.value.count)
      }
    }
    let compacted = Int(try store.statistics.bytesCompacted)
    #expect(compacted <= workload.share * changedByteCount / 100, "seed \(seed)")
    if workload != .overwriting { #expect(compacted > 0, "nothing was compacted, seed \(seed)") }
    #expect(try store.verify() == [], "seed \(seed)")
  }
}
