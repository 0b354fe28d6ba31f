import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: makes a class a model. The members and accessors are those of a model written by hand;
/// Docs/Decisions/0010-how-a-model-expands.md says why they look as they do.
enum ModelMacro: WrittenMacro {}

extension ModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self) else {
      context.diagnose(ModelPlace.mistake(ofNoClass: declaration, marked: node))
      return []
    }
    let declared = ModelDeclaration(model, marked: node, in: context.lexicalContext)
    declared.diagnostics.forEach(context.diagnose)
    guard declared.canBeAModel else { return [] }
    let initializer: [DeclSyntax] =
      declared.missingInitializer.map { ["\(raw: $0.joined(separator: "\n"))"] } ?? []
    let values = declared.hasValues ? [declared.values] : []
    if let inheritance = declared.inheritance { return declared.members(inheritance) + values + initializer }
    return [
      "@exclusivity(unchecked) nonisolated \(raw: declared.access)final var _$state = GraphContext.ObjectState(\(raw: declared.lackingSlots))",
      declared.entityName,
      declared.description,
      declared.faultInitializer,
      declared.visit,
    ] + values + initializer
  }
}

extension ModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self), let variable = member.as(VariableDeclSyntax.self)
    else { return [] }
    if variable.isLinked { return ["@_LinkedObjects"] }
    guard variable.isPersistent else { return [] }
    guard let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText,
      let attribute = StorageAttributes.of(model, marked: node, in: context.lexicalContext)[name]
    else { return [] }
    return ["\(raw: attribute)"]
  }
}

extension ModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self) else { return [] }
    let declared = ModelDeclaration(model, marked: node, in: context.lexicalContext)
    // The compiler crashes where it reads a subclass, without a message, if a conformance that the macro promises
    // is missing here. So a class that can't be expanded has them, too, unless nothing can inherit from it.
    guard declared.canBeAModel || !model.isFinal else { return [] }
    // A subclass has the conformances of its superclass, and the compiler doesn't ask for them.
    let asks = { (name: String) in protocols.contains { $0.trimmedDescription.hasSuffix(name) } }
    let isSubclass = !asks("ManagedObject") && !asks("Sendable")
    if isSubclass, declared.inheritance?.isWritten != true,
      let superclass = model.inheritanceClause?.inheritedTypes.first?.type
    {
      context.diagnose(ModelInheritance.mistake(ofUnnamed: superclass, of: model, marked: node))
    }
    // A conformance that the class has, or inherits, isn't asked for.
    let conformances = declared.conformances.filter(asks)
    var extensions: [ExtensionDeclSyntax] = []
    if !conformances.isEmpty {
      let list = conformances.map { "GraphContext.\($0)" }.joined(separator: ", ")
      extensions.append(try ExtensionDeclSyntax("nonisolated extension \(type.trimmed): \(raw: list) {}"))
    }
    if !isSubclass {
      extensions.append(
        try ExtensionDeclSyntax(
          """
          @available(*, unavailable, message: "an object stays with its context; send its objectID instead")
          extension \(type.trimmed): Sendable {}
          """
        )
      )
    }
    return extensions
  }
}

extension ModelDeclaration {
  /// The names of the protocols. The inherited conformance would give a subclass no values type of its own, so only a
  /// final class conforms to `ModelWithValues`; one that lacks `final` was promised the conformance all the same.
  fileprivate var conformances: [String] {
    let hasConformance = inheritance.map { !$0.isWritten } ?? hasValues
    return ["ManagedObject"] + (hasConformance ? ["ModelWithValues"] : [])
  }
}

// MARK: - Members

// An object belongs to its context, which any actor can have. So the conformance, its members and the storage
// behind them are `nonisolated`, also in a module whose default isolation is `MainActor`, or in a class that is the
// main actor's.

extension ModelDeclaration {
  /// The argument of a new object's state: the slots that have no value before the insertion.
  var lackingSlots: String {
    let slots = stored.enumerated().reduce(UInt64(0)) { slots, property in
      !property.element.isMadeLater ? slots : slots | 1 << UInt64(property.offset)
    }
    return slots == 0 ? "" : "lacking: \(slots)"
  }

  fileprivate var entityName: DeclSyntax {
    "nonisolated \(raw: access)static let entityName = \"\(raw: plainName)\""
  }

  /// The argument that tells the accessors of a subclass where its slots begin: the slots of a root are the first.
  var classArgument: String { inheritance?.superclass == nil ? "" : ", of: \"\(name)\"" }

  fileprivate var description: DeclSyntax {
    """
    nonisolated \(raw: access)static let _$model = GraphContext.ModelDescription(
      \(raw: entityDescription)\(raw: embedding))
    """
  }

  /// The expression for the description of the class.
  var entityDescription: String {
    let indexes = indexes.map { index in
      let names = index.properties.map { "\"\($0)\"" }.joined(separator: ", ")
      let folding = index.folding.map { ", folding: \($0)" } ?? ""
      let ifExists = index.ifExists.map { ", ifExists: \($0)" } ?? ""
      return "GraphContext.IndexDescription([\(names)], isUnique: \(index.isUnique)\(folding)\(ifExists)),"
    }
    return """
      GraphContext.EntityDescription(
          name: "\(plainName)",
          properties: [
            \(properties.filter { !$0.isEmbedded }.map(\.description).joined(separator: "\n      "))
          ],
          indexes: [
            \(indexes.joined(separator: "\n      "))
          ]\(originalName.map { ", originalName: \"\($0)\"" } ?? "")\(shorthands))
      """
  }

  /// The argument with the properties that stand for the objects behind links.
  private var shorthands: String {
    if linked.isEmpty { return "" }
    return ",\n    shorthands: [\n      \(linked.map(\.description).joined(separator: "\n      "))\n    ]"
  }

