import SwiftDiagnostics
import SwiftSyntax

// Mistakes in the declaration of a property, apart from those in the arguments of its marks.

extension ModelProperty {
  /// Names that a property can't have, because every model has a member of that name with another meaning. The
  /// member may begin with an underscore, as the storage of each property does.
  private static let takenNames: Set<String> = [
    "entityDescription", "entityName", "hasChanges", "hashValue", "isDeleted", "isFault", "isInserted",
    "objectID", "objectReference", "predicateArgument",
  ]

  /// Mistakes in all but the type and the marks.
  static func mistakes(
    of variable: VariableDeclSyntax,
    _ binding: PatternBindingSyntax,
    named name: String
  ) -> [Diagnostic] {
    var mistakes: [Diagnostic] = []
    let specifier = variable.bindingSpecifier
    if specifier.tokenKind == .keyword(.let) {
      let fixed = specifier.with(\.tokenKind, .keyword(.var))
      mistakes.append(
        ModelDiagnostic.constant(name).at(specifier, fixIts: .replacing(specifier, by: fixed, "use 'var'"))
      )
    }
    for modifier in variable.modifiers where ["lazy", "weak", "unowned"].contains(modifier.name.text) {
      mistakes.append(ModelDiagnostic.modifier(modifier.name.text).at(modifier))
    }
    mistakes += variable.attributes.conditionMistakes
    mistakes += foreignAttributes(of: variable, named: name)
    if let accessors = binding.accessorBlock { mistakes.append(ModelDiagnostic.observer.at(accessors)) }
    if !AttributeSyntax.isName(name) {
      mistakes.append(ModelDiagnostic.rawName(binding.pattern.trimmedDescription).at(binding.pattern))
    }
    if takenNames.contains(name) { mistakes.append(ModelDiagnostic.taken(name).at(binding.pattern)) }
    return mistakes
  }

  /// Marks that exclude each other, and repeated ones.
  static func mistakes(ofMarks variable: VariableDeclSyntax) -> [Diagnostic] {
    let attribute = variable.attribute(named: "Attribute")
    let relationship = variable.attribute(named: "Relationship")
    var mistakes: [Diagnostic] = []
    if let embedded = variable.attribute(named: "Embedded"), let other = attribute ?? relationship {
      mistakes.append(ModelDiagnostic.embeddedAndOther("@\(other.plainName ?? "")").at(embedded))
    }
    mistakes += repeatedMarks(of: variable)
    if attribute != nil, let relationship {
      mistakes.append(ModelDiagnostic.attributeAndRelationship.at(relationship))
    }
    return mistakes
  }

  /// Attributes that are repeated: only the first would be read.
  static func repeatedMarks(of variable: VariableDeclSyntax) -> [Diagnostic] {
    ["Attribute", "Relationship", "Embedded"].flatMap { name in
      variable.attributes.compactMap { $0.as(AttributeSyntax.self) }.filter { $0.plainName == name }
        .dropFirst()
        .map { ModelDiagnostic.repeatedMark(name).at($0) }
    }
  }

  /// Property wrappers and foreign macros, which would add accessors, too. A macro can't distinguish the two,
  /// because it sees only the names.
  private static func foreignAttributes(of variable: VariableDeclSyntax, named name: String) -> [Diagnostic] {
    let own = ["Attribute", "Relationship", "Embedded"]
    return variable.attributes.compactMap { element in
      guard case .attribute(let attribute) = element, let attributeName = attribute.plainName,
        attributeName.first?.isUppercase == true, !own.contains(attributeName)
      else { return nil }
      return ModelDiagnostic.foreignAttribute("@\(attributeName)", on: name).at(
        attribute,
        fixIts: .replacing(variable, by: variable.without(attribute), "remove '@\(attributeName)'")
      )
    }
  }

  /// The only value that a fault has for a transient property is the initial value.
  static func mistakes(ofTransient variable: VariableDeclSyntax) -> [Diagnostic] {
    guard let mark = variable.attribute(named: "Transient"), variable.isStoredInInstances else { return [] }
    var mistakes: [Diagnostic] = []
    for other in ["Attribute", "Relationship", "Embedded"] {
      guard let attribute = variable.attribute(named: other) else { continue }
      mistakes.append(ModelDiagnostic.transientAndStored("@\(other)").at(attribute))
    }
    let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
    for binding in variable.bindings where binding.initializer == nil {
      if isVariable, binding.typeAnnotation?.type.is(OptionalTypeSyntax.self) == true { continue }
      mistakes.append(ModelDiagnostic.transientWithoutValue.at(mark))
    }
    return mistakes
  }

  /// A declaration without a type, with a fix-it that inserts the evident one.
  static func missingType(_ binding: PatternBindingSyntax, named name: String) -> Diagnostic {
    let diagnostic = ModelDiagnostic.missingType(name)
    let type = binding.initializer?.value.evidentType
    var fixed = binding
    fixed.pattern.trailingTrivia = []
    fixed.typeAnnotation = TypeAnnotationSyntax(
      colon: .colonToken(trailingTrivia: .space),
      type: IdentifierTypeSyntax(name: .identifier(type ?? "<#Type#>")),
      trailingTrivia: binding.pattern.trailingTrivia
    )
    return diagnostic.at(
      binding.pattern,
      fixIts: .replacing(binding, by: fixed, "insert ': \(type ?? "<#Type#>")'")
    )
  }
}
