import Foundation

// Arithmetic on Decimals, and on Decimals and integers, is Foundation's: exact as far as 38 digits go. What Foundation can't
// calculate, such as a square root, is calculated as a Double.

extension PredicateFunction {
  /// The value for two Decimals; nil where Doubles have to do.
  static func decimal(_ function: PredicateFunction, _ a: Decimal, _ b: Decimal) -> AttributeValue? {
    switch function {
    case .add: .decimal(a + b, isNaN: a.isNaN || b.isNaN)
    case .subtract: .decimal(a - b, isNaN: a.isNaN || b.isNaN)
    case .multiply: .decimal(product(a, b), isNaN: a.isNaN || b.isNaN)
    case .divide: b == 0 ? .null : .decimal(a / b, isNaN: a.isNaN || b.isNaN)
    default: nil
    }
  }

  /// Foundation's product, except where it has more than 128 digits after the point: there Foundation traps, and the product is
  /// rounded to as many.
  private static func product(_ a: Decimal, _ b: Decimal) -> Decimal {
    guard let left = DecimalParts(a), let right = DecimalParts(b),
      left.exponent + right.exponent < DecimalParts.exponents.lowerBound
    else { return a * b }
    return DecimalDigits(productOf: left, right)?.nearestDecimal ?? .nan
  }

  /// The value for one Decimal; nil where Doubles have to do.
  static func decimal(_ function: PredicateFunction, _ value: Decimal) -> AttributeValue? {
    if value.isNaN { return nil }
    return switch function {
    case .negate: .decimal(-value)
    case .absolute: .decimal(value.magnitude)
    case .floor: .decimal(value.rounded(.down))
    case .ceiling: .decimal(value.rounded(.up))
    case .round: .decimal(value.rounded(.plain))
    case .truncate: .decimal(value.rounded(value < 0 ? .up : .down))
    default: nil
    }
  }
}

extension Decimal {
  /// To a whole number; `down` and `up` are those of the number line.
  fileprivate func rounded(_ mode: RoundingMode) -> Decimal {
    var (result, value) = (Decimal(), self)
    NSDecimalRound(&result, &value, 0, mode)
    return result
  }
}

extension AttributeValue {
  /// The value of a Decimal or an integer; nil for everything else.
  var exactDecimal: Decimal? {
    switch self {
    case .decimal(let value): value
    case .int(let value): Decimal(value)
    case .uint(let value): Decimal(value)
    default: nil
    }
  }

  /// A number's digits, without the cast that a format string needs.
  var digitText: String {
    switch self {
    case .decimal(let value): value.description
    case .double(let value) where !value.isFinite: value.isNaN ? "nan" : value < 0 ? "-inf" : "inf"
    default: formatText
    }
  }

  /// The number; nil (`null`) where numbers have led to none.
  fileprivate static func decimal(_ value: Decimal, isNaN: Bool) -> AttributeValue {
    value.isNaN && !isNaN ? .null : .decimal(value)
  }
}
