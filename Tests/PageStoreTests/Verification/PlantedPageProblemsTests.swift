@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The rules of Docs/FileFormat.md for pages and trees, broken one by one, with every checksum right.
struct PlantedPageProblemsTests {
  /// Returns the problems that `verify` finds after a change, in a store that had no problems before.
  private func problems(_ change: (inout ForgedStore) throws -> Void) throws -> [IntegrityProblem] {
    var forged = try ForgedStore(SampleStore.content())
    let before = try forged.fixture(isReadOnly: true).open()
    #expect(try before.verify(includingWarnings: true) == [])
    try change(&forged)
    return try forged.fixture(isReadOnly: true).open().verify()
  }

  private func expect(
    _ message: String,
    in tree: String? = "rows",
    _ change: (inout ForgedStore) throws -> Void
  ) throws {
    let found = try problems(change)
    #expect(found.contains { $0.message.contains(message) && (tree == nil || $0.tree == tree) }, "\(found)")
    for problem in found where problem.page != nil {
      #expect(problem.offset == problem.page.map { $0 * 4_096 })
    }
  }

  /// Changes the first leaf of `rows`, or another page of it.
  private func expect(
    _ message: String,
    changingPage place: Int,
    _ change: @escaping (inout [UInt8]) -> Void
  ) throws {
    try expect(message) { forged in
      let page = try forged.pages(of: forged.entry(of: "rows").root)[place]
      forged.change(page: page, change)
      forged.seal()
    }
  }

  @Test func everyUnreadablePageIsReportedAndWhatIsBesideIt() throws {
    var damaged: [UInt64] = []
    let found = try problems { forged in
      let rows = try forged.pages(of: forged.entry(of: "rows").root)
      let large = try forged.pages(of: forged.entry(of: "large").root)
      // Two leaves, a page in the middle of an overflow's only chunk, and the first of another.
      damaged = [rows[2], rows[5], large[2], large[8]]
      let live = try forged.pages(of: forged.entry(of: "t").root)
      forged.record(live, asInUse: false)
      forged.seal()
      for page in damaged { forged.damage(page: page) }
    }
    #expect(
      found.filter { $0.tree == "rows" }.compactMap(\.page).sorted() == damaged.prefix(2).sorted(),
      "\(found)"
    )
    #expect(found.filter { $0.tree == "large" }.count == 2, "\(found)")
    #expect(found.contains { $0.message == "A page is in use and recorded as free." }, "\(found)")
  }

  @Test func anUnreadableRecordOfPagesHidesNothingElse() throws {
    var page: UInt64 = 0
    let found = try problems { forged in
      let root = forged.record.spaceTree.root.reference.location.number
      page = try forged.pages(of: forged.entry(of: "rows").root)[3]
      forged.damage(page: root)
      forged.damage(page: page)
    }
    #expect(Set(found.compactMap(\.tree)) == ["space", "rows"], "\(found)")
    #expect(found.contains { $0.page == page })
  }

  @Test func warningsAreReturnedBesideAnUnreadableRecordOfPages() throws {
    var forged = try ForgedStore(SampleStore.content())
    forged.damage(page: forged.record.spaceTree.root.reference.location.number)
    forged.set(UInt64.max, at: Int(FileLayout.anchorOffsets[0]))
    let found = try forged.fixture(isReadOnly: true).open().verify(includingWarnings: true)
    #expect(found.contains { $0.isWarning && $0.message.contains("anchors") }, "\(found)")
    #expect(found.contains { !$0.isWarning && $0.tree == "space" }, "\(found)")
  }

  @Test func numberBirthTreeAndLevelOfAPage() throws {
    try expect("not the one referred to", changingPage: 2) { $0[PageHeader.number] ^= 1 }
    try expect("not the one referred to", changingPage: 2) { $0[PageHeader.birth] ^= 1 }
    try expect("another tree or level", changingPage: 2) { $0[PageHeader.treeID] ^= 1 }
    try expect("contradict each other", changingPage: 2) { $0[PageHeader.level] = 1 }
    try expect("contradict each other", changingPage: 2) { $0[PageHeader.flags] |= 2 }
    try expect("mean nothing", changingPage: 2) { $0[60] = 1 }
  }

  @Test func theOrderOfKeysAndTheirHeads() throws {
    try expect("don't ascend", changingPage: 2) { page in
      let (first, second) = (PageHeader.byteCount, PageHeader.byteCount + PageSlot.byteCount)
      for byte in 0..<PageSlot.byteCount { page.swapAt(first + byte, second + byte) }
    }
    try expect("head doesn't match its key", changingPage: 2) { $0[PageHeader.byteCount] ^= 0x40 }
    // The first byte of the prefix that all keys of the leaf share.
    try expect("below its separator", changingPage: 3) { $0[$0.count - 4] -= 1 }
    try expect("above the next separator", changingPage: 2) { $0[$0.count - 4] += 1 }
  }

  @Test func theCountOfEntriesAndOfPages() throws {
    try expect("contradict each other", changingPage: 0) { page in
      let reference = page.withUnsafeBytes { PageImage($0.start).slot(0).offset }
      page[reference + 24] ^= 1
    }
    try expect("pages, but is recorded with") { forged in
      let entry = try forged.entry(of: "rows")
      // Opening refuses more pages than the file has.
      forged.set(UInt64(entry.root.height), at: entry.offset + Catalogue.Offset.pageCount)
      forged.seal()
    }
  }

  @Test func aPageThatIsReachedTwice() throws {
    try expect("referred to twice") { forged in
      let root = try forged.entry(of: "rows").root.reference.location.number
      forged.change(page: root) { page in
        let (first, second) = page.withUnsafeBytes { bytes in
          (PageImage(bytes.start).slot(0).offset, PageImage(bytes.start).slot(1).offset)
        }
        for byte in 0..<ChildReference.byteCount { page[second + byte] = page[first + byte] }
      }
      forged.seal()
    }
  }

  @Test func overflowThatATreeIsSaidNotToHave() throws {
    try expect("recorded without any", in: "large") { forged in
      let entry = try forged.entry(of: "large")
      forged.set(UInt8(0), at: entry.offset + Catalogue.Offset.flags)
      forged.seal()
    }
  }

  @Test func aTreeOfALaterCommit() throws {
    try expect("later commit") { forged in
      let entry = try forged.entry(of: "rows")
      let root = entry.root.reference
      forged.set(root.birth + 1_000, at: entry.offset + Catalogue.Offset.birth)
      forged.change(page: root.location.number) { page in
        page[PageHeader.birth] = UInt8(truncatingIfNeeded: root.birth + 1_000)
        page[PageHeader.birth + 1] = UInt8(truncatingIfNeeded: (root.birth + 1_000) >> 8)
      }
      forged.seal()
    }
  }
}
