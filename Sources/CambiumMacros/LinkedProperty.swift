import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A property that stands for the objects behind links:
/// `@Relationship(through: \Band.memberships, to: \Membership.person) var members: [Person]`.
struct LinkedProperty {
  let name: String
  /// The names of the two relationships.
  let (links, target): (String, String)

  /// Nil for any other property, and for mistakes, which are added to `diagnostics`.
  init?(_ variable: VariableDeclSyntax, diagnostics: inout [Diagnostic]) {
    guard let mark = variable.linkMark, let binding = variable.bindings.first,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText,
      let links = mark.argument(labeled: "through"), let target = mark.argument(labeled: "to")
    else { return nil }
    let before = diagnostics.count
    for other in ["Attribute", "Embedded", "Transient"] {
      if let attribute = variable.attribute(named: other) {
        diagnostics.append(ModelDiagnostic.linkedAndStored("@\(other)").at(attribute))
      }
    }
    diagnostics += ModelProperty.repeatedMarks(of: variable)
    let (linksName, targetName) = (Self.property(links), Self.property(target))
    if linksName == nil { diagnostics.append(ModelDiagnostic.linksForm.at(links)) }
    if targetName == nil { diagnostics.append(ModelDiagnostic.linkTargetForm.at(target)) }
    if let value = binding.initializer { diagnostics.append(ModelDiagnostic.linkedValue.at(value)) }
    if let type = binding.typeAnnotation?.type {
      if case .many = PropertyType(type.trimmed) {
      } else {
        diagnostics.append(ModelDiagnostic.linkedType.at(type))
      }
    }
    guard diagnostics.count == before, let linksName, let targetName else { return nil }
    (self.name, self.links, self.target) = (name, linksName, targetName)
  }

  private static func property(_ expression: ExprSyntax) -> String? {
    expression.as(KeyPathExprSyntax.self)?.onlyProperty
  }

  /// The entry in the model's description.
  var description: String {
    "GraphContext.LinkShorthand(\"\(name)\", through: \"\(links)\", to: \"\(target)\"),"
  }
}

extension VariableDeclSyntax {
  /// The attribute that makes the property stand for the objects behind links.
  fileprivate var linkMark: AttributeSyntax? {
    attribute(named: "Relationship").flatMap { $0.argument(labeled: "through") == nil ? nil : $0 }
  }

  /// True if the property stands for the objects behind links.
  var isLinked: Bool { linkMark != nil }
}

/// The accessors of such a property.
enum LinkedObjectsMacro: AccessorMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    // Without diagnostics: `@Model` gave them.
    var ignored: [Diagnostic] = []
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let property = LinkedProperty(variable, diagnostics: &ignored)
    else { return [] }
    return [
      """
      get {
        _$linked("\(raw: property.name)", through: \\.\(raw: property.links), to: \\.\(raw: property.target))
      }
      """,
      """
      set {
        _$setLinked(newValue, through: \\.\(raw: property.links), to: \\.\(raw: property.target))
      }
      """,
    ]
  }
}
