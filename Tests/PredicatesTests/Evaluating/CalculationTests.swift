import Foundation
import Testing

@testable import Predicates

struct CalculationTests {
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

  /// Foundation's quotient has 35 digits for the first spelling, and more for the last.
  @Test(arguments: [0, 1, 19, 38])
  func equalDecimalsHaveEqualResults(_ zeros: Int) throws {
    let mantissa = DecimalParts.powersOfTen[zeros]
    let spelled = DecimalParts(isNegative: false, mantissa: mantissa, exponent: 100 - zeros).decimal
    let value = AttributeValue.decimal(try #require(spelled))
    let quotient = try decimal("53361792956243329775880469583778014941e59")
    #expect(PredicateFunction.divide.value(of: [value, .int(1_874)]) == quotient)
    #expect(PredicateFunction.add.value(of: [value, .int(1)]) == (try decimal("1e100")))
    #expect(PredicateFunction.multiply.value(of: [value, .int(3)]) == (try decimal("3e100")))
  }

  /// Halves go to the even digit, and the last digit is right.
  @Test(arguments: [
    ("2", "3", "0.66666666666666666666666666666666666667"),
    ("1", "3", "0.333333333333333333333333333333333333333"),
    ("1", "1e127", "1e-127"), ("1e-128", "2", "0"), ("3e-128", "2", "2e-128"), ("-1e-128", "3", "0"),
    ("340282366920938463463374607431768211455", "1", "340282366920938463463374607431768211455"),
    ("1", "340282366920938463463374607431768211455", "2.93873587705571876992184134305561419456e-39"),
  ])
  func aQuotientIsTheNearestDecimal(_ a: String, _ b: String, _ quotient: String) throws {
    #expect(PredicateFunction.divide.value(of: [try decimal(a), try decimal(b)]) == (try decimal(quotient)))
  }

  @Test func whatIsBeyondTheGreatestDecimalIsNil() throws {
    let greatest = AttributeValue.decimal(.greatestFiniteMagnitude)
    #expect(PredicateFunction.multiply.value(of: [greatest, .int(10)]) == .null)
    #expect(PredicateFunction.divide.value(of: [greatest, try decimal("0.1")]) == .null)
    #expect(PredicateFunction.add.value(of: [greatest, greatest]) == .null)
    #expect(PredicateFunction.subtract.value(of: [greatest, greatest]) == (try decimal("0")))
  }

  private func decimal(_ text: String) throws -> AttributeValue {
    .decimal(try #require(DecimalDigits(text)?.nearestDecimal))
  }

  /// A count above 0 therefore means that some value isn't nil. The engine answers such conditions in this way.
  @Test func aNaNCountsAndTakesNoOtherPart() {
    func value(_ aggregate: PredicateAggregate) -> AttributeValue {
      self.value(aggregate, of: [.null, .double(.nan), .double(2), .decimal(.nan)], .double)
    }
    #expect(value(.count) == .int(3))
    #expect(value(.sum) == .double(2))
    #expect(value(.average) == .double(2))
    #expect(value(.minimum) == .double(2))
    #expect(value(.maximum) == .double(2))
  }

  private func value(
    _ aggregate: PredicateAggregate,
    of values: [AttributeValue],
    _ kind: AttributeKind
  ) -> AttributeValue {
    var accumulator = Accumulator()
    for value in values { accumulator.add(value, to: aggregate) }
    return accumulator.value(of: aggregate, kind)
  }

  @Test func aSumIsMadeGoodAndPassesThroughWhatIsBeyondADouble() {
    func sum(_ values: [Double]) -> AttributeValue { value(.sum, of: values.map { .double($0) }, .double) }
    func average(_ values: [Double]) -> AttributeValue {
      value(.average, of: values.map { .double($0) }, .double)
    }
    let greatest = Double.greatestFiniteMagnitude
    #expect(sum([1, 1e100, 1, -1e100]) == .double(2))
    #expect(sum([greatest, greatest, -greatest, -greatest, 1]) == .double(1))
    #expect(sum([-greatest, -greatest, -greatest, greatest, greatest]) == .double(-greatest))
    #expect(sum([greatest, greatest]) == .null)
    #expect(sum([greatest, greatest, -.infinity]) == .double(-.infinity))
    #expect(sum([.infinity, -.infinity]) == .double(.nan))
    #expect(average([greatest, greatest, greatest]) == .double(greatest))
    #expect(average([greatest, greatest, -greatest, 3]) == .double(greatest / 4))
    #expect(value(.standardDeviation, of: [.double(greatest), .double(-greatest)], .double) == .null)
  }

  @Test func aSumHasTheTypeOfItsValuesThoughThereAreNone() {
    #expect(value(.sum, of: [], .int16) == .int(0))
    #expect(value(.sum, of: [.null], .float) == .double(0))
    #expect(value(.sum, of: [.decimal(.nan)], .decimal) == .decimal(0))
    #expect(value(.sum, of: [.int(.max), .int(1)], .int64) == .null)
    #expect(value(.sum, of: [.int(.max), .int(1)], .uint64) == .uint(1 << 63))
    #expect(value(.average, of: [], .double) == .null)
  }

  @Test func aSumOfSeveralKindsIsOfTheKindThatTheyHaveInCommon() {
    func sum(_ values: AttributeValue...) -> AttributeValue { PredicateFunction.sum.value(of: values) }
    #expect(sum(.int(.max), .int(1)) == .uint(1 << 63))
    #expect(sum(.int(1), .decimal(0.5)) == .decimal(1.5))
    #expect(sum(.int(1), .decimal(0.5), .double(0.25)) == .double(1.75))
    #expect(sum(.int(1), .double(.nan)) == .double(1))
    #expect(PredicateFunction.average.value(of: [.int(1), .null, .double(2)]) == .double(1.5))
  }

  @Test func theMedianLiesBetweenTheValuesInTheMiddle() {
    func median(_ values: [AttributeValue]) -> AttributeValue { value(.median, of: values, .double) }
    let greatest = Double.greatestFiniteMagnitude
    #expect(median([.double(.infinity), .double(0), .double(.infinity)]) == .double(.infinity))
    #expect(median([.double(.infinity), .double(.infinity)]) == .double(.infinity))
    #expect(median([.double(1), .double(.infinity)]) == .double(.infinity))
    #expect(median([.double(greatest), .double(-greatest)]) == .double(0))
    #expect(median([.double(greatest), .double(greatest)]) == .double(greatest))
    #expect(median([.int(.max - 1), .int(.max), .uint((1 << 63) + 1)]) == .double(0x1p63))
    #expect(median([.int((1 << 53) + 1), .int((1 << 53) + 3)]) == .double(0x1p53 + 2))
    #expect(median([.decimal(1), .decimal(4), .null]) == .decimal(2.5))
    #expect(median([.decimal(1), .decimal(4), .decimal(2)]) == .decimal(2))
  }

  @Test(arguments: [-1e-12, -1e-300, -0.0, 0, 1e-12, -86_400.00000000001])
  func theTimeOfDayIsBeforeItsEnd(_ seconds: Double) throws {
    let date = AttributeValue.date(Date(timeIntervalSinceReferenceDate: seconds))
    let isBefore2001 = seconds < 0
    #expect(PredicateFunction.year.value(of: [date]) == .int(isBefore2001 ? 2000 : 2001))
    #expect(PredicateFunction.hour.value(of: [date]) == .int(isBefore2001 ? 23 : 0))
    #expect(PredicateFunction.minute.value(of: [date]) == .int(isBefore2001 ? 59 : 0))
    guard case .string(let text) = PredicateFunction.toText.value(of: [date]) else {
      Issue.record("\(date) has no text")
      return
    }
    #expect(ISO8601Text.date(text) != nil, "\(text)")
  }

  @Test func theTextOfANumberIsReadAsTheNumber() {
    for number: Double in [.infinity, -.infinity, .nan, -.nan, 5, -0.1, 1e300] {
      let text = PredicateFunction.toText.value(of: [.double(number)])
      #expect(PredicateFunction.toNumber.value(of: [text]) == .double(number), "\(text)")
    }
    #expect(PredicateFunction.toText.value(of: [.double(-.nan)]) == .string("nan"))
  }

  @Test func aPlaceBeyondAllElementsHoldsNil() {
    #expect(value(.element(.max), of: [.int(1)], .int64) == .null)
  }
}
