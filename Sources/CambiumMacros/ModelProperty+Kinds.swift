import SwiftDiagnostics
import SwiftSyntax

extension ModelProperty {
  /// Nil for mistakes, which are added to `diagnostics`.
  ///
  /// - Parameter type: the type of the property, where it is declared.
  static func kind(
    of type: TypeSyntax,
    _ variable: VariableDeclSyntax,
    isTransformed: Bool,
    _ diagnostics: inout [Diagnostic]
  ) -> Kind? {
    if variable.attribute(named: "Embedded") != nil { return embedded(type, &diagnostics) }
    if isTransformed { return .attribute }
    let isAttribute = variable.attribute(named: "Attribute") != nil
    let isRelationship = variable.attribute(named: "Relationship") != nil
    switch PropertyType(type.trimmed) {
    case .single(let target): return isRelationship ? .requiredToOne(target) : .attribute
    case .optional(let target): return isRelationship ? .toOne(target) : .attribute
    case .many(let element):
      if isRelationship { return .toMany(element) }
      if isAttribute { return .attribute }
      diagnostics.append(unmarked(type, variable, isOptional: false))
    case .values:
      if !isRelationship { return .attribute }
      diagnostics.append(ModelDiagnostic.relationshipToValues(type.trimmedDescription).at(type))
    case .optionalMany:
      if isAttribute { return .attribute }
      guard isRelationship else {
        diagnostics.append(unmarked(type, variable, isOptional: true))
        break
      }
      diagnostics.append(ModelDiagnostic.optionalToMany.at(type, fixIts: dropOptional(type)))
    case .bytes:
      if isAttribute { return .attribute }
      let hint = "'Data' is the type for bytes; write '@Attribute' before a list of small numbers"
      diagnostics.append(ModelDiagnostic.unsupported(type.trimmedDescription, hint).at(type))
    case .unsupported(let hint):
      diagnostics.append(ModelDiagnostic.unsupported(type.trimmedDescription, hint).at(type))
    }
    return nil
  }

  /// An embedded value, or an optional of one.
  private static func embedded(_ type: TypeSyntax, _ diagnostics: inout [Diagnostic]) -> Kind? {
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
