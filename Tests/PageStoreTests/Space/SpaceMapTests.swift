import TestSupport
import Testing

@testable import PageStore

struct SpaceMapTests {
  private func map(end: UInt64, recorded: [Range<UInt64>] = [0..<3]) -> SpaceMap {
    var pages = PageBitmap()
    for range in recorded { pages.insert(range) }
    var map = SpaceMap(pageSize: 4_096, end: end, recorded: pages, used: [])
    if let run = map.firstFreeRun(of: 1) { map.markReady(run.lowerBound..<end) }
    return map
  }

  @Test func pagesAreTakenFromTheFront() {
    var map = map(end: 20, recorded: [0..<3, 5..<9])
    // The pages in use were marked ready, too; take them out again.
    map.take(5..<9)
    #expect(map.take(4) == [3..<5, 9..<11])
    #expect(map.take(run: 5) == 11..<16)
    #expect(map.take(run: 5) == nil)
    #expect(map.take(5) == nil)
    #expect(map.take(4) == [16..<20])
    #expect(map.ready.isEmpty)
    map.release(9..<11)
    #expect(map.take(1) == [9..<10])
  }

  @Test func theEndOfUseIsFoundAcrossWords() {
    var map = SpaceMap(pageSize: 4_096, end: 1_000, recorded: PageBitmap(), used: [0..<3])
    #expect(map.usedEnd == 3)
    map.markReady(3..<1_000)
    #expect(map.take(130) == [3..<133])
    #expect(map.usedEnd == 133)
    map.release(3..<132)
    #expect(map.usedEnd == 133)
    map.release(132..<133)
    #expect(map.usedEnd == 3)
    map.cut(to: 3)
    #expect(map.freeCount == 0)
  }

  @Test func roomEndsWherePageNumbersDo() throws {
    let limit = Extent.addressLimit(pageSize: 4_096) / 4_096
    var map = SpaceMap(pageSize: 4_096, end: 10, recorded: PageBitmap(), used: [0..<10])
    #expect(code { _ = try map.extend(by: limit - 9) } == .diskFull)
    #expect(try map.extend(by: limit - 10).upperBound == limit)
    #expect(code { _ = try map.extend(by: 1) } == .diskFull)
  }

  /// A bitmap, compared with a set of numbers.
  @Test func aBitmapIsASetOfPages() {
    var generator = SeededGenerator()
    var bitmap = PageBitmap()
    var pages: Set<UInt64> = []
    for _ in 0..<3_000 {
      let first = UInt64(generator.number(in: 0...500))
      let range = first..<first + UInt64(generator.number(in: 0...140))
      if generator.chance(1, in: 2) {
        #expect(bitmap.insert(range) == UInt64(range.filter { pages.insert($0).inserted }.count))
      } else {
        #expect(bitmap.remove(range) == UInt64(range.filter { pages.remove($0) != nil }.count))
      }
      #expect(bitmap.count == UInt64(pages.count))
      #expect(bitmap.contains(first) == pages.contains(first))
      #expect(bitmap.count(in: range) == UInt64(range.filter(pages.contains).count))
      #expect(bitmap.first(from: first) == pages.filter { $0 >= first }.min())
      let limit = UInt64(generator.number(in: 0...200))
      var end = first
      while end - first < limit, pages.contains(end) { end += 1 }
      #expect(bitmap.run(from: first, limit: limit) == first..<end)
      var listed: [UInt64] = []
      bitmap.forEachRun { listed += $0 }
      #expect(listed == pages.sorted())
    }
  }

  /// If room is promised, overflows of any lengths get their pages in any order, also in a file that is cut at the
  /// given end. If it isn't, extending the file by the missing number of adjacent pages is enough.
  @Test func promisedRoomIsEnoughForOverflows() throws {
    var generator = SeededGenerator()
    var promised = 0
    for _ in 0..<400 {
      var map = map(end: 400, recorded: [0..<1])
      for _ in 0..<generator.number(in: 1...60) {
        let first = UInt64(generator.number(in: 1...398))
        map.take(first..<min(400, first + UInt64(generator.number(in: 1...12))))
      }
      let lengths = (0..<generator.number(in: 1...12)).map { _ in UInt64(generator.number(in: 2...20)) }
      var runs = RunDemand()
      let removed = (0..<generator.number(in: 0...3)).map { _ in UInt64(generator.number(in: 2...30)) }
      for length in removed + lengths { runs.add(overflowOf: length) }
      for length in removed { runs.remove(overflowOf: length) }
      var room = map.ready.room(for: runs)
      if room.shortfall > 0 {
        map.release(try map.extend(by: room.shortfall))
        room = map.ready.room(for: runs)
      } else {
        promised += 1
      }
      try #require(room.shortfall == 0)
      map.cut(to: room.end)
      for length in lengths.shuffled(using: &generator) { #expect(map.take(run: length) != nil) }
    }
    #expect(promised > 100)
  }
}
