import SwiftDiagnostics
import SwiftSyntax

/// The declaration of a class marked `@Model`, and its mistakes.
struct ModelDeclaration {
  /// One bit of a word stands for each attribute and to-one relationship; `ObjectState.maximumSlotCount`.
  static let maximumSlotCount = 64

  /// As it is written: between backticks if it is a keyword.
  let name: String
  let plainName: String
  /// The name in `@Model(originalName: "Track")`.
  let originalName: String?
  /// For members that fulfil public requirements.
  let access: String
  /// In the order of their declaration.
  let properties: [ModelProperty]
  let indexes: [ModelIndex]
  /// The properties that stand for the objects behind links.
  let linked: [LinkedProperty]
  let diagnostics: [Diagnostic]
  /// True if the macro can expand the class. It also expands a class with a mistaken property, name or inheritance, so
  /// that the compiler reports only that mistake, and none where the class is used.
  let canBeAModel: Bool

  /// Lines of an initializer that the class should declare. The missing initializer is reported as a mistake; the
  /// macro adds these lines to the class, so that code that makes objects causes no further errors.
  let missingInitializer: [String]?

  /// Its position among models that inherit from each other; nil for a model that has no subclasses and no superclass.
  let inheritance: ModelInheritance?
  /// Hooks of a root that its subclasses can override, beside those that it declares.
  let overridableHooks: [String]
  /// True if the macro writes a type for the values of objects.
  let hasValues: Bool

  /// Attributes and to-one relationships: those with a slot.
  var stored: [ModelProperty] { properties.filter { !$0.isToMany && !$0.isEmbedded } }
  /// Properties with embedded values, whose parts have slots behind all others.
  var embedded: [ModelProperty] { properties.filter(\.isEmbedded) }
  var toMany: [ModelProperty] { properties.filter(\.isToMany) }
  /// To-one relationships whose objects have places: each has a slot behind those of the properties.
  var placed: [ModelProperty] { stored.filter(\.relationship.isOrdered) }

  /// - Parameters:
  ///   - mark: The attribute `@Model`.
  ///   - context: the declarations around the class, from inside out.
  init(_ model: ClassDeclSyntax, marked mark: AttributeSyntax, in context: [Syntax]) {
    name = model.name.text
    plainName = model.name.plainText
    access = model.witnessAccess
    inheritance = ModelInheritance(mark, of: model)
    let isSubclass = inheritance?.superclass != nil
    // The macro without arguments about inheritance can't write hooks.
    let isRoot = inheritance?.isWritten == true && !isSubclass
    overridableHooks = isRoot ? ModelHook.overridable(in: model) : []
    hasValues = !Self.hasOwnValues(model)
    let placeMistakes = ModelPlace.mistakes(of: model, in: context)
    canBeAModel = placeMistakes.isEmpty && model.genericParameterClause == nil
    var diagnostics = Self.mistakes(of: model, lacksFinal: inheritance?.isWritten == false)
    diagnostics += ModelInheritance.mistakes(of: model, marked: mark) + placeMistakes
    diagnostics += model.memberBlock.members.conditionMistakes
    diagnostics += ModelHook.mistakes(in: model, isRoot: isRoot)
    diagnostics += Self.storageMistakes(in: model)
    originalName = mark.originalName(of: "model", &diagnostics)
    let variables = model.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
    properties = variables.compactMap { ModelProperty($0, diagnostics: &diagnostics) }
    linked = variables.compactMap { LinkedProperty($0, diagnostics: &diagnostics) }
    indexes = Self.indexes(of: model, properties, &diagnostics)
    diagnostics += Self.mistakes(inSlotsOf: properties, of: model)
    let initializer = Self.missingInitializer(of: model, properties)
    // A subclass doesn't inherit the initializers of its superclass, because it has one of its own. The macro
    // doesn't see which arguments it must pass to them.
    missingInitializer = isSubclass ? nil : initializer
    if let missingInitializer {
      diagnostics.append(Self.mistake(ofMissing: missingInitializer, in: model))
    } else if initializer != nil {
      diagnostics.append(ModelDiagnostic.noInitializer(model.name.text).at(model.name))
    }
    self.diagnostics = diagnostics
  }

  /// Returns the indexes of unique properties, and those that `#Index` and `#Unique` declare. Mistakes are added to
  /// `diagnostics`, unless it has others: an index may name a property that has a mistake of its own, and one message
  /// is enough.
  private static func indexes(
    of model: ClassDeclSyntax,
    _ properties: [ModelProperty],
    _ diagnostics: inout [Diagnostic]
  ) -> [ModelIndex] {
    var indexes = properties.filter(\.attribute.isUnique).map {
      ModelIndex(properties: [$0.name], isUnique: true, ifExists: $0.attribute.ifExists)
    }
    guard diagnostics.isEmpty else { return indexes }
    for case let expansion? in model.memberBlock.members.map({ $0.decl.as(MacroExpansionDeclSyntax.self) }) {
      for index in ModelIndex.declared(by: expansion, in: model, properties, &diagnostics) {
        if indexes.contains(where: { $0.name == index.name }) {
          diagnostics.append(ModelDiagnostic.repeatedIndex(index.name).at(expansion))
        }
        indexes.append(index)
      }
    }
    return indexes
  }

  /// Too many attributes and to-one relationships. The places of ordered relationships have slots, too.
  private static func mistakes(
    inSlotsOf properties: [ModelProperty],
    of model: ClassDeclSyntax
  ) -> [Diagnostic] {
    let count =
      properties.count { !$0.isToMany && !$0.isEmbedded }
      + properties.count { !$0.isToMany && $0.relationship.isOrdered }
    guard count > maximumSlotCount else { return [] }
    return [ModelDiagnostic.tooMany(count, limit: maximumSlotCount).at(model.name)]
  }

  /// - Parameter lacksFinal: True if the class should be final.
  private static func mistakes(of model: ClassDeclSyntax, lacksFinal: Bool) -> [Diagnostic] {
    var mistakes: [Diagnostic] = []
    if lacksFinal {
      let keyword = model.classKeyword
      let fixed = TokenSyntax.identifier("final class")
        .with(\.leadingTrivia, keyword.leadingTrivia).with(\.trailingTrivia, keyword.trailingTrivia)
      mistakes.append(
        ModelDiagnostic.notFinal(model.name.text)
          .at(keyword, fixIts: .replacing(keyword, by: fixed, "insert 'final'"))
      )
    }
    if !AttributeSyntax.isName(model.name.plainText) {
      mistakes.append(ModelDiagnostic.rawName(model.name.text).at(model.name))
    }
    if let parameters = model.genericParameterClause {
      mistakes.append(ModelDiagnostic.generic.at(parameters))
    }
    return mistakes
  }

  /// Members that have the name of another property's storage.
  private static func storageMistakes(in model: ClassDeclSyntax) -> [Diagnostic] {
    let variables = model.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
    let stored = Set(
      variables.filter(\.isPersistent).flatMap(\.bindings)
        .compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText }
    )
    return variables.flatMap(\.bindings).compactMap { binding in
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText,
        name.hasPrefix("_"), stored.contains(String(name.dropFirst()))
      else { return nil }
      return ModelDiagnostic.storageTaken(name, String(name.dropFirst())).at(binding.pattern)
    }
  }
}
