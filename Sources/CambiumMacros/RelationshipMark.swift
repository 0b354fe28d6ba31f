import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder

/// The options of a property's `@Relationship`.
struct RelationshipMark {
  /// The entity of a relationship to records: a string.
  let entity: ExprSyntax?
  /// The name in `inverse: \Album.songs`; the property's own name for `inverse: .itself`, and the placeholder of a
  /// hidden inverse for `inverse: .hidden`.
  let inverse: String?
  /// True for `.ordered`.
  let isOrdered: Bool
  /// The expression after `deleteRule:`, as written.
  let deleteRule: ExprSyntax?
  /// The expressions after `minimumModelCount:` and `maximumModelCount:`, as written.
  let (minimumCount, maximumCount): (ExprSyntax?, ExprSyntax?)

  /// Reads a mark. Mistakes are added to `diagnostics`, apart from those that `RelationshipMistakes` finds.
  ///
  /// - Parameters:
  ///   - mark: nil for a property without it.
  ///   - name: the name of the property.
  ///   - type: the type of the property, where it is declared.
  init(
    _ mark: AttributeSyntax?,
    on variable: VariableDeclSyntax,
    named name: String,
    _ type: TypeSyntax,
    _ diagnostics: inout [Diagnostic]
  ) {
    entity = mark?.argument(labeled: "to")
    inverse = Self.inverse(mark, of: name, &diagnostics)
    let order = mark?.option(named: "ordered")
    isOrdered = order != nil
    deleteRule = mark?.argument(labeled: "deleteRule")
    (minimumCount, maximumCount) = (
      mark?.argument(labeled: "minimumModelCount"), mark?.argument(labeled: "maximumModelCount")
    )
    guard let mark else { return }
    diagnostics += Self.mistakes(ofOrder: order, mark, type)
    diagnostics += Self.mistakes(ofEntity: entity, mark, type)
    if let value = PropertyType(type.trimmed).valueName {
      let fixed = FixIt.replacing(variable, by: variable.without(mark), "remove '@Relationship'")
      diagnostics.append(ModelDiagnostic.relationshipToValue(value).at(type, fixIts: fixed))
    }
  }

  /// Returns the mistake of bounding the number of objects that a to-one relationship leads to.
  func mistake(inCountsOf kind: ModelProperty.Kind) -> Diagnostic? {
    guard !kind.isToMany, let bound = minimumCount ?? maximumCount else { return nil }
    return ModelDiagnostic.countOfToOne.at(bound)
  }
}

// MARK: - Single arguments

extension RelationshipMark {
  /// - Parameter entity: the argument `to`.
  private static func mistakes(
    ofEntity entity: ExprSyntax?,
    _ mark: AttributeSyntax,
    _ type: TypeSyntax
  ) -> [Diagnostic] {
    guard PropertyType(type.trimmed).isOfRecords else {
      return entity.map { [ModelDiagnostic.entityOfNoRecords.at($0)] } ?? []
    }
    return entity == nil ? [ModelDiagnostic.recordsOfNoEntity.at(mark)] : []
  }

  /// - Parameter order: the option `.ordered`.
  private static func mistakes(
    ofOrder order: ExprSyntax?,
    _ mark: AttributeSyntax,
    _ type: TypeSyntax
  ) -> [Diagnostic] {
    let collection =
      type.as(IdentifierTypeSyntax.self)?.name.text ?? type.as(MemberTypeSyntax.self)?.name.text
    if let order {
      let inverse = mark.argument(labeled: "inverse")?.as(MemberAccessExprSyntax.self)
      if inverse?.declName.baseName.text == "itself" { return [ModelDiagnostic.orderedItself.at(order)] }
      guard collection == "Set", case .many(let element) = PropertyType(type.trimmed) else { return [] }
      let array = TypeSyntax("[\(element.trimmed)]").with(\.trailingTrivia, type.trailingTrivia)
      return [
        ModelDiagnostic.orderedSet.at(
          type,
          fixIts: .replacing(type, by: array, "use '[\(element.trimmedDescription)]'")
        )
      ]
    }
    guard collection == "OrderedToMany" else { return [] }
    let fixed = mark.inserting(option: ".ordered")
    return [
      ModelDiagnostic.unmarkedOrder.at(mark, fixIts: .replacing(mark, by: fixed, "insert '.ordered'"))
    ]
  }

  /// The value of ``inverse``.
  private static func inverse(
    _ mark: AttributeSyntax?,
    of name: String,
    _ diagnostics: inout [Diagnostic]
  ) -> String? {
    guard let expression = mark?.argument(labeled: "inverse") else { return nil }
    // The entity at the other end has no class, and so no key paths.
    if mark?.argument(labeled: "to") != nil,
      let name = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    {
      return name
    }
    switch expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text {
    case "itself": return name
    case "hidden": return ".inverse"
    default: break
    }
    guard !expression.is(NilLiteralExprSyntax.self) else { return nil }
    if let name = expression.as(KeyPathExprSyntax.self)?.onlyProperty { return name }
    diagnostics.append(ModelDiagnostic.inverse.at(expression))
    return nil
  }
}
