import Predicates
import TestSupport
import Testing

@testable import GraphContext

struct ObjectNumberRangesTests {
  @Test func itHoldsWhatASetHolds() {
    var generator = SeededGenerator()
    for _ in 0..<200 {
      var ranges = ObjectNumberRanges()
      var numbers: [ObjectNumber] = []
      var next: UInt64 = 1
      for _ in 0..<generator.number(in: 0...40) {
        next += generator.chance(1, in: 3) ? UInt64(generator.number(in: 2...9)) : 1
        ranges.append(ObjectNumber(rawValue: next))
        numbers.append(ObjectNumber(rawValue: next))
      }
      #expect(Array(ranges) == numbers && ranges.count == numbers.count)
      #expect(ranges.isEmpty == numbers.isEmpty)
      let known = Set(numbers)
      for number in 0...next + 2 {
        let number = ObjectNumber(rawValue: number)
        #expect(ranges.contains(number) == known.contains(number))
      }
      let removed = Set(numbers.filter { _ in generator.chance(1, in: 4) })
      #expect(Array(ranges.subtracting(removed)) == numbers.filter { !removed.contains($0) })
    }
  }
}
