import SwiftSyntax
import SwiftSyntaxBuilder

extension VariableDeclSyntax {
  /// True if the declaration is `static` or `class`.
  var isStatic: Bool { modifiers.contains { ["static", "class"].contains($0.name.text) } }

  /// True if each object has storage of its own for it: not static, not computed.
  var isStoredInInstances: Bool {
    if isStatic { return false }
    return bindings.contains { binding in
      guard let block = binding.accessorBlock else { return true }
      guard case .accessors(let accessors) = block.accessors else { return false }
      return accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
  }

  /// True for a property that a model stores: neither static nor computed, not marked `@Transient`, and not
  /// standing for the objects behind links.
  var isPersistent: Bool { isStoredInInstances && attribute(named: "Transient") == nil && !isLinked }

  func attribute(named name: String) -> AttributeSyntax? { attributes.first(named: name) }

  /// The declaration with one more attribute in front.
  func marked(_ attribute: String) -> VariableDeclSyntax {
    var marked = trimmed
    let attribute = AttributeSyntax("\(raw: attribute)").with(\.trailingTrivia, .space)
    marked.attributes.insert(.attribute(attribute), at: marked.attributes.startIndex)
    return marked.with(\.leadingTrivia, leadingTrivia).with(\.trailingTrivia, trailingTrivia)
  }

  /// The declaration with one attribute less.
  func without(_ attribute: AttributeSyntax) -> VariableDeclSyntax {
    var changed = self
    changed.attributes = attributes.filter { $0.id != attribute.id }
    return changed.with(\.leadingTrivia, leadingTrivia)
  }
}

extension ClassDeclSyntax {
  var isFinal: Bool { modifiers.contains { $0.name.text == "final" } }
}

extension AttributeListSyntax {
  /// The attribute of this name, whether or not a module stands before it.
  func first(named name: String) -> AttributeSyntax? {
    for case .attribute(let attribute) in self where attribute.plainName == name { return attribute }
    return nil
  }
}

extension AttributeSyntax {
  /// The name, without that of a module before it.
  var plainName: String? {
    attributeName.as(IdentifierTypeSyntax.self)?.name.text
      ?? attributeName.as(MemberTypeSyntax.self)?.name.text
  }

  func argument(labeled label: String) -> ExprSyntax? {
    arguments?.as(LabeledExprListSyntax.self)?.first { $0.label?.text == label }?.expression
  }

  /// The argument without a label that is `.name`.
  func option(named name: String) -> ExprSyntax? {
    arguments?.as(LabeledExprListSyntax.self)?.first {
      $0.label == nil && $0.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == name
    }?.expression
  }

  /// The attribute with another argument before the others.
  func inserting(option: String) -> AttributeSyntax {
    let others = arguments?.as(LabeledExprListSyntax.self).map { ", \($0.trimmedDescription)" } ?? ""
    return AttributeSyntax("@\(attributeName.trimmed)(\(raw: option + others))")
      .with(\.leadingTrivia, leadingTrivia).with(\.trailingTrivia, trailingTrivia)
  }
}

extension TokenSyntax {
  /// The name, without the backticks around a keyword.
  var plainText: String { identifier?.name ?? text }
}

extension KeyPathExprSyntax {
  /// The names in `\.home.city` or `\Person.home?.city`; nil for subscripts and the like.
  var properties: [String]? {
    var names: [String] = []
    for component in components {
      if component.component.is(KeyPathOptionalComponentSyntax.self) { continue }
      guard let property = component.component.as(KeyPathPropertyComponentSyntax.self),
        property.declName.argumentNames == nil, property.genericArgumentClause == nil
      else { return nil }
      names.append(property.declName.baseName.plainText)
    }
    return names
  }

  /// The name in `\.title` or `\Song.title`; nil for longer key paths, subscripts and the like.
  var onlyProperty: String? {
    guard components.count == 1,
      let component = components.first?.component.as(KeyPathPropertyComponentSyntax.self),
      component.declName.argumentNames == nil, component.genericArgumentClause == nil
    else { return nil }
    return component.declName.baseName.plainText
  }
}

extension ExprSyntax {
  /// The type of a literal, or of `Type(…)` as far as its spelling goes; nil when it isn't evident.
  var evidentType: String? {
    switch kind {
    case .stringLiteralExpr: return "String"
    case .integerLiteralExpr: return "Int"
    case .floatLiteralExpr: return "Double"
    case .booleanLiteralExpr: return "Bool"
    case .prefixOperatorExpr: return self.as(PrefixOperatorExprSyntax.self)?.expression.evidentNumberType
    case .arrayExpr:
      let elements = self.as(ArrayExprSyntax.self)?.elements.map(\.expression.evidentType) ?? []
      return elements.first.flatMap { $0 }.flatMap { type in
        elements.allSatisfy { $0 == type } ? "[\(type)]" : nil
      }
    case .memberAccessExpr:
      let base = self.as(MemberAccessExprSyntax.self)?.base?.as(DeclReferenceExprSyntax.self)?.baseName.text
      return base?.first?.isUppercase == true ? base : nil
    case .functionCallExpr:
      guard let called = self.as(FunctionCallExprSyntax.self)?.calledExpression else { return nil }
      guard let name = called.as(DeclReferenceExprSyntax.self)?.baseName.text else { return nil }
      return name.first?.isUppercase == true ? name : nil
    default: return nil
    }
  }
}

extension ExprSyntax {
  /// The type of a literal that is a number.
  fileprivate var evidentNumberType: String? {
    [.integerLiteralExpr, .floatLiteralExpr].contains(kind) ? evidentType : nil
  }
}

extension DeclGroupSyntax {
  /// The access level that a public requirement's witness needs here, with a space after it.
  var witnessAccess: String {
    let levels = modifiers.map(\.name.text)
    if levels.contains("public") || levels.contains("open") { return "public " }
    return levels.contains("package") ? "package " : ""
  }
}
