import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Checkpoints whose record is written again, so that the pages which they replaced are free at once.
struct RestatingTests {
  /// The record goes to a new extent after the end that it states.
  @Test func aCheckpointWhoseRecordLiesAfterItsEndOpens() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    func put(_ key: UInt8, byteCount: Int) throws {
      try store.write { try $0.tree("t").put([key], [UInt8](repeating: key, count: byteCount)) }
    }
    try put(0, byteCount: 2_000_000)
    var key: UInt8 = 1
    while store.committer.log.hasRoom(forRecord: 400, isCheckpoint: true) {
      // Each value is so large that a checkpoint of its own commits it.
      try put(key, byteCount: 70_000)
      key += 1
    }
    // A checkpoint that isn't concurrent continues the log before it fixes the end.
    try store.checkpointConcurrently()
    let record = store.committer.lastCheckpoint.record
    try #require(store.committer.log.tail.position.use.extent.offset >= record.end)
    #expect(try store.verify() == [])
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.snapshot().tree("t").value(for: [0])?.count == 2_000_000)
    try reopened.put("a", "1")
    try reopened.checkpoint()
    #expect(try reopened.verify() == [])
  }

  /// A store whose checkpoints each call ``commit`` once, after they have begun.
  private final class Companion: Sendable {
    let commit = Mutex<(@Sendable () -> Void)?>(nil)

    func run() { commit.withLock { $0.take() }?() }
  }

  /// Another program may take the room that was given back to the file system.
  @Test func aCutLeavesTheRoomForWhatWasCommittedMeanwhile() throws {
    var fixture = StoreFixture()
    // So large that no log extent comes after the pages.
    fixture.options.initialLogByteCount = 4 << 20
    let companion = Companion()
    var environment = fixture.environment
    environment.duringCheckpoint = { companion.run() }
    let store = try fixture.open(in: environment)
    @Sendable func put(_ count: Int) throws {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for key in 0..<count { try tree.put(bytes("\(key)"), [UInt8](repeating: 1, count: 50_000)) }
      }
    }
    func remove(_ round: UInt8) throws {
      try store.write { transaction in
        try transaction.tree("t").removeRange(.all)
        // So that the catalogue moves to the front.
        try transaction.tree("u").put([], [round])
      }
    }
    try put(400)
    try store.checkpoint()
    let longest = fixture.disk.content.byteCount
    let committer = store.committer
    for round in 0..<6 as Range<UInt8> {
      try remove(round)
      companion.commit.withLock { $0 = { #expect(throws: Never.self) { try put(10) } } }
      try store.checkpointConcurrently()
      try committer.state.withLock {
        let map = try #require(committer.space).map
        try #require(committer.dirtyPages.byteCount > 500_000)
        #expect(map.ready.count * committer.pageSize >= committer.dirtyPages.byteCount)
        #expect(map.ready.room(for: committer.dirtyPages.runs).shortfall == 0)
      }
    }
    #expect(fixture.disk.content.byteCount < longest / 2)
    fixture.disk.setCapacity(fixture.disk.content.byteCount)
    #expect(throws: Never.self) { try store.checkpoint() }
    #expect(try store.verify() == [])
  }
}

/// The position at which a file is cut.
struct CutTests {
  private let identity = FormatIdentity(uuid: StoreUUID(low: 1, high: 2), pageSize: 4_096)
  private let file = StoreFile(MemoryFile(), path: "")
  private let first = FileLayout.firstExtentOffset(pageSize: 4_096) / 4_096

  private func extent(_ pages: Range<UInt64>) -> Extent {
    Extent(offset: pages.lowerBound * 4_096, byteCount: UInt64(pages.count) * 4_096)
  }

  /// Returns the room in a file with these page extents, where the pages `inUse` are in use.
  private func space(_ extents: [Range<UInt64>], inUse: [Range<UInt64>]) throws -> PageSpace {
    var headers = ExtentHeaders(
      file: file,
      identity: identity,
      isDurable: true,
      synchronize: {},
      random: { 7 },
      commit: { 1 }
    )
    for pages in extents { try headers.write(extent(pages)) }
    let end = extents.last?.upperBound ?? first
    var recorded = PageBitmap()
    for run in inUse { recorded.insert(run) }
    let map = SpaceMap(pageSize: 4_096, end: end, recorded: recorded, used: [0..<first])
    return PageSpace(
      ExtentTiling(map: map, tail: extents.last.map(extent), file: file, headers: headers),
      fileByteCount: 0
    )
  }

  @Test func theHeaderOfAnEmptyExtentIsCutOff() throws {
    let middle = first + 10
    let extents = [first..<middle, middle..<middle + 10]
    var space = try space(extents, inUse: [first..<first + 4, middle..<middle + 1])
    let found = space.beginCut(keeping: 0, reserving: PageReserve(), before: .max)
    let cut = try #require(found)
    #expect(cut.end == (first + 4) * 4_096)
    #expect(cut.tailOffset == first * 4_096)
  }

  /// No extent begins there, so it is a page of a value.
  @Test func aPageThatLooksLikeAHeaderIsNotCutOff() throws {
    var space = try space([first..<first + 20], inUse: [first..<first + 4])
    let last = extent(first + 3..<first + 4)
    let forged = ExtentHeader(kind: .pages, extent: last, salt: 0, commit: 0).encodedBlock(identity)
    try forged.withBytes { bytes throws(StoreError) in try file.write(bytes, at: last.offset) }
    let found = space.beginCut(keeping: 0, reserving: PageReserve(), before: .max)
    let cut = try #require(found)
    #expect(cut.end == last.end)
  }
}
