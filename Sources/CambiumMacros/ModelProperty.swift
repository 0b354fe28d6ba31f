import SwiftDiagnostics
import SwiftSyntax

/// One persistent property of a model, as the class declares it.
struct ModelProperty {
  enum Kind {
    case attribute
    case toOne(TypeSyntax)
    case requiredToOne(TypeSyntax)
    case toMany(TypeSyntax)
    /// A struct whose parts are attributes.
    case embedded

    var isToMany: Bool { if case .toMany = self { true } else { false } }
  }

  let name: String
  /// The name as written, with backticks around a keyword.
  let identifier: String
  /// The access level of the property, and its access modifiers.
  let (accessLevel, accessModifiers): (AccessLevel, String)
  let type: TypeSyntax
  let kind: Kind
  /// The options of `@Attribute`; the defaults for a property without it.
  let attribute: AttributeMark
  /// The options of `@Relationship`; the defaults for a property without it.
  let relationship: RelationshipMark
  /// The name in `originalName: "title"`.
  let originalName: String?
  /// The declaration's initial value, as written.
  private let initialValue: ExprSyntax?
  /// The declaration's initial value, if that can stand in the model's description.
  let defaultValue: DefaultValue?

  /// True if no initializer sets the property, because the insertion or the store does.
  var isMadeLater: Bool { attribute.perInsert != nil || attribute.derivation != nil }
  /// True if the property has a value before an initializer of the class sets it.
  var hasInitialValue: Bool { initialValue != nil || isMadeLater || type.is(OptionalTypeSyntax.self) }
  /// True if the declaration has an initial value that isn't ``defaultValue`` or `nil`.
  var hasOtherInitialValue: Bool {
    defaultValue == nil && initialValue.map { !$0.is(NilLiteralExprSyntax.self) } ?? false
  }

  var isToMany: Bool { kind.isToMany }
  var isEmbedded: Bool { if case .embedded = kind { true } else { false } }

  /// Nil for what isn't persistent (computed, static, transient) and for mistakes, which are added to `diagnostics`.
  init?(_ variable: VariableDeclSyntax, diagnostics: inout [Diagnostic]) {
    guard variable.isPersistent else {
      diagnostics += Self.mistakes(ofTransient: variable)
      return nil
    }
    guard let binding = variable.bindings.first, variable.bindings.count == 1,
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else {
      diagnostics.append(ModelDiagnostic.severalVariables.at(variable.bindings))
      return nil
    }
    name = pattern.identifier.plainText
    identifier = pattern.identifier.text
    (accessLevel, accessModifiers) = Self.access(variable.modifiers)
    let before = diagnostics.count
    diagnostics += Self.mistakes(of: variable, binding, named: name)
    guard let type = binding.typeAnnotation?.type else {
      diagnostics.append(Self.missingType(binding, named: name))
      return nil
    }
    self.type = type.trimmed
    diagnostics += Self.mistakes(ofMarks: variable)
    let (attributeMark, relationshipMark) = (
      variable.attribute(named: "Attribute"), variable.attribute(named: "Relationship")
    )
    attribute = AttributeMark(attributeMark, type.trimmed, &diagnostics)
    if let relationshipMark {
      diagnostics += RelationshipMistakes.mistakes(in: relationshipMark, type.trimmed)
    }
    initialValue = binding.initializer?.value
    defaultValue = initialValue.flatMap { DefaultValue($0, of: type.trimmed) }
    diagnostics += attribute.mistakes(in: binding.initializer)
    let mark = attributeMark ?? relationshipMark ?? variable.attribute(named: "Embedded")
    originalName = mark?.originalName(of: "property", &diagnostics)
    relationship = RelationshipMark(relationshipMark, on: variable, named: name, type, &diagnostics)
    let isTransformed = attribute.transformation != nil
    let kind = Self.kind(of: type, variable, isTransformed: isTransformed, &diagnostics)
    if let kind, let mistake = relationship.mistake(inCountsOf: kind) { diagnostics.append(mistake) }
    guard let kind, diagnostics.count == before else { return nil }
    self.kind = kind
  }

  /// Returns the access level that modifiers give, and the access modifiers. A setter's access is named only where it
  /// is lower.
  private static func access(_ modifiers: DeclModifierListSyntax) -> (AccessLevel, String) {
    let level = modifiers.accessLevel
    let setter = modifiers.setterAccessLevel.flatMap { $0 < level ? $0 : nil }
    return (level, level.modifier + (setter.map { "\($0.modifier.dropLast())(set) " } ?? ""))
  }
}
