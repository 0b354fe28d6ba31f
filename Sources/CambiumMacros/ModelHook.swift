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
  /// subclasses can override them. A hook in an `#if` counts as declared: it is a mistake of its own.
  static func overridable(in model: ClassDeclSyntax) -> [String] {
    let members = model.memberBlock.members
    let methods = members.compactMap { $0.decl.as(FunctionDeclSyntax.self) } + members.conditionalMethods
    let declared = Set(methods.map(\.name.plainText))
    let hooks = plain.sorted().map { ($0, "func \($0)() {}") }
    let checks = throwing.sorted().map { name in
      (name, "func \(name)() throws {\(name == "validateForUpdate" ? " try validateForInsert() " : "")}")
    }
    return (hooks + checks).filter { !declared.contains($0.0) }.map { $0.1 }
  }

  /// - Parameter isRoot: True if other classes inherit from the model, and it inherits from none.
  static func mistakes(in model: ClassDeclSyntax, isRoot: Bool) -> [Diagnostic] {
    let members = model.memberBlock.members
    let mistakes = members.compactMap { $0.decl.as(FunctionDeclSyntax.self).flatMap(mistake(in:)) }
    return mistakes + (isRoot ? members.conditionalMethods.compactMap(mistake(inConditional:)) : [])
  }

  /// A hook of a root in an `#if`. Where the condition doesn't hold, subclasses would have none to override.
  private static func mistake(inConditional function: FunctionDeclSyntax) -> Diagnostic? {
    let name = function.name.plainText
    guard plain.contains(name) || throwing.contains(name) else { return nil }
    return ModelDiagnostic.conditionalHook(name).at(function.name)
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
