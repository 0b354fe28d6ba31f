import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

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
  /// `@Attribute(.unique)`, and `@Attribute(.unique(ifExists: .merge))`.
  let isUnique: Bool
  /// The expression after `ifExists:`, as written.
  let ifExists: String?
  /// The rules of `@Attribute(.min(0))` and its like, as the model's description has them.
  let rules: [String]
  /// The entity of a relationship to records: a string.
  let entity: ExprSyntax?
  /// The name in `inverse: \Album.songs`; the property's own name for `inverse: .itself`, and the placeholder of a
  /// hidden inverse for `inverse: .hidden`.
  let inverse: String?
  /// `@Relationship(.ordered)`.
  let isOrdered: Bool
  /// The expression after `deleteRule:`, as written.
  let deleteRule: ExprSyntax?
  /// The expressions after `minimumModelCount:` and `maximumModelCount:`, as written.
  let (minimumCount, maximumCount): (ExprSyntax?, ExprSyntax?)
  /// The text of the declaration's initial value, if that can stand in the model's description.
  let defaultValue: String?
  /// True for an expression such as `Date()`, which is evaluated for each object; false for a literal.
  let isDefaultMadeEachTime: Bool
  let preservesValueOnDeletion: Bool
  /// `@Attribute(.externalStorage)`.
  let isExternal: Bool
  /// The closure of `@Attribute(.perInsert { UUID() })`, as written.
  let perInsert: String?
  /// The rule of `@Attribute(.derived("songs.@count"))`.
  let derivation: String?
  /// `@Attribute(.transformed(as: String.self, to: { $0.hex }, from: { Color(hex: $0) }))`.
  let transformation: AttributeTransformation?
  /// The name in `originalName: "title"`.
  let originalName: String?
  /// True if no initializer sets the property, because the insertion or the store does.
  var isMadeLater: Bool { perInsert != nil || derivation != nil }
  /// True if the property has a value before an initializer of the class sets it.
  let hasInitialValue: Bool
  /// True if the declaration has an initial value that isn't ``defaultValue`` or `nil`.
  let hasOtherInitialValue: Bool

  var isToMany: Bool { kind.isToMany }
  var isEmbedded: Bool { if case .embedded = kind { true } else { false } }

  /// Names that a property can't have, because every model has a member of that name with another meaning. The
  /// member may begin with an underscore, as the storage of each property does.
  private static let takenNames: Set<String> = [
    "entityDescription", "entityName", "hasChanges", "hashValue", "isDeleted", "isFault", "isInserted",
    "objectID",
    "objectReference", "predicateArgument",
  ]

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
    accessLevel = variable.modifiers.accessLevel
    let setter = variable.modifiers.setterAccessLevel.flatMap {
      $0 < variable.modifiers.accessLevel ? $0 : nil
    }
    accessModifiers = accessLevel.modifier + (setter.map { "\($0.modifier.dropLast())(set) " } ?? "")
    let before = diagnostics.count
    diagnostics += Self.mistakes(of: variable, binding, named: name)
    guard let annotation = binding.typeAnnotation else {
      diagnostics.append(Self.missingType(binding, named: name))
      return nil
    }
    type = annotation.type.trimmed

    let attribute = variable.attribute(named: "Attribute")
    let relationship = variable.attribute(named: "Relationship")
    let embedded = variable.attribute(named: "Embedded")
    if let embedded, let other = attribute ?? relationship {
      diagnostics.append(ModelDiagnostic.embeddedAndOther("@\(other.plainName ?? "")").at(embedded))
    }
    diagnostics += Self.repeatedMarks(of: variable)
    if attribute != nil, let relationship {
      diagnostics.append(ModelDiagnostic.attributeAndRelationship.at(relationship))
    }
    transformation = AttributeTransformation(attribute, &diagnostics)
    let storedType = transformation?.stored ?? annotation.type.trimmed
    let options = Self.options(of: attribute, variable, storedType, &diagnostics)
    if let attribute { diagnostics += AttributeOptions.mistakes(in: attribute, storedType) }
    if let relationship {
      diagnostics += RelationshipMistakes.mistakes(in: relationship, annotation.type.trimmed)
    }
    (isUnique, ifExists, rules) = (options.isUnique, options.ifExists, options.rules)
    (preservesValueOnDeletion, perInsert) = (options.preservesValueOnDeletion, options.perInsert)
    (isExternal, derivation) = (options.isExternal, options.derivation)
    if perInsert != nil, let initializer = binding.initializer {
      diagnostics.append(ModelDiagnostic.twoInitialValues.at(initializer))
    }
    if derivation != nil, let initializer = binding.initializer {
      diagnostics.append(ModelDiagnostic.derivedValue.at(initializer))
    }
    hasInitialValue =
      binding.initializer != nil || perInsert != nil || derivation != nil
      || type.is(OptionalTypeSyntax.self)
    originalName = (attribute ?? relationship ?? embedded)?.originalName(of: "property", &diagnostics)
    let value = binding.initializer.flatMap { DefaultValue($0.value, of: annotation.type.trimmed) }
    (defaultValue, isDefaultMadeEachTime) = (value?.text, value?.isMadeEachTime ?? false)
    entity = relationship?.argument(labeled: "to")
    hasOtherInitialValue =
      defaultValue == nil && binding.initializer.map { !$0.value.is(NilLiteralExprSyntax.self) } ?? false
    inverse = Self.inverse(relationship, of: name, &diagnostics)
    let order = relationship?.option(named: "ordered")
    isOrdered = order != nil
    diagnostics += Self.mistakes(ofOrder: order, relationship, annotation.type)
    deleteRule = relationship?.argument(labeled: "deleteRule")
    (minimumCount, maximumCount) = (
      relationship?.argument(labeled: "minimumModelCount"),
      relationship?.argument(labeled: "maximumModelCount")
    )
    diagnostics += Self.mistakes(ofEntity: entity, relationship, annotation.type)
    let marks = (attribute: attribute != nil, relationship: relationship != nil)
    if let relationship, let value = PropertyType(annotation.type.trimmed).valueName {
      let fixed = FixIt.replacing(variable, by: variable.without(relationship), "remove '@Relationship'")
      diagnostics.append(ModelDiagnostic.relationshipToValue(value).at(annotation.type, fixIts: fixed))
    }
    let kind: Kind? =
      if embedded != nil {
        Self.embedded(annotation.type, &diagnostics)
      } else if transformation != nil {
        .attribute
      } else {
        Self.kind(of: annotation.type, variable, marked: marks, &diagnostics)
      }
    if let bound = minimumCount ?? maximumCount, kind.map({ !$0.isToMany }) ?? false {
      diagnostics.append(ModelDiagnostic.countOfToOne.at(bound))
    }
    guard let kind, diagnostics.count == before else { return nil }
    self.kind = kind
  }
}

