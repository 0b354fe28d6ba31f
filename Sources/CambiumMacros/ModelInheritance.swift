import SwiftSyntax
import SwiftSyntaxBuilder

/// The arguments of `@Model(isAbstract: true, superclass: "Animal", subclasses: ["Puppy"])`.
struct ModelInheritance {
  /// The expression after `isAbstract:`, as written.
  let isAbstract: String
  /// The superclass, as the class names it; nil for a root. The name in the mark may be a mistake.
  let superclass: String?
  /// Without those that are no string literals.
  let subclasses: [String]
  /// False for a class that isn't final, and whose mark says nothing about inheritance. This is a mistake, and the
  /// class is expanded as a root without subclasses.
  let isWritten: Bool

  /// Nil for a final class whose mark has no arguments about inheritance.
  init?(_ mark: AttributeSyntax, of model: ClassDeclSyntax) {
    let parent = mark.argument(labeled: "superclass")
    let children = mark.argument(labeled: "subclasses")
    isWritten = parent != nil || children != nil
    guard isWritten || !model.isFinal else { return nil }
    isAbstract = mark.argument(labeled: "isAbstract")?.trimmedDescription ?? "false"
    superclass = parent == nil ? nil : model.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
    subclasses = children?.as(ArrayExprSyntax.self)?.elements.compactMap(\.expression.literalText) ?? []
  }
}

extension ModelDeclaration {
  /// The members of a model that inherits from another, or that others inherit from.
  func members(_ inheritance: ModelInheritance) -> [DeclSyntax] {
    let isRoot = inheritance.superclass == nil
    let overriding = isRoot ? "" : "override "
    let subclasses = inheritance.subclasses.map { "\($0)._$class" }.joined(separator: ", ")
    var members: [DeclSyntax] = [
      "nonisolated \(raw: access)\(raw: overriding)class var entityName: String { \"\(raw: plainName)\" }",
      """
      nonisolated \(raw: access)\(raw: overriding)class var _$class: GraphContext.ModelClass {
        GraphContext.ModelClass(
          \(raw: name).self,
          \(raw: entityDescription)\(raw: embedding),
          isAbstract: \(raw: inheritance.isAbstract),
          subclasses: [\(raw: subclasses)])
      }
      """,
      "nonisolated private static let _$own = \(raw: name)._$model.ownProperties(of: \(raw: name).self)",
      initializer(isRoot: isRoot),
      visit(isRoot: isRoot),
    ]
    if isRoot {
      members += [
        // The values that insertions make include those of subclasses, whose slots only the model knows.
        "@exclusivity(unchecked) nonisolated \(raw: access)final var _$state = GraphContext.ObjectState(lacking: \(raw: name)._$hierarchy._$insertionSlots)",
        "nonisolated private static let _$hierarchy = GraphContext.ModelDescription(\(raw: name)._$class)",
        "nonisolated \(raw: access)class var _$model: GraphContext.ModelDescription { _$hierarchy }",
      ]
    }
    return members + overridableHooks.map { "nonisolated \(raw: access)\(raw: $0)" }
  }

  private func initializer(isRoot: Bool) -> DeclSyntax {
    let caches = properties.map { "_\($0.name) = GraphContext.\($0.cacheType)()" }
    let lines = isRoot ? ["_$state = state"] + caches : caches + ["super.init(_$state: state)"]
    return """
      nonisolated \(raw: access)required init(_$state state: consuming GraphContext.ObjectState) {
        \(raw: lines.joined(separator: "\n  "))
      }
      """
  }

  private func visit(isRoot: Bool) -> DeclSyntax {
    var cases = stored.map { property in
      let role = if case .attribute = property.kind { "attribute" } else { "toOne" }
      let cache = property.relationship.isOrdered ? "_\(property.name).reference" : "_\(property.name)"
      return "visitor.visit(\(role): property, &\(cache))"
    }
    cases += placed.map { "visitor.visit(attribute: property, &_\($0.name).place)" }
    cases += toMany.enumerated().map { ordinal, property in
      "visitor.visit(toMany: \(name)._$own.ordinal(\(ordinal)), &_\(property.name))"
    }
    let lines = cases.enumerated().map { "case \($0): \($1)" }
    let inherited = isRoot ? "break" : "super._$visit(property, &visitor)"
    let rest =
      embedded.isEmpty ? inherited : visitOfParts("\(name)._$own.part(at: property)", otherwise: inherited)
    return """
      nonisolated \(raw: access)\(raw: isRoot ? "" : "override ")func _$visit<_Visitor: GraphContext.PropertyVisitor>(_ property: Int, _ visitor: inout _Visitor) {
        switch \(raw: name)._$own.place(of: property) {
        \(raw: lines.joined(separator: "\n  "))
        default: \(raw: rest)
        }
      }
      """
  }
}
