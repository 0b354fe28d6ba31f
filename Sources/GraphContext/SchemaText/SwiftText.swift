import Foundation
import Predicates

/// Names, types and values as Swift source has them.
enum SwiftText {
  /// Words that can't be names without backticks.
  private static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue",
    "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate",
    "for",
    "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
    "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static",
    "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
    "while",
  ]

  /// Returns a name, between backticks if it is a keyword.
  static func identifier(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// Returns a string as a literal on one line.
  static func literal(_ text: String) -> String {
    "\"" + text.unicodeScalars.map { $0.escaped(asASCII: false) }.joined() + "\""
  }

  /// Returns the type of an attribute's values. A model of the same name hides it, so then the type's module
  /// is named too.
  static func type(of kind: AttributeKind, in schema: Schema) -> String {
    let (module, name) = qualifiedType(of: kind)
    return schema.namesOfClasses.contains(name) ? "\(module).\(name)" : name
  }

  private static func qualifiedType(of kind: AttributeKind) -> (module: String, name: String) {
    switch kind {
    case .bool: ("Swift", "Bool")
    case .int8: ("Swift", "Int8")
    case .int16: ("Swift", "Int16")
    case .int32: ("Swift", "Int32")
    case .int64: ("Swift", "Int")
    case .uint8: ("Swift", "UInt8")
    case .uint16: ("Swift", "UInt16")
    case .uint32: ("Swift", "UInt32")
    // An attribute is never a reference.
    case .uint64, .reference: ("Swift", "UInt")
    case .float: ("Swift", "Float")
    case .double: ("Swift", "Double")
    case .string, .externalString: ("Swift", "String")
    case .date: ("Foundation", "Date")
    case .uuid: ("Foundation", "UUID")
    case .data, .externalData: ("Foundation", "Data")
    case .decimal: ("Foundation", "Decimal")
    case .coded: ("Predicates", "JSONText")
    case .place: ("Predicates", "ListPlace")
    }
  }

  /// Returns an expression that `@Model` accepts as a default; nil for a value without one.
  static func expression(
    for value: AttributeValue,
    of kind: AttributeKind,
    in schema: Schema
  ) -> String? {
    // The default of a `CodableAttribute` is JSON, which isn't the value.
    if kind == .coded { return nil }
    return switch value {
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .double(let value): literal(value)
    case .string(let value): literal(value)
    case .data(let value): value.isEmpty && isPlain(kind, in: schema) ? "Data()" : nil
    case .date(let value):
      isPlain(kind, in: schema)
        ? literal(value.timeIntervalSinceReferenceDate).map { "Date(timeIntervalSinceReferenceDate: \($0))" }
        : nil
    case .decimal(let value): integerLiteral(value)
    case .null, .uuid, .reference: nil
    }
  }

  private static func literal(_ value: Double) -> String? {
    if value.isFinite { return "\(value)" }
    return value == .infinity ? ".infinity" : nil
  }

  /// Returns an integer literal. A literal with a fraction would be a Double on the way.
  private static func integerLiteral(_ value: Decimal) -> String? {
    Int64("\(value)").map { "\($0)" }
  }

  /// Returns whether the kind's type needs no module before it.
  private static func isPlain(_ kind: AttributeKind, in schema: Schema) -> Bool {
    !schema.namesOfClasses.contains(qualifiedType(of: kind).name)
  }

  /// Returns the folding of an index as an expression.
  static func folding(_ folding: IndexFolding) -> String {
    let names = [(IndexFolding.case, ".case"), (.diacritics, ".diacritics")].filter { folding.contains($0.0) }
      .map(\.1)
    return names.count == 1 ? names[0] : "[\(names.joined(separator: ", "))]"
  }
}