// MARK: - Mistakes

extension ModelProperty {
  private static func mistakes(
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
  private static func mistakes(ofTransient variable: VariableDeclSyntax) -> [Diagnostic] {
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

  /// - Parameter entity: the argument `to`.
  private static func mistakes(
    ofEntity entity: ExprSyntax?,
    _ relationship: AttributeSyntax?,
    _ type: TypeSyntax
  ) -> [Diagnostic] {
    guard let relationship else { return [] }
    guard PropertyType(type.trimmed).isOfRecords else {
      return entity.map { [ModelDiagnostic.entityOfNoRecords.at($0)] } ?? []
    }
    return entity == nil ? [ModelDiagnostic.recordsOfNoEntity.at(relationship)] : []
  }

  /// - Parameter order: the option `.ordered`.
  private static func mistakes(
    ofOrder order: ExprSyntax?,
    _ relationship: AttributeSyntax?,
    _ type: TypeSyntax
  ) -> [Diagnostic] {
    let collection =
      type.as(IdentifierTypeSyntax.self)?.name.text ?? type.as(MemberTypeSyntax.self)?.name.text
    if let order {
      let inverse = relationship?.argument(labeled: "inverse")?.as(MemberAccessExprSyntax.self)
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
    guard let relationship, collection == "OrderedToMany" else { return [] }
    let fixed = relationship.inserting(option: ".ordered")
    return [
      ModelDiagnostic.unmarkedOrder.at(
        relationship,
        fixIts: .replacing(relationship, by: fixed, "insert '.ordered'")
      )
    ]
  }

  private static func missingType(_ binding: PatternBindingSyntax, named name: String) -> Diagnostic {
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

  /// The options of an attribute.
  private struct Options {
    var isUnique = false
    /// The policy in `.unique(ifExists:)`.
    var ifExists: String?
    var preservesValueOnDeletion = false
    var isExternal = false
    /// The closure in `.perInsert { UUID() }`.
    var perInsert: String?
    /// The text in `.derived("songs.@count")`.
    var derivation: String?
    /// As the model's description has them.
    var rules: [String] = []
  }

  private static func options(
    of attribute: AttributeSyntax?,
    _ variable: VariableDeclSyntax,
    _ type: TypeSyntax,
    _ diagnostics: inout [Diagnostic]
  ) -> Options {
    var options = Options()
    guard let attribute, let arguments = attribute.arguments?.as(LabeledExprListSyntax.self) else {
      return options
    }
    for argument in arguments where argument.label?.text != "originalName" {
      let name = argument.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
      if name == "unique" {
        options.isUnique = true
      } else if name == "preserveValueOnDeletion" {
        options.preservesValueOnDeletion = true
      } else if name == "externalStorage" {
        options.isExternal = true
        if let mistake = mistake(ofExternal: type, attribute) {
          diagnostics.append(mistake.at(argument.expression))
        }
      } else if let policy = uniquePolicy(argument.expression) {
        (options.isUnique, options.ifExists) = (true, policy)
      } else if let closure = perInsert(argument.expression) {
        options.perInsert = closure
      } else if calledName(argument.expression) == "derived" {
        options.derivation = rule(ofDerived: argument.expression, attribute, &diagnostics)
      } else if argument.expression.optionName == "transformed" {
        continue
      } else if let rule = rule(argument.expression, type) {
        options.rules.append(rule)
      } else if let mistake = ForeignSpelling.mistake(in: argument.expression, of: attribute, on: variable) {
        diagnostics.append(mistake)
      } else {
        diagnostics.append(ModelDiagnostic.unknownOption.at(argument.expression))
      }
    }
    return options
  }

  private static func calledName(_ option: ExprSyntax) -> String? {
    option.as(FunctionCallExprSyntax.self)?.calledExpression.as(MemberAccessExprSyntax.self)?.declName
      .baseName.text
  }

  /// The text in `.derived("songs.@count")`.
  private static func rule(
    ofDerived option: ExprSyntax,
    _ attribute: AttributeSyntax,
    _ diagnostics: inout [Diagnostic]
  ) -> String? {
    let argument = option.as(FunctionCallExprSyntax.self)?.arguments.first?.expression
    guard let literal = argument?.as(StringLiteralExprSyntax.self), literal.segments.count == 1,
      let text = literal.segments.first?.as(StringSegmentSyntax.self)?.content.text, isRule(text)
    else {
      diagnostics.append(ModelDiagnostic.derivation.at(argument ?? option))
      return nil
    }
    for other in attribute.arguments?.as(LabeledExprListSyntax.self) ?? [] {
      let name =
        other.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
        ?? calledName(other.expression)
      guard let name, !["derived", "preserveValueOnDeletion"].contains(name) else { continue }
      diagnostics.append(ModelDiagnostic.derivedAnd(name).at(other.expression))
    }
    return text
  }

  /// Returns whether a text has a form that `AttributeDerivation` knows. A schema checks the names in it.
  private static func isRule(_ text: String) -> Bool {
    func isName(_ text: some StringProtocol) -> Bool {
      !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    }
    if text.hasPrefix("canonical:("), text.hasSuffix(")") { return isName(text.dropFirst(11).dropLast()) }
    for folding in ["[c]", "[d]", "[cd]", "[dc]"] where text.hasSuffix(folding) {
      return isName(text.dropLast(folding.count))
    }
    // The name of a part of an embedded value has a point.
    let steps = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    switch steps.count {
    case 2: return isName(steps[0]) && steps[1] == "@count"
    case 3:
      return isName(steps[0]) && ["@sum", "@min", "@max"].contains(String(steps[1])) && isName(steps[2])
    default: return false
    }
  }

  /// Returns the mistake in storing an attribute externally.
  private static func mistake(ofExternal type: TypeSyntax, _ attribute: AttributeSyntax) -> ModelDiagnostic? {
    let arguments = attribute.arguments?.as(LabeledExprListSyntax.self)
    let options = arguments?.map(\.expression.trimmedDescription) ?? []
    if options.contains(where: { $0.hasPrefix(".unique") }) { return .externalAndUnique }
    if options.contains(".preserveValueOnDeletion") { return .externalAndPreserved }
    if options.contains(where: { $0.hasPrefix(".transformed") }) { return .externalAndTransformed }
    let value =
      switch PropertyType(type) {
      case .single(let type), .optional(let type): type.trimmedDescription
      default: ""
      }
    return ["Data", "String", "Foundation.Data", "Swift.String"].contains(value) ? nil : .externalType
  }

  /// The policy in `.unique(ifExists: .merge)`.
  private static func uniquePolicy(_ option: ExprSyntax) -> String? {
    guard let call = option.as(FunctionCallExprSyntax.self), call.arguments.count == 1,
      let argument = call.arguments.first, argument.label?.text == "ifExists",
      call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "unique"
    else { return nil }
    return argument.expression.trimmedDescription
  }

  /// The closure in `.perInsert { UUID() }`, or the expression instead of it.
  private static func perInsert(_ option: ExprSyntax) -> String? {
    guard let call = option.as(FunctionCallExprSyntax.self),
      call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "perInsert"
    else { return nil }
    return (call.trailingClosure.map(ExprSyntax.init) ?? call.arguments.first?.expression)?.trimmedDescription
  }

  /// `.min(0)` of a property of type `Double` is `.min(0, of: (Double).self)`: the literal is then a value of that
  /// type.
  private static func rule(_ option: ExprSyntax, _ type: TypeSyntax) -> String? {
    guard let call = option.as(FunctionCallExprSyntax.self), call.arguments.count == 1,
      let argument = call.arguments.first?.expression,
      let name = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    else { return nil }
    return switch name {
    case "min", "max": ".\(name)(\(argument.trimmedDescription), of: (\(type.trimmedDescription)).self)"
    case "length", "pattern": ".\(name)(\(argument.trimmedDescription))"
    default: nil
    }
  }

  private static func inverse(
    _ relationship: AttributeSyntax?,
    of name: String,
    _ diagnostics: inout [Diagnostic]
  ) -> String? {
    guard let expression = relationship?.argument(labeled: "inverse") else { return nil }
    // The entity at the other end has no class, and so no key paths.
    if relationship?.argument(labeled: "to") != nil,
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
