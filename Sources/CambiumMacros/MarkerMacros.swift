import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

// `@Attribute`, `@Relationship`, `@Transient`, `#Index` and `#Unique` are markers that `@Model` reads. They expand
// to nothing themselves, and check that they stand where `@Model` reads them.

enum AttributeMacro: PeerMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    checkPlace(of: node, named: "@Attribute", on: declaration, allowsEmbeddable: true, in: context)
    return []
  }
}

enum RelationshipMacro: PeerMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    checkPlace(of: node, named: "@Relationship", on: declaration, in: context)
    return []
  }
}

enum EmbeddedMacro: PeerMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    checkPlace(of: node, named: "@Embedded", on: declaration, allowsEmbeddable: true, in: context)
    return []
  }
}

enum TransientMacro: PeerMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    checkPlace(of: node, named: "@Transient", on: declaration, in: context)
    return []
  }
}

/// Both `#Index` and `#Unique`.
enum IndexMacro: DeclarationMacro, WrittenMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    if !context.isDirectlyInAModel {
      context.diagnose(ModelDiagnostic.outsideAModel("#\(node.macroName.text)").at(node))
    }
    return []
  }
}

private func checkPlace(
  of node: AttributeSyntax,
  named name: String,
  on declaration: some DeclSyntaxProtocol,
  allowsEmbeddable: Bool = false,
  in context: some MacroExpansionContext
) {
  let isInAnEmbeddable = allowsEmbeddable && context.isDirectlyInAnEmbeddable
  if declaration.as(VariableDeclSyntax.self)?.isStoredInInstances != true {
    context.diagnose(ModelDiagnostic.notStored(name).at(node))
  } else if !isInAnEmbeddable, !context.isDirectlyInAModel {
    context.diagnose(ModelDiagnostic.outsideAModel(name).at(node))
  }
}

extension MacroExpansionContext {
  fileprivate var isDirectlyInAnEmbeddable: Bool {
    lexicalContext.first?.as(StructDeclSyntax.self)?.attributes.first(named: "Embeddable") != nil
  }

  fileprivate var isDirectlyInAModel: Bool {
    lexicalContext.first?.as(ClassDeclSyntax.self)?.attributes.first(named: "Model") != nil
  }
}
