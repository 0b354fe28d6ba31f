import Foundation
import TestSupport
import Testing

@testable import Predicates

extension Row: PredicateSubject {
  func value(at path: ResolvedPath) -> AttributeValue { values[path.name] ?? .null }
  func elements(_ relationship: ToManyID, of owner: ResolvedPath) -> [Row] { [] }
}

struct EvaluationTests {
  private static let numbers = ["month", "day", "seats", "depTime", "delay", "fare"]
  private static let texts = ["title", "tailnum", "origin.name"]
  private static let orderings: [ComparisonOperator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]

  private static func path(_ name: String) -> PredicateOperand {
    .path(name.split(separator: ".").map(String.init))
  }

  private static func number(_ random: inout SeededGenerator) -> PredicateOperand {
    switch random.number(in: 0...9) {
    case 0: .value(.null)
    case 1...3: .value(.int(random.pick(NaiveFlight.months)))
    case 4: .value(.uint(.max))
    case 5: .value(.int(128))
    // Only numbers that a Float holds: rounding has its own tests.
    case 6: .value(.double(random.pick([1e18, -1e18, 0.125, .nan])))
    default: .value(.double(random.pick([-2.5, -1.5, 0, 0.5, 1, 2, 2.5, 12])))
    }
  }

  private static func leaf(_ random: inout SeededGenerator) -> PredicateTree {
    let options: StringOptions =
      random.chance(1, in: 3) ? StringOptions(rawValue: UInt8(random.number(in: 1...7))) : []
    func text(_ random: inout SeededGenerator) -> PredicateOperand {
      random.chance(1, in: 10) ? .value(.null) : .value(.string(random.pick(NaiveFlight.texts)))
    }
    switch random.number(in: 0...9) {
    case 0...2:
      return .comparison(path(random.pick(numbers)), random.pick(orderings), number(&random), [])
    case 3:
      let values = (0..<random.number(in: 0...4)).map { _ in number(&random) }
      return .membership(path(random.pick(numbers)), values, [])
    case 4:
      return .between(path(random.pick(numbers)), number(&random), number(&random))
    case 5...6:
      // Regular expressions have their own tests.
      let comparison = random.pick(ComparisonOperator.allCases.filter { $0 != .matches })
      if comparison == .like {
        let pattern = PredicateOperand.value(.string(random.pick(NaiveFlight.patterns)))
        return .comparison(path(random.pick(texts)), .like, pattern, options)
      }
      let other = random.chance(1, in: 4) ? path(random.pick(texts)) : text(&random)
      return .comparison(path(random.pick(texts)), comparison, other, options)
    case 7:
      let values = (0..<random.number(in: 0...4)).map { _ in text(&random) }
      return .membership(path(random.pick(texts)), values, options)
    case 8:
      return .comparison(path(random.pick(numbers)), random.pick(orderings), path(random.pick(numbers)), [])
    default:
      let literals: [PredicateOperand] = [.value(.null), .value(.reference(1)), path("dest")]
      return .comparison(path("origin"), random.pick([.equal, .notEqual]), random.pick(literals), [])
    }
  }

  @Test func theEvaluatorAgreesWithANaiveOne() throws {
    var random = SeededGenerator()
    let flights = (0..<200).map { _ in NaiveFlight.random(&random) }
    var trees = RandomTrees(random: random, leaf: Self.leaf)
    let (entity, schema) = (try FlightSchema.flight, FlightSchema.shared)
    var partial = 0
    for _ in 0..<1_500 {
      let tree = trees.tree(depth: 3)
      let condition = SubjectCondition(try tree.resolved(for: entity, in: schema))
      var matches = 0
      for (flight, row) in flights {
        let isMatch = condition.matches(row)
        matches += isMatch ? 1 : 0
        guard isMatch == flight.matches(tree) else {
          Issue.record("\(tree) is \(isMatch) of \(row.values)")
          return
        }
      }
      if matches > 0 && matches < flights.count { partial += 1 }
    }
    #expect(partial >= 600, "only \(partial) of 1,500 predicates match some flights and not others")
  }

  @Test func aPredicateAndItsNegationPartitionEverything() throws {
    var random = SeededGenerator()
    let flights = (0..<100).map { _ in NaiveFlight.random(&random).row }
    var trees = RandomTrees(random: random, leaf: Self.leaf)
    let (entity, schema) = (try FlightSchema.flight, FlightSchema.shared)
    for _ in 0..<1_000 {
      let tree = trees.tree(depth: 3)
      let condition = SubjectCondition(try tree.resolved(for: entity, in: schema))
      let negation = SubjectCondition(try PredicateTree.not(tree).resolved(for: entity, in: schema))
      for flight in flights { #expect(condition.matches(flight) != negation.matches(flight), "\(tree)") }
    }
  }
}
