import Glibc
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Headers of page extents that are written again where they are.
struct ExtentHeaderTests {
  private let identity = FormatIdentity(uuid: StoreUUID(low: 1, high: 2), pageSize: 4_096)
  private let start: UInt64 = 16_384

  private func headers(_ file: StoreFile) -> ExtentHeaders {
    ExtentHeaders(
      file: file,
      identity: identity,
      isDurable: true,
      synchronize: {},
      random: { 7 },
      commit: { 1 }
    )
  }

  private func extent(_ pageCount: UInt64) -> Extent { Extent(offset: start, byteCount: pageCount * 4_096) }

  /// After a crash that made one copy illegible or left it old, the other is not the first to be written over.
  @Test(arguments: [0, 1], ["garbled", "older"])
  func theOnlyGoodCopyIsNotWrittenOver(copy: Int, state: String) throws {
    let memory = MemoryFile()
    let file = StoreFile(memory, path: "")
    var first = headers(file)
    try first.write(extent(2))
    if state == "older" {
      // Both copies have the first revision, then the other copy has the second.
      let header = ExtentHeader(kind: .pages, extent: extent(2), salt: 7, commit: 1, revision: 1)
      let place = start + UInt64(copy == 0 ? ExtentHeader.copyOffset : 0)
      _ = header.encoded(identity).withUnsafeBytes { memory.write($0, at: place) }
    } else {
      let garbage = [UInt8](repeating: 3, count: 64)
      _ = garbage.withUnsafeBytes { memory.write($0, at: start + UInt64(copy * ExtentHeader.copyOffset)) }
    }
    let before = try ExtentWalk.headerCopies(at: start, in: file, identity)
    var headers = headers(file)
    try headers.rewrite(extent(5))
    let after = try ExtentWalk.headerCopies(at: start, in: file, identity)
    #expect(after[1 - copy]?.revision == before[1 - copy]?.revision)
    #expect(after[1 - copy]?.extent == extent(2))
    #expect(after[copy]?.extent == extent(5))
    // When that is durable, the other follows.
    headers.beginSync()
    headers.endSync()
    #expect(try ExtentWalk.headerCopies(at: start, in: file, identity).allSatisfy { $0?.extent == extent(5) })
  }

  @Test func aHeaderIsNotRewrittenAfterItsLastRevision() throws {
    let memory = MemoryFile()
    let file = StoreFile(memory, path: "")
    let last = ExtentHeader(
      kind: .pages,
      extent: extent(2),
      salt: 7,
      commit: 1,
      revision: ExtentHeader.revisionLimit - 1
    )
    _ = last.encoded(identity).withUnsafeBytes { memory.write($0, at: start) }
    var headers = headers(file)
    #expect(code { try headers.rewrite(extent(5)) } == .numbersUsedUp)
    let copies = try ExtentWalk.headerCopies(at: start, in: file, identity)
    #expect(copies[0]?.extent == extent(2) && copies[1] == nil)
  }

  /// A checkpoint may refer to a header page that has been in its record of pages all the time. Then it has no page of
  /// its own that needs a sync.
  @Test func theHeaderOfANewExtentWantsASync() throws {
    var headers = headers(StoreFile(MemoryFile(), path: ""))
    #expect(!headers.needsSync)
    try headers.write(extent(2))
    #expect(headers.needsSync)
    headers.beginSync()
    // The sync may fail.
    #expect(headers.needsSync)
    headers.beginSync()
    headers.endSync()
    #expect(!headers.needsSync)
  }

  /// After a failed sync, the system may treat bytes that are only in its cache as written: a header that reads right
  /// may be lost.
  @Test func openingAfterACrashWritesEveryHeaderAgain() throws {
    let subject = StoreUnderTest(options: StoreOptions(), seed: 1)
    try subject.open()
    _ = try subject.commit(.growth)
    try subject.checkpoint()
    let store = try #require(subject.store)
    let identity = FormatIdentity(uuid: store.uuid, pageSize: UInt32(store.options.pageSize))
    func headers() throws -> [ExtentHeader] {
      let file = StoreFile(subject.disk, path: "")
      var walk = try ExtentWalk(
        file,
        identity,
        from: FileLayout.firstExtentOffset(pageSize: UInt64(identity.pageSize))
      )
      var found: [ExtentHeader] = []
      while let next = try walk.next() { found.append(next.header) }
      return found.filter { $0.kind == .pages }
    }
    let before = try headers()
    subject.die()
    try subject.open()
    _ = try subject.commit(.small)
    try subject.checkpoint()
    let after = try headers()
    try #require(!before.isEmpty)
    for (old, new) in zip(before, after) { #expect(new.revision > old.revision, "\(new.extent)") }
  }

  /// After a sync that failed, the next one may succeed without having written anything.
  @Test func aFailedSyncOfHeadersThatWereFoundFences() throws {
    let before = StoreFixture()
    let store = try before.open()
    try store.put("a", "1")
    try store.checkpoint()
    let fixture = StoreFixture(before.disk.afterProcessDeath())
    let next = try fixture.open()
    fixture.disk.inject(DiskFault(.synchronize, at: 0, .error(EIO)))
    #expect(code { try next.put("a", "2") } != nil)
    #expect(fixture.disk.firedFaultCount == 1)
    #expect(code { try next.put("a", "3") } == .fenced)
    #expect(try fixture.reopened(powerFailed: true).value("a") == "1")
  }

  /// A failed write may have changed the file all the same: then the header of the last extent says that the extent is
  /// longer than it is. A log extent gets the room behind it.
  @Test func aHeaderThatReachesTooFarReachesOverNoLogExtent() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for number in 0..<200 { try store.put("k\(number)", String(repeating: "a", count: 300)) }
    try store.checkpoint()
    let tail = try #require(try store.extents().last)
    #expect(tail.kind == .pages && tail.extent.end == store.endOfExtents)
    var longer = tail
    longer.extent.byteCount += 40 * 4_096
    longer.revision += 1
    let file = StoreFile(fixture.disk, path: "test")
    try longer.encoded(store.committer.identity).withBytes { bytes throws(StoreError) in
      try file.write(bytes, at: tail.extent.offset)
    }
    let count = try store.extents().count
    for number in 0..<2_000 where try store.extents().count == count {
      try store.put("k0", "\(number)")
    }
    #expect(try store.extents().last?.kind == .log)
    #expect(try store.verify() == [])
    try store.close()
    let later = try fixture.reopened()
    try later.put("k1", "x")
    #expect(try later.verify() == [])
  }

