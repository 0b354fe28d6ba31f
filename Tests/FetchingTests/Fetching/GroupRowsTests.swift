import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// The candidates for the first groups of an order.
struct GroupRowsTests {
  @Test func theFirstRowsAreAmongTheCandidates() {
    var random = SeededGenerator()
    for _ in 0..<300 {
      // Few values, so that many groups are equal; nil and NaN among them.
      let rows = (0..<random.number(in: 0...60)).map { place -> [AttributeValue] in
        let value = random.number(in: -2...6)
        return [.int(Int64(place)), value == -2 ? .null : .double(value == -1 ? .nan : Double(value))]
      }
      let isAscending = random.chance(1, in: 2)
      let wanted = random.number(in: 1...20)
      func isBefore(_ a: [AttributeValue], _ b: [AttributeValue]) -> Bool {
        let order = ValueComparison.sortOrder(a[1], b[1])
        if order != 0 { return (order < 0) == isAscending }
        return ValueComparison.sortOrder(a[0], b[0]) < 0
      }
      let found = GroupRows(rows).candidates(wanted, by: 1, isAscending: isAscending)
      let expected = rows.sorted(by: isBefore).prefix(wanted)
      #expect("\(found.sorted(by: isBefore).prefix(wanted))" == "\(expected)")
    }
  }

  @Test func ofManyGroupsFewAreCandidates() {
    let rows = (0..<1_000).map { [AttributeValue.int(Int64($0 * 7_919 % 1_000))] }
    let found = GroupRows(rows).candidates(10, by: 0, isAscending: false)
    #expect(Set(found.map(\.[0])) == Set((990..<1_000).map { AttributeValue.int($0) }))
    #expect(GroupRows(rows).candidates(.max, by: 0, isAscending: true) == rows)
  }
}
