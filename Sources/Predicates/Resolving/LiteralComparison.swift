import Foundation

/// Comparisons that name no attribute, such as `5 < 6`: they are evaluated while the predicate is resolved.
enum LiteralComparison {
  /// Returns whether the comparison of two literals holds.
  ///
  /// - Throws: `typeMismatch` where the two have no common type.
  static func holds(
    _ left: PredicateOperand,
    _ comparison: ComparisonOperator,
    _ right: PredicateOperand,
    _ options: StringOptions
  ) throws(QueryError) -> Bool {
    if case .reference(let first) = left.content, case .reference(let second) = right.content {
      switch comparison {
      case .equal: return first == second
      case .notEqual: return first != second
      default: break
      }
    } else if let first = left.literalValue(beside: right), let second = right.literalValue(beside: left),
      isAllowed(first, comparison, second, options)
    {
      return ValueComparison.holds(first, comparison, second, options)
    }
    let message =
      "\(left.noun.capitalizedFirst) can't be compared with \(right.noun) by \(comparison.rawValue)."
    throw QueryError(.typeMismatch, message).at(right.location)
  }

  private static func isAllowed(
    _ left: AttributeValue,
    _ comparison: ComparisonOperator,
    _ right: AttributeValue,
    _ options: StringOptions
  ) -> Bool {
    if left.isNull || right.isNull { return true }
    switch (left, right) {
    case (.string, .string): return true
    case (.bool, .bool), (.date, .date), (.uuid, .uuid), (.data, .data):
      return !comparison.isStringOperator && options.isEmpty
    case _ where left.isNumber && right.isNumber:
      return !comparison.isStringOperator && options.isEmpty
    case (.reference, .reference):
      return !comparison.isStringOperator && !comparison.isOrdering && options.isEmpty
    default: return false
    }
  }
}

extension PredicateOperand {
  /// The value of a literal; nil for paths. Digits are rounded to the nearest Double, the default type of a
  /// number in text; a reference to an object loses its entity.
  var literalValue: AttributeValue? {
    switch content {
    case .path, .object, .variable, .function, .conditional, .collection, .aggregate: nil
    case .value(let value): value
    case .digits(let digits): .double(digits.nearestDouble)
    case .reference(let object): .reference(object.number)
    }
  }

  /// Returns the same value as ``literalValue``, with a few exceptions. Beside a Decimal, digits become a Decimal,
  /// and a Double becomes the Decimal of its shortest digits. Beside an integer, digits are placed exactly. Beside a
  /// date or a UUID, a string is read as one, and beside a Bool, 0 and 1 are Bools.
  fileprivate func literalValue(beside other: PredicateOperand) -> AttributeValue? {
    switch (content, other.content) {
    case (_, .value(.decimal)): nearestDecimal.map(AttributeValue.decimal) ?? literalValue
    case (.digits(let digits), .value(.int)), (.digits(let digits), .value(.uint)): digits.amongIntegers
    case (.value(.string(let text)), .value(.date)):
      ISO8601Text.date(text).map(AttributeValue.date) ?? literalValue
    case (.value(.string(let text)), .value(.uuid)):
      UUID(uuidString: text).map(AttributeValue.uuid) ?? literalValue
    case (.value(.int(0)), .value(.bool)): .bool(false)
    case (.value(.int(1)), .value(.bool)): .bool(true)
    default: literalValue
    }
  }

  private var nearestDecimal: Decimal? {
    switch content {
    case .digits(let digits): digits.nearestDecimal
    case .value(let value): value.decimalDigits?.nearestDecimal
    default: nil
    }
  }
}

extension DecimalDigits {
  /// A value that compares with every integer as the number does: the number if it is an integer, else the integer
  /// below it plus one half.
  var amongIntegers: AttributeValue {
    guard let (floor, isExact) = floor, let whole = floor.exactDecimal else {
      return .double(isNegative ? -.infinity : .infinity)
    }
    return isExact ? floor : .decimal(whole + Decimal(sign: .plus, exponent: -1, significand: 5))
  }
}

extension AttributeValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .int, .uint, .double, .decimal: true
    default: false
    }
  }
}

extension String {
  /// The string with a capital at its start, for the start of a sentence.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
