import Foundation
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

/// Snapshots with a lifetime: a read is right or throws `snapshotExpired`, and the memory and pages that they held are
/// used again.
struct SnapshotExpiryTests {
  private static let keyCount = 2_000
  /// So many keys have a value that overflows.
  private static let largeKeyCount = 20

  private func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { [UInt8]($0) } }

  private func value(_ number: Int, round: Int) -> [UInt8] {
    let count = number < Self.largeKeyCount ? 20_000 : 60
    return [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: count)
  }

  private func write(_ round: Int, to store: Store) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<Self.keyCount { try tree.put(key(number), value(number, round: round)) }
    }
  }

  private func withStore(_ body: (Store) throws -> Void) throws {
    let folder = try TemporaryFolder()
    var options = StoreOptions()
    options.durability = .none
    options.dirtyMemoryBytes = 4 << 20
    options.cacheBytes = 1 << 20
    let store = try Store.open(at: folder.path + "/store", options: options)
    try write(0, to: store)
    try body(store)
    try store.close()
  }

  private func waitUntil(_ condition: () throws -> Bool) throws {
    var rest = 600_000
    while try rest > 0 && !condition() {
      usleep(1_000)
      rest -= 1
    }
    #expect(try condition())
  }

  @Test func whatAnExpiredSnapshotHeldIsUsedAgain() throws {
    try withStore { store in
      let short = try store.snapshot(label: "short", lifetime: .milliseconds(5))
      let long = try store.snapshot(label: "long", lifetime: .seconds(3_600))
      let tree = try short.tree("t")
      for round in 1...4 { try write(round, to: store) }
      // No thread commits meanwhile: a timer ends the snapshot.
      try waitUntil { try short.hasExpired && store.readers().first?.hasExpired == true }
      try store.checkpoint()
      let readers = try store.readers()
      #expect(readers.map(\.label) == ["short", "long"])
      #expect(readers.map(\.hasExpired) == [true, false])
      #expect(try tree.count == Self.keyCount)
      #expect { try tree.value(for: key(0)) } throws: { ($0 as? StoreError)?.code == .snapshotExpired }
      #expect { try tree.rank(of: key(7)) } throws: { ($0 as? StoreError)?.code == .snapshotExpired }
      #expect { try short.tree("t") } throws: { ($0 as? StoreError)?.code == .snapshotExpired }
      #expect(try long.tree("t").value(for: key(30)) == value(30, round: 0))
      withExtendedLifetime((short, long)) {}
      #expect(try store.verify() == [])
    }
  }

  @Test func aSnapshotThatExpiresFreesItsRoom() throws {
    try withStore { store in
      try store.checkpoint()
      let snapshot = try store.snapshot(lifetime: .milliseconds(1))
      try write(1, to: store)
      try store.checkpoint()
      try waitUntil { try snapshot.hasExpired && store.spaceLedger().pinnedBytes == 0 }
      let before = try store.spaceLedger().totalBytes
      for round in 2...12 {
        try write(round, to: store)
        try store.checkpoint()
      }
      // The expired snapshot holds no page, so the file doesn't grow by the pages that each round replaces.
      #expect(try store.spaceLedger().totalBytes <= 2 * before)
      withExtendedLifetime(snapshot) {}
    }
  }

  @Test func shortLifetimesBesideALongOneDontPileUpTimers() throws {
    let timers = Mutex<[(milliseconds: Int, work: @Sendable () -> Void)]>([])
    let environment = StoreEnvironment(
      now: { 0 },
      random: { 1 },
      schedule: { milliseconds, work in timers.withLock { $0.append((milliseconds, work)) } }
    )
    let store = try Store.open(file: MemoryFile(), path: "", options: .init(), environment: environment)
    let long = try store.snapshot(lifetime: .seconds(3_600))
    for _ in 0..<50 {
      let short = try store.snapshot(lifetime: .zero)
      let due = timers.withLock { timers in
        defer { timers.removeAll { $0.milliseconds < 1_000 } }
        return timers.filter { $0.milliseconds < 1_000 }
      }
      #expect(due.count == 1)
      for timer in due { timer.work() }
      #expect(short.hasExpired)
    }
    // The timer of the long snapshot remains.
    #expect(timers.withLock { $0.count } == 1)
    #expect(!long.hasExpired)
  }

  @Test(arguments: [Duration.seconds(Int64.max) * 18, .seconds(Int64.min) * 18, .seconds(Int64.max), .zero])
  func anyLifetimeIsTaken(_ lifetime: Duration) throws {
    try withStore { store in
      let snapshot = try store.snapshot(lifetime: lifetime)
      #expect(try store.readers().map(\.hasExpired) == [lifetime <= .zero])
      #expect(snapshot.hasExpired == (lifetime <= .zero))
    }
  }

  @Test func aCursorFinishesItsLeaf() throws {
    try withStore { store in
      let snapshot = try store.snapshot(lifetime: .milliseconds(5))
      var cursor = try snapshot.tree("t").cursor()
      #expect(try cursor.seek(to: key(Self.largeKeyCount + 100)))
      var overflow = try snapshot.tree("t").cursor()
      #expect(try overflow.next())
      let large = try overflow.value()
      try waitUntil { snapshot.hasExpired }
      for round in 1...30 { try write(round, to: store) }
      // The cursors' leaf and value are unchanged.
      #expect(large.allSatisfy { $0 == 0 } && large.count == 20_000)
      #expect([UInt8](try cursor.value()) == value(100, round: 0))
      #expect {
        while try cursor.next() {
          let current = [UInt8](try cursor.value())
          #expect(current == value(100, round: 0))
        }
      } throws: {
        ($0 as? StoreError)?.code == .snapshotExpired
      }
    }
  }

  @Test func whatIsReadIsRightOrExpired() throws {
    let generator = SeededGenerator()
    try withStore { (store) throws in
      let expired = writeAndRead(store, seed: generator.seed)
      #expect(expired > 0)
      #expect(try store.verify() == [])
    }
  }

  /// Three threads read while one writes. Returns how many snapshots expired while they were read.
  private func writeAndRead(_ store: Store, seed: UInt64) -> Int {
    let expired = Atomic(0)
    let isDone = Atomic(false)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        if thread > 0 {
          try readOn(store, seed: seed &+ UInt64(thread), expired, until: isDone)
        } else {
          defer { isDone.store(true, ordering: .relaxed) }
          try writeOn(store) { expired.load(ordering: .relaxed) > 0 }
        }
      } catch {
        Issue.record(error)
      }
    }
    return expired.load(ordering: .relaxed)
  }

  /// Writes until enough snapshots have expired, or longer on a machine that also does other work.
  private func writeOn(_ store: Store, until isEnough: () -> Bool) throws {
    let start = ContinuousClock.now
    var round = 1
    while ContinuousClock.now < start + (isEnough() ? .seconds(2) : .seconds(600)) {
      try write(round, to: store)
      round += 1
    }
  }

  /// Reads from snapshots that don't live long, and counts those that expire while they are read.
  private func readOn(
    _ store: Store,
    seed: UInt64,
    _ expired: borrowing Atomic<Int>,
    until isDone: borrowing Atomic<Bool>
  ) throws {
    var generator = SeededGenerator(seed: seed)
    while !isDone.load(ordering: .relaxed) {
      let snapshot = try store.snapshot(lifetime: .milliseconds(generator.number(in: 0...20)))
      do {
        let tree = try snapshot.tree("t")
        var seen: Set<UInt8> = []
        for _ in 0..<generator.number(in: 1...40) {
          let number = generator.number(in: 0...Self.keyCount - 1)
          let found = try #require(try tree.value(for: key(number)))
          seen.formUnion(found)
          usleep(200)
        }
        var cursor = tree.cursor()
        while try cursor.next() { seen.formUnion(try cursor.value()) }
        #expect(seen.count == 1, "seed \(seed)")
      } catch let error as StoreError where error.code == .snapshotExpired {
        expired.add(1, ordering: .relaxed)
      }
    }
  }
}
