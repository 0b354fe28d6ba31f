import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// The arguments of `@Attribute(.transformed(as: String.self, to: { $0.hex }, from: { Color(hex: $0) }))`.
struct AttributeTransformation {
  /// The type that is stored.
  let stored: TypeSyntax
  /// The closures that make the stored value and restore the value, as written.
  fileprivate let store, restore: String
  fileprivate let placeholder: String?

  /// Nil for an attribute that isn't transformed, and for a mistake, which is added to `diagnostics`.
  init?(_ attribute: AttributeSyntax?, _ diagnostics: inout [Diagnostic]) {
    let options = attribute?.arguments?.as(LabeledExprListSyntax.self)?.map(\.expression) ?? []
    guard let option = options.first(where: { $0.optionName == "transformed" }) else { return nil }
    let parts = option.as(FunctionCallExprSyntax.self).map(Self.parts) ?? [:]
    guard let stored = parts["as"].flatMap(Self.type), let store = parts["to"], let restore = parts["from"]
    else {
      diagnostics.append(ModelDiagnostic.transformation.at(option))
      return nil
    }
    self.stored = stored
    (self.store, self.restore) = (store.trimmedDescription, restore.trimmedDescription)
    placeholder = parts["placeholder"]?.trimmedDescription
  }

  /// The arguments by their labels, closures behind the parentheses among them.
  private static func parts(of call: FunctionCallExprSyntax) -> [String: ExprSyntax] {
    var parts: [String: ExprSyntax] = [:]
    for argument in call.arguments { parts[argument.label?.text ?? ""] = argument.expression }
    if let closure = call.trailingClosure { parts[parts["to"] == nil ? "to" : "from"] = ExprSyntax(closure) }
    for closure in call.additionalTrailingClosures { parts[closure.label.text] = ExprSyntax(closure.closure) }
    return parts
  }

  /// `String` of `String.self`.
  private static func type(_ expression: ExprSyntax) -> TypeSyntax? {
    guard let member = expression.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "self",
      let base = member.base
    else { return nil }
    return "\(raw: base.trimmedDescription)"
  }
}

// The store's view of a transformed attribute: a `Transformed` of a type that stands for its closures.

extension ModelProperty {
  private var transformerName: String { "_$Transformer_\(name)" }

  private var isOptional: Bool { presentType != type.trimmedDescription }

  /// The type without nil.
  private var presentType: String {
    if let optional = type.as(OptionalTypeSyntax.self) { return optional.wrappedType.trimmedDescription }
    if case .optional(let type) = PropertyType(type) { return type.trimmedDescription }
    return type.trimmedDescription
  }

  /// The type of the attribute in the store's view.
  var attributeType: String {
    if attribute.transformation == nil { return type.trimmedDescription }
    return "GraphContext.Transformed<\(transformerName)>\(isOptional ? "?" : "")"
  }

  /// Returns the expression for the attribute's value, from the expression for the property's value.
  func wrapped(_ value: String) -> String {
    if attribute.transformation == nil { return value }
    return "GraphContext.Transformed<\(transformerName)>\(isOptional ? "._$optional" : "")(\(value))"
  }

  /// The suffix that makes the property's value from the expression of the attribute's value.
  var unwrapping: String { attribute.transformation == nil ? "" : isOptional ? "?.value" : ".value" }

  /// The declaration of the type that stands for the closures.
  var transformer: DeclSyntax? {
    guard let transformation = attribute.transformation else { return nil }
    let placeholder = (transformation.placeholder ?? defaultValue?.text).map { ", placeholder: \($0)" } ?? ""
    return """
      nonisolated private enum \(raw: transformerName): GraphContext.AttributeTransformer {
        static let transformation = GraphContext.Transformation<\(raw: presentType), \(transformation.stored)>(
          to: \(raw: transformation.store), from: \(raw: transformation.restore)\(raw: placeholder))
      }
      """
  }
}
