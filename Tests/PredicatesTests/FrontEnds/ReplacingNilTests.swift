import Foundation
import Testing

@testable import Predicates

/// `a ?? b ?? c`, however it is nested, is one list of alternatives.
struct ReplacingNilTests {
  @Test func aSecondReplacementOfNilAddsNothingToAValue() throws {
    let once = Where<Flight> { ($0.delay ?? 1) > 5 }
    let twice = Where<Flight> { flight in
      let delay: ValueExpression<Flight, Double> = flight.delay ?? 1
      return (delay ?? 2) > 5
    }
    #expect(once.description == "TERNARY(delay == nil, 1.0, delay) > 5.0")
    #expect(twice.description == once.description)
  }

  @Test func theTextGrowsWithTheCountOfAlternatives() throws {
    let many = Where<Flight> { flight in
      var delay: ValueExpression<Flight, Double> = flight.delay
      for minutes in 1...40 { delay = delay ?? Double(minutes) }
      return delay > 5
    }
    #expect(many.description == "TERNARY(delay == nil, 1.0, delay) > 5.0")
    let paths = (0..<20).map { PredicateOperand.path(["a\($0)"]) }
    let left = paths.dropFirst().reduce(paths[0]) { $0.replacingNil(with: $1) }
    let right = paths.dropLast().reversed().reduce(paths[19]) { $1.replacingNil(with: $0) }
    #expect(left == right)
    #expect(left.description.count < 20 * 40)
    let tree = PredicateTree.comparison(left, .equal, .value(.int(1)), [])
    #expect(try PredicateTree(format: tree.description) == tree)
  }

  @Test func nilGivesWayToTheAlternative() {
    let path = PredicateOperand.path(["a"])
    #expect(PredicateOperand.value(.null).replacingNil(with: path) == path)
    #expect(PredicateOperand.value(.int(1)).replacingNil(with: path) == .value(.int(1)))
    let replaced = path.replacingNil(with: .value(.null)).replacingNil(with: .value(.int(1)))
    #expect(replaced.description == "TERNARY(a == nil, 1, a)")
  }

  @Test func tooManyAlternativesAreAMistake() {
    let paths = (0..<60).map { PredicateOperand.path(["a\($0)"]) }
    let operand = paths.dropFirst().reduce(paths[0]) { $0.replacingNil(with: $1) }
    let value = ValueExpression<Flight, Int>(.success(operand))
    #expect(throws: QueryError.self) { try (value ?? 1).operand.get() }
  }
}
