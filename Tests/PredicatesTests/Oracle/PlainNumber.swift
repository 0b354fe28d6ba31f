import Foundation

/// Numbers of different kinds against each other, without rounding.
enum PlainNumber {
  static func precedes(_ a: Int128, _ b: Double) -> Bool {
    if b == .infinity || b >= 0x1p100 { return true }
    if b == -.infinity || b <= -0x1p100 { return false }
    let whole = Int128(b.rounded(.down))
    return a < whole || (a == whole && b > b.rounded(.down))
  }

  static func precedes(_ a: Double, _ b: Int128) -> Bool {
    if a == .infinity || a >= 0x1p100 { return false }
    if a == -.infinity || a <= -0x1p100 { return true }
    return Int128(a.rounded(.down)) < b
  }

  /// What a record holds of a decimal.
  static func parts(of value: Decimal) -> (sign: UInt8, exponent: Int8, mantissa: UInt128) {
    if value.isNaN { return (2, 0, 0) }
    let digits = value.significand.magnitude.description
    return (value < 0 ? 1 : 0, Int8(value.exponent), UInt128(digits) ?? 0)
  }
}

extension PlainNumber {
  /// The whole number below or above.
  ///
  /// - Parameter isAwayFromZero: whether the result is away from zero, by the sign and by whether the part that is cut off is a half or more.
  static func rounded(
    _ value: Decimal,
    _ isAwayFromZero: (_ isHalfOrMore: Bool, _ isNegative: Bool) -> Bool
  ) -> Plain {
    let (sign, exponent, mantissa) = parts(of: value)
    if exponent >= 0 { return .decimal(value) }
    // For smaller exponents the value is below a half: no mantissa is as great as half of a number with 40 digits.
    let unit = exponent < -38 ? nil : (0..<(-exponent)).reduce(UInt128(1)) { unit, _ in unit * 10 }
    let (whole, rest) = unit.map { mantissa.quotientAndRemainder(dividingBy: $0) } ?? (0, mantissa)
    let isHalfOrMore = unit.map { rest >= $0 - rest } ?? false
    let digits = whole + (rest > 0 && isAwayFromZero(isHalfOrMore, sign == 1) ? 1 : 0)
    return Decimal(string: "\(sign == 1 ? "-" : "")\(digits)").map(Plain.decimal) ?? .missing
  }
}

// Comparison of decimals with all numbers, digit by digit.
extension PlainNumber {
  /// Two numbers, of which one at least is a decimal.
  static func precedes(decimal a: Plain, _ b: Plain) -> Bool {
    if case .decimal(let a) = a, case .decimal(let b) = b { return a < b }
    let (left, right) = (Digits(a), Digits(b))
    if left.side != right.side { return left.side < right.side }
    return left.side < 0 ? right.isSmaller(than: left) : left.isSmaller(than: right)
  }

  /// All of a number's digits.
  private struct Digits {
    /// Negative, 0 or positive; of greater magnitude for infinities.
    var side: Int
    /// Before the point, without zeros in front.
    var whole: [UInt8] = []
    /// After the point, without zeros at the end.
    var fraction: [UInt8] = []

    init(_ number: Plain) {
      var text: String
      switch number {
      case .decimal(let value): text = value.description
      case .whole(let value): text = "\(value)"
      case .real(let value):
        if value.isInfinite {
          side = value < 0 ? -2 : 2
          return
        }
        // C prints the requested number of digits; no Double has more.
        text = String(format: "%.1074f", value)
      default: text = "0"
      }
      side = text.hasPrefix("-") ? -1 : 1
      if side < 0 { text.removeFirst() }
      let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      whole = Array(parts[0].drop { $0 == UInt8(ascii: "0") })
      if parts.count > 1 { fraction = Array(parts[1]) }
      while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
      if whole.isEmpty, fraction.isEmpty { side = 0 }
    }

    /// Without the sign.
    func isSmaller(than other: Digits) -> Bool {
      if whole.count != other.whole.count { return whole.count < other.whole.count }
      if whole != other.whole { return whole.lexicographicallyPrecedes(other.whole) }
      return fraction.lexicographicallyPrecedes(other.fraction)
    }
  }
}