  /// The argument with the embedded values.
  var embedding: String {
    if embedded.isEmpty { return "" }
    return ",\n  embedding: [\n    \(embedded.map(\.description).joined(separator: "\n    "))\n  ]"
  }

  fileprivate var faultInitializer: DeclSyntax {
    let lines = properties.map { "_\($0.name) = GraphContext.\($0.cacheType)()" }
    return """
      nonisolated \(raw: access)init(_$state state: consuming GraphContext.ObjectState) {
        _$state = state
        \(raw: lines.joined(separator: "\n  "))
      }
      """
  }

  fileprivate var visit: DeclSyntax {
    let slots = stored.enumerated().map { slot, property in
      let role = if case .attribute = property.kind { "attribute" } else { "toOne" }
      let cache = property.relationship.isOrdered ? "_\(property.name).reference" : "_\(property.name)"
      return "case \(slot): visitor.visit(\(role): \(slot), &\(cache))"
    }
    let places = placed.enumerated().map { ordinal, property in
      let slot = slots.count + ordinal
      return "case \(slot): visitor.visit(attribute: \(slot), &_\(property.name).place)"
    }
    let relationships = toMany.enumerated().map { ordinal, property in
      let place =
        embedded.isEmpty
        ? "\(slots.count + places.count + ordinal)" : "Self._$model._$place(ofToMany: \(ordinal))"
      return "case \(place): visitor.visit(toMany: \(ordinal), &_\(property.name))"
    }
    let failure = "fatalError(\"\(plainName) has no property \\(property)\")"
    return """
      nonisolated \(raw: access)func _$visit<_Visitor: GraphContext.PropertyVisitor>(_ property: Int, _ visitor: inout _Visitor) {
        switch property {
        \(raw: (slots + places + relationships).joined(separator: "\n  "))
        default: \(raw: embedded.isEmpty ? failure : visitOfParts("Self._$model._$embeddedPart(at: property)", otherwise: failure))
        }
      }
      """
  }

  /// The statement that visits a part of an embedded value.
  ///
  /// - Parameters:
  ///   - part: the expression for the part and its value.
  ///   - failure: the statement for a slot that belongs to no part.
  func visitOfParts(_ part: String, otherwise failure: String) -> String {
    let cases = embedded.enumerated().map { ordinal, property in
      "case (\(ordinal), let part)?: _\(property.name).visit(part, at: property, &visitor)"
    }
    return """

          switch \(part) {
          \(cases.joined(separator: "\n    "))
          default: \(failure)
          }
      """
  }
}

extension ModelProperty {
  /// The type of the stored property behind this one.
  var cacheType: String {
    switch kind {
    case .attribute: "Cached<\(attributeType)>"
    case .toOne(let target), .requiredToOne(let target):
      "\(relationship.isOrdered ? "OrderedReference" : "ToOneReference")<\(target.trimmedDescription)>"
    case .toMany(let element): "ToManyMembers<\(element.trimmedDescription)>"
    case .embedded: "EmbeddedCache<\(type.trimmedDescription)>"
    }
  }

  /// The entry in the model's description.
  var description: String {
    switch kind {
    case .attribute: attributeDescription
    case .toOne(let target): relationshipDescription("toOne", target)
    case .requiredToOne(let target): relationshipDescription("requiredToOne", target)
    case .toMany(let element): relationshipDescription("toMany", element)
    case .embedded: ".init\(embeddedArguments),"
    }
  }

  /// The arguments that make the `EmbeddedDescription` of an embedded value.
  var embeddedArguments: String {
    let originalName = originalName.map { ", originalName: \"\($0)\"" } ?? ""
    return "(\"\(name)\", (\(type.trimmedDescription)).self\(originalName))"
  }

  private var attributeDescription: String {
    var arguments = ["\"\(name)\"", "(\(attributeType)).self"]
    if let derivation = attribute.derivation { arguments.append("derived: \"\(derivation)\"") }
    if let defaultValue {
      let value = wrapped(defaultValue.text)
      arguments.append(defaultValue.isMadeEachTime ? "eachTime: { \(value) }" : "default: \(value)")
    }
    if let originalName { arguments.append("originalName: \"\(originalName)\"") }
    if !attribute.rules.isEmpty {
      arguments.append("rules: [\(attribute.rules.joined(separator: ", "))]")
    }
    if attribute.preservesValueOnDeletion { arguments.append("preservesValueOnDeletion: true") }
    if attribute.isExternal { arguments.append("isExternal: true") }
    if let perInsert = attribute.perInsert {
      arguments.append(
        "perInsert: \(attribute.transformation == nil ? perInsert : "{ \(wrapped("(\(perInsert))()")) }")"
      )
    }
    return "._$attribute(\(arguments.joined(separator: ", "))),"
  }

  private func relationshipDescription(_ function: String, _ target: TypeSyntax) -> String {
    let destination =
      relationship.entity.map { "to: \($0.trimmedDescription)" } ?? "\(target.trimmedDescription).self"
    var arguments = ["\"\(name)\"", destination]
    if let inverse = relationship.inverse { arguments.append("inverse: \"\(inverse)\"") }
    if let rule = relationship.deleteRule { arguments.append("deleteRule: \(rule.trimmedDescription)") }
    if relationship.isOrdered { arguments.append("isOrdered: true") }
    if let count = relationship.minimumCount {
      arguments.append("minimumCount: \(count.trimmedDescription)")
    }
    if let count = relationship.maximumCount {
      arguments.append("maximumCount: \(count.trimmedDescription)")
    }
    if let originalName { arguments.append("originalName: \"\(originalName)\"") }
    return ".\(function)(\(arguments.joined(separator: ", "))),"
  }
}
