import TestSupport
import Testing

@testable import PageStore

@Suite struct SpaceMapTests {
  @Test func roomComesFromTheSmallestGapThatHasIt() throws {
    var map = SpaceMap(
      pageSize: 4_096,
      end: 100 * 4_096,
      gaps: [Extent(offset: 40_960, byteCount: 40_960), Extent(offset: 204_800, byteCount: 8_192)]
    )
    #expect(try map.take(byteCount: 5_000) == Extent(offset: 204_800, byteCount: 8_192))
    #expect(try map.take(byteCount: 8_192) == Extent(offset: 40_960, byteCount: 8_192))
    #expect(try map.take(byteCount: 1 << 20) == Extent(offset: 100 * 4_096, byteCount: 1 << 20))
    #expect(map.gaps == [Extent(offset: 49_152, byteCount: 32_768)])
  }

  @Test func theGapAtTheEndGrows() throws {
    var map = SpaceMap(pageSize: 4_096, end: 40_960, gaps: [Extent(offset: 32_768, byteCount: 8_192)])
    #expect(try map.take(byteCount: 12_288) == Extent(offset: 32_768, byteCount: 12_288))
    #expect(map.end == 45_056)
    #expect(map.gaps.isEmpty)
  }

  @Test func gapsAreTheComplementOfWhatIsTaken() throws {
    var generator = SeededGenerator()
    let page: UInt64 = 4_096
    var map = SpaceMap(pageSize: page, end: 4 * page, gaps: [])
    var taken: [Extent] = [Extent(offset: 0, byteCount: 4 * page)]
    for _ in 0..<2_000 {
      if generator.chance(1, in: 2), taken.count > 1 {
        let extent = taken.remove(at: generator.number(in: 1...taken.count - 1))
        map.giveBack(extent)
      } else {
        let byteCount = UInt64(generator.number(in: 1...20)) * page
        taken.append(
          generator.chance(1, in: 4)
            ? try map.takeAtEnd(byteCount: byteCount) : try map.take(byteCount: byteCount)
        )
      }
      let all = (taken + map.gaps).sorted { $0.offset < $1.offset }
      #expect(zip(all, all.dropFirst()).allSatisfy { $0.end == $1.offset })
      #expect(all.last?.end == map.end)
      #expect(zip(map.gaps, map.gaps.dropFirst()).allSatisfy { $0.end < $1.offset })
    }
  }

  @Test func roomEndsWherePageNumbersDo() throws {
    let limit = Extent.addressLimit(pageSize: 4_096)
    var map = SpaceMap(pageSize: 4_096, end: limit - 8_192, gaps: [])
    #expect(code { _ = try map.take(byteCount: 12_288) } == .diskFull)
    #expect(try map.takeAtEnd(byteCount: 8_192).end == limit)
    #expect(code { _ = try map.takeAtEnd(byteCount: 1) } == .diskFull)
  }

  @Test func whatRecoveryMeetsIsTakenOutOfTheGaps() {
    var map = SpaceMap(pageSize: 4_096, end: 40_960, gaps: [Extent(offset: 8_192, byteCount: 16_384)])
    map.mark(Extent(offset: 12_288, byteCount: 4_096))
    #expect(map.gaps == [Extent(offset: 8_192, byteCount: 4_096), Extent(offset: 16_384, byteCount: 8_192)])
    map.mark(Extent(offset: 49_152, byteCount: 4_096))
    #expect(map.end == 53_248)
    #expect(map.gaps.last == Extent(offset: 40_960, byteCount: 8_192))
  }
}
