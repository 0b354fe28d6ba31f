/// A function of values.
///
/// No argument causes a trap. The result is nil for nil among the arguments, for an integer result that 64 bits
/// can't hold, and for a division by zero; ``ComparisonOperator/equal`` and the like then compare with nil.
public enum PredicateFunction: String, Sendable, Hashable, CaseIterable {
  // MARK: Numbers

  /// The sum; of two strings their concatenation, of a date and a number the date that many seconds later.
  case add
  /// The difference; of two dates the seconds from the second to the first.
  case subtract
  /// The product.
  case multiply
  /// The quotient; of two integers cut off towards 0.
  case divide
  /// The remainder, with the sign of the first argument.
  case modulus
  /// The number with the other sign.
  case negate
  /// The power, always a floating-point number.
  case power
  /// The square root, as a floating-point number; nil below 0.
  case squareRoot = "sqrt"
  /// The logarithm to the base 10.
  case logarithm = "log"
  /// The natural logarithm, as a floating-point number.
  case naturalLogarithm = "ln"
  /// e raised to the argument, as a floating-point number.
  case exponential = "exp"
  /// The greatest whole number that is not above the argument.
  case floor
  /// The least whole number that is not below the argument.
  case ceiling
  /// The nearest whole number, away from 0 at a half.
  case round
  /// The whole number next to the argument on the side of 0.
  case truncate = "trunc"
  /// The number without its sign.
  case absolute = "abs"
  /// The bits that are set in both integers.
  case bitwiseAnd
  /// The bits that are set in one of two integers, or in both.
  case bitwiseOr
  /// The bits that are set in exactly one of two integers.
  case bitwiseXor
  /// The first integer shifted to the left by the second; nil unless the second is 0 to 63, and where 64 bits don't
  /// hold the result.
  case leftShift
  /// The first integer shifted to the right by the second, keeping its sign; nil unless the second is 0 to 63.
  case rightShift
  /// The integer with every bit turned over.
  case onesComplement

  // MARK: Of any number of arguments

  /// The least of the arguments that are neither nil nor NaN.
  case minimum = "min"
  /// The greatest of the arguments that are neither nil nor NaN.
  case maximum = "max"
  /// The sum of the arguments that are neither nil nor NaN; 0 of none.
  case sum
  /// The average of the arguments that are neither nil nor NaN; nil of none.
  case average

  // MARK: Strings

  /// The string in lower case, by no locale's rules.
  case lowercase
  /// The string in upper case, by no locale's rules.
  case uppercase
  /// The number of characters (grapheme clusters), as Swift's `count`.
  case length
  /// The string without white space at both ends.
  case trim

  // MARK: Dates, in UTC and the proleptic Gregorian calendar

  /// The instant at which the query began.
  case now
  /// The year.
  case year
  /// The month, 1 to 12.
  case month
  /// The day of the month, from 1.
  case day
  /// The hour, 0 to 23.
  case hour
  /// The minute, 0 to 59.
  case minute
  /// The second, with its fraction.
  case second
  /// The weekday, 1 for Sunday to 7 for Saturday.
  case weekday

  // MARK: Conversions

  /// A string's number, a date's seconds since 1 January 2001 UTC, or a number as it is.
  case toNumber
  /// A value's text.
  case toText
  /// The instant of seconds since 1 January 2001 UTC, or of ISO 8601's text.
  case toDate
}

extension PredicateFunction {
  /// The numbers of arguments that the function takes.
  public var argumentCounts: ClosedRange<Int> {
    switch self {
    case .now: 0...0
    case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor,
      .leftShift, .rightShift:
      2...2
    case .minimum, .maximum, .sum, .average: 1...1_000
    default: 1...1
    }
  }
}