  /// Closing a store turns a log extent into a page extent. Power may fail when the closing mark is durable and the new header isn't.
  @Test func aClosedStoreKeepsNoHeaderOfALogExtentThatWasGivenUp() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for number in 0..<4_000 { try store.put("k\(number)", String(repeating: "a", count: 300)) }
    try store.close()
    let identity = store.committer.identity
    let disk = fixture.disk.afterProcessDeath()
    let file = StoreFile(disk, path: "test")
    var walk = try ExtentWalk(file, identity, from: FileLayout.firstExtentOffset(pageSize: 4_096))
    var givenUp: ExtentHeader?
    while givenUp == nil, let found = try walk.next() {
      let isLast = found.header.extent.offset == store.committer.lastCheckpoint.record.tailOffset
      if found.header.kind == .pages, !isLast { givenUp = found.header }
    }
    var header = try #require(givenUp)
    header.kind = .log
    header.revision += 1
    try header.encoded(identity).withBytes { bytes throws(StoreError) in
      try file.write(bytes, at: header.extent.offset)
    }
    let later = try fixture.open(disk)
    try later.put("k0", "x")
    #expect(try later.extents().first { $0.extent.offset == header.extent.offset }?.kind == .pages)
    #expect(try later.verify() == [])
    #expect(try later.pageUses().pageCount == later.endOfExtents / 4_096)
  }

  /// A process that opens a closed store may write one copy of a header and die. The next one must not write the other copy while
  /// the first isn't durable.
  @Test(arguments: 1...3, [Damage.overwritten, .allLost, .garbage])
  func processesThatDieOneAfterAnotherLeaveALegibleHeader(deaths: Int, damage: Damage) throws {
    let subject = StoreUnderTest(options: StoreOptions(), seed: 1)
    try subject.open()
    _ = try subject.commit(.growth)
    try subject.close()
    for _ in 0..<deaths {
      try subject.open()
      // The check reads the room in the file, as the first change does.
      try subject.check(seed: 2)
      subject.die()
    }
    try subject.open()
    try subject.check(seed: 3)
    subject.loseThePower(damage, seed: 4)
    try subject.open()
    try subject.check(seed: 5)
    _ = try subject.commit(.small)
    try subject.check(seed: 6)
  }

  /// A header was rewritten for a log extent that then couldn't be made. That header isn't durable, and its other copy
  /// must not be overwritten next.
  @Test func aLogExtentThatCouldNotBeMadeLeavesALegibleHeader() throws {
    let file = StoreFile(MemoryFile(), path: "")
    try file.truncate(to: extent(64).end)
    var headers = headers(file)
    try headers.write(extent(64))
    var recorded = PageBitmap()
    recorded.insert(4..<5)
    let map = SpaceMap(pageSize: 4_096, end: 4 + 64, recorded: recorded, used: [0..<4])
    var space = PageSpace(
      ExtentTiling(map: map, tail: extent(64), file: file, headers: headers),
      fileByteCount: 0
    )
    let before = try ExtentWalk.headerCopies(at: start, in: file, identity)
    let initialise = { (_: Extent) throws(StoreError) in throw StoreError(.diskFull, "no room") }
    let failure = code {
      try space.takeLogExtentAmongPages(byteCount: 16_384, leaving: PageReserve(), initialise)
    }
    #expect(failure == .diskFull)
    let after = try ExtentWalk.headerCopies(at: start, in: file, identity)
    let untouched = try #require([0, 1].first { after[$0]?.revision == before[$0]?.revision })
    #expect(after[1 - untouched]?.extent == extent(64), "the extent is whole again")
    #expect(after[untouched]?.extent == extent(64))
    #expect(space.map.freeCount == map.freeCount && space.tailOffset == start)
  }
}
