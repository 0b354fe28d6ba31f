import Foundation
import Predicates

/// The text of an attribute's value in a table and in JSON.
enum ValueText {
  /// For people: nil is empty text. A string isn't changed: ``Table`` escapes it.
  static func table(_ value: AttributeValue) -> String {
    switch value {
    case .null: ""
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .uint(let value): String(value)
    case .double(let value): String(value)
    case .decimal(let value): value.description
    case .date(let value): date(value)
    case .uuid(let value): value.uuidString.lowercased()
    case .string(let value): value
    case .data(let value): "\(value.count) bytes"
    case .reference(let number): "#\(number)"
    }
  }

  /// Returns whether a table puts the value at the right of its column.
  static func isNumeric(_ value: AttributeValue) -> Bool {
    switch value {
    case .int, .uint, .double, .decimal: true
    default: false
    }
  }

  /// For programs. A decimal is a number with all of its digits. Numbers that JSON can't hold are strings: NaN,
  /// infinities. Data is in Base64, a reference the number of the object.
  static func json(_ value: AttributeValue) -> String {
    switch value {
    case .null: "null"
    case .bool, .int, .uint: table(value)
    case .double(let value): value.isFinite ? String(value) : quoted(String(value))
    case .decimal(let value): value.isNaN ? quoted(table(.decimal(value))) : value.description
    case .date(let value): quoted(date(value))
    case .uuid: quoted(table(value))
    case .string(let value): quoted(value)
    case .data(let value): quoted(value.base64EncodedString())
    case .reference(let number): number.description
    }
  }

  /// A JSON string.
  static func quoted(_ text: String) -> String {
    var json = ""
    JSONString.append(text, to: &json, hasShortEscapes: true)
    return json
  }

  /// ISO 8601 in UTC, rounded to milliseconds, which are written if they aren't 0. A predicate can read this form.
  /// A date without a year of four digits has no useful calendar text, so the seconds are written.
  private static func date(_ date: Date) -> String {
    ISO8601Text.millisecondText(date) ?? String(date.timeIntervalSinceReferenceDate)
  }
}
