import SwiftDiagnostics
import SwiftParser
import SwiftSyntax

extension AttributeSyntax {
  /// The name in `originalName: "title"`. Nil without one, and for mistakes, which are added to `diagnostics`.
  ///
  /// - Parameter what: What has the name: a model or a property.
  func originalName(of what: String, _ diagnostics: inout [Diagnostic]) -> String? {
    guard let argument = argument(labeled: "originalName") else { return nil }
    guard let name = argument.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
      diagnostics.append(ModelDiagnostic.originalNameForm.at(argument))
      return nil
    }
    guard Self.isName(name) else {
      diagnostics.append(ModelDiagnostic.notAName(name, of: what).at(argument))
      return nil
    }
    return name
  }

  /// Returns whether a schema takes the name; as `Schema` checks it.
  static func isName(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, name.utf8.count <= 255 else { return false }
    return (first == "_" || first.properties.isXIDStart)
      && name.unicodeScalars.dropFirst().allSatisfy(\.properties.isXIDContinue)
  }
}
