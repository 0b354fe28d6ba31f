import Foundation
import TestSupport
import Testing

@testable import Predicates

/// Sums of decimals against a sum digit by digit.
struct DecimalSumTests {
  /// A number's digits in units of 10^-130, the lowest first.
  private static func digits(_ value: DecimalParts) -> [Int] {
    Array(repeating: 0, count: value.exponent + 130)
      + String(value.mantissa).reversed().compactMap(\.wholeNumberValue)
  }

  /// The text of the exact sum.
  private static func sum(_ values: [DecimalParts]) -> String {
    var total = [Int](repeating: 0, count: 340)
    for value in values {
      for (place, digit) in digits(value).enumerated() { total[place] += value.isNegative ? -digit : digit }
    }
    func carried(_ digits: [Int]) -> [Int] {
      var (carry, result) = (0, digits)
      for place in result.indices {
        let sum = result[place] + carry
        result[place] = (sum % 10 + 10) % 10
        carry = (sum - result[place]) / 10
      }
      return carry == 0 ? result : []
    }
    var result = carried(total)
    let isNegative = result.isEmpty
    if isNegative { result = carried(total.map { -$0 }) }
    return (isNegative ? "-" : "") + result.reversed().map(String.init).joined() + "e-130"
  }

  @Test func aSumIsExactAndRoundedOnce() throws {
    var random = SeededGenerator()
    for _ in 0..<500 {
      var values = (0..<random.number(in: 0...12)).compactMap { _ in DecimalParts(random.decimal()) }
      // Values that cancel large ones leave the small ones in the sum.
      values += values.filter { _ in random.chance(1, in: 2) }
        .map { DecimalParts(isNegative: !$0.isNegative, mantissa: $0.mantissa, exponent: $0.exponent) }
      var sum = DecimalSum()
      for value in values { sum.add(value) }
      let expected = try #require(DecimalDigits(Self.sum(values)))
      #expect(sum.value == expected.nearestDecimal, "\(values)")
      #expect(sum.average(of: 1) == sum.value)
    }
  }

  static let averages: [(values: [String], average: String)] = [
    (["1", "2"], "1.5"), (["0.1", "0.2", "0.3"], "0.2"), (["-1", "1"], "0"),
    (["2", "0", "0"], "0.\(String(repeating: "6", count: 37))7"),
    (["1e100", "1e-100", "-1e100", "0"], "2.5e-101"),
    (["-2", "0", "0"], "-0.\(String(repeating: "6", count: 37))7"),
    (
      ["340282366920938463463374607431768211455e127", "340282366920938463463374607431768211455e127"],
      "340282366920938463463374607431768211455e127"
    ),
  ]

  @Test(arguments: averages)
  func anAverageIsRoundedOnce(_ row: (values: [String], average: String)) throws {
    var sum = DecimalSum()
    for text in row.values {
      sum.add(try #require(DecimalDigits(text)?.nearestDecimal.flatMap { DecimalParts($0) }))
    }
    let expected = try #require(DecimalDigits(row.average)?.nearestDecimal)
    let average = try #require(sum.average(of: row.values.count))
    #expect(DecimalParts(average)?.canonical == DecimalParts(expected)?.canonical, "\(average)")
  }

  @Test func aSumBeyondTheGreatestIsNone() throws {
    var sum = DecimalSum()
    let greatest = try #require(DecimalParts(Decimal.greatestFiniteMagnitude))
    sum.add(greatest)
    #expect(sum.value == .greatestFiniteMagnitude)
    sum.add(greatest)
    #expect(sum.value == nil)
    #expect(sum.average(of: 2) == .greatestFiniteMagnitude)
  }
}
