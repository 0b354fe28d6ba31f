/// A mistake in a query: in its text, its names or its types.
public struct QueryError: Error, Sendable, Hashable {
  /// The kind of mistake.
  public let code: Code
  /// The mistake in a sentence.
  public let message: String
  /// The text that holds the mistake, if the predicate came as text.
  public var source: String?
  /// The position of the mistake in ``source``: a count of characters from its start.
  public var column: Int?
  /// The key path that the mistake is about.
  public var keyPath: String?

  /// Makes an error; omitted parts are unknown.
  public init(
    _ code: Code,
    _ message: String,
    source: String? = nil,
    column: Int? = nil,
    keyPath: String? = nil
  ) {
    self.code = code
    self.message = message
    self.source = source
    self.column = column
    self.keyPath = keyPath
  }

  /// A kind of mistake. New kinds may be added in any release.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }
    /// The code's name, such as `syntax`.
    public var description: String { name }

    /// The text does not follow the grammar.
    public static let syntax = Code("syntax")
    /// No such entity, attribute or relationship.
    public static let unknownName = Code("unknownName")
    /// The types of the two sides, or the type and the operator, don't go together.
    public static let typeMismatch = Code("typeMismatch")
    /// Arguments and placeholders don't match.
    public static let arguments = Code("arguments")
    /// A key path that is not a persistent property.
    public static let keyPath = Code("keyPath")
    /// The predicate is nested or long beyond the stated limit.
    public static let tooComplex = Code("tooComplex")
  }
}

extension QueryError: CustomStringConvertible {
  /// The sentence, and for text the line with a caret under the column.
  public var description: String {
    guard let source, let column else { return message }
    return message + "\n  " + source.map { $0.isNewline ? " " : $0 } + "\n  "
      + String(repeating: " ", count: column) + "^"
  }
}
