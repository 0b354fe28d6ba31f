import SwiftDiagnostics
import SwiftSyntax

/// The methods of a model that its context calls. A method with the name of a hook and another signature would
/// never be called.
enum ModelHook {
  private static let plain: Set<String> = [
    "awakeFromInsert", "awakeFromFetch", "willSave", "didSave", "prepareForDeletion",
  ]
  private static let throwing: Set<String> = ["validateForInsert", "validateForUpdate", "validateForDelete"]

  /// The hooks that a root doesn't declare; the macro adds them with their default behaviour, so that
  /// subclasses can override them.
  static func overridable(in model: ClassDeclSyntax) -> [String] {
    let declared = Set(
      model.memberBlock.members.compactMap { $0.decl.as(FunctionDeclSyntax.self)?.name.plainText }
    )
    let hooks = plain.sorted().map { ($0, "func \($0)() {}") }
    let checks = throwing.sorted().map { name in
      (name, "func \(name)() throws {\(name == "validateForUpdate" ? " try validateForInsert() " : "")}")
    }
    return (hooks + checks).filter { !declared.contains($0.0) }.map { $0.1 }
  }

  static func mistakes(in model: ClassDeclSyntax) -> [Diagnostic] {
    model.memberBlock.members.compactMap { member in
      member.decl.as(FunctionDeclSyntax.self).flatMap(mistake(in:))
    }
  }

  private static func mistake(in function: FunctionDeclSyntax) -> Diagnostic? {
    let name = function.name.plainText
    let mayThrow = throwing.contains(name)
    guard mayThrow || plain.contains(name) else { return nil }
    let effects = function.signature.effectSpecifiers
    let isStatic = function.modifiers.contains { ["static", "class"].contains($0.name.text) }
    let isHook =
      function.signature.parameterClause.parameters.isEmpty && function.genericParameterClause == nil
      && !isStatic
      && function.signature.returnClause == nil && effects?.asyncSpecifier == nil
      && (mayThrow || effects?.throwsClause == nil)
    if isHook { return nil }
    return ModelDiagnostic.hook(name, "func \(name)()\(mayThrow ? " throws" : "")").at(function.name)
  }
}
