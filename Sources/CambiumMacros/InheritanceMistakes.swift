import SwiftDiagnostics
import SwiftParser
import SwiftSyntax

// Mistakes in the names in `@Model(superclass: "Animal", subclasses: ["Puppy"])`. The macro sees the spelling and
// no values.

extension ModelInheritance {
  static func mistakes(of model: ClassDeclSyntax, marked mark: AttributeSyntax) -> [Diagnostic] {
    var mistakes: [Diagnostic] = []
    if let list = mark.argument(labeled: "subclasses") {
      if let elements = list.as(ArrayExprSyntax.self)?.elements {
        mistakes += elements.map(\.expression).filter { $0.literalText == nil }.map {
          ModelDiagnostic.noClassName.at($0)
        }
      } else {
        mistakes.append(ModelDiagnostic.noClassName.at(list))
      }
    }
    guard let parent = mark.argument(labeled: "superclass") else { return mistakes }
    guard let name = parent.literalText else { return mistakes + [ModelDiagnostic.noClassName.at(parent)] }
    let inherited = model.inheritanceClause?.inheritedTypes.first?.type
    let isSuperclass = inherited.map { lastName(of: $0.trimmedDescription) == lastName(of: name) } ?? false
    if !isSuperclass {
      mistakes.append(
        inherited.map { ModelDiagnostic.otherSuperclass(model.name.text, name).at($0) }
          ?? ModelDiagnostic.otherSuperclass(model.name.text, name).at(model.name)
      )
    }
    return mistakes
  }

  /// `Animal` of `Zoo.Animal`.
  private static func lastName(of type: String) -> Substring {
    type.split { $0 == "." || $0 == "`" }.last ?? ""
  }
}

extension ExprSyntax {
  /// The text of a string literal without interpolations; nil for anything else.
  fileprivate var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}
