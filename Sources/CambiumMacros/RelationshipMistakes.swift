import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// Mistakes in the arguments of `@Relationship`, as far as its type shows them.
enum RelationshipMistakes {
  static func mistakes(in relationship: AttributeSyntax, _ type: TypeSyntax) -> [Diagnostic] {
    var mistakes: [Diagnostic] = []
    if let rule = relationship.argument(labeled: "deleteRule"),
      let mistake = ForeignSpelling.mistake(inRule: rule)
    {
      mistakes.append(mistake)
    }
    if let least = relationship.argument(labeled: "minimumModelCount")?.number,
      let bound = relationship.argument(labeled: "maximumModelCount"), let greatest = bound.number,
      least > greatest
    {
      mistakes.append(ModelDiagnostic.emptyCount.at(bound))
    }
    if let inverse = relationship.argument(labeled: "inverse"), let mistake = mistake(in: inverse, type) {
      mistakes.append(mistake)
    }
    return mistakes
  }

  /// A key path of another model than the one that the relationship leads to.
  private static func mistake(in inverse: ExprSyntax, _ type: TypeSyntax) -> Diagnostic? {
    guard let path = inverse.as(KeyPathExprSyntax.self), let name = path.onlyProperty,
      let target = PropertyType(type).target
    else { return nil }
    let root =
      path.root?.as(IdentifierTypeSyntax.self)?.name.text ?? path.root?.as(MemberTypeSyntax.self)?.name.text
    if root == target { return nil }
    let fixed = ExprSyntax("\\\(raw: target).\(raw: name)").with(\.trailingTrivia, inverse.trailingTrivia)
    return ModelDiagnostic.inverseOfAnother(target)
      .at(inverse, fixIts: .replacing(inverse, by: fixed, "use '\\\(target).\(name)'"))
  }
}
