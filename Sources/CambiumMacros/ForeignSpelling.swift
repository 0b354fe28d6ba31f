import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// Spellings of SwiftData that Cambium doesn't have, and their replacements.
enum ForeignSpelling {
  private static let options = [
    "ephemeral": "mark the property '@Transient'",
    "spotlight": "texts are found with '#Index' and conditions",
    "transformable":
      "declare the type 'CodableAttribute', give it a raw value and declare it 'AttributeType', or write '.transformed(as:to:from:)'",
    "allowsCloudEncryption": "values are stored as they are",
    "preserveValuesOnDeletion": "write '.preserveValueOnDeletion'",
  ]

  /// The diagnostic for an option of an attribute, with a fix-it where the other spelling is as short.
  static func mistake(in option: ExprSyntax, of attribute: AttributeSyntax) -> Diagnostic? {
    guard let name = option.optionName, let hint = options[name] else { return nil }
    let diagnostic = ModelDiagnostic.foreignOption(name, hint)
    guard name == "ephemeral", attribute.arguments?.as(LabeledExprListSyntax.self)?.count == 1 else {
      return diagnostic.at(option)
    }
    let fixed = AttributeSyntax("@Transient").with(\.leadingTrivia, attribute.leadingTrivia)
      .with(\.trailingTrivia, attribute.trailingTrivia)
    return diagnostic.at(option, fixIts: .replacing(attribute, by: fixed, "use '@Transient'"))
  }

  /// `deleteRule: .noAction`, and rules that are misspelt.
  static func mistake(inRule rule: ExprSyntax) -> Diagnostic? {
    guard let member = rule.as(MemberAccessExprSyntax.self) else { return nil }
    let rules = ["nullify", "cascade", "deny"]
    let name = member.declName.baseName.text
    if rules.contains(name) { return nil }
    func fix(_ correction: String) -> FixIt {
      var fixed = member
      fixed.declName.baseName = .identifier(correction)
      return .replacing(member, by: fixed, "use '.\(correction)'")
    }
    if name == "noAction" { return ModelDiagnostic.noAction.at(rule, fixIts: fix("nullify")) }
    let correction = Misspelling.correction(of: name, among: rules)
    return ModelDiagnostic.unknownRule(name).at(rule, fixIts: correction.map(fix))
  }
}
