import Foundation
import Testing

@testable import Predicates

/// The oracle's decimal arithmetic at the limits of Decimal.
struct PlainDecimalsTests {
  /// The nearest Decimal ends with a zero and has the greatest exponent. Without the zero it would not be a Decimal.
  @Test func anAverageKeepsItsLastZeroAtTheGreatestExponent() throws {
    let greatest = Decimal.greatestFiniteMagnitude
    let expected = try #require(Decimal(string: "226854911280625642308916404954512140970e127"))
    guard case .decimal(let average) = PlainDecimals(sumOf: [greatest, greatest, -1]).divided(by: 3) else {
      Issue.record("no average")
      return
    }
    #expect(DecimalParts(average)?.canonical == DecimalParts(expected)?.canonical)
  }

  /// All averages of three of the values that the tests use, by the oracle and by the engine, which share no code.
  @Test func averagesOfThreeAreTheEngines() {
    let values = PlainWorld.decimals.filter { !$0.isNaN }
    for first in values {
      for second in values {
        for third in values {
          var sum = DecimalSum()
          for value in [first, second, third] { DecimalParts(value).map { sum.add($0) } }
          let average = sum.average(of: 3).flatMap { DecimalParts($0)?.canonical }
          let plain = PlainDecimals(sumOf: [first, second, third]).divided(by: 3)
          let expected: DecimalParts? =
            if case .decimal(let value) = plain { DecimalParts(value)?.canonical } else { nil }
          #expect(average == expected, "\(first), \(second), \(third)")
        }
      }
    }
  }

  /// The results of the four operations on every two of those values, by the oracle and by the engine.
  @Test(arguments: [
    (PlainFunction.add, PredicateFunction.add), (.subtract, .subtract), (.multiply, .multiply),
    (.divide, .divide),
  ])
  func operationsAreTheEngines(_ plain: PlainFunction, _ function: PredicateFunction) {
    for first in PlainWorld.decimals {
      for second in PlainWorld.decimals {
        let value = function.value(of: [.decimal(first), .decimal(second)])
        switch plain.value(of: [.decimal(first), .decimal(second)]) {
        case .decimal(let expected):
          #expect(value == .decimal(expected), "\(first), \(second)")
        default: #expect(value == .null, "\(first), \(second)")
        }
      }
    }
  }
}
