import Foundation

/// The rules for comparing values, for filters over records, for values in memory, and for sorting.
///
/// - Two-valued: nil equals nil and nothing else; every other comparison with nil is false, but `!=`, which is the
///   complement of `==`.
/// - Numbers compare by value, exactly, whatever their types. NaN equals nothing, not even itself, and has no
///   order.
/// - Strings and data compare by their bytes, UUIDs by the bytes of their text, dates as instants.
/// - Values of different kinds are never equal and never in order; a resolved predicate doesn't compare them.
package enum ValueComparison {
  /// Returns whether the comparison holds.
  static func holds(
    _ left: AttributeValue,
    _ comparison: ComparisonOperator,
    _ right: AttributeValue,
    _ options: StringOptions = []
  ) -> Bool {
    switch comparison {
    case .equal: areEqual(left, right, options)
    case .notEqual: !areEqual(left, right, options)
    case .less: order(left, right, options).map { $0 < 0 } ?? false
    case .lessOrEqual: order(left, right, options).map { $0 <= 0 } ?? false
    case .greater: order(left, right, options).map { $0 > 0 } ?? false
    case .greaterOrEqual: order(left, right, options).map { $0 >= 0 } ?? false
    case .beginsWith, .endsWith, .contains, .like, .matches: search(left, comparison, right, options)
    }
  }

  /// Returns whether the values are equal; nil equals nil.
  static func areEqual(
    _ left: AttributeValue,
    _ right: AttributeValue,
    _ options: StringOptions = []
  ) -> Bool {
    if left.isNull || right.isNull { return left.isNull && right.isNull }
    return order(left, right, options) == 0
  }

  /// Returns whether the value is in the range: never where it is nil or NaN.
  static func contains(_ range: ValueRange, _ value: AttributeValue) -> Bool {
    if value.isNull || value.isNaN { return false }
    if let lower = range.lower {
      guard let order = order(value, lower.value), order > 0 || (order == 0 && lower.isIncluded) else {
        return false
      }
    }
    if let upper = range.upper {
      guard let order = order(value, upper.value), order < 0 || (order == 0 && upper.isIncluded) else {
        return false
      }
    }
    return true
  }

  /// Returns a number less than, equal to or greater than 0, as the left value is to the right one; nil if they
  /// have no order: for nil, NaN, or different kinds.
  package static func order(
    _ left: AttributeValue,
    _ right: AttributeValue,
    _ options: StringOptions = []
  ) -> Int? {
    switch (left, right) {
    case (.int(let a), .int(let b)): sign(a, b)
    case (.uint(let a), .uint(let b)): sign(a, b)
    // A `uint` value is always greater than every Int64.
    case (.int, .uint): -1
    case (.uint, .int): 1
    case (.double(let a), .double(let b)): order(a, b)
    case (.int(let a), .double(let b)): order(a, b)
    case (.double(let a), .int(let b)): order(b, a).map { -$0 }
    case (.uint(let a), .double(let b)): order(a, b)
    case (.double(let a), .uint(let b)): order(b, a).map { -$0 }
    case (.decimal(let a), _): DecimalParts(a).flatMap { order($0, right) }
    case (_, .decimal(let b)): DecimalParts(b).flatMap { order($0, left) }.map { -$0 }
    case (.bool(let a), .bool(let b)): sign(a ? 1 : 0, b ? 1 : 0)
    case (.date(let a), .date(let b)):
      order(a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
    case (.string(let a), .string(let b)): ByteComparison.order(a, b, options)
    case (.data(let a), .data(let b)):
      a.withUnsafeBytes { a in b.withUnsafeBytes { b in ByteComparison.order(a, b) } }
    case (.uuid(let a), .uuid(let b)):
      withUnsafeBytes(of: a.uuid) { a in withUnsafeBytes(of: b.uuid) { b in ByteComparison.order(a, b) } }
    case (.reference(let a), .reference(let b)): sign(a, b)
    default: nil
    }
  }

  private static func search(
    _ left: AttributeValue,
    _ comparison: ComparisonOperator,
    _ right: AttributeValue,
    _ options: StringOptions
  ) -> Bool {
    guard case .string(let text) = left, case .string(let pattern) = right else { return false }
    return ByteComparison.matches(text, comparison, pattern, options)
  }
}

// MARK: - Numbers

extension ValueComparison {
  @inlinable
  package static func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  /// Returns the order of two Doubles. Nil with a NaN.
  @inlinable
  package static func order(_ a: Double, _ b: Double) -> Int? {
    a < b ? -1 : a > b ? 1 : a == b ? 0 : nil
  }

  /// Returns the order of an integer and a Double, without rounding either. Nil with a NaN.
  @inlinable
  package static func order<T: FixedWidthInteger>(_ a: T, _ b: Double) -> Int? {
    if b.isNaN { return nil }
    let floor = b.rounded(.down)
    guard let whole = T(exactly: floor) else { return b < 0 ? 1 : -1 }
    return a != whole ? sign(a, whole) : floor == b ? 0 : -1
  }
}

extension ValueComparison {
  /// Returns the order of a decimal and any number, without rounding either. Nil with a NaN, or with no number.
  private static func order(_ a: DecimalParts, _ b: AttributeValue) -> Int? {
    switch b {
    case .int(let value): DecimalParts.order(a, DecimalParts(value))
    case .uint(let value): DecimalParts.order(a, DecimalParts(value))
    case .double(let value): DecimalParts.order(a, value)
    case .decimal(let value): DecimalParts(value).map { DecimalParts.order(a, $0) }
    default: nil
    }
  }
}

// MARK: - Sorting

extension ValueComparison {
  /// Returns the order of sorting and of indexes: total. nil first, NaN last, −0.0 equal to 0.0; strings by bytes.
  /// Values of different kinds, which no attribute mixes, are in the order of their cases.
  package static func sortOrder(_ left: AttributeValue, _ right: AttributeValue) -> Int {
    if let order = order(left, right) { return order }
    return sign(rank(left), rank(right))
  }

  /// Returns whether the first value sorts strictly before the second.
  static func precedes(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
    sortOrder(left, right) < 0
  }

  /// Returns the rank of the kind among kinds, and of NaN after its own kind.
  private static func rank(_ value: AttributeValue) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .int, .uint: 2
    case .double, .decimal: value.isNaN ? 3 : 2
    case .date: value.isNaN ? 5 : 4
    case .uuid: 6
    case .string: 7
    case .data: 8
    case .reference: 9
    }
  }
}

extension AttributeValue {
  /// True if the value is a number or an instant that has no position in any order.
  package var isNaN: Bool {
    switch self {
    case .double(let value): value.isNaN
    case .decimal(let value): value.isNaN
    case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }
}
