import Foundation

/// Sums of decimals as they are written on paper: digit below digit.
struct PlainDecimals {
  /// In units of 10^-`places`, the lowest first; below zero each digit is.
  private var digits: [Int]
  private static let places = 130

  init(sumOf values: [Decimal]) {
    digits = Array(repeating: 0, count: 320)
    for value in values {
      let text = value.significand.magnitude.description
      for (place, digit) in text.reversed().compactMap(\.wholeNumberValue).enumerated() {
        digits[place + value.exponent + Self.places] += value < 0 ? -digit : digit
      }
    }
  }

  /// The sum divided by a count, rounded to what a Decimal holds; missing where it holds none.
  func divided(by count: Int) -> Plain {
    let isNegative = (carried(digits).last ?? 0) < 0
    let magnitude = carried(isNegative ? digits.map { -$0 } : digits)
    var (quotient, remainder) = ([Int](), 0)
    // As many places again as a Decimal has behind the last.
    for digit in magnitude.reversed() + Array(repeating: 0, count: 80) {
      let dividend = remainder * 10 + digit
      quotient.append(dividend / count)
      remainder = dividend % count
    }
    let significant = Array(quotient.drop { $0 == 0 })
    let exponent = -Self.places - 80
    return Self.nearest(significant, isInexact: remainder > 0, exponent, isNegative)
  }

  /// With digits from 0 to 9, all but the last.
  private func carried(_ digits: [Int]) -> [Int] {
    var (result, carry) = (digits, 0)
    for place in result.indices {
      let sum = digits[place] + carry
      let isLast = place == result.count - 1
      result[place] = isLast ? sum : (sum % 10 + 10) % 10
      carry = (sum - result[place]) / 10
    }
    return result
  }

  /// With as many of the digits as fit in 128 bits, and no more places than 128; a half goes to the even digit.
  private static func nearest(_ all: [Int], isInexact: Bool, _ exponent: Int, _ isNegative: Bool) -> Plain {
    for count in [39, 38] {
      let kept = min(all.count, count, all.count + exponent + 128)
      if kept < 0 { return .decimal(0) }
      let rest = all.dropFirst(kept)
      var last = (all.prefix(kept).last ?? 0) % 2
      let isAboveHalf =
        (rest.first ?? 0) > 5 || (rest.first == 5 && (isInexact || rest.dropFirst().contains { $0 > 0 }))
      last = isAboveHalf || (rest.first == 5 && last == 1) ? 1 : 0
      guard let floor = UInt128("0" + all.prefix(kept).map(String.init).joined()) else { continue }
      let (mantissa, overflow) = floor.addingReportingOverflow(UInt128(last))
      if overflow { continue }
      var (digits, places) = (String(mantissa), exponent + rest.count)
      while places > 127 {
        digits += "0"
        places -= 1
      }
      // No Decimal has a greater exponent than 127.
      while digits.count > 1, digits.hasSuffix("0"), places < 127 {
        digits.removeLast()
        places += 1
      }
      if mantissa == 0 { return .decimal(0) }
      guard let value = Decimal(string: "\(isNegative ? "-" : "")\(digits)e\(places)") else {
        return .missing
      }
      return value.isNaN ? .missing : .decimal(value)
    }
    return .missing
  }
}
