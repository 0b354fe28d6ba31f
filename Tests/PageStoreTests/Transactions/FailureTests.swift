import Glibc
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

struct FailureTests {
  @Test(arguments: FailedSyncBehavior.allCases)
  func aFailedSyncFencesTheStoreAndTakesMemoryBack(_ behavior: FailedSyncBehavior) throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    fixture.disk.setFailedSyncBehavior(behavior)
    fixture.disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    #expect(code { try store.put("a", "2") } == .outcomeUnknown)
    #expect(try store.value("a") == "1")
    #expect(store.lastCommit == 1)
    // The disk is well again, which proves nothing.
    #expect(code { try store.put("a", "3") } == .fenced)
    #expect(code { try store.checkpoint() } == .fenced)
    #expect(try store.value("a") == "1")
    let reopened = try fixture.reopened()
    let found = try reopened.value("a")
    #expect(found == "1" || found == "2")
    #expect(try reopened.verify() == [])
    try reopened.put("a", "4")
    #expect(try reopened.value("a") == "4")
  }

  /// The relaxed commit may be in the file. If the store called it lost, a program would commit it again, and might
  /// have it twice.
  @Test(arguments: FailedSyncBehavior.allCases)
  func aRelaxedCommitBeforeAFailedSyncIsUnknown(_ behavior: FailedSyncBehavior) throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    try store.put("a", "2", durability: .relaxed)
    fixture.disk.setFailedSyncBehavior(behavior)
    for call in [DiskCall.writeDurably, .synchronize] {
      fixture.disk.inject(DiskFault(call, at: 0, .error(EIO)))
    }
    // A commit of another thread, for example.
    #expect(code { try store.put("b", "1") } == .outcomeUnknown)
    #expect(code { try store.makeDurable() } == .outcomeUnknown)
    #expect(code { try store.put("a", "3") } == .fenced)
    let found = try fixture.reopened().value("a")
    #expect(found == "1" || found == "2")
  }

  /// The device may have lost what a relaxed commit has written, and no later sync may report it.
  @Test(arguments: FailedSyncBehavior.allCases, [false, true])
  func aWriteThatTheDeviceRefusesFences(_ behavior: FailedSyncBehavior, isConcurrent: Bool) throws {
    let fixture = StoreFixture()
    let store = try fixture.openWithSmallBatches(isConcurrent: isConcurrent)
    for index in 0..<200 { try store.put("key \(index)", String(repeating: "a", count: 400)) }
    try store.put("relaxed", "1", durability: .relaxed)
    fixture.disk.setFailedSyncBehavior(behavior)
    fixture.disk.inject(DiskFault(.startWriteback, at: 1, .error(EIO)))
    let failed = code {
      if isConcurrent { try store.checkpointConcurrently() } else { try store.checkpoint() }
    }
    #expect(failed == .outcomeUnknown)
    #expect(code { try store.put("key 1", "b") } == .fenced)
    // A checkpoint that holds the writer lock has made the relaxed commit durable before.
    if isConcurrent { #expect(code { try store.makeDurable() } == .outcomeUnknown) }
    let reopened = try fixture.reopened(powerFailed: true)
    for index in 0..<200 { #expect(try reopened.value("key \(index)")?.utf8.count == 400) }
    #expect(try reopened.verify() == [])
  }

  @Test(arguments: [EOPNOTSUPP, EINVAL, ENOSYS, ESPIPE])
  func aDeviceThatBeginsWithTheSyncIsNoFailure(_ errno: Int32) throws {
    let fixture = StoreFixture()
    let store = try fixture.openWithSmallBatches()
    for index in 0..<200 { try store.put("key \(index)", String(repeating: "a", count: 400)) }
    fixture.disk.inject(DiskFault(.startWriteback, at: 0, .error(errno), isSticky: true))
    try store.checkpoint()
    #expect(fixture.disk.statistics.count(.startWriteback) > 1)
    #expect(try fixture.reopened(powerFailed: true).value("key 199")?.utf8.count == 400)
  }

  @Test func aFailedSyncOfACheckpointFences() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    fixture.disk.inject(DiskFault(.synchronize, at: 0, .error(EIO)))
    #expect(code { try store.checkpoint() } == .outcomeUnknown)
    #expect(code { try store.put("a", "2") } == .fenced)
    #expect(try fixture.reopened(powerFailed: true).value("a") == "1")
  }

  @Test(arguments: FailedSyncBehavior.allCases)
  func aCommitBesideASyncThatFailsIsDurableIfItWasAcknowledged(_ behavior: FailedSyncBehavior) throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    try store.put("a", "2", durability: .relaxed)
    fixture.disk.setFailedSyncBehavior(behavior)
    fixture.disk.inject(DiskFault(.synchronize, at: 0, .error(EIO)))
    // The sync of the checkpoint's pages fails, and with it the sync of the record before. Before the store learns of
    // it, another thread commits.
    let disk = fixture.disk
    let wasAcknowledged = Mutex<Bool?>(nil)
    disk.observe { call, _ in
      guard call == .synchronize, disk.firedFaultCount == 1, wasAcknowledged.withLock({ $0 }) == nil else {
        return
      }
      wasAcknowledged.withLock { $0 = false }
      if code({ try store.put("b", "3") }) == nil { wasAcknowledged.withLock { $0 = true } }
    }
    #expect(code { try store.checkpointConcurrently() } == .outcomeUnknown)
    let acknowledged = wasAcknowledged.withLock { $0 }
    #expect(acknowledged != nil)
    if acknowledged == true {
      #expect(try fixture.reopened(powerFailed: true).value("b") == "3")
    }
  }

  @Test func whatRecoveryAcceptedIsMadeDurableAgain() throws {
    // The record is in the page cache. The disk has the old bytes, and the kernel treats the pages as clean.
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    fixture.disk.setFailedSyncBehavior(.marksClean)
    fixture.disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    #expect(code { try store.put("a", "2") } == .outcomeUnknown)
    let disk = fixture.disk.afterProcessDeath()
    let second = try fixture.open(disk)
    let accepted = try second.value("a")
    try second.put("b", "3")
    let third = try Store.open(
      file: SimulatedDisk(disk.crashPoint.image(.allLost, seed: 0)),
      path: "test",
      options: fixture.options,
      environment: fixture.environment
    )
    #expect(try third.value("a") == accepted)
    #expect(try third.value("b") == "3")
  }

  /// The part of a failing write that reaches the page cache depends on the number of writes before.
  @Test(arguments: 0..<8)
  func whatIsCommittedAfterACloseThatFailedSurvives(_ commitCount: Int) throws {
    // The last checkpoint's record is in the page cache alone. It says that the file ends at a position where older
    // checkpoints have a gap. So the log that the next opening begins there isn't behind the end that the older
    // checkpoints know.
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    try store.checkpoint()
    for _ in 0...commitCount { try store.put("a", "2") }
    fixture.disk.setFailedSyncBehavior(.marksClean)
    fixture.disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    #expect(code { try store.close() } == .outcomeUnknown)
    let next = StoreFixture(fixture.disk.afterProcessDeath())
    try next.open().put("a", "3")
    #expect(try next.reopened(powerFailed: true).value("a") == "3")
  }

  @Test func interruptedAndShortCallsAreGoneOnWith() throws {
    let fixture = StoreFixture()
    for call in DiskCall.allCases {
      for position in 0..<6 {
        fixture.disk.inject(DiskFault(call, at: position * 2, .error(EINTR)))
        if call == .read || call == .write || call == .writeDurably {
          fixture.disk.inject(DiskFault(call, at: position * 2 + 1, .short(isOneByte: position % 2 == 0)))
        }
      }
    }
    let store = try fixture.open()
    for index in 0..<20 { try store.put("k\(index)", String(repeating: "v", count: index * 100)) }
    try store.checkpoint()
    #expect(try store.verify() == [])
    #expect(fixture.disk.firedFaultCount > 20)
    #expect(try fixture.reopened(powerFailed: true).value("k19") == String(repeating: "v", count: 1_900))
  }

  @Test func closingSaysThatRelaxedCommitsWereLost() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    try store.put("a", "2", durability: .relaxed)
    fixture.disk.setFailedSyncBehavior(.marksClean)
    fixture.disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    fixture.disk.inject(DiskFault(.synchronize, at: 0, .error(EIO)))
    // No thread waits for this sync, so closing is the first call that reports the failure.
    fixture.schedule.run()
    #expect(code { try store.close() } == .fenced)
    #expect(code { _ = try store.snapshot() } == .closed)
    #expect(try fixture.reopened(powerFailed: true).value("a") == "1")
  }

  @Test func aWriteThatNeverGetsAnywhereIsAnError() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    fixture.disk.inject(DiskFault(.writeDurably, at: 0, .nothing, isSticky: true))
    #expect(code { try store.put("a", "1") } == .outcomeUnknown)
  }

  @Test func aFullDiskAbortsTheTransactionAlone() throws {
    let fixture = StoreFixture()
    fixture.disk.setCapacity(600 << 10)
    let store = try fixture.open()
    var count = 0
    let value = String(repeating: "v", count: 900)
    while code({ try store.put("k\(count)", value) }) == nil {
      count += 1
      try #require(count < 10_000)
    }
    #expect(count > 20)
    #expect(code { try store.put("k\(count)", value) } == .diskFull)
    #expect(store.lastCommit == UInt64(count))
    // Reads and removals still work, and so does the checkpoint.
    #expect(try store.value("k\(count - 1)") == value)
    for index in 0..<5 { try store.write { try $0.tree("t").remove(bytes("k\(index)")) } }
    try store.checkpoint()
    #expect(try store.verify() == [])
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.value("k0") == nil)
    #expect(try reopened.value("k\(count - 1)") == value)
    // With room again, writes work without reopening.
    fixture.disk.setCapacity(64 << 20)
    try store.put("more", value)
    #expect(try store.value("more") == value)
  }

  @Test func aStoreThatDiedOnAFullDiskOpensAndCanBeEmptied() throws {
    let fixture = StoreFixture()
    fixture.disk.setCapacity(2 << 20)
    let store = try fixture.open()
    var count = 0
    let value = String(repeating: "v", count: 900)
    while code({ try store.put("k\(count)", value) }) == nil { count += 1 }
    let full = fixture.disk.afterProcessDeath()
    full.setCapacity(2 << 20)
    let next = StoreFixture(full)
    let reopened = try next.open()
    #expect(reopened.lastCommit == UInt64(count))
    try reopened.write { try $0.tree("t").remove(bytes("k0")) }
    try reopened.write { try $0.tree("t").remove(bytes("k1")) }
    // The log continues at a position that only an anchor refers to.
    let again = try next.reopened(powerFailed: true)
    #expect(again.lastCommit == UInt64(count + 2))
    #expect(try again.value("k1") == nil)
    #expect(try again.value("k2") == value)
    #expect(try again.verify() == [])
    try reopened.write { try $0.tree("t").removeRange(.all) }
    #expect(try next.reopened(powerFailed: true).value("k2") == nil)
  }

  @Test func aFullDiskAbortsALargeTransactionAlone() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.put("a", "1")
    fixture.disk.setCapacity(2 << 20)
    let result = code {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for index in 0..<6_000 { try tree.put(bytes("key \(index)"), [UInt8](repeating: 1, count: 900)) }
      }
    }
    #expect(result == .diskFull)
    #expect(try store.value("a") == "1")
    #expect(store.lastCommit == 1)
    try store.put("a", "2")
    #expect(try store.verify() == [])
    #expect(try fixture.reopened(powerFailed: true).value("a") == "2")
  }

  @Test func everyCallMayFailOnceOrForEver() throws {
    var generator = SeededGenerator()
    for call in [DiskCall.write, .writeDurably, .synchronize, .allocate] {
      for position in 0..<24 {
        let error = generator.pick([EIO, ENOSPC])
        let fixture = StoreFixture()
        let store = try fixture.open()
        fixture.disk.inject(
          DiskFault(call, at: position, .error(error), isSticky: generator.chance(1, in: 2))
        )
        var required = 0
        var tried = 0
        for index in 1...12 {
          tried = index
          let failed = code {
            if index % 4 == 0 { try store.checkpoint() }
            try store.put("k", "\(index)")
          }
          guard failed == nil else { break }
          required = index
        }
        fixture.disk.clearFaults()
        #expect(try store.value("k").map { Int($0) ?? -1 } ?? 0 >= required)
        let reopened = try fixture.reopened(powerFailed: true, damage: .mixed, seed: generator.next())
        let found = try reopened.value("k").flatMap { Int($0) } ?? 0
        #expect(found >= required && found <= tried, "\(call) \(position) \(error)")
        let problems = try reopened.verify()
        #expect(problems == [], "\(call) \(position) \(error)")
      }
    }
  }

  /// The catalogue has a page for each name.
  @Test func aFullDiskHasRoomForTheNamesOfNewTrees() throws {
    for pageCount in stride(from: 0, to: 200, by: 20) as StrideTo<UInt64> {
      let fixture = StoreFixture()
      let store = try fixture.open()
      try store.put("a", "1")
      try store.checkpoint()
      fixture.disk.setCapacity(fixture.disk.content.byteCount + pageCount * 4_096)
      let failure = code {
        try store.write { transaction in
          for index in 0..<100 {
            _ = try transaction.tree("\(index)" + String(repeating: "x", count: 1_000))
          }
        }
      }
      #expect(failure == nil || failure == .diskFull)
      #expect(throws: Never.self) { try store.checkpoint() }
    }
  }
}
