import Testing

@testable import Predicates

/// Binary search in a range of numbers finds the first one that meets a condition, else the upper bound.
struct PartitionPointTests {
  @Test(arguments: 0...9) func theFirstNumberThatMeetsTheConditionIsFound(_ count: Int) {
    for first in 3...3 + count {
      #expect((3..<3 + count).partitionPoint { $0 >= first } == first)
    }
  }
}
