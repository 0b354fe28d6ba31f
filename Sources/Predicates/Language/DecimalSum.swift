import Foundation

/// An exact sum of decimals, whatever their order and exponents; it is rounded once, when it is asked for.
struct DecimalSum {
  /// The mantissas that were added with one exponent. No number of rows overflows a total.
  private struct Total {
    let exponent: Int
    var positive = WideTotal()
    var negative = WideTotal()
  }
  /// A sum of 128-bit numbers.
  private struct WideTotal {
    var low: UInt128 = 0
    var carries: UInt64 = 0

    @inline(__always)
    mutating func add(_ value: UInt128) {
      let (sum, overflow) = low.addingReportingOverflow(value)
      low = sum
      if overflow { carries += 1 }
    }

    var wide: WideInteger {
      var result = WideInteger(UInt128(carries))
      result.scale(tens: 0, twos: UInt128.bitWidth)
      result.add(WideInteger(low))
      return result
    }
  }

  /// The totals, one for each exponent: prices and the like have few exponents.
  private var totals: [Total] = []

  mutating func add(_ value: DecimalParts) {
    let place: Int
    if let known = totals.firstIndex(where: { $0.exponent == value.exponent }) {
      place = known
    } else {
      place = totals.count
      totals.append(Total(exponent: value.exponent))
    }
    if value.isNegative {
      totals[place].negative.add(value.mantissa)
    } else {
      totals[place].positive.add(value.mantissa)
    }
  }

  /// The nearest Decimal to the sum; nil beyond the greatest.
  var value: Decimal? { quotient(1, places: 0)?.nearestDecimal }

  /// The nearest Double to the sum.
  var nearestDouble: Double? { quotient(1, places: 0)?.nearestDouble }

  /// Returns the nearest Decimal to the sum divided by a count, which isn't 0.
  func average(of count: Int) -> Decimal? {
    // More decimal places than a Decimal has: the digits that are cut off only decide on which side of a half the
    // number is.
    quotient(UInt64(count), places: 2 * DecimalParts.powersOfTen.count)?.nearestDecimal
  }

  private func quotient(_ divisor: UInt64, places: Int) -> DecimalDigits? {
    let least = totals.map(\.exponent).min() ?? 0
    var (positive, negative) = (WideInteger(0), WideInteger(0))
    for total in totals {
      add(total.positive, scaledBy: total.exponent - least, to: &positive)
      add(total.negative, scaledBy: total.exponent - least, to: &negative)
    }
    let isNegative = WideInteger.order(positive, negative) < 0
    if isNegative { swap(&positive, &negative) }
    positive.subtract(negative)
    positive.scale(tens: places)
    let remainder = divisor == 1 ? 0 : positive.divide(by: divisor)
    let text = "\(isNegative ? "-" : "")\(positive.digits)\(remainder > 0 ? ".1" : "")e\(least - places)"
    return DecimalDigits(text)
  }

  private func add(_ total: WideTotal, scaledBy tens: Int, to sum: inout WideInteger) {
    var wide = total.wide
    wide.scale(tens: tens)
    sum.add(wide)
  }
}

extension DecimalParts {
  /// Returns the Decimal nearest to the number half way between two.
  static func mean(_ first: DecimalParts, _ second: DecimalParts) -> Decimal? {
    var sum = DecimalSum()
    sum.add(first)
    sum.add(second)
    return sum.average(of: 2)
  }
}
