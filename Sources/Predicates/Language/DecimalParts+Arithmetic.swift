import Foundation

// Foundation's operators round differently where one number is spelled differently: 1e100 / 1874 has 35 digits, and
// 38 where the mantissa of 1e100 ends in zeros. Equal numbers must have equal results, so the results here are the
// Decimals nearest to the exact ones. All are nil beyond the greatest Decimal.

extension DecimalParts {
  static func sum(_ a: DecimalParts, _ b: DecimalParts) -> Decimal? {
    if let sum = shortSum(a, b) { return sum.decimal }
    var sum = DecimalSum()
    sum.add(a)
    sum.add(b)
    return sum.value
  }

  static func product(_ a: DecimalParts, _ b: DecimalParts) -> Decimal? {
    let exponent = a.exponent + b.exponent
    let (mantissa, overflow) = a.mantissa.multipliedReportingOverflow(by: b.mantissa)
    if overflow || !exponents.contains(exponent) { return DecimalDigits(productOf: a, b)?.nearestDecimal }
    return DecimalParts(isNegative: a.isNegative != b.isNegative, mantissa: mantissa, exponent: exponent)
      .decimal
  }

  /// Returns the quotient. The divisor is not 0.
  static func quotient(_ a: DecimalParts, _ b: DecimalParts) -> Decimal? {
    var (whole, rest) = a.mantissa.quotientAndRemainder(dividingBy: b.mantissa)
    var digits = String(whole)
    // After up to 38 zeros there are more digits than a mantissa has; the rest only decides on which side of a half
    // the number is.
    let step = powersOfTen.count - 1
    for _ in 0..<3 {
      (whole, rest) = b.mantissa.dividingFullWidth(rest.multipliedFullWidth(by: powersOfTen[step]))
      let group = String(whole)
      digits += String(repeating: "0", count: step - group.utf8.count) + group
    }
    let sign = a.isNegative != b.isNegative ? "-" : ""
    let exponent = a.exponent - b.exponent - 3 * step
    return DecimalDigits("\(sign)\(digits)\(rest > 0 ? ".1" : "")e\(exponent)")?.nearestDecimal
  }

  var negated: DecimalParts { DecimalParts(isNegative: !isNegative, mantissa: mantissa, exponent: exponent) }

  /// Returns the exact sum; nil where 128 bits don't hold its mantissa.
  private static func shortSum(_ a: DecimalParts, _ b: DecimalParts) -> DecimalParts? {
    if a.exponent < b.exponent { return shortSum(b, a) }
    guard powersOfTen.indices.contains(a.exponent - b.exponent) else { return nil }
    let (left, isWide) = a.mantissa.multipliedReportingOverflow(by: powersOfTen[a.exponent - b.exponent])
    if isWide { return nil }
    if a.isNegative == b.isNegative {
      let (sum, overflow) = left.addingReportingOverflow(b.mantissa)
      return overflow ? nil : DecimalParts(isNegative: a.isNegative, mantissa: sum, exponent: b.exponent)
    }
    let isNegative = left > b.mantissa ? a.isNegative : b.isNegative
    let difference = left > b.mantissa ? left - b.mantissa : b.mantissa - left
    return DecimalParts(isNegative: isNegative, mantissa: difference, exponent: b.exponent)
  }
}
