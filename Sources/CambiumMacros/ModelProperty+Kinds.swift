import SwiftDiagnostics
import SwiftSyntax

extension ModelProperty {
  static func kind(
    of type: TypeSyntax,
    _ variable: VariableDeclSyntax,
    marked: (attribute: Bool, relationship: Bool),
    _ diagnostics: inout [Diagnostic]
  ) -> Kind? {
    switch PropertyType(type.trimmed) {
    case .single(let target): return marked.relationship ? .requiredToOne(target) : .attribute
    case .optional(let target): return marked.relationship ? .toOne(target) : .attribute
    case .many(let element):
      if marked.relationship { return .toMany(element) }
      if marked.attribute { return .attribute }
      diagnostics.append(unmarked(type, variable, isOptional: false))
    case .values:
      if !marked.relationship { return .attribute }
      diagnostics.append(ModelDiagnostic.relationshipToValues(type.trimmedDescription).at(type))
    case .optionalMany:
      if marked.attribute { return .attribute }
      guard marked.relationship else {
        diagnostics.append(unmarked(type, variable, isOptional: true))
        break
      }
      diagnostics.append(ModelDiagnostic.optionalToMany.at(type, fixIts: dropOptional(type)))
    case .bytes:
      if marked.attribute { return .attribute }
      let hint = "'Data' is the type for bytes; write '@Attribute' before a list of small numbers"
      diagnostics.append(ModelDiagnostic.unsupported(type.trimmedDescription, hint).at(type))
    case .unsupported(let hint):
      diagnostics.append(ModelDiagnostic.unsupported(type.trimmedDescription, hint).at(type))
    }
    return nil
  }

  /// An embedded value, or an optional of one.
  static func embedded(_ type: TypeSyntax, _ diagnostics: inout [Diagnostic]) -> Kind? {
    switch PropertyType(type.trimmed) {
    case .single, .optional: return .embedded
    default:
      diagnostics.append(ModelDiagnostic.embeddedType(type.trimmedDescription).at(type))
      return nil
    }
  }

  /// A collection whose elements may be models or values: the spelling doesn't say.
  private static func unmarked(
    _ type: TypeSyntax,
    _ variable: VariableDeclSyntax,
    isOptional: Bool
  ) -> Diagnostic {
    let marks = isOptional ? ["@Attribute"] : ["@Relationship", "@Attribute"]
    return ModelDiagnostic.unmarkedCollection(type.trimmedDescription).at(
      type,
      fixIts: marks.map { .replacing(variable, by: variable.marked($0), "insert '\($0)'") }
    )
  }

  private static func dropOptional(_ type: TypeSyntax) -> FixIt {
    let wrapped = type.as(OptionalTypeSyntax.self)?.wrappedType ?? type
    return .replacing(type, by: wrapped.with(\.trailingTrivia, type.trailingTrivia), "remove '?'")
  }
}
