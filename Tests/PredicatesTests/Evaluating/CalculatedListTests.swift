import Testing

@testable import Predicates

/// A list or a range behind a calculated value, or behind several values.
struct CalculatedListTests {
  /// A flight that has the same value for every attribute, and counts how often it is asked for it.
  private final class Reading: PredicateSubject {
    private let value: AttributeValue
    private let legs: [Reading]
    private(set) var readCount = 0

    init(_ value: AttributeValue, legs: [Reading] = []) { (self.value, self.legs) = (value, legs) }

    func value(at path: ResolvedPath) -> AttributeValue {
      readCount += 1
      return value
    }

    func elements(_ relationship: ToManyID, of owner: ResolvedPath) -> [Reading] { legs }
  }

  private func resolved(_ tree: PredicateTree) throws -> ResolvedPredicate {
    try tree.resolved(for: FlightSchema.flight, in: FlightSchema.shared)
  }

  private func stepCount(_ format: String) throws -> Int {
    let predicate = try resolved(PredicateTree(format: format))
    let flight = try FlightSchema.flight
    return try FilterProgram(compiling: predicate, for: flight, in: FlightSchema.shared).steps.count
  }

  private func matches(_ format: String, _ value: AttributeValue) throws -> Bool {
    let reading = Reading(value)
    let isMatch = SubjectCondition(try resolved(PredicateTree(format: format))).matches(reading)
    #expect(reading.readCount == 1, "\(format)")
    return isMatch
  }

  @Test func aValueIsCalculatedOnceForAList() throws {
    #expect(try stepCount("lowercase(title) IN[c] {'a', 'b', 'c'}") == 1)
    #expect(try stepCount("NOT lowercase(title) IN[c] {'a', 'b', 'c'}") == 1)
    #expect(try stepCount("month + 1 IN {2, 3, 4}") == 1)
    #expect(try stepCount("isLate == TRUE OR lowercase(title) IN[c] {'a', 'b', 'c'}") == 2)
    // Another calculation, or another folding, is another list.
    #expect(try stepCount("lowercase(title) IN {'a', 'b'} OR uppercase(title) IN {'A', 'B'}") == 2)
    #expect(try stepCount("lowercase(title) IN {'a', 'b'} OR lowercase(title) IN[c] {'c', 'd'}") == 2)
    // What the value must differ from is one list.
    #expect(try stepCount("NOT lowercase(title) IN {'a', 'b'} AND lowercase(title) != 'c'") == 1)
  }

  @Test func aListHasTheMeaningOfItsComparisons() throws {
    for (text, isFound, isFoundFolded) in [
      ("x", false, false), ("\u{DF}", false, true), ("Ab", true, true), ("e\u{301}", false, true),
      ("", true, true),
    ] {
      let list = "{'ab', 'SS', '\u{E9}', ''}"
      #expect(try matches("lowercase(title) IN \(list)", .string(text)) == isFound, "\(text)")
      #expect(try matches("lowercase(title) IN[c] \(list)", .string(text)) == isFoundFolded, "\(text)")
      #expect(try matches("NOT lowercase(title) IN[c] \(list)", .string(text)) == !isFoundFolded, "\(text)")
    }
    #expect(try matches("lowercase(tailnum) IN {'a', nil}", .null))
    #expect(try !matches("lowercase(tailnum) IN {'a', 'b'}", .null))
    #expect(try matches("NOT lowercase(tailnum) IN {'a', 'b'}", .null))
    #expect(try matches("month + 1 IN {2, 3.0}", .int(2)) && matches("month + 1 IN {2, 3.0}", .int(1)))
    #expect(try !matches("month + 1 IN {2, 3.5}", .int(2)))
  }

  /// One element has to be in the range, not one above its lower end and another below its upper one.
  @Test(arguments: [
    ("ANY", [[1, 2], [0, 2], [2, 9]], [[], [0], [3], [0, 3]]),
    ("ALL", [[], [1], [1, 2]], [[0], [2, 3], [0, 3]]),
    ("NONE", [[], [0], [3], [0, 3]], [[1, 2], [0, 2]]),
  ])
  func aHalfOpenRangeGoesBehindAQuantifier(
    _ quantifier: String,
    _ matching: [[Int]],
    _ others: [[Int]]
  ) throws {
    let template = try PredicateTree(format: "\(quantifier) legs.minutes IN $R")
    let tree = try template.replacingVariables(["R": 1..<3])
    #expect(try PredicateTree(format: tree.description) == tree)
    let condition = SubjectCondition(try resolved(tree))
    for (lists, expected) in [(matching, true), (others, false)] {
      for list in lists {
        let flight = Reading(.null, legs: list.map { Reading(.int(Int64($0))) })
        #expect(condition.matches(flight) == expected, "\(quantifier) \(list)")
      }
    }
  }
}
