import Foundation
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Transactions that take more memory than they may, and so write pages before they are committed.
struct EarlyPagesTests {
  private let fixture: StoreFixture
  private let limit = 1 << 20

  init() {
    var fixture = StoreFixture()
    fixture.options.dirtyMemoryBytes = limit
    fixture.options.cacheBytes = 256 << 10
    self.fixture = fixture
  }

  private struct Abandoned: Error {}

  private func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } }

  private func value(_ number: Int, _ count: Int = 200) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(number))
    return generator.bytes(count)
  }

  /// Returns the most bytes that the pages of a store take in memory while `body` runs, measured after each of its
  /// steps.
  private func largestMemory(
    in store: Store,
    _ body: (_ step: () throws -> Void) throws -> Void
  ) throws -> Int {
    var largest = 0
    try body { largest = max(largest, Int(try store.statistics.residentBytes)) }
    return largest
  }

  private func expectSound(_ store: Store, _ comment: Comment? = nil) throws {
    #expect(try store.verify() == [], comment)
    #expect(throws: Never.self, comment) {
      try store.committer.state.withLock { _ = try store.committer.pageUses() }
    }
  }

  // MARK: Memory

  @Test func aSortedLoadTakesNoMoreMemoryThanItMay() throws {
    let store = try fixture.open()
    let largest = try largestMemory(in: store) { step in
      try store.write { transaction in
        var number = 0
        try transaction.tree("t").append { take throws(StoreError) in
          if number == 80_000 { return false }
          if number % 1_000 == 0 { try? step() }
          let (key, value) = (key(number), value(number))
          try key.withBytes { key throws(StoreError) in
            try value.withBytes { value throws(StoreError) in try take(key, value) }
          }
          number += 1
          return true
        }
      }
    }
    #expect(largest < 2 * limit)
    let reopened = try fixture.reopened(powerFailed: true)
    let tree = try reopened.snapshot().tree("t")
    #expect(try tree.count == 80_000)
    for number in stride(from: 0, to: 80_000, by: 997) {
      #expect(try tree.value(for: key(number)) == value(number))
    }
    try expectSound(reopened)
  }

  @Test func insertionsAnywhereTakeNoMoreMemoryThanTheyMay() throws {
    let store = try fixture.open()
    var generator = SeededGenerator(seed: 1)
    let numbers = (0..<20_000).shuffled(using: &generator)
    let largest = try largestMemory(in: store) { step in
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for (index, number) in numbers.enumerated() {
          try tree.put(key(number), value(number))
          if index % 500 == 0 { try step() }
        }
      }
    }
    #expect(largest < 2 * limit)
    let tree = try store.snapshot().tree("t")
    for number in 0..<20_000 { #expect(try tree.value(for: key(number)) == value(number)) }
    try expectSound(store)
  }

  @Test(arguments: [1, 10, 120])
  func largeValuesTakeNoMoreMemoryThanTheyMay(_ keyCount: Int) throws {
    let store = try fixture.open()
    let largest = try largestMemory(in: store) { step in
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for number in 0..<200 {
          try tree.put(key(number % keyCount), value(number, 50_000))
          try step()
        }
      }
    }
    #expect(largest < 2 * limit)
    let reopened = try fixture.reopened(powerFailed: true)
    let tree = try reopened.snapshot().tree("t")
    for number in (200 - keyCount)..<200 {
      #expect(try tree.value(for: key(number % keyCount)) == value(number, 50_000))
    }
    try expectSound(reopened)
  }

  @Test func changesOfNeighboursTakeNoMoreMemoryThanTheyMay() throws {
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<20_000 { try tree.put(key(number), value(number)) }
    }
    let largest = try largestMemory(in: store) { step in
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for number in 0..<20_000 {
          let new = value(number + 1)
          let isThere = try key(number).withUnsafeBytes { key in
            try new.withUnsafeBytes { new in try tree.replace(near: key) { _ in new } }
          }
          #expect(isThere)
          if number % 500 == 0 { try step() }
        }
      }
    }
    #expect(largest < 2 * limit)
    let tree = try store.snapshot().tree("t")
    for number in 0..<20_000 { #expect(try tree.value(for: key(number)) == value(number + 1)) }
    try expectSound(store)
  }

  // MARK: The outcome

  @Test func anAbandonedTransactionLeavesNothing() throws {
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<2_000 { try tree.put(key(number), value(number)) }
    }
    try store.checkpoint()
    var sizes: [UInt64] = []
    for _ in 0..<3 {
      #expect(throws: Abandoned.self) {
        try store.write { transaction in
          let tree = try transaction.tree("t")
          for number in stride(from: 0, to: 40_000, by: 2) { try tree.put(key(number), value(number + 1)) }
          let hasWritten = transaction.hasWrittenEarly
          #expect(hasWritten)
          throw Abandoned()
        }
      }
      try expectSound(store)
      sizes.append(try store.spaceLedger().totalBytes)
    }
    #expect(sizes[1] == sizes[2], "pages that abandoned transactions have written are used again")
    let tree = try store.snapshot().tree("t")
    #expect(try tree.count == 2_000)
    for number in 0..<2_000 { #expect(try tree.value(for: key(number)) == value(number)) }
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.snapshot().tree("t").count == 2_000)
    try reopened.put("after", "1")
    try expectSound(reopened)
  }
}

