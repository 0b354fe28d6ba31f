/// What can be calculated from values.
///
/// Whatever an argument is, nothing traps: with nil among the arguments, with an integer result that 64 bits don't hold, or
/// with a division by zero the result is nil; ``equal`` and the like then say what they say of nil.
public enum PredicateFunction: String, Sendable, Hashable, CaseIterable {
  // MARK: Numbers

  /// The sum; of two strings their concatenation, of a date and a number a date so many seconds later.
  case add
  /// The difference; of two dates the seconds from the second to the first.
  case subtract
  case multiply
  /// The quotient; of two integers cut off towards 0.
  case divide
  /// The remainder, with the sign of the first argument.
  case modulus
  case negate
  /// Always a floating-point number.
  case power
  case squareRoot = "sqrt"
  /// To the base 10.
  case logarithm = "log"
  case naturalLogarithm = "ln"
  case exponential = "exp"
  case floor
  case ceiling
  /// Away from 0 at a half.
  case round
  case truncate = "trunc"
  case absolute = "abs"
  case bitwiseAnd
  case bitwiseOr
  case bitwiseXor
  case leftShift
  case rightShift
  case onesComplement

  // MARK: Of any number of arguments

  /// The least of the arguments that are neither nil nor NaN.
  case minimum = "min"
  /// The greatest of them.
  case maximum = "max"
  case sum
  case average

  // MARK: Strings

  case lowercase
  case uppercase
  /// Characters (grapheme clusters), as Swift's `count`.
  case length
  /// Without white space at both ends.
  case trim

  // MARK: Dates, in UTC and the proleptic Gregorian calendar

  /// The instant at which the query began.
  case now
  case year
  case month
  case day
  case hour
  case minute
  /// With its fraction.
  case second
  /// 1 for Sunday to 7 for Saturday.
  case weekday

  // MARK: Conversions

  /// A string's number, or a number as it is.
  case toNumber
  /// A value's text.
  case toText
  /// The instant of seconds since 1 January 2001 UTC, or of ISO 8601's text.
  case toDate
}

extension PredicateFunction {
  /// How many arguments it takes.
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
