import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder

/// The initial value in an attribute's declaration, if the model's description can contain it, too: it needs no
/// isolation, no object and no work. A macro sees only the spelling, so these are literals, static members of the
/// attribute's type or of a well-known one, and some initialisers of Foundation's with literals.
struct DefaultValue {
  let text: String
  /// False for a literal, which is the same value each time.
  let isMadeEachTime: Bool

  /// Types whose static members are free of isolation.
  private static let knownTypes: Set<String> = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Float",
    "Double", "Decimal", "String", "Data", "Date", "UUID",
  ]

  /// The labels that the initialisers of a type can have here.
  private static let initializers: [String: Set<String>] = [
    "Data": [""],
    "Date": [
      "", "timeIntervalSince1970:", "timeIntervalSinceNow:", "timeIntervalSinceReferenceDate:",
    ],
    "Decimal": ["", "_:"],
    "UUID": [""],
  ]

  /// Nil for `nil`, which says nothing, and for any other expression.
  init?(_ value: ExprSyntax, of type: TypeSyntax) {
    if let literal = Self.literal(value) {
      (text, isMadeEachTime) = (literal, false)
    } else if Self.isMember(value, of: type) || Self.isInitializer(value) {
      (text, isMadeEachTime) = (value.trimmedDescription, true)
    } else {
      return nil
    }
  }

  /// A literal on one line.
  private static func literal(_ value: ExprSyntax) -> String? {
    if let string = value.as(StringLiteralExprSyntax.self) {
      return string.representedLiteralValue.map { text in
        "\"" + text.unicodeScalars.map { $0.escaped(asASCII: false) }.joined() + "\""
      }
    }
    if let prefixed = value.as(PrefixOperatorExprSyntax.self) {
      guard prefixed.operator.text == "-", isNumber(prefixed.expression) else { return nil }
      return value.trimmedDescription
    }
    if let list = value.as(ArrayExprSyntax.self) {
      let elements = list.elements.map { literal($0.expression) }
      return elements.contains(nil) ? nil : "[" + elements.compactMap(\.self).joined(separator: ", ") + "]"
    }
    return isNumber(value) || value.is(BooleanLiteralExprSyntax.self) ? value.trimmedDescription : nil
  }

  private static func isNumber(_ value: ExprSyntax) -> Bool {
    value.is(IntegerLiteralExprSyntax.self) || value.is(FloatLiteralExprSyntax.self)
  }

  /// `.now`, `Cabin.first` for an attribute of the type `Cabin`, `Double.pi`.
  private static func isMember(_ value: ExprSyntax, of type: TypeSyntax) -> Bool {
    guard let member = value.as(MemberAccessExprSyntax.self), member.declName.argumentNames == nil else {
      return false
    }
    guard let base = member.base?.trimmedDescription else { return true }
    let present = if case .optional(let wrapped) = PropertyType(type) { wrapped } else { type }
    return knownTypes.contains(base) || base == present.trimmedDescription
      || base == present.as(MemberTypeSyntax.self)?.name.text
  }

  /// `Date()`, `Decimal(5)`.
  private static func isInitializer(_ value: ExprSyntax) -> Bool {
    guard let call = value.as(FunctionCallExprSyntax.self), call.trailingClosure == nil,
      let type = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
    else { return false }
    let labels = call.arguments.map { ($0.label?.text ?? "_") + ":" }.joined()
    return initializers[type]?.contains(labels) == true
      && call.arguments.allSatisfy { literal($0.expression) != nil }
  }
}
