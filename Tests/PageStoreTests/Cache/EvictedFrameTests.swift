import Foundation
import TestSupport
import Testing

@testable import PageStore

/// Leaves that versions refer to by frame, and whose memory was evicted.
struct EvictedFrameTests {
  private static let count = 4_000

  private static func key(_ index: Int) -> [UInt8] { bytes("key\(index + 100_000)") }

  private static func makeTree(cacheByteBudget: Int) throws -> TreeFixture {
    let fixture = TreeFixture(pageSize: 4_096, cacheByteBudget: cacheByteBudget)
    try fixture.write { editor in
      for index in 0..<count { try editor.put(key(index), bytes("value \(index)")) }
    }
    return fixture
  }

  /// The frames of a tree of two levels.
  private static func leafFrames(_ fixture: TreeFixture) -> [UInt64] {
    let root = PageImage(UnsafeRawPointer(fixture.pool.arena.address(fixture.root.reference.location.number)))
    return (0..<root.count).map { ChildReference(loading: root.reference($0)).location.number }
  }

  @Test func aPageThatIsEvictedWhileItIsCopiedForAChangeIsWholeInTheCopy() throws {
    let fixture = try Self.makeTree(cacheByteBudget: 1 << 20)
    try fixture.checkpointConcurrently()
    try fixture.write { editor in
      try editor.makeWritable(Self.key(7)) { page in
        // Another thread does this at the same moment.
        FrameHeader(UnsafeMutableRawPointer(mutating: page.base)).markEvicted()
      }
    }
    #expect(try fixture.reader.value(for: Self.key(7)) == bytes("value 7"))
    #expect(fixture.problems() == [])
    try fixture.reopen()
    #expect(fixture.problems() == [])
  }

  @Test func lookingForAnEvictedLeafTakesNoMemoryForItsFrame() throws {
    let fixture = try Self.makeTree(cacheByteBudget: 64 << 10)
    let frames = Self.leafFrames(fixture)
    try fixture.checkpointConcurrently()
    for _ in 0..<3 {
      for index in 0..<Self.count {
        #expect(try fixture.reader.value(for: Self.key(index)) == bytes("value \(index)"))
      }
    }
    let evicted = frames.filter { frame in
      UnsafeRawPointer(fixture.pool.arena.address(frame)).loadLittle(PageHeader.kind, as: UInt8.self) == 0
    }
    #expect(evicted.count > frames.count / 2)
    // A write of one byte brings a page of memory back.
    let touched = evicted.filter { frame in
      let memory = UnsafeRawBufferPointer(start: fixture.pool.arena.address(frame), count: 4_096)
      return !memory.allSatisfy { $0 == 0 }
    }
    #expect(touched == [])
  }

  @Test func nothingIsGivenBackWhereTheSystemHasLargerPages() throws {
    let arena = FrameArena(geometry: PageGeometry(pageSize: 4_096), systemPageSize: 16_384)
    #expect(!arena.canGiveBack)
    let readers = ReaderTable()
    let (table, places) = (PageTable(), StoredPlaces())
    defer {
      table.deallocate()
      places.deallocate()
    }
    let cache = PageCache(
      budget: MemoryBudget(chosen: 0),
      arena: arena,
      table: table,
      places: places,
      readers: readers
    )
    let frames = (0..<200).map { _ in arena.allocate() }
    for frame in frames { arena.address(frame).initializeMemory(as: UInt8.self, repeating: 7, count: 4_096) }
    for frame in frames { places.set(StoredPlace(number: frame, checksum: 1), at: frame) }
    cache.insert(written: frames)
    #expect(cache.statistics.evictedFrameCount == 0)
    for frame in frames {
      #expect(UnsafeRawBufferPointer(start: arena.address(frame), count: 4_096).allSatisfy { $0 == 7 })
    }
  }

  @Test func theKernelMakesNoHugePagesOfWhatWasGivenBack() throws {
    let arena = FrameArena(geometry: PageGeometry(pageSize: 4_096))
    let frames = (0..<1_600).map { _ in arena.allocate() }
    arena.giveBack(frames[800])
    #expect(try !Self.mayBecomeHuge(arena.address(frames[800])))
    #expect(try Self.mayBecomeHuge(arena.address(frames[1_200])))
  }

  /// Whether the mapping of an address has the flag that asks for huge pages.
  private static func mayBecomeHuge(_ address: UnsafeMutableRawPointer) throws -> Bool {
    let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
    let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    var isInside = false
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      if ends.count == 2 { isInside = (ends[0]..<ends[1]).contains(UInt(bitPattern: address)) }
      if isInside, words[0] == "VmFlags:" { return words.contains("hg") }
    }
    return false
  }
}
