import Dispatch
import Glibc
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Checkpoints that are written while commits go on.
struct ConcurrentCheckpointTests {
  /// Makes a commit at each point of a checkpoint at which others may commit.
  private final class Companion: Sendable {
    let store = Mutex<Store?>(nil)
    private let count = Atomic(0)

    func commit() {
      guard let store = store.withLock({ $0 }) else { return }
      let number = count.add(1, ordering: .relaxed).newValue
      try? store.put("k\(number)", "beside")
    }
  }

  @Test func whatIsCommittedDuringACheckpointSurvives() throws {
    let fixture = StoreFixture()
    let companion = Companion()
    var environment = fixture.environment
    environment.duringCheckpoint = { companion.commit() }
    let store = try fixture.open(in: environment)
    for index in 0..<300 { try store.put("before\(index)", String(repeating: "x", count: 100)) }
    companion.store.withLock { $0 = store }
    try store.checkpointConcurrently()
    companion.store.withLock { $0 = nil }
    #expect(store.lastCommit == 304)
    #expect(try store.statistics.checkpointCommit == 300)
    #expect(try store.verify().isEmpty)
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(reopened.lastCommit == 304)
    for index in 1...4 { #expect(try reopened.value("k\(index)") == "beside") }
    #expect(try reopened.value("before299")?.count == 100)
    #expect(try reopened.verify().isEmpty)
  }

  /// The pages that a checkpoint takes when it seals the record of the pages in use are free again if that fails.
  @Test func aCheckpointThatCannotReadTheRecordOfPagesLosesNone() throws {
    let fixture = StoreFixture()
    let held = Mutex<Store?>(nil)
    var environment = fixture.environment
    environment.duringCheckpoint = {
      guard let committer = held.withLock({ $0.take() })?.committer else { return }
      #expect(throws: Never.self) {
        try committer.state.withLock { () throws(StoreError) in
          // The record of pages in use takes more pages for a file that is so much longer.
          try committer.withSpace { (space) throws(StoreError) in
            try space.ensure(PageReserve(pageCount: space.map.ready.count + 8 * SpaceTree.chunkPageCount))
          }
        }
      }
      committer.pool.cache.drop([committer.lastCheckpoint.record.spaceTree.root.reference.location.number])
      fixture.disk.inject(DiskFault(.read, at: 0, .error(EIO)))
    }
    let store = try fixture.open(in: environment)
    try store.put("a", "1")
    try store.checkpoint()
    try store.put("a", "2")
    held.withLock { $0 = store }
    #expect(code { try store.checkpointConcurrently() } == .inputOutput)
    #expect(fixture.disk.firedFaultCount == 1)
    #expect(try store.verify() == [])
    try store.checkpointConcurrently()
    #expect(try store.verify() == [])
  }

