import PageStore
import TestSupport
import Testing

struct SortedArrayOracleTests {
  @Test func rangesAndRanksFollowTheBounds() {
    var oracle = SortedArrayOracle()
    for byte in [5, 1, 3] as [UInt8] { oracle.put([byte], [byte]) }
    #expect(oracle.entries.map(\.key) == [[1], [3], [5]])
    #expect(oracle.rank(of: [3]) == 1 && oracle.rank(of: [4]) == 2 && oracle.rank(of: [9]) == 3)
    #expect(oracle.positions(in: .init(lower: .including([3]), upper: .excluding([5]))) == 1..<2)
    #expect(oracle.positions(in: .init(lower: .excluding([3]), upper: .including([5]))) == 2..<3)
    #expect(oracle.positions(in: .init(lower: .including([4]), upper: .excluding([2]))).isEmpty)
    #expect(oracle.positions(in: .prefix([])) == 0..<3)
  }

  @Test func theDigestDependsOnTheContentAlone() {
    var generator = SeededGenerator()
    let entries = (0..<200).map { _ in (generator.bytes(generator.number(in: 0...20)), generator.bytes(3)) }
    var forward = SortedArrayOracle()
    var detour = SortedArrayOracle()
    for (key, value) in entries { forward.put(key, value) }
    for (key, _) in entries { detour.put(key, [9]) }
    detour.put([1, 2, 3, 4], [5])
    for (key, value) in entries { detour.put(key, value) }
    if forward.value(for: [1, 2, 3, 4]) == nil { detour.remove([1, 2, 3, 4]) }
    #expect(forward.digest == detour.digest)
    #expect(detour.removeRange(.all) == forward.count)
    #expect(detour.digest == 0)
  }
}
