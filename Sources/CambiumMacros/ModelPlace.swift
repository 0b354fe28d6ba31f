import SwiftDiagnostics
import SwiftSyntax

/// The context and the kind of a model's declaration.
enum ModelPlace {
  /// Returns the mistakes in the position of a class.
  ///
  /// - Parameter context: the declarations around the class, from inside out.
  static func mistakes(of model: ClassDeclSyntax, in context: [Syntax]) -> [Diagnostic] {
    if context.contains(where: isCode) {
      return [ModelDiagnostic.hasLocalScope(model.name.text).at(model.name)]
    }
    if context.contains(where: {
      $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }) {
      return [ModelDiagnostic.generic.at(model.name)]
    }
    guard !context.isEmpty, let modifier = model.modifiers.first(where: { $0.name.text == "private" }) else {
      return []
    }
    let fixed = modifier.with(\.name, .keyword(.fileprivate, trailingTrivia: modifier.name.trailingTrivia))
    return [
      ModelDiagnostic.privateInside(model.name.text)
        .at(modifier, fixIts: .replacing(modifier, by: fixed, "use 'fileprivate'"))
    ]
  }

  /// Returns the diagnostic for a declaration that is no class, with a fix-it if it could be one.
  static func mistake(ofNoClass declaration: some DeclGroupSyntax, marked mark: AttributeSyntax) -> Diagnostic
  {
    let keyword =
      declaration.as(StructDeclSyntax.self)?.structKeyword
      ?? declaration.as(ActorDeclSyntax.self)?.actorKeyword
    let fixIt = keyword.map { keyword in
      let fixed = TokenSyntax.identifier("final class").with(\.leadingTrivia, keyword.leadingTrivia)
        .with(\.trailingTrivia, keyword.trailingTrivia)
      return FixIt.replacing(keyword, by: fixed, "use 'final class'")
    }
    return ModelDiagnostic.notAClass.at(mark, fixIts: fixIt)
  }

  private static func isCode(_ syntax: Syntax) -> Bool {
    syntax.is(FunctionDeclSyntax.self) || syntax.is(ClosureExprSyntax.self)
      || syntax.is(InitializerDeclSyntax.self)
      || syntax.is(AccessorDeclSyntax.self) || syntax.is(SubscriptDeclSyntax.self)
      || syntax.is(VariableDeclSyntax.self)
  }
}
