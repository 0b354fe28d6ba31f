import Foundation

// Calculated values. No input traps: nil, an overflow and a division by zero give nil.

extension ValueExpression {
  /// Returns the function of this value and others.
  func call<Result>(
    _ function: PredicateFunction,
    _ others: PredicateOperand...
  ) -> ValueExpression<Root, Result> {
    ValueExpression<Root, Result>(operand.flatMap { PredicateOperand.calling(function, [$0] + others) })
  }

  static func call<Result, Other>(
    _ function: PredicateFunction,
    _ left: Self,
    _ right: ValueExpression<Root, Other>
  ) -> ValueExpression<Root, Result> {
    ValueExpression<Root, Result>(
      left.operand.flatMap { left in
        right.operand.flatMap { PredicateOperand.calling(function, [left, $0]) }
      }
    )
  }
}

extension PredicateOperand {
  /// Returns the function's value, unless the function is nested too deeply.
  fileprivate static func calling(
    _ function: PredicateFunction,
    _ arguments: [PredicateOperand]
  ) -> Result<PredicateOperand, QueryError> {
    PredicateOperand(.function(function, arguments)).unlessTooDeep
  }

  /// The operand; a mistake if it is nested too deeply.
  fileprivate var unlessTooDeep: Result<PredicateOperand, QueryError> {
    depth > PredicateTree.maximumDepth ? .failure(.nestedTooDeeply) : .success(self)
  }
}

// MARK: - Numbers

extension ValueExpression where Value: AttributeType & Numeric {
  /// Returns the sum; nil where an integer doesn't fit 64 bits.
  public static func + (left: Self, right: Value) -> Self { left.call(.add, right.operand) }
  /// Returns the sum; nil where an integer doesn't fit 64 bits.
  public static func + (left: Self, right: Self) -> Self { call(.add, left, right) }
  /// Returns the difference; nil where an integer doesn't fit 64 bits.
  public static func - (left: Self, right: Value) -> Self { left.call(.subtract, right.operand) }
  /// Returns the difference; nil where an integer doesn't fit 64 bits.
  public static func - (left: Self, right: Self) -> Self { call(.subtract, left, right) }
  /// Returns the product; nil where an integer doesn't fit 64 bits.
  public static func * (left: Self, right: Value) -> Self { left.call(.multiply, right.operand) }
  /// Returns the product; nil where an integer doesn't fit 64 bits.
  public static func * (left: Self, right: Self) -> Self { call(.multiply, left, right) }
  /// Returns the quotient; of integers cut off towards 0. Nil for a division by 0.
  public static func / (left: Self, right: Value) -> Self { left.call(.divide, right.operand) }
  /// Returns the quotient; of integers cut off towards 0. Nil for a division by 0.
  public static func / (left: Self, right: Self) -> Self { call(.divide, left, right) }
  /// Returns the number with the other sign; nil where an integer doesn't fit 64 bits.
  public static prefix func - (value: Self) -> Self { value.call(.negate) }

  /// The number as a Double: `$0.seconds.double / 60 > 2.5`.
  public var double: ValueExpression<Root, Double> { call(.toNumber) }
  /// The number without its sign.
  public var magnitude: Self { call(.absolute) }
}

extension ValueExpression where Value: AttributeType & BinaryInteger {
  /// Returns the remainder, with the sign of the left side. Nil for a division by 0.
  public static func % (left: Self, right: Value) -> Self { left.call(.modulus, right.operand) }
  /// Returns the remainder, with the sign of the left side. Nil for a division by 0.
  public static func % (left: Self, right: Self) -> Self { call(.modulus, left, right) }

  // No function converts the value: conditions compare integers of any type, and calculate with them, by value.

  /// The integer as an Int, beside integers of another type: `$0.seconds > $0.minutes.int * 60`. An integer beyond the
  /// range of Int keeps its value.
  public var int: ValueExpression<Root, Int> { ValueExpression<Root, Int>(operand) }
}

extension ValueExpression where Value: AttributeType & BinaryFloatingPoint {
  /// Returns the number rounded to an integer, away from 0 at a half.
  public func rounded() -> Self { call(.round) }
  /// Returns the square root; nil of a number below 0.
  public func squareRoot() -> Self { call(.squareRoot) }
}

extension ValueExpression where Value: AttributeType {
  /// Returns the value, or another where it is missing.
  public static func ?? (left: Self, right: Value) -> Self {
    Self(left.operand.flatMap { $0.replacingNil(with: right.operand).unlessTooDeep })
  }
}

extension ValueExpression where Value == Bool {
  /// Returns the condition that the value is true, or `right` where it is missing: `{ $0.isFull ?? true }`.
  @_disfavoredOverload
  public static func ?? (left: Self, right: Bool) -> Where<Root> {
    let value: Self = left ?? right
    return value == true
  }
}

// MARK: - Strings

extension ValueExpression where Value == String {
  /// Returns the string with another behind it.
  public static func + (left: Self, right: String) -> Self { left.call(.add, right.operand) }
  /// Returns the string with another behind it.
  public static func + (left: Self, right: Self) -> Self { call(.add, left, right) }

  /// Returns the string in lower case, by no locale's rules.
  public func lowercased() -> Self { call(.lowercase) }
  /// Returns the string in upper case, by no locale's rules.
  public func uppercased() -> Self { call(.uppercase) }
  /// Returns the string without white space at both ends.
  public func trimmed() -> Self { call(.trim) }
  /// The number of characters.
  public var count: ValueExpression<Root, Int> { call(.length) }
  /// The condition that the string has no characters. False where it is missing.
  public var isEmpty: Where<Root> { compare(.equal, "".operand) }
}

// MARK: - Dates

extension ValueExpression where Value == Date {
  /// Returns the instant this many seconds later.
  public func addingTimeInterval(_ seconds: TimeInterval) -> Self { call(.add, seconds.operand) }

  /// Returns the seconds since another instant.
  public func timeIntervalSince(_ other: Self) -> ValueExpression<Root, Double> {
    Self.call(.subtract, self, other)
  }
  /// Returns the seconds since another instant.
  public func timeIntervalSince(_ other: Date) -> ValueExpression<Root, Double> {
    call(.subtract, other.operand)
  }

  // Parts of the date in UTC and the proleptic Gregorian calendar.

  /// The year.
  public var year: ValueExpression<Root, Int> { call(.year) }
  /// The month, 1 to 12.
  public var month: ValueExpression<Root, Int> { call(.month) }
  /// The day of the month, from 1.
  public var day: ValueExpression<Root, Int> { call(.day) }
  /// The hour, 0 to 23.
  public var hour: ValueExpression<Root, Int> { call(.hour) }
  /// The minute, 0 to 59.
  public var minute: ValueExpression<Root, Int> { call(.minute) }
  /// The weekday, 1 for Sunday to 7 for Saturday.
  public var weekday: ValueExpression<Root, Int> { call(.weekday) }
}
