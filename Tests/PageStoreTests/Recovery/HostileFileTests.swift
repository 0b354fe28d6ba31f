@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Files whose checksums are right, made to trap a library or to keep it busy.
struct HostileFileTests {
  /// Returns the error of opening, reading and changing the file.
  private func use(_ file: HostileFile) -> StoreError.Code? {
    let fixture = StoreFixture(SimulatedDisk(SparseBytes(file.forgery)))
    return code {
      let store = try fixture.open()
      _ = try store.verify()
      try store.put("a", "1")
      try store.close()
    }
  }

  @Test(arguments: [
    HostileFile.endlessLogExtents, .claimingSectors, .sharedPages, .sharedEmptyPages, .sharedCatalogue,
    .unsortedCatalogue, .farEnd, .earlyEnd,
  ])
  func whatNoStoreSaysIsRefused(_ file: HostileFile) {
    #expect(use(file) == .corrupt)
  }

  @Test func checkpointsThatContainNothingLeaveAllToReplay() throws {
    let fixture = StoreFixture(SimulatedDisk(SparseBytes(HostileFile.idleCheckpoints.forgery)))
    #expect(try fixture.open().snapshot().commit == 3_500)
  }

  @Test func usesThatClaimMoreThanTheirExtentsAreNoneOfTheLog() throws {
    let fixture = StoreFixture(SimulatedDisk(SparseBytes(HostileFile.overlappingUses.forgery)))
    let store = try fixture.open()
    try store.put("a", "1")
    let ledger = try store.spaceLedger()
    #expect(ledger.logBytes <= ledger.totalBytes)
    try store.close()
  }

  /// Some bytes of a value look like the start of a long record of no use of the log. Recovery neither reads nor hashes
  /// them as a record.
  @Test func claimsOfNoUseOfTheLogCostNothing() throws {
    let use = LogExtentUse(extent: Extent(offset: 65_536, byteCount: 2 << 20), epoch: 7, salt: 3)
    for epoch in [use.epoch, use.epoch + 1] {
      let header = LogRecordHeader(
        byteCount: 1_200_000,
        sequence: 5,
        previousChecksum: 0,
        durableSequence: 0,
        commit: 5,
        timestamp: 0,
        epoch: epoch,
        kind: .transaction,
        durability: .full
      )
      var record = [UInt8](repeating: 0, count: Int(header.byteCount))
      _ = header.seal(&record, salt: use.salt &+ 1)
      let file = [UInt8](repeating: 0, count: Int(use.firstRecordOffset)) + record
      let budget = LogReadBudget(fileByteCount: UInt64(file.count))
      let disk = StoreFile(SimulatedDisk(SparseBytes(file)), path: "hostile")
      let image = try LogExtentImage(use, from: disk, budget)
      #expect(try image.record(at: use.firstRecordOffset) == nil)
      // A record with the right epoch is read, and its checksum compared.
      #expect((budget.byteCount < 128 << 10) == (epoch != use.epoch))
    }
  }

  // MARK: Numbers that end

  /// The save is refused as a record of the log and as a checkpoint, and the attempt loses nothing.
  @Test(arguments: [HostileFile.lastCommit, .lastSequence, .lastEpoch], [1, 100_000])
  func aSaveBehindWhichOpeningWouldRefuseIsRefused(_ file: HostileFile, byteCount: Int) throws {
    let fixture = StoreFixture(SimulatedDisk(SparseBytes(file.forgery)))
    let value = String(repeating: "x", count: byteCount)
    for _ in 0..<2 {
      // Recovery needs numbers too, so opening for writing may be refused.
      let found = code {
        let store = try fixture.open()
        defer { try? store.close() }
        try store.put("a", value)
      }
      #expect(found == .numbersUsedUp)
    }
    var options = fixture.options
    options.isReadOnly = true
    let disk = fixture.disk.afterProcessDeath()
    let store = try Store.open(file: disk, path: "test", options: options, environment: fixture.environment)
    #expect(try store.value("a") == nil)
    #expect(try store.snapshot().commit == file.forgery.commit)
  }

  /// A transaction leaves enough numbers for closing, opening and checkpoints.
  @Test func theLastSaveLeavesAStoreThatOpens() throws {
    let reserve = LogRecordHeader.upkeepReserve
    var last = StoreForgery()
    last.commit = LogRecordHeader.commitLimit - 2
    var lastRecord = StoreForgery()
    lastRecord.sequence = LogRecordHeader.sequenceLimit - reserve - 3
    var lastUse = StoreForgery()
    lastUse.epoch = LogExtentUse.epochLimit - 1 - UInt32(reserve) - 3
    for forgery in [last, lastRecord, lastUse] {
      let fixture = StoreFixture(SimulatedDisk(SparseBytes(forgery)))
      var saved = 0
      let found = code {
        for index in 1...10 {
          // Each opening but the first follows the end of a process. It takes a record and a use of a log extent.
          let store = index == 1 ? try fixture.open() : try fixture.reopened()
          try store.put("a", "\\(index)")
          saved = index
          try store.checkpoint()
          try store.close()
        }
      }
      #expect(saved >= 1)
      #expect(found == .numbersUsedUp || saved == 10)
      #expect(try fixture.reopened().value("a") != nil)
    }
  }

  @Test func aHeaderWithoutALaterRevisionIsIllegible() throws {
    let forgery = StoreForgery()
    let header = ExtentHeader(
      kind: .pages,
      extent: forgery.logExtent,
      salt: 1,
      commit: 0,
      revision: .max
    )
    try header.encoded(forgery.identity).withBytes { bytes throws(StoreError) in
      #expect(ExtentHeader(block: bytes, at: forgery.logExtent.offset, of: forgery.identity) == nil)
    }
  }
}

/// The bytes that recovery reads, hashes and compares.
struct RecoveryWorkTests {
  /// Finds the state of a file from its bytes, as opening and verifying do.
  private func work(_ bytes: SparseBytes, trustsClosingMark: Bool) throws -> UInt64 {
    let file = StoreFile(SimulatedDisk(bytes), path: "test")
    guard case .store(let blocks) = try FixedBlocks.read(file) else { return 0 }
    return try Recovery(file, blocks, trustsClosingMark: trustsClosingMark).workByteCount
  }

  @Test func aStoreOfAnyLengthIsLookedAtAFewTimesOver() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for index in 0..<200 {
      for _ in 0..<5 { try store.put("\(index % 20)", String(repeating: "x", count: 3_000)) }
      if index % 40 == 0 { try store.checkpoint() }
      guard index % 20 == 19 else { continue }
      for damage in [Damage.allKept, .allLost, .zeroed] {
        let image = fixture.disk.crashPoint.image(damage, seed: UInt64(index))
        let work = try work(image, trustsClosingMark: false)
        #expect(work <= 4 * image.byteCount, "\(damage) after \(index) transactions")
      }
    }
    try store.close()
    let closed = fixture.disk.content
    #expect(try work(closed, trustsClosingMark: true) <= 128 << 10)
  }

  /// Without anchors every log extent is searched.
  @Test func aStoreWithoutAnchorsIsLookedAtAFewTimesOver() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for index in 0..<300 { try store.put("\(index % 20)", String(repeating: "x", count: 3_000)) }
    try store.close()
    var bytes = fixture.disk.content
    for offset in FileLayout.anchorOffsets {
      [UInt8](repeating: 0, count: 512).withUnsafeBytes { bytes.write($0, at: offset) }
    }
    #expect(try work(bytes, trustsClosingMark: true) <= 8 * bytes.byteCount)
  }
}
