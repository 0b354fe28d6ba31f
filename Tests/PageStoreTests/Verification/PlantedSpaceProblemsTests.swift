@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The newest checkpoint's record of the file's room, made wrong with every checksum right: `verify` finds it, and if
/// it calls pages in use free, nothing is written.
struct PlantedSpaceProblemsTests {
  private func live(_ forged: ForgedStore) throws -> [UInt64] {
    try forged.pages(of: forged.entry(of: "rows").root)
  }

  /// Makes the change, and checks that a reader verifies it as a problem.
  private func planted(
    _ message: String,
    _ change: (inout ForgedStore) throws -> Void
  ) throws -> ForgedStore {
    var forged = try ForgedStore(SampleStore.content())
    #expect(try forged.fixture(isReadOnly: true).open().verify() == [])
    try change(&forged)
    forged.seal()
    let found = try forged.fixture(isReadOnly: true).open().verify()
    #expect(found.contains { $0.message.contains(message) }, "\(found)")
    return forged
  }

  /// Checks that a store refuses every change and still shows its contents, and that none of these are overwritten.
  private func expectRefusal(_ forged: ForgedStore) throws {
    let fixture = forged.fixture()
    let store = try fixture.open()
    for durability in [Durability.full, .relaxed] {
      #expect(code { try store.put("k", "v", durability: durability) } == .corrupt)
    }
    let large = [UInt8](repeating: 1, count: 1 << 20)
    #expect(code { try store.write { _ = try $0.tree("t").put(bytes("k"), large) } } == .corrupt)
    #expect(code { _ = try store.compact() } == .corrupt)
    #expect(try store.snapshot().tree("rows").list().count == 300)
    #expect(try store.verify().contains { $0.message.contains("nothing can be written") })
    for page in try live(forged) {
      let range = page * 4_096..<(page + 1) * 4_096
      #expect(fixture.disk.content.bytes(in: range) == forged.page(page))
    }
  }

  private func expectWrites(_ forged: ForgedStore) throws {
    let store = try forged.fixture().open()
    for index in 0..<50 { try store.put("k\(index)", String(repeating: "v", count: 500)) }
    try store.checkpoint()
    #expect(try store.snapshot().tree("rows").list().count == 300)
  }

  @Test func aGapOverPagesOfATree() throws {
    try expectRefusal(
      planted("in use and recorded as free") { forged in
        try forged.record(live(forged).suffix(3), asInUse: false)
      }
    )
  }

  @Test func aRecordThatSaysThatNothingIsInUse() throws {
    try expectRefusal(
      planted("in use and recorded as free") { forged in
        forged.record.spaceTree = .empty(treeID: SpaceTree.treeID)
      }
    )
  }

  @Test func anEndBeforePagesOfATree() throws {
    try expectRefusal(
      planted("in use and recorded as free") { forged in
        let last = try #require(live(forged).max())
        forged.record.end = last * 4_096
        forged.record.tailOffset = 0
        forged.record.logExtents.removeAll { $0.end > last * 4_096 }
      }
    )
  }

  @Test func aLogExtentOverPagesOfATree() throws {
    try expectRefusal(
      planted("lies in the log extent") { forged in
        let first = try #require(live(forged).min())
        forged.record.logExtents.append(Extent(offset: first * 4_096, byteCount: 8_192))
      }
    )
  }

  @Test func aLastExtentThatBeginsAtAPageOfATree() throws {
    try expectRefusal(
      planted("recorded at a page that is no header") { forged in
        forged.record.tailOffset = try live(forged)[0] * 4_096
      }
    )
  }

  @Test func aHeaderPageThatIsRecordedAsFree() throws {
    let forged = try planted("header page of an extent is recorded as free") { forged in
      forged.record([forged.record.tailOffset / 4_096], asInUse: false)
    }
    #expect(forged.record.tailOffset > 0)
  }

