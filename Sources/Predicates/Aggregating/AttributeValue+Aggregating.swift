import Foundation

extension AttributeValue {
  /// Returns the number half way between two, as a Double, or as a Decimal if both are Decimals. For integers and
  /// Decimals, it is the exact result, rounded once. For other numbers, it lies between the two.
  package static func mean(_ first: AttributeValue, _ second: AttributeValue) -> AttributeValue {
    if case .decimal(let a) = first, case .decimal(let b) = second {
      guard let a = DecimalParts(a), let b = DecimalParts(b) else { return .null }
      return .decimal(DecimalParts.mean(a, b))
    }
    if let a = first.integer, let b = second.integer { return .double(Double(a + b) / 2) }
    guard let a = first.real, let b = second.real else { return .null }
    if a == b { return .double(a) }
    let sum = a + b
    return .double(sum.isFinite ? sum / 2 : a / 2 + b / 2)
  }

  /// The value that aggregates have for all values that are equal to it: 0.0 for −0.0, and a Decimal without zeros
  /// at its end.
  package var withOneSpelling: AttributeValue {
    switch self {
    case .double(0): .double(0)
    case .date(let date) where date.timeIntervalSinceReferenceDate == 0:
      .date(Date(timeIntervalSinceReferenceDate: 0))
    case .decimal(let value): .decimal(DecimalParts(value)?.canonical.decimal ?? value)
    default: self
    }
  }

  /// Returns the number; nil (`null`) where there is none.
  static func decimal(_ value: Decimal?) -> AttributeValue {
    value.map { AttributeValue.decimal($0) } ?? .null
  }
}
