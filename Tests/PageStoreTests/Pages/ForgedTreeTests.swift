import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Trees that no sequence of changes makes: every page is sound, and every checksum is right.
struct ForgedTreeTests {
  private static let pageSize = 4_096

  /// Puts a page into the file and returns the reference to it. `entries` are laid out as they are given.
  private func page(
    _ file: MemoryPages,
    _ number: UInt64,
    level: Int,
    count: UInt64,
    _ entries: [PageEntry]
  ) throws -> ChildReference {
    var bytes = [UInt8](repeating: 0, count: Self.pageSize)
    let checksum = try bytes.withUnsafeMutableBytes { bytes in
      let page = try #require(bytes.baseAddress)
      let builder = PageBuilder(geometry: PageGeometry(pageSize: Self.pageSize), isLeaf: level == 0)
      try entries.withUnsafeBufferPointer {
        try builder.build(page, treeID: 7, level: UInt8(level), birth: 1, entries: $0, lonePrefix: 0)
      }
      page.storeLittle(number, PageHeader.number)
      let checksum = XXH64.hash(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[8...]))
      page.storeLittle(checksum, PageHeader.checksum)
      return checksum
    }
    file[number] = bytes
    return ChildReference(location: .page(number), checksum: checksum, birth: 1, count: count)
  }

  /// A page full of entries: all lead to `child` if it is a branch. Keys are numbers from `first` on.
  ///
  /// - Parameter honestFirst: whether the first reference has the number of entries below, rather than the last.
  private func fullPage(
    _ file: MemoryPages,
    level: Int,
    child: ChildReference?,
    honestFirst: Bool = false
  ) throws -> ChildReference {
    let payloadCount = child == nil ? 100 : ChildReference.byteCount
    let entryCount = (Self.pageSize - PageHeader.byteCount) / (PageSlot.byteCount + 2 + 4 + payloadCount)
    let keys = (0..<entryCount).map { withUnsafeBytes(of: UInt32($0).bigEndian) { [UInt8]($0) } }
    let arena = UnsafeMutableRawBufferPointer.allocate(byteCount: entryCount * 256, alignment: 8)
    defer { arena.deallocate() }
    arena.initializeMemory(as: UInt8.self, repeating: 0)
    let entries = try keys.enumerated().map { index, key in
      let start = try #require(arena.baseAddress) + index * 256
      start.copyMemory(from: key, byteCount: key.count)
      if var child {
        // One reference has the count of all the entries, so that the other references can have any counts.
        if index != (honestFirst ? 0 : entryCount - 1) { child.count = 1 }
        child.store(to: start + 64)
      }
      return PageEntry(
        key: UnsafeRawBufferPointer(start: start, count: key.count),
        payload: UnsafeRawBufferPointer(start: start + 64, count: payloadCount)
      )
    }
    return try page(
      file,
      UInt64(10 + level),
      level: level,
      count: (child?.count ?? 1) + UInt64(entryCount - 1),
      entries
    )
  }

  @Test func aTreeOfFullPagesGrowsNoHigherThanTreesMay() throws {
    let file = MemoryPages(pageSize: Self.pageSize)
    var reference: ChildReference?
    for level in 0..<TreeLimits.height { reference = try fullPage(file, level: level, child: reference) }
    let root = TreeRoot(treeID: 7, height: UInt8(TreeLimits.height), reference: try #require(reference))
    let pool = PagePool(pageSize: Self.pageSize, loader: file)
    let editor = TreeEditor(root: root, dirty: DirtySet(commit: 2, pool: pool))
    defer { editor.dirty.abort() }
    let key = [UInt8](repeating: 0xFF, count: 300)
    let failure = code {
      for index in 0..<100 {
        try editor.put(key + [UInt8(index)], [UInt8](repeating: 1, count: 1_000))
        var cursor = TreeReader(core: editor.core, owner: editor.pool).cursor()
        #expect(try cursor.previous())
      }
    }
    #expect(failure == .corrupt)
  }

  /// Six pages with 100 × 70⁵ paths to an entry: each page is visited once, and each further reference to it is damage.
  @Test func verifyingLooksAtSharedPagesOnce() throws {
    var forgery = StoreForgery()
    let entries = (0..<100).map { (key: [UInt8($0)], payload: [UInt8]()) }
    var reference = try forgery.addPage(10, treeID: 7, level: 0, entries: entries)
    for level in 1..<6 {
      let ways = (0..<70).map { (key: [UInt8($0)], payload: reference.encoded) }
      reference = try forgery.addPage(10 + UInt64(level), treeID: 7, level: level, entries: ways)
    }
    let file = MemoryPages(pageSize: Self.pageSize)
    for block in forgery.more { file[block.offset / UInt64(Self.pageSize)] = block.bytes }
    var verifier = TreeVerifier(pool: PagePool(pageSize: Self.pageSize, loader: file))
    verifier.verify(TreeRoot(treeID: 7, height: 6, reference: reference), name: "forged")
    #expect(verifier.visited.count == 6)
    #expect(verifier.pageCount == 1 + 5 * 70)
    #expect(verifier.problems.count { $0.message == "A page is referred to twice." } == 5 * 69)
  }

  /// Pages that share their children. A walk finds each of them in the cache after the first time.
  @Test func aCursorPassesNoMoreEntriesThanTheTreeHas() throws {
    let file = MemoryPages(pageSize: Self.pageSize)
    var reference: ChildReference?
    for level in 0..<6 { reference = try fullPage(file, level: level, child: reference, honestFirst: true) }
    let root = TreeRoot(treeID: 7, height: 6, reference: try #require(reference))
    let pool = PagePool(pageSize: Self.pageSize, loader: file)
    let reader = TreeReader(core: TreeCore(root: root, pool: pool), owner: pool)
    var upwards = reader.cursor()
    var count: UInt64 = 0
    #expect(code { while try upwards.next() { count += 1 } } == .corrupt)
    #expect(count < 2 * root.count)
    // The pages are in the cache now, so the walk from the other end finds them there.
    var downwards = reader.cursor()
    count = 0
    #expect(code { while try downwards.previous() { count += 1 } } == .corrupt)
    #expect(count < 2 * root.count)
  }

  /// Pages that share their children, and have more entries than any walk can visit.
  @Test func aWalkThatPassesOverDamageEndsInATreeOfSharedPages() throws {
    let file = MemoryPages(pageSize: Self.pageSize)
    let leaf = try fullPage(file, level: 0, child: nil)
    var reference = leaf
    for level in 1..<6 { reference = try fullPage(file, level: level, child: reference) }
    let root = TreeRoot(treeID: 7, height: 6, reference: reference)
    let pool = PagePool(pageSize: Self.pageSize, loader: file)
    var entryCount: UInt64 = 0
    let reader = TreeReader(core: TreeCore(root: root, pool: pool), owner: pool)
    let isComplete = reader.forEachReadable { _, _ in entryCount += 1 }
    #expect(!isComplete)
    #expect(entryCount == leaf.count)
    var verifier = TreeVerifier(pool: pool)
    verifier.verify(root, name: "forged")
    #expect(verifier.problems.contains { $0.message.contains("twice") })
  }

  @Test func verifyingTakesNoMemoryOnTheWordOfALength() throws {
    let file = MemoryPages(pageSize: Self.pageSize)
    let entryCount = 50
    let arena = UnsafeMutableRawBufferPointer.allocate(byteCount: entryCount * 64, alignment: 8)
    defer { arena.deallocate() }
    let entries = try (0..<entryCount).map { index in
      let start = try #require(arena.baseAddress) + index * 64
      start.storeBytes(of: UInt8(index), as: UInt8.self)
      ChildReference(
        location: .page(UInt64(1 + index) << 20),
        checksum: 1,
        birth: 1,
        count: UInt64(StoreLimits.valueByteCount)
      ).store(to: start + 8)
      var entry = PageEntry(
        key: UnsafeRawBufferPointer(start: start, count: 1),
        payload: UnsafeRawBufferPointer(start: start + 8, count: ChildReference.byteCount)
      )
      entry.valueOverflows = true
      return entry
    }
    let root = TreeRoot(
      treeID: 7,
      height: 1,
      reference: try page(file, 10, level: 0, count: UInt64(entryCount), entries),
      hasOverflow: true
    )
    var verifier = TreeVerifier(pool: PagePool(pageSize: Self.pageSize, loader: file))
    verifier.verify(root, name: "forged")
    #expect(verifier.problems.count == entryCount)
    #expect(verifier.pageCount == 1)
  }
}
