import Foundation
import Testing

@testable import Predicates

@Suite struct CalculationTests {
  private static let numerators: [AttributeValue] = [
    .int(1), .int(0), .uint(.max), .double(1), .double(.infinity), .double(.nan), .decimal(1), .decimal(.nan),
  ]

  @Test(arguments: numerators)
  func aDivisionByZeroIsNil(_ numerator: AttributeValue) {
    for zero: AttributeValue in [.int(0), .double(0), .double(-0.0), .decimal(0)] {
      #expect(PredicateFunction.divide.value(of: [numerator, zero]) == .null)
      #expect(PredicateFunction.modulus.value(of: [numerator, zero]) == .null)
    }
  }

  /// Foundation traps where a product has more than 128 digits after the point.
  @Test(arguments: [
    ("1e-128", "1e-128", "0"), ("0.6", "1e-128", "1e-128"), ("0.5", "3e-128", "2e-128"),
    ("-0.3", "7e-128", "-2e-128"), ("-1e-65", "-1e-64", "0"), ("0", "1e-128", "0"),
    ("1e-64", "1e-64", "1e-128"),
    (
      "12345678901234567890123456789012345678e-100", "9876543210987654321098765432109876543e-50",
      "12193263113702179522618503273386678858300563940618808e-128"
    ),
  ])
  func aProductIsRoundedToTheDigitsThatADecimalHas(_ a: String, _ b: String, _ product: String) throws {
    let factors = [try decimal(a), try decimal(b)]
    #expect(PredicateFunction.multiply.value(of: factors) == (try decimal(product)))
    #expect(PredicateFunction.multiply.value(of: factors.reversed()) == (try decimal(product)))
  }

  private func decimal(_ text: String) throws -> AttributeValue {
    .decimal(try #require(DecimalDigits(text)?.nearestDecimal))
  }

  /// So that a count above 0 means that there is a value that isn't nil, which is how it is answered.
  @Test func aNaNCountsAndTakesNoOtherPart() {
    func value(_ aggregate: PredicateAggregate) -> AttributeValue {
      var accumulator = AggregateAccumulator(aggregate)
      for value: AttributeValue in [.null, .double(.nan), .double(2), .decimal(.nan)] {
        accumulator.add(value)
      }
      return accumulator.value
    }
    #expect(value(.count) == .int(3))
    #expect(value(.sum) == .double(2))
    #expect(value(.average) == .double(2))
    #expect(value(.minimum) == .double(2))
    #expect(value(.maximum) == .double(2))
  }
}
