import Foundation
import Predicates

/// An attribute's value in the form of a JSON value. The form depends on the attribute's kind.
enum PlainValue: Codable {
  case bool(Bool)
  case int(Int64)
  case uint(UInt64)
  case double(Double)
  case string(String)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .uint(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .uint(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    }
  }

  // MARK: Values of attributes

  /// Makes the form of a value; nil for a value that has no such form. Numbers that JSON can't hold, and decimals with
  /// all of their digits, are strings.
  init?(_ value: AttributeValue) {
    switch value {
    case .bool(let value): self = .bool(value)
    case .int(let value): self = .int(value)
    case .uint(let value): self = .uint(value)
    case .double(let value): self = value.isFinite ? .double(value) : .string("\(value)")
    case .decimal(let value): self = .string("\(value)")
    case .date(let value):
      guard let text = ISO8601Text.text(value) else { return nil }
      self = .string(text)
    case .uuid(let value): self = .string(value.uuidString.lowercased())
    case .string(let value): self = .string(value)
    case .data(let value): self = .string(value.base64EncodedString())
    case .null, .reference: return nil
    }
  }

  /// Returns the value for an attribute of this kind; nil if it isn't valid for the kind.
  func value(of kind: AttributeKind) -> AttributeValue? {
    switch self {
    case .bool(let value): kind == .bool ? .bool(value) : nil
    case .int(let value): Self.number(.int(value), Double(value), kind)
    case .uint(let value): Self.number(.uint(value), Double(value), kind)
    case .double(let value):
      kind == .double || kind == .float || kind == .decimal ? Self.value("\(value)", of: kind) : nil
    case .string(let text): Self.value(text, of: kind)
    }
  }

  private static func number(
    _ value: AttributeValue,
    _ double: Double,
    _ kind: AttributeKind
  ) -> AttributeValue? {
    switch (kind, value) {
    case (.double, _), (.float, _): .double(double)
    case (.decimal, _): value.widened(to: .decimal)
    case (.uint64, .int(let value)): UInt64(exactly: value).map { .unsigned($0) }
    default: kind.isInteger ? value : nil
    }
  }

  private static func value(_ text: String, of kind: AttributeKind) -> AttributeValue? {
    switch kind.inline {
    case .string, .coded: .string(text)
    case .double, .float: Double(text).map { .double($0) }
    case .decimal: decimal(text).map { .decimal($0) }
    case .date: ISO8601Text.date(text).map { .date($0) }
    case .uuid: UUID(uuidString: text).map { .uuid($0) }
    case .data: Data(base64Encoded: text).map { .data($0) }
    default: nil
    }
  }

  /// Reads a number. Foundation reads a number at the beginning of a text, and ignores the rest. Here the whole text
  /// must be a number.
  private static func decimal(_ text: String) -> Decimal? {
    guard Double(text)?.isFinite == true, text.allSatisfy({ $0.isNumber || "+-.eE".contains($0) }) else {
      return nil
    }
    return Decimal(string: text)
  }
}
