import Testing

@testable import PageStore

/// Binary search in a range of numbers finds the first one for which a condition holds.
struct PartitionPointTests {
  @Test(arguments: 0...9) func theFirstNumberForWhichTheConditionHoldsIsFound(count: Int) {
    for first in 3...3 + count {
      #expect((3..<3 + count).partitionPoint { $0 >= first } == first)
    }
  }

  @Test func theUpperBoundIsFoundIfTheConditionNeverHolds() {
    #expect((3..<9).partitionPoint { _ in false } == 9)
    #expect((3..<3).partitionPoint { _ in true } == 3)
  }

  @Test func greatBoundsDoNotOverflow() {
    #expect((0..<UInt64.max).partitionPoint { $0 >= .max - 1 } == .max - 1)
  }
}
