import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Embeddable`: makes a struct an embedded value, each of whose stored properties is an attribute of the model
/// that has it.
///
/// `_Parts` is a member of the struct, because an extension doesn't find types that stand beside the struct. The
/// initialisers are in the extension, so that the struct keeps its memberwise initialiser.
enum EmbeddableMacro: ExtensionMacro, MemberMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let value = declaration.as(StructDeclSyntax.self), value.genericParameterClause == nil else {
      context.diagnose(ModelDiagnostic.embeddableForm.at(node))
      return []
    }
    var diagnostics: [Diagnostic] = []
    let embedded = embedded(value, named: "\(type.trimmed)", in: context, &diagnostics)
    diagnostics.forEach(context.diagnose)
    return try embedded.map { [try $0.extension(isStated: protocols.isEmpty)] } ?? []
  }

  static func expansion(
    of node: AttributeSyntax,
    providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let value = declaration.as(StructDeclSyntax.self), value.genericParameterClause == nil else {
      return []
    }
    // The expansion of the extension reports mistakes.
    var ignored: [Diagnostic] = []
    return embedded(value, named: value.name.text, in: context, &ignored).map { [$0.storage] } ?? []
  }

  /// Nil for a struct with mistakes.
  private static func embedded(
    _ value: StructDeclSyntax,
    named type: String,
    in context: some MacroExpansionContext,
    _ diagnostics: inout [Diagnostic]
  ) -> EmbeddedStruct? {
    let parts = parts(of: value, &diagnostics)
    if diagnostics.isEmpty, parts.isEmpty { diagnostics = [ModelDiagnostic.noParts.at(value.name)] }
    guard diagnostics.isEmpty else { return nil }
    // Members of an extension are internal by default. These mention the struct, so they are `fileprivate` where an
    // enclosing type is private.
    let isHidden = context.lexicalContext.contains(where: \.isHiddenInFile)
    let access = value.witnessAccess.isEmpty && isHidden ? "fileprivate " : value.witnessAccess
    return EmbeddedStruct(type: type, access: access, parts: parts)
  }

  private static func parts(
    of value: StructDeclSyntax,
    _ diagnostics: inout [Diagnostic]
  ) -> [ModelProperty] {
    diagnostics += value.memberBlock.members.conditionMistakes
    return value.memberBlock.members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isStoredInInstances,
        let part = ModelProperty(variable, diagnostics: &diagnostics)
      else { return nil }
      if let mistake = mistake(in: part) {
        diagnostics.append(mistake.at(variable))
        return nil
      }
      return part
    }
  }

  private static func mistake(in part: ModelProperty) -> ModelDiagnostic? {
    switch part.kind {
    case .embedded:
      if case .optional = PropertyType(part.type) { .optionalInEmbedded(part.name) } else { nil }
    case .attribute
    where !part.attribute.isUnique && !part.attribute.isExternal && !part.isMadeLater
      && part.attribute.transformation == nil:
      nil
    default: .partKind
    }
  }
}

extension Syntax {
  /// True for a declaration that is private, or private to its file.
  fileprivate var isHiddenInFile: Bool {
    guard let modifiers = asProtocol((any WithModifiersSyntax).self)?.modifiers else { return false }
    return modifiers.contains { ["private", "fileprivate"].contains($0.name.text) }
  }
}

/// The conformance of a struct to `EmbeddedValue`.
private struct EmbeddedStruct {
  let type: String
  /// The access level of members that fulfil public requirements.
  let access: String
  /// Properties with embedded values come after the others, because only their types know how many parts they have.
  private let properties: [Property]

  /// A property, and the position at which its parts begin among all parts.
  private struct Property {
    let declared: ModelProperty
    let offset: String

    var name: String { declared.name }
    /// The expression of the position of its first part, for code outside of `_Parts`.
    var start: String { declared.isEmbedded ? "_Parts.start_\(name)" : offset }
    /// The type that stores its parts.
    var partsType: String {
      let type = declared.type.trimmedDescription
      return declared.isEmbedded ? "\(type)._Parts" : "GraphContext.EmbeddedPart<\(type)>"
    }
    /// The expression that reads it.
    var reading: String { declared.isEmbedded ? "reader.embedded()" : "reader.attribute()" }
  }

  init(type: String, access: String, parts: [ModelProperty]) {
    (self.type, self.access) = (type, access)
    let plain = parts.filter { !$0.isEmbedded }
    var properties = plain.enumerated().map { Property(declared: $1, offset: "\($0)") }
    var offset = "\(plain.count)"
    for part in parts where part.isEmbedded {
      properties.append(Property(declared: part, offset: offset))
      offset += " + \(properties[properties.count - 1].partsType).count"
    }
    self.properties = properties
    count = offset
  }

  /// The expression of the number of parts.
  private let count: String

  private var plain: [Property] { properties.filter { !$0.declared.isEmbedded } }
  private var nested: [Property] { properties.filter(\.declared.isEmbedded) }

  /// - Parameter isStated: true if the program states the conformance itself.
  func `extension`(isStated: Bool) throws -> ExtensionDeclSyntax {
    try ExtensionDeclSyntax(
      """
      nonisolated extension \(raw: type)\(raw: isStated ? "" : ": GraphContext.EmbeddedValue") {
        \(raw: access)static var _$properties: [(keyPath: AnyKeyPath, name: String)] {
          [\(raw: properties.map { "(\\\(type).\($0.name), \"\($0.name)\")" }.joined(separator: ", "))]
        }

        fileprivate init(_$parts parts: inout _Parts, of object: some GraphContext.ManagedObject, at slot: Int) {
          \(raw: lines(4) { "self.\($0.name) = parts._\($0.name).value(of: object, at: slot + \($0.start))" })
        }

        fileprivate init<_Reader: GraphContext.ValuesReader>(_$from reader: inout _Reader) throws(_Reader.Failure) {
          \(raw: lines(4) { "self.\($0.name) = try \($0.reading)" })
        }
      }
      """
    )
  }

  /// The declaration of `_Parts`, which stores the parts.
  var storage: DeclSyntax {
    """
    nonisolated \(raw: access)struct _Parts: GraphContext.EmbeddedParts {
      \(raw: lines(2) { "fileprivate var _\($0.name): \($0.partsType)" })

      \(raw: access)static var attributes: [GraphContext.PropertyDescription] {
        \(raw: attributes)
      }

      \(raw: access)static var count: Int { \(raw: count) }
      \(raw: nested.map { "fileprivate static var start_\($0.name): Int { \($0.offset) }" }.joined(separator: "\n  "))

      \(raw: access)init() {
        \(raw: lines(4) { "_\($0.name) = .init()" })
      }

      \(raw: access)init(_ value: \(raw: type)) {
        \(raw: lines(4) { "_\($0.name) = .init(value.\($0.name))" })
      }

      \(raw: access)mutating func value(of object: some GraphContext.ManagedObject, at slot: Int) -> \(raw: type) {
        \(raw: type)(_$parts: &self, of: object, at: slot)
      }

      \(raw: access)static func value<_Reader: GraphContext.ValuesReader>(
        from reader: inout _Reader
      ) throws(_Reader.Failure) -> \(raw: type) {
        try \(raw: type)(_$from: &reader)
      }

      \(raw: access)mutating func visit(
        _ part: Int, at slot: Int, _ visitor: inout some GraphContext.PropertyVisitor
      ) {
        switch part {
        \(raw: cases)
        default: fatalError("\(raw: type) has no part \\(part)")
        }
      }
    }
    """
  }

  /// The statements that return the list of all parts.
  private var attributes: String {
    let own = "[\n      \(plain.map(\.declared.description).joined(separator: "\n      "))\n    ]"
    if nested.isEmpty { return own }
    let others = nested.map {
      "all += GraphContext.EmbeddedDescription\($0.declared.embeddedArguments).attributes"
    }
    let first = "var all: [GraphContext.PropertyDescription] = \(own)"
    return ([first] + others + ["return all"]).joined(separator: "\n    ")
  }

  /// The cases that visit a part.
  private var cases: String {
    let own = plain.map { "case \($0.offset): _\($0.name).visit(at: slot, &visitor)" }
    let others = nested.map { property in
      """
      case Self.start_\(property.name)..<Self.start_\(property.name) + \(property.partsType).count:
          _\(property.name).visit(part - Self.start_\(property.name), at: slot, &visitor)
      """
    }
    return (own + others).joined(separator: "\n    ")
  }

  private func lines(_ indentation: Int, _ line: (Property) -> String) -> String {
    properties.map(line).joined(separator: "\n" + String(repeating: " ", count: indentation))
  }
}
