import ArgumentParser
import BenchmarkHarness
import Foundation
import PageStore

/// The cost of compaction for concurrent writers, and the number of bytes that it writes.
struct CompactionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compaction",
    abstract:
      "Measures synced commits alone and beside a compaction, in one run, and the bytes that compaction writes.",
    discussion: """
      A store of which every other entry was removed at random is compacted while one thread commits one entry at a time. Then the \
      entries that are left are overwritten at random, and the store compacts itself whenever half of its file is loose.
      """
  )

  @Option(help: "Entries of 8 and 100 bytes at the start.")
  var entries = 1_000_000

  @Option(help: "Where the store is made.")
  var folder = FileManager.default.currentDirectoryPath

  func run() throws {
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }
    let path = try folders.make() + "/store.cambium"
    var options = StoreOptions()
    options.compaction = nil
    let store = try Store.open(at: path, options: options)
    try load(store)
    let before = try store.spaceLedger()
    var alone = Latencies()
    try commit(to: store, &alone) { $0 < Self.aloneCount }
    let work = CompactionWork(store)
    var beside = Latencies()
    let start = ContinuousClock.now
    try work.start()
    try commit(to: store, &beside) { _ in !work.isDone }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    try work.check()
    try commit(to: store, &alone) { $0 < Self.aloneCount }
    let after = try store.spaceLedger()
    let moved = try store.statistics.bytesCompacted
    print(
      "compaction: \(bytes(before.totalBytes)) to \(bytes(after.totalBytes)) in \(Figures.duration(seconds)), \(bytes(moved)) written"
    )
    print("commits alone   \(alone.summary)")
    print("commits beside  \(beside.summary)")
    print(
      "ratio           median \(ratio(beside, alone, 0.5)), 99 % \(ratio(beside, alone, 0.99)), mean \(Figures.threeDigits(beside.mean / alone.mean))"
    )
    try store.close()
    try measureSteadyState(path)
  }

  private static let aloneCount = 3_000

  private func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(number).bigEndian) { [UInt8]($0) } }

  private func load(_ store: Store) throws {
    var generator = SeededGenerator(seed: 11)
    try store.write { transaction in
      let tree = try transaction.tree("entries")
      for number in 0..<entries { try tree.put(key(number), [UInt8](repeating: 1, count: 100)) }
    }
    try store.write { transaction in
      let tree = try transaction.tree("entries")
      for number in 0..<entries where Bool.random(using: &generator) { try tree.remove(key(number)) }
    }
    try store.checkpoint()
  }

  private func commit(to store: Store, _ latencies: inout Latencies, while condition: (Int) -> Bool) throws {
    var count = 0
    while condition(count) {
      let start = ContinuousClock.now
      try store.write { transaction in
        try transaction.tree("commits").put(
          key(count % 1_000),
          [UInt8](repeating: UInt8(count & 255), count: 100)
        )
      }
      latencies.add((ContinuousClock.now - start) / .seconds(1))
      count += 1
    }
  }

  /// Random overwrites, with a store that compacts itself as soon as half of its file is loose.
  private func measureSteadyState(_ path: String) throws {
    var options = StoreOptions()
    options.durability = .relaxed
    options.compaction?.leastLooseBytes = 1 << 20
    options.compaction?.idleTime = .zero
    let store = try Store.open(at: path, options: options)
    var generator = SeededGenerator(seed: 12)
    let rounds = max(1, entries / 500)
    for _ in 0..<rounds {
      try store.write { transaction in
        let tree = try transaction.tree("entries")
        for _ in 0..<500 {
          try tree.put(key(Int.random(in: 0..<entries, using: &generator)), [UInt8](repeating: 2, count: 100))
        }
      }
    }
    let statistics = try store.statistics
    let committed = UInt64(rounds) * 500 * 108
    print(
      "steady state: \(bytes(committed)) committed, \(bytes(statistics.bytesWritten)) written, of them \(bytes(statistics.bytesCompacted)) "
        + "for compaction: \(Figures.threeDigits(Double(statistics.bytesCompacted) / Double(committed))) a byte; loose \(try looseShare(store)) %"
    )
    try store.close()
  }

  private func looseShare(_ store: Store) throws -> Int {
    let ledger = try store.spaceLedger()
    return Int(100 - 100 * (ledger.liveBytes + ledger.pinnedBytes) / max(1, ledger.totalBytes))
  }

  private func bytes(_ count: UInt64) -> String { Figures.bytes(Double(count)) }

  private func ratio(_ one: Latencies, _ other: Latencies, _ share: Double) -> String {
    Figures.threeDigits(one.percentile(share) / other.percentile(share))
  }
}

/// The times that many commits took.
private struct Latencies {
  private var seconds: [Double] = []

  mutating func add(_ value: Double) { seconds.append(value) }

  var mean: Double { seconds.reduce(0, +) / Double(max(1, seconds.count)) }

  func percentile(_ share: Double) -> Double {
    guard !seconds.isEmpty else { return 0 }
    return seconds.sorted()[Int(share * Double(seconds.count - 1))]
  }

  var summary: String {
    let figures = [0.5, 0.9, 0.99, 1].map { Figures.duration(percentile($0)) }
    return
      "\(seconds.count): median \(figures[0]), 90 % \(figures[1]), 99 % \(figures[2]), longest \(figures[3])"
  }
}

/// A compaction on a thread of its own.
// Safety: everything mutable is only touched with the lock held.
private final class CompactionWork: @unchecked Sendable {
  private let store: Store
  private let lock = NSLock()
  private var outcome: Result<Void, any Error>?

  init(_ store: Store) { self.store = store }

  func start() throws {
    let thread = Thread { [self] in
      let outcome = Result<Void, any Error> { try store.compact() }
      lock.withLock { self.outcome = outcome }
    }
    thread.start()
  }

  var isDone: Bool { lock.withLock { outcome != nil } }

  /// Throws the error that the compaction has thrown.
  func check() throws { try lock.withLock { outcome }?.get() }
}