/// Failures of transactions that have written pages early.
struct EarlyPagesFailureTests {
  private let fixture: StoreFixture

  init() {
    var fixture = StoreFixture()
    fixture.options.transactionByteCount = 64 << 10
    fixture.options.cacheBytes = 64 << 10
    self.fixture = fixture
  }

  private struct Abandoned: Error {}

  private func openedStore() throws -> Store {
    let store = try fixture.open()
    try fill(store, 0..<500, "old")
    try store.checkpoint()
    return store
  }

  private func fill(_ store: Store, _ numbers: Range<Int>, _ value: String) throws {
    try store.write { try fill(&$0, numbers, value) }
  }

  private func fill(_ transaction: inout WriteTransaction, _ numbers: Range<Int>, _ value: String) throws {
    let tree = try transaction.tree("t")
    for number in numbers {
      try tree.put(bytes("\(number)"), bytes(value + String(repeating: "-", count: 500)))
    }
  }

  private func expectOld(_ store: Store) throws {
    let tree = try store.snapshot().tree("t")
    #expect(try tree.count == 500)
    for number in 0..<500 {
      #expect(try tree.value(for: bytes("\(number)"))?.starts(with: bytes("old")) == true)
    }
    #expect(try store.verify() == [])
  }

  @Test(arguments: [Damage.allLost, .allKept, .garbage])
  func aCrashBeforeTheCommitLeavesNothing(_ damage: Damage) throws {
    let store = try openedStore()
    try store.write { transaction in
      try fill(&transaction, 0..<1_000, "new")
      let hasWritten = transaction.hasWrittenEarly
      #expect(hasWritten)
      let reopened = try fixture.reopened(powerFailed: true, damage: damage, seed: 3)
      try expectOld(reopened)
      try fill(reopened, 0..<1_000, "newer")
      #expect(try reopened.verify() == [])
    }
    #expect(try store.snapshot().tree("t").count == 1_000)
  }

