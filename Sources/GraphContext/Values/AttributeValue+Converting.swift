import Foundation
import Predicates

extension AttributeValue {
  /// Returns the value as a type that can show it, and nil if the type doesn't fit: for code that chooses the type of a
  /// column.
  ///
  /// A number converts to any other kind of number, to an integer without its fraction, and to a Bool, which is false
  /// only for 0; a Bool converts to 1 or 0. Text, bytes, dates and identifiers convert only to their own types. A
  /// number that the type can't hold gives nil, and so does NaN as an integer.
  public func converted<Value: AttributeType>(to type: Value.Type) -> Value? {
    if let value = Value(_attributeValue: self) { return value }
    for form in otherForms where !form.isNull { if let value = Value(_attributeValue: form) { return value } }
    return nil
  }

  /// The number in other kinds; empty for a value that is no number.
  private var otherForms: [AttributeValue] {
    switch self {
    case .bool(let value): [.int(value ? 1 : 0), .double(value ? 1 : 0), .decimal(value ? 1 : 0)]
    case .int(let value): [.double(Double(value)), .decimal(Decimal(value)), .bool(value != 0)]
    case .uint(let value): [.double(Double(value)), .decimal(Decimal(value)), .bool(true)]
    case .double(let value):
      [Self.integer(value), Self.finiteDecimal(value), .bool(value != 0)]
    case .decimal(let value):
      [
        Self.integer(value), .double(NSDecimalNumber(decimal: value).doubleValue),
        .bool(!value.isZero),
      ]
    case .null, .date, .uuid, .string, .data, .reference: []
    }
  }

  /// Returns the integer, or `null` if 64 bits can't hold it.
  private static func integer(_ value: Double) -> AttributeValue {
    let whole = value.rounded(.towardZero)
    return Int64(exactly: whole).map(AttributeValue.int) ?? UInt64(exactly: whole).map(AttributeValue.uint)
      ?? .null
  }

  /// Returns the decimal, or `null` if a decimal can't hold the value.
  private static func finiteDecimal(_ value: Double) -> AttributeValue {
    guard value.isFinite else { return .null }
    let decimal = Decimal(value)
    return decimal.isNaN ? .null : .decimal(decimal)
  }

  private static func integer(_ value: Decimal) -> AttributeValue {
    var (value, whole) = (value, Decimal())
    NSDecimalRound(&whole, &value, 0, value.isSignMinus ? .up : .down)
    guard whole >= Decimal(Int64.min), whole <= Decimal(UInt64.max) else { return .null }
    let number = NSDecimalNumber(decimal: whole)
    return whole.isSignMinus ? .int(number.int64Value) : .unsigned(number.uint64Value)
  }
}
