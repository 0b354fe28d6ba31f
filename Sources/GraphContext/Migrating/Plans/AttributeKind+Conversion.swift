import Foundation
import Predicates

// Conversions of values from one kind to another.

extension AttributeKind {
  /// Returns the value converted to this kind; nil if there is no conversion, or this kind can't hold the value.
  ///
  /// - Parameter source: the kind that the value has; nil if it isn't known.
  func converted(_ value: AttributeValue, of source: AttributeKind?) -> AttributeValue? {
    if let same = self.value(from: value) { return same }
    if inline == .string { return value.text(of: source).map(AttributeValue.string) }
    switch value {
    case .int, .uint, .double, .decimal: return number(equalTo: value, of: source)
    case .string(let text): return parsed(text)
    default: return nil
    }
  }

  /// Returns the number of this kind that is equal to a number; nil if there is none, or the value is no number.
  ///
  /// The value of a `Float` is the `Double` that is equal to it. The `Double` has more digits, so an equal `Decimal` is
  /// made of the `Float`.
  private func number(equalTo value: AttributeValue, of source: AttributeKind?) -> AttributeValue? {
    if self == .decimal, source == .float, case .double(let double) = value {
      return AttributeValue.number(Float(double)).map(AttributeValue.decimal)
    }
    guard isNumeric, let number = value.number, let nearest = rounded(number) else { return nil }
    if nearest.number == number { return self.value(from: nearest) }
    guard self == .float, case (.decimal, .double(let double)) = (value, nearest),
      AttributeValue.number(Float(double)) == number
    else { return nil }
    return nearest
  }

  /// Returns the number of this kind that is nearest to a number; nil if the value is no number.
  func nearest(to value: AttributeValue) -> AttributeValue? {
    var value = value
    if case .string(let text) = value, let number = AttributeKind.decimal.parsed(text) { value = number }
    if self == .float, case .double(let number) = value { return number.isNaN ? nil : Self.float(number) }
    if let number = value.number { return isNumeric ? rounded(number) : nil }
    guard case .double(let number) = value, !number.isNaN, let range = integerRange ?? decimalRange else {
      return nil
    }
    // The number is longer than a decimal number can be.
    return rounded(abs(number) < 1 ? 0 : number < 0 ? range.lowerBound : range.upperBound)
  }

  /// Returns the nearest `Float` to a number. It is infinite only if the number is.
  private static func float(_ number: Double) -> AttributeValue {
    let limit = Double(Float.greatestFiniteMagnitude)
    let isFinite = number.isFinite
    return .double(Double(Float(isFinite ? Swift.min(Swift.max(number, -limit), limit) : number)))
  }

  private var decimalRange: ClosedRange<Decimal>? {
    self == .decimal ? -Decimal.greatestFiniteMagnitude...Decimal.greatestFiniteMagnitude : nil
  }

  /// Returns a number in this kind: for an integer kind, the nearest integer in the range.
  private func rounded(_ number: Decimal) -> AttributeValue? {
    if self == .decimal { return .decimal(number) }
    if self == .double || self == .float {
      guard let double = Double("\(number)") else { return nil }
      return self == .float ? Self.float(double) : .double(double)
    }
    guard let range = integerRange else { return nil }
    var (source, result) = (Swift.min(Swift.max(number, range.lowerBound), range.upperBound), Decimal())
    NSDecimalRound(&result, &source, 0, .plain)
    return Int64("\(result)").map(AttributeValue.int) ?? UInt64("\(result)").map(AttributeValue.uint)
  }

  private var integerRange: ClosedRange<Decimal>? {
    func range<Value: FixedWidthInteger>(_ type: Value.Type) -> ClosedRange<Decimal>? {
      guard let low = Decimal(string: "\(Value.min)"), let high = Decimal(string: "\(Value.max)") else {
        return nil
      }
      return low...high
    }
    return switch self {
    case .int8: range(Int8.self)
    case .int16: range(Int16.self)
    case .int32: range(Int32.self)
    case .int64: range(Int64.self)
    case .uint8: range(UInt8.self)
    case .uint16: range(UInt16.self)
    case .uint32: range(UInt32.self)
    case .uint64: range(UInt64.self)
    default: nil
    }
  }

  /// Returns the value of this kind that the whole text stands for.
  private func parsed(_ text: String) -> AttributeValue? {
    switch self {
    case .bool: Bool(text).map(AttributeValue.bool)
    case .uuid: UUID(uuidString: text).map(AttributeValue.uuid)
    case .double: Double(text).map(AttributeValue.double)
    case .float:
      // A finite number that is too great isn't converted.
      Float(text).flatMap { $0.isInfinite && Double(text)?.isFinite == true ? nil : .double(Double($0)) }
    case .decimal:
      text.wholeMatch(of: #/[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/#) == nil
        ? nil : Decimal(string: text).map(AttributeValue.decimal)
    default:
      isInteger
        ? (Int64(text).map(AttributeValue.int) ?? UInt64(text).map(AttributeValue.uint)).flatMap(value(from:))
        : nil
    }
  }
}

extension AttributeValue {
  /// The exact number; nil for a value that is no finite number.
  fileprivate var number: Decimal? {
    switch self {
    case .int(let value): Decimal(value)
    case .uint(let value): Decimal(value)
    case .decimal(let value): value.isNaN ? nil : value
    case .double(let value): Self.number(value)
    default: nil
    }
  }

  /// Returns the number with the digits of the text that Swift writes. A whole number is returned exactly if 64 bits
  /// hold it: the shortest text of a great whole number is the text of another integer.
  fileprivate static func number(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> Decimal? {
    if let whole = Int64(exactly: value) { return Decimal(whole) }
    if let whole = UInt64(exactly: value) { return Decimal(whole) }
    return value.isFinite ? Decimal(string: "\(value)") : nil
  }

  /// Returns the text that Swift writes for the value; nil if the value isn't converted to text.
  ///
  /// - Parameter kind: the kind that the value has; nil if it isn't known.
  fileprivate func text(of kind: AttributeKind?) -> String? {
    switch self {
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .double(let value): kind == .float ? "\(Float(value))" : "\(value)"
    case .decimal(let value): "\(value)"
    case .bool(let value): "\(value)"
    case .uuid(let value): value.uuidString
    default: nil
    }
  }
}