  /// Pages stay in memory when there is no room for them, and the commit is refused.
  @Test func aFullDiskRefusesTheCommit() throws {
    let store = try openedStore()
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    #expect(code { try fill(store, 0..<4_000, "new") } == .diskFull)
    try expectOld(store)
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<400 { try tree.remove(bytes("\(number)")) }
    }
    #expect(try store.snapshot().tree("t").count == 100)
    fixture.disk.setCapacity(.max)
    try fill(store, 0..<4_000, "new")
    #expect(try fixture.reopened(powerFailed: true).snapshot().tree("t").count == 4_000)
  }

  /// A transaction takes no effect, even if its closure continues after the error.
  @Test func aFailedWriteAbandonsTheTransaction() throws {
    let store = try openedStore()
    fixture.disk.inject(DiskFault(.write, at: 1, .error(EIO), isSticky: true))
    let failure = code {
      try store.write { transaction in
        #expect(code { try fill(&transaction, 0..<1_000, "new") } == .inputOutput)
        #expect(code { _ = try transaction.tree("t").value(for: bytes("1")) } == .transactionEnded)
      }
    }
    #expect(failure == .transactionEnded)
    fixture.disk.clearFaults()
    try expectOld(store)
    try fill(store, 0..<1_000, "new")
    #expect(try fixture.reopened(powerFailed: true).snapshot().tree("t").count == 1_000)
    #expect(try store.verify() == [])
  }

  /// The device may have lost bytes of the log as well.
  @Test(arguments: FailedSyncBehavior.allCases)
  func anEarlyWriteThatTheDeviceRefusesFences(_ behavior: FailedSyncBehavior) throws {
    let store = try openedStore()
    fixture.disk.setFailedSyncBehavior(behavior)
    fixture.disk.inject(DiskFault(.startWriteback, at: 1, .error(EIO)))
    #expect(code { try fill(store, 0..<1_000, "new") } != nil)
    try expectOld(store)
    #expect(code { try store.put("a", "1") } == .fenced)
    let reopened = try fixture.reopened(powerFailed: true)
    try expectOld(reopened)
    #expect(try reopened.verify() == [])
  }

  /// Commits that are in the log leave frames in memory, and a concurrent checkpoint notes the pages to which it has written
  /// them. A later transaction's tree refers to these pages.
  @Test(arguments: [10, 6_000])
  func pagesOfAConcurrentCheckpointStayInUse(_ byteCount: Int) throws {
    let store = try fixture.open()
    let value = String(repeating: "v", count: byteCount)
    for start in stride(from: 0, to: 2_000, by: 5) {
      try store.write(durability: .relaxed) { transaction in
        let tree = try transaction.tree("t")
        for number in start..<start + 5 { try tree.put(bytes("\(1_000_000 + number)"), bytes(value)) }
      }
    }
    try store.checkpointConcurrently()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 1_900..<4_000 { try tree.put(bytes("\(1_000_000 + number)"), bytes("new\(value)")) }
      let hasWritten = transaction.hasWrittenEarly
      #expect(hasWritten)
      // One of the leaves that the checkpoint has written.
      try tree.put(bytes("1000007"), bytes("changed"))
    }
    #expect(try store.verify() == [])
    for _ in 0..<3 {
      try store.put("other", "1")
      try store.checkpoint()
    }
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.verify() == [])
    let tree = try reopened.snapshot().tree("t")
    #expect(try tree.value(for: bytes("1000007")) == bytes("changed"))
    for number in 0..<1_900 where number != 7 {
      #expect(try tree.value(for: bytes("\(1_000_000 + number)")) == bytes(value))
    }
  }

  /// The path of a bulk append refers to no page before its first entry.
  @Test func anAppendMayBeginWithChangesOfAnotherTree() throws {
    let store = try openedStore()
    try store.write { transaction in
      try fill(&transaction, 0..<200, "new")
      let (appended, other) = (try transaction.tree("t"), try transaction.tree("other"))
      var count = 0
      let added = try appended.append { take throws(StoreError) in
        for number in 0..<300 {
          try other.put(bytes("\(count)/\(number)"), bytes(String(repeating: "o", count: 500)))
        }
        count += 1
        let (key, value) = (bytes("x\(100 + count)"), bytes("appended"))
        try key.withBytes { key throws(StoreError) in
          try value.withBytes { value throws(StoreError) in try take(key, value) }
        }
        return count < 20
      }
      #expect(added == 20)
    }
    #expect(try store.snapshot().tree("t").count == 520)
    #expect(try store.snapshot().tree("other").count == 6_000)
    #expect(try store.verify() == [])
  }

  /// Pages that a transaction no longer needs are free for its commit.
  @Test func aTransactionUsesItsPagesAgainOnAFullDisk() throws {
    let store = try openedStore()
    fixture.disk.setCapacity(fixture.disk.content.byteCount + (4 << 20))
    for _ in 0..<3 {
      try store.write { transaction in
        for round in 0..<4 {
          try fill(&transaction, 1_000..<4_500, "round \(round)")
          try transaction.tree("t").removeRange(
            KeyRange(lower: .including(bytes("1000")), upper: .excluding(bytes("45")))
          )
        }
      }
    }
    #expect(try store.verify() == [])
  }

  /// A cursor stays valid while other trees are changed, however much memory that takes. Its own tree has only pages of the
  /// transaction, and they would be written otherwise.
  @Test func aCursorStaysValidWhileOtherTreesGrow() throws {
    let store = try openedStore()
    try store.write { transaction in
      let (source, target) = (try transaction.tree("source"), try transaction.tree("target"))
      for number in 0..<90 {
        try source.put(bytes("\(100 + number)"), [UInt8](repeating: UInt8(number), count: 500))
      }
      let hasWritten = transaction.hasWrittenEarly
      #expect(!hasWritten)
      var keys: [[UInt8]] = []
      var cursor = try source.cursor()
      while try cursor.next() {
        let (key, value) = ([UInt8](try cursor.key()), [UInt8](try cursor.value()))
        for copy in 0..<60 { try target.put([UInt8(copy)] + key, value) }
        #expect(value == [UInt8](repeating: UInt8(keys.count), count: 500))
        keys.append(key)
      }
      #expect(keys == (0..<90).map { bytes("\(100 + $0)") })
    }
    #expect(try store.snapshot().tree("target").count == 5_400)
    #expect(try store.verify() == [])
  }
}

extension WriteTransaction {
  var hasWrittenEarly: Bool { !state.dirty.early.all.isEmpty }
}
