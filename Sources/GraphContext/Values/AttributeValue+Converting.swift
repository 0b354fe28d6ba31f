import Foundation
import Predicates

extension AttributeValue {
  /// The value as a type that can show it, and nil where none fits: for code that chooses the type of a column.
  ///
  /// A number becomes any other kind of number, an integer without its fraction, and a Bool, which is true but for 0; a Bool becomes 1 or 0. Text, bytes, dates and
  /// identifiers are of their own types alone. A number that the type doesn't hold is nil, and so is NaN as an integer.
  public func converted<Value: AttributeType>(to type: Value.Type) -> Value? {
    if let value = Value(_attributeValue: self) { return value }
    for form in otherForms where !form.isNull { if let value = Value(_attributeValue: form) { return value } }
    return nil
  }

  /// The number in other kinds; none of what is no number.
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

  /// `null` for what no integer of 64 bits holds.
  private static func integer(_ value: Double) -> AttributeValue {
    let whole = value.rounded(.towardZero)
    return Int64(exactly: whole).map(AttributeValue.int) ?? UInt64(exactly: whole).map(AttributeValue.uint)
      ?? .null
  }

  /// `null` for what no decimal holds.
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
