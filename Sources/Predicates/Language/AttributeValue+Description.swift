import Foundation

extension AttributeValue: CustomStringConvertible {
  /// The value for people: `nil`, `42`, `"Blue"`, `3 bytes`.
  public var description: String {
    switch self {
    case .null: "nil"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .date(let value): Self.text(of: value)
    case .uuid(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .data(let value): "\(value.count) bytes"
    case .reference(let value): "object \(value)"
    }
  }

  /// Returns the text of a date. Foundation's description of a date that isn't finite ends the program.
  private static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    return seconds.isFinite ? date.description : "date \(seconds)"
  }
}
