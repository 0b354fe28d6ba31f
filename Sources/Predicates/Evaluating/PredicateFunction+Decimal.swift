import Foundation

// Arithmetic on Decimals, and on Decimals and integers, is exact, and its result is rounded once, to the nearest
// Decimal. A function without such a result, such as a square root, is calculated with Doubles.

extension PredicateFunction {
  /// Returns the value for two Decimals, nil (`null`) beyond the greatest Decimal; nil where Doubles have to do.
  static func decimal(_ function: PredicateFunction, _ a: Decimal, _ b: Decimal) -> AttributeValue? {
    let calculate: (DecimalParts, DecimalParts) -> Decimal?
    switch function {
    case .add: calculate = DecimalParts.sum
    case .subtract: calculate = { DecimalParts.sum($0, $1.negated) }
    case .multiply: calculate = DecimalParts.product
    case .divide where b == 0: return .null
    case .divide: calculate = DecimalParts.quotient
    default: return nil
    }
    guard let a = DecimalParts(a), let b = DecimalParts(b) else { return .decimal(.nan) }
    return calculate(a, b).map(AttributeValue.decimal) ?? .null
  }

  /// Returns the value for one Decimal; nil where Doubles have to do.
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
  /// Returns the Decimal rounded to a whole number; `down` and `up` are those of the number line.
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
}
