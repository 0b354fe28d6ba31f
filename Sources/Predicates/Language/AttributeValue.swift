import Foundation

/// One attribute's value, outside a record: a predicate's literal, an index key's component, a dynamic
/// record's answer.
///
/// Kinds share a case where they share a meaning: every signed and unsigned integer up to 63 bits is `int`;
/// `uint` holds only what `int` can't, so equal numbers are equal values. Float is `double`, exactly.
public enum AttributeValue: Sendable {
  /// A missing value.
  case null
  /// True or false.
  case bool(Bool)
  /// An integer that 64 bits with a sign hold.
  case int(Int64)
  /// An integer from 2^63; less is ``int(_:)``.
  case uint(UInt64)
  /// A floating-point number, of a Float too.
  case double(Double)
  /// A decimal number, by its value: 1.0 and 1.00 are equal.
  case decimal(Decimal)
  /// An instant.
  case date(Date)
  /// An identifier of 128 bits.
  case uuid(UUID)
  /// Text; equal where its UTF-8 is.
  case string(String)
  /// Bytes.
  case data(Data)
  /// The number of an object of a known entity.
  case reference(ObjectNumber)

  /// True if the value is missing.
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// Returns the value of an unsigned integer: `int` where it fits.
  public static func unsigned(_ value: UInt64) -> AttributeValue {
    Int64(exactly: value).map(AttributeValue.int) ?? .uint(value)
  }
}

extension AttributeValue: Hashable {
  /// Returns true for values of identical representation, for trees and tests: strings by their UTF-8 bytes, NaN equal
  /// to NaN, −0.0 equal to 0.0, a decimal to its other spellings. The evaluator defines equality in *predicates*.
  public static func == (left: AttributeValue, right: AttributeValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.uint(let a), .uint(let b)): a == b
    case (.double(let a), .double(let b)): a == b || (a.isNaN && b.isNaN)
    case (.decimal(let a), .decimal(let b)): DecimalParts(a)?.canonical == DecimalParts(b)?.canonical
    case (.date(let a), .date(let b)):
      a.timeIntervalSinceReferenceDate == b.timeIntervalSinceReferenceDate
        || (a.timeIntervalSinceReferenceDate.isNaN && b.timeIntervalSinceReferenceDate.isNaN)
    case (.uuid(let a), .uuid(let b)): a == b
    case (.string(let a), .string(let b)):
      a.utf8.count == b.utf8.count && ByteComparison.order(a, b, []) == 0
    case (.data(let a), .data(let b)): a == b
    case (.reference(let a), .reference(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .uint(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.isNaN ? .nan.magnitude : value)
    case .decimal(let value): hasher.combine(DecimalParts(value)?.canonical)
    case .date(let value):
      let seconds = value.timeIntervalSinceReferenceDate
      hasher.combine(seconds.isNaN ? .nan.magnitude : seconds)
    case .uuid(let value): hasher.combine(value)
    case .string(var value):
      hasher.combine(value.utf8.count)
      value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .data(let value): hasher.combine(value)
    case .reference(let value): hasher.combine(value)
    }
  }
}
