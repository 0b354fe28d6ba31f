/// A decimal number taken apart: ± mantissa × 10^exponent, exactly. The value of a `Decimal` that is not NaN.
///
/// Foundation has arithmetic for Decimals but no order that includes other types, no bytes to store and no access to
/// the digits but text. This type has all of these.
package struct DecimalParts: Sendable, Hashable {
  /// True if the number is below zero; never true for zero.
  let isNegative: Bool
  let mantissa: UInt128
  /// The exponent of ten. A `Decimal` has one of ``exponents``; intermediate spellings, such as those without zeros at
  /// the mantissa's end, can have a greater one.
  let exponent: Int

  /// The exponents that a `Decimal` has room for.
  static let exponents = -128...127

  package init(isNegative: Bool, mantissa: UInt128, exponent: Int) {
    self.isNegative = isNegative && mantissa != 0
    self.mantissa = mantissa
    self.exponent = exponent
  }

  init(_ value: some BinaryInteger) {
    self.init(isNegative: value < 0, mantissa: UInt128(value.magnitude), exponent: 0)
  }
}

// MARK: - Spellings

extension DecimalParts {
  /// The one spelling of the number: no zeros at the mantissa's end, and exponent 0 for zero.
  package var canonical: DecimalParts {
    if mantissa == 0 { return DecimalParts(0) }
    var (mantissa, exponent) = (mantissa, exponent)
    while mantissa > UInt64.max, mantissa % 10 == 0 {
      mantissa /= 10
      exponent += 1
    }
    if var short = UInt64(exactly: mantissa) {
      while short % 10 == 0 {
        short /= 10
        exponent += 1
      }
      mantissa = UInt128(short)
    }
    return DecimalParts(isNegative: isNegative, mantissa: mantissa, exponent: exponent)
  }

  /// The number with an exponent that a `Decimal` has room for; nil where there is no such spelling.
  var fitted: DecimalParts? {
    if Self.exponents.contains(exponent) { return self }
    if mantissa == 0 { return DecimalParts(0) }
    let zeros = exponent - Self.exponents.upperBound
    guard Self.powersOfTen.indices.contains(zeros) else { return nil }
    let (mantissa, overflow) = mantissa.multipliedReportingOverflow(by: Self.powersOfTen[zeros])
    if overflow { return nil }
    return DecimalParts(isNegative: isNegative, mantissa: mantissa, exponent: Self.exponents.upperBound)
  }

  /// 1, 10, … 10^38: all that 128 bits hold.
  static let powersOfTen: [UInt128] = (0...38).map { (0..<$0).reduce(1) { power, _ in power * 10 } }

  /// The number of digits of the mantissa; 0 for a mantissa of 0.
  var digitCount: Int {
    // log10(2) ≈ 1233 / 4096, which is exact enough for 128 bits.
    let guess = ((UInt128.bitWidth - mantissa.leadingZeroBitCount) * 1233) >> 12
    return guess < Self.powersOfTen.count && mantissa >= Self.powersOfTen[guess] ? guess + 1 : guess
  }

  /// The position of the point, counted from the first digit: 1 for 1.25, 0 for 0.125.
  var pointPosition: Int { digitCount + exponent }
}

// MARK: - Order

extension DecimalParts {
  /// The sign: −1, 0 or 1.
  var signum: Int { isNegative ? -1 : mantissa == 0 ? 0 : 1 }

  /// Returns a number less than, equal to or greater than 0, as the first number is to the second.
  static func order(_ a: DecimalParts, _ b: DecimalParts) -> Int {
    if a.signum != b.signum || a.signum == 0 { return ValueComparison.sign(a.signum, b.signum) }
    let order = orderOfMagnitudes(a, b)
    return a.isNegative ? -order : order
  }

  private static func orderOfMagnitudes(_ a: DecimalParts, _ b: DecimalParts) -> Int {
    if a.exponent == b.exponent { return ValueComparison.sign(a.mantissa, b.mantissa) }
    if a.exponent < b.exponent { return -orderOfMagnitudes(b, a) }
    let (left, right) = (a.pointPosition, b.pointPosition)
    if left != right { return ValueComparison.sign(left, right) }
    // The points are at the same position, so the exponents differ by no more than there are digits.
    let power = powersOfTen[a.exponent - b.exponent]
    let (mantissa, overflow) = a.mantissa.multipliedReportingOverflow(by: power)
    return overflow ? 1 : ValueComparison.sign(mantissa, b.mantissa)
  }

  /// Returns the order of a number and a Double, rounding neither. Nil with a NaN.
  static func order(_ a: DecimalParts, _ b: Double) -> Int? {
    if b.isNaN { return nil }
    if b.isInfinite { return b < 0 ? 1 : -1 }
    let sign = ValueComparison.sign(b, 0)
    if a.signum != sign || sign == 0 { return ValueComparison.sign(a.signum, sign) }
    // The Double is whole × 2^power.
    let power = max(Int(b.exponent), -1022) - Double.significandBitCount
    let whole = UInt128(Double(sign: .plus, exponent: -power, significand: b.magnitude))
    var (left, right) = (WideInteger(a.mantissa), WideInteger(whole))
    left.scale(tens: max(0, a.exponent), twos: max(0, -power))
    right.scale(tens: max(0, -a.exponent), twos: max(0, power))
    return sign * WideInteger.order(left, right)
  }
}
