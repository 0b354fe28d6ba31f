/// The arguments of a format string, handed out in the order of its placeholders.
struct FormatArguments {
  private let arguments: [FormatArgument]
  private(set) var usedCount = 0

  init(_ arguments: [FormatArgument]) {
    self.arguments = arguments
  }

  var count: Int { arguments.count }

  /// Returns the argument for the next placeholder.
  ///
  /// - Throws: `arguments` where there is none left.
  mutating func next() throws(QueryError) -> FormatArgument {
    guard usedCount < count else {
      throw QueryError(
        .arguments,
        "There is no argument for this placeholder: \(count == 0 ? "none" : "only \(count)") \(count < 2 ? "was" : "were") passed."
      )
    }
    defer { usedCount += 1 }
    return arguments[usedCount]
  }

  /// Returns the next argument as an integer, for `%d` and its like. nil stays nil.
  mutating func nextInteger(for conversion: String) throws(QueryError) -> AttributeValue {
    switch try next() {
    case .value(let value):
      switch value {
      case .int, .uint, .null: return value
      default: break
      }
    default: break
    }
    throw QueryError(.arguments, "\(conversion) takes an integer; argument \(usedCount) is not one.")
  }

  /// Returns the next argument as a floating-point number, for `%f` and its like.
  mutating func nextFloating(for conversion: String) throws(QueryError) -> AttributeValue {
    switch try next() {
    case .value(let value):
      switch value {
      case .double, .decimal, .null: return value
      case .int(let integer): return .double(Double(integer))
      case .uint(let integer): return .double(Double(integer))
      default: break
      }
    default: break
    }
    throw QueryError(.arguments, "\(conversion) takes a number; argument \(usedCount) is not one.")
  }

  /// Returns the next argument as the names of a key path, for `%K`.
  mutating func nextKeyPath() throws(QueryError) -> [String] {
    guard case .value(.string(let text)) = try next() else {
      throw QueryError(.arguments, "%K takes a key path as a string; argument \(usedCount) is not one.")
    }
    guard let names = KeyPathText.names(in: text) else {
      throw QueryError(.arguments, "%K takes names with points between them; “\(text)” is no key path.")
    }
    return names
  }
}
