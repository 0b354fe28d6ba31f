import Foundation

/// Decimals calculated as on paper: digit below digit.
struct PlainDecimals {
  /// The digits in units of 10^-`places`, the lowest first. In a negative number, each digit is negative.
  private var digits: [Int]
  private static let places = 130

  init(sumOf values: [Decimal]) {
    digits = Array(repeating: 0, count: 320)
    for value in values {
      for (place, digit) in Self.mantissa(value).reversed().enumerated() {
        digits[place + value.exponent + Self.places] += value < 0 ? -digit : digit
      }
    }
  }

  /// The sum divided by a count, rounded to what a Decimal holds; missing where it holds none.
  func divided(by count: Int) -> Plain {
    let isNegative = (carried(digits).last ?? 0) < 0
    let magnitude = carried(isNegative ? digits.map { -$0 } : digits)
    var (quotient, remainder) = ([Int](), 0)
    // Additional places after the last one: twice as many as a Decimal has.
    for digit in magnitude.reversed() + Array(repeating: 0, count: 80) {
      let dividend = remainder * 10 + digit
      quotient.append(dividend / count)
      remainder = dividend % count
    }
    let significant = Array(quotient.drop { $0 == 0 })
    let exponent = -Self.places - 80
    return Self.nearest(significant, isInexact: remainder > 0, exponent, isNegative)
  }

  static func product(_ a: Decimal, _ b: Decimal) -> Plain {
    let (left, right) = (mantissa(a), mantissa(b))
    var columns = [Int](repeating: 0, count: left.count + right.count)
    for (row, x) in left.reversed().enumerated() {
      for (column, y) in right.reversed().enumerated() { columns[row + column] += x * y }
    }
    for place in columns.indices.dropLast() {
      columns[place + 1] += columns[place] / 10
      columns[place] %= 10
    }
    let digits = Array(columns.reversed().drop { $0 == 0 })
    return nearest(digits, isInexact: false, a.exponent + b.exponent, (a < 0) != (b < 0))
  }

  /// Returns the quotient by long division: each step counts how often the divisor goes into the remainder, and
  /// appends the next digit.
  static func quotient(_ a: Decimal, _ b: Decimal) -> Plain {
    let divisor = mantissa(b)
    var (rest, digits) = ([Int](), [Int]())
    for digit in mantissa(a) + Array(repeating: 0, count: 80) {
      rest = Array((rest + [digit]).drop { $0 == 0 })
      var count = 0
      while let difference = difference(rest, divisor) {
        rest = difference
        count += 1
      }
      digits.append(count)
    }
    let significant = Array(digits.drop { $0 == 0 })
    return nearest(significant, isInexact: !rest.isEmpty, a.exponent - b.exponent - 80, (a < 0) != (b < 0))
  }

  /// Without zeros in front; nil below zero.
  private static func difference(_ a: [Int], _ b: [Int]) -> [Int]? {
    if a.count < b.count || (a.count == b.count && a.lexicographicallyPrecedes(b)) { return nil }
    var digits = a
    for (place, digit) in zip(a.indices.reversed(), b.reversed()) { digits[place] -= digit }
    for place in digits.indices.reversed() where digits[place] < 0 {
      digits[place] += 10
      digits[place - 1] -= 1
    }
    return Array(digits.drop { $0 == 0 })
  }

  /// The digits, the highest first.
  private static func mantissa(_ value: Decimal) -> [Int] {
    Array(value.significand.magnitude.description.compactMap(\.wholeNumberValue).drop { $0 == 0 })
  }

  /// Returns the digits carried: all digits except the last are from 0 to 9.
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

  /// Returns the nearest value with as many digits as fit in 128 bits, and at most 128 places. A half is rounded to
  /// the even digit.
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
