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

  /// Returns the diagnostic for a class whose mark doesn't name its superclass, which is a model.
  ///
  /// - Parameter superclass: the type that the class inherits from.
  static func mistake(
    ofUnnamed superclass: TypeSyntax,
    of model: ClassDeclSyntax,
    marked mark: AttributeSyntax
  ) -> Diagnostic {
    let name = superclass.trimmedDescription
    let fixed = mark.inserting(option: "superclass: \"\(name)\"")
    // The order of other arguments matters, so the class's author writes it.
    let fixIt = mark.arguments == nil ? FixIt.replacing(mark, by: fixed, "name the superclass") : nil
    return ModelDiagnostic.unnamedSuperclass(model.name.text, name).at(superclass, fixIts: fixIt)
  }

  /// `Animal` of `Zoo.Animal`.
  private static func lastName(of type: String) -> Substring {
    type.split { $0 == "." || $0 == "`" }.last ?? ""
  }
}

extension ExprSyntax {
  /// The text of a string literal without interpolations; nil for anything else.
  var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}
