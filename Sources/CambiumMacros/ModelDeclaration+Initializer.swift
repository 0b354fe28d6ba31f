import SwiftDiagnostics
import SwiftSyntax

extension ModelDeclaration {
  /// The initializer that the class should declare; nil if the class declares one, or another macro may add one.
  /// The initializer of a fault is for contexts only.
  static func missingInitializer(of model: ClassDeclSyntax, _ properties: [ModelProperty]) -> [String]? {
    let hasOne = model.memberBlock.members.contains { member in
      member.decl.is(InitializerDeclSyntax.self) || member.decl.is(IfConfigDeclSyntax.self)
    }
    guard !hasOne, !hasOtherMacros(model) else { return nil }
    let taken = properties.filter { !$0.hasInitialValue }
    let parameters = taken.map { "\($0.name): \($0.type.trimmedDescription)" }.joined(separator: ", ")
    if taken.isEmpty { return ["\(model.witnessAccess)init() {}"] }
    return ["\(model.witnessAccess)init(\(parameters)) {"]
      + taken.map { "  self.\($0.name) = \($0.identifier)" }
      + ["}"]
  }

  /// The diagnostic for a missing initializer, with a fix-it that inserts one.
  static func mistake(ofMissing initializer: [String], in model: ClassDeclSyntax) -> Diagnostic {
    let brace = model.memberBlock.rightBrace
    let indentation = indentation(of: brace)
    let text = initializer.map { "\(indentation)  \($0)\n" }.joined()
    let fixed = TokenSyntax.identifier("\n\(text)\(indentation)}")
      .with(\.trailingTrivia, brace.trailingTrivia)
    return ModelDiagnostic.noInitializer(model.name.text)
      .at(model.name, fixIts: .replacing(brace, by: fixed, "insert an initializer"))
  }

  /// Returns whether the class has another macro, which may write an initializer.
  private static func hasOtherMacros(_ model: ClassDeclSyntax) -> Bool {
    model.attributes.contains { element in
      guard case .attribute(let attribute) = element, let name = attribute.plainName else { return false }
      return name != "Model" && name.first?.isUppercase == true
    }
  }

  /// The spaces before a brace that begins its line.
  private static func indentation(of brace: TokenSyntax) -> String {
    let trivia = brace.leadingTrivia.description
    return trivia.lastIndex(of: "\n").map { String(trivia[$0...].dropFirst()) } ?? ""
  }
}