  /// Lost room, which isn't overwritten.
  @Test func aPageInUseForNothing() throws {
    try expectWrites(
      planted("in use, but nothing refers to it") { forged in
        let uses = try forged.fixture(isReadOnly: true).open().pageUses()
        let spare = try #require(uses.first { $0.use == .free || $0.use == .reserved })
        forged.record([spare.pages.lowerBound], asInUse: true)
      }
    )
  }

  @Test func pagesOfTheCheckpointBefore() throws {
    let fixture = StoreFixture()
    let store = try fixture.open()
    for value in ["a", "b", "c"] {
      try store.put("k", value)
      try store.checkpoint()
    }
    var forged = try ForgedStore(fixture.disk.content)
    #expect(forged.record.previousSpaceTree.root != forged.record.spaceTree.root)
    #expect(try forged.fixture(isReadOnly: true).open().verify() == [])
    let own = forged.record.previousSpaceTree.root.reference.location.number
    forged.record([own], asInUse: false, previously: true)
    forged.seal()
    let found = try forged.fixture(isReadOnly: true).open().verify()
    #expect(
      found.contains { $0.message.contains("lacks one of the record's own pages") && $0.page == own },
      "\(found)"
    )
    forged.damage(page: forged.record.previousSpaceTree.root.reference.location.number)
    let unreadable = try forged.fixture(isReadOnly: true).open().verify()
    #expect(unreadable.contains { $0.tree == "space" && $0.message.contains("checksum") }, "\(unreadable)")
  }

  @Test func aCopyOfAStoreWithAGapIsWhole() throws {
    let forged = try planted("in use and recorded as free") { forged in
      try forged.record(live(forged).suffix(3), asInUse: false)
    }
    let folder = try TemporaryFolder()
    try forged.fixture(isReadOnly: true).open().copy(to: folder.file("copy"))
    let copy = try Store.open(at: folder.file("copy"))
    try copy.put("k", "v")
    #expect(try copy.verify() == [])
    #expect(try copy.snapshot().tree("rows").list().count == 300)
  }

  /// A store that was not closed, so that opening writes at once.
  @Test func aGapIsRefusedByAnOpeningThatWrites() throws {
    var forged = try planted("in use and recorded as free") { forged in
      try forged.record(live(forged).suffix(3), asInUse: false)
    }
    forged.removeAnchor()
    let fixture = forged.fixture()
    #expect(code { _ = try fixture.open() } == .corrupt)
    #expect(fixture.disk.content.bytes == forged.bytes)
    #expect(try forged.fixture(isReadOnly: true).open().snapshot().tree("rows").list().count == 300)
  }

  /// Free pages in memory, over pages in use.
  @Test func aPageWithTwoUses() throws {
    let forged = try ForgedStore(SampleStore.content())
    let store = try forged.fixture().open()
    try store.put("k", "v")
    #expect(try store.verify() == [])
    let page = try live(forged)[2]
    try store.committer.withSpace { $0.giveBack([page..<page + 1]) }
    let found = try store.verify()
    #expect(found.contains { $0.message.contains("don't add up") }, "\(found)")
  }

  /// However many pages the trees have, the first change reads the record of pages in use and a header for each extent.
  @Test func theFirstChangeReadsNoMoreOfALargeStore() throws {
    let counts = try [200, 20_000].map { rowCount in
      let fixture = StoreFixture()
      let store = try fixture.open()
      try store.write { transaction in
        let rows = try transaction.tree("rows")
        for number in 0..<rowCount {
          try rows.put(bytes("row \(100_000 + number)"), [UInt8](repeating: 7, count: 200))
        }
      }
      try store.close()
      let disk = SimulatedDisk(fixture.disk.content)
      let later = try StoreFixture(disk).open()
      let before = disk.statistics.count(.read)
      try later.put("k", "v")
      let reads = disk.statistics.count(.read) - before
      return (reads: reads, extentCount: try later.extents().count)
    }
    print("reads of the first change: \(counts)")
    #expect(
      counts[1].reads - counts[1].extentCount <= counts[0].reads - counts[0].extentCount + 4,
      "\(counts)"
    )
  }
}