  @Test func aPageWrittenBesideIsNotWrittenAgain() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for index in 0..<5_000 { try tree.put(bytes("key\(index)"), bytes("value")) }
    }
    try store.checkpointConcurrently()
    let first = try store.statistics.pagesWritten
    #expect(first > 40)
    try store.put("key7", "changed")
    try store.checkpointConcurrently()
    // The leaf, the branches above it, the catalogue.
    #expect(try store.statistics.pagesWritten - first < 6)
    try store.put("key8", "changed")
    try store.checkpoint()
    #expect(try store.statistics.pagesWritten - first < 12)
    #expect(try store.verify().isEmpty)
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.value("key7") == "changed")
    #expect(try reopened.value("key4999") == "value")
  }

  @Test func theLogBeforeAConcurrentCheckpointIsUsedAgain() throws {
    var fixture = StoreFixture()
    fixture.options.checkpointLogBytes = 64 << 10
    let store = try fixture.open()
    for round in 0..<3_000 { try store.put("key", "round \(round)") }
    // 3,000 records of 512 bytes, in a log that a checkpoint releases every 64 KiB.
    #expect(try store.statistics.checkpoints > 10)
    #expect(try store.statistics.logExtentBytes < 400 << 10)
    #expect(try fixture.reopened(powerFailed: true).value("key") == "round 2999")
  }

  /// Otherwise the first commit beside a checkpoint would be an average of its own.
  @Test func theAverageOfCommitsContainsThoseThatAreBeingWritten() throws {
    let fixture = StoreFixture()
    let averages = Mutex<[UInt64]>([])
    let opened = Mutex<Store?>(nil)
    var environment = fixture.environment
    environment.duringCheckpoint = {
      guard let store = opened.withLock(\.self) else { return }
      averages.withLock { $0.append(store.committer.dirtyPages.byteCountPerChange) }
    }
    let store = try fixture.open(in: environment)
    let empty = store.committer.dirtyPages.byteCountPerChange
    for index in 0..<10 { try store.put("key", "\(index)") }
    // All of them have changed the same page, and the catalogue is none of a commit.
    let average = store.committer.dirtyPages.byteCountPerChange
    #expect(empty == 0 && average == UInt64(fixture.options.pageSize) / 10)
    opened.withLock { $0 = store }
    try store.checkpointConcurrently()
    opened.withLock { $0 = nil }
    #expect(averages.withLock { $0.first } == average)
    #expect(store.committer.dirtyPages.byteCountPerChange == 0)
  }

  @Test func aConcurrentCheckpointThatFailsLeavesTheStoreAsItWas() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for index in 0..<200 { try store.put("key\(index)", String(repeating: "y", count: 200)) }
    let before = try store.statistics
    fixture.disk.inject(DiskFault(.write, at: 0, .error(5)))
    #expect(code { try store.checkpointConcurrently() } == .inputOutput)
    #expect(try store.statistics.checkpointCommit == before.checkpointCommit)
    try store.put("after", "all")
    try store.checkpointConcurrently()
    #expect(try store.statistics.checkpointCommit == 201)
    #expect(try fixture.reopened(powerFailed: true).value("after") == "all")
  }

  @Test func checkpointsThatFailAgainAndAgainTakeNoMoreRoom() throws {
    let fixture = StoreFixture()
    let companion = Companion()
    var environment = fixture.environment
    environment.duringCheckpoint = { companion.commit() }
    let store = try fixture.open(in: environment)
    for index in 0..<300 { try store.put("k\(index)", String(repeating: "x", count: 100)) }
    companion.store.withLock { $0 = store }
    let before = store.committer.dirtyPages.byteCount
    var failureCount = 0
    for _ in 0..<100 {
      fixture.disk.inject(DiskFault(.write, at: 0, .error(5)))
      if code({ try store.checkpointConcurrently() }) != nil { failureCount += 1 }
    }
    // Sometimes a commit's write makes the file longer.
    #expect(failureCount > 90)
    fixture.disk.clearFaults()
    // The concurrent commits have changed pages that were dirty anyway.
    #expect(store.committer.dirtyPages.byteCount <= before + 4 * 4_096)
    try store.checkpoint()
    #expect(try store.verify().isEmpty)
  }

  @Test func aConcurrentCheckpointThatFailedOnAFullDiskLeavesRoomForTheNext() throws {
    var fixture = StoreFixture()
    // The log has all of its room already, so that only pages take room at the end of the file.
    fixture.options.initialLogByteCount = 4 << 20
    let value = bytes(String(repeating: "v", count: 900))
    func key(_ number: Int) -> [UInt8] { bytes(String(100_000 + number)) }
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in 0..<3_000 { try tree.put(key(number), value) }
    }
    try store.checkpoint()
    // Each of the next commits changes many pages, and takes little log.
    fixture.disk.setCapacity(fixture.disk.content.byteCount + (1 << 20))
    // No replaced page can be used again.
    let snapshot = try store.snapshot()
    var round = 0
    while code({
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for number in 0..<10 { try tree.put(key(round * 40 + number * 4), bytes("changed")) }
      }
    }) == nil { round += 1 }
    #expect(round < 75)
    // The refused commit has tried a checkpoint, which has written the changed pages.
    try store.write { _ = try $0.tree("t").remove(key(2)) }
    fixture.disk.inject(DiskFault(.write, at: 0, .error(5)))
    #expect(code { try store.checkpointConcurrently() } == .inputOutput)
    // The room that was set aside for that checkpoint is there for the next one, and for transactions that only remove.
    #expect(code { try store.write { _ = try $0.tree("t").remove(key(1)) } } == nil)
    #expect(code { try store.checkpointConcurrently() } == nil)
    #expect(try store.verify() == [])
    withExtendedLifetime(snapshot) {}
    #expect(try fixture.reopened(powerFailed: true).value("100000") == "changed")
  }

  @Test func manyThreadsCommitDuringCheckpoints() throws {
    let folder = try TemporaryFolder()
    var options = StoreOptions()
    options.durability = .relaxed
    options.checkpointLogBytes = 64 << 10
    let store = try Store.open(at: folder.file("busy.cambium"), options: options)
    let writers = 3
    let rounds = 600
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: writers) { writer in
      do {
        for round in 0..<rounds {
          let durability = round % 50 == 0 ? Durability.full : .relaxed
          try store.put("\(writer)-\(round % 40)", "\(round)", durability: durability)
          if round % 97 == 0 { try store.checkpoint() }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 }.isEmpty)
    #expect(store.lastCommit == UInt64(writers * rounds))
    #expect(try store.verify().isEmpty)
    try store.close()
    let reopened = try Store.open(at: folder.file("busy.cambium"), options: options)
    for writer in 0..<writers {
      for key in 0..<40 {
        let last = (rounds - 1 - key) / 40 * 40 + key
        #expect(try reopened.value("\(writer)-\(key)") == "\(last)")
      }
    }
    #expect(try reopened.verify().isEmpty)
    try reopened.close()
  }
}
