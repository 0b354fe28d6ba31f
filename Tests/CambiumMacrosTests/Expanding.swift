import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

@testable import CambiumMacros

/// Source text with its macros expanded, as the compiler would.
struct Expansion {
  /// The text with all macros written out, on one line.
  let text: String
  /// `line:column: message` for each mistake, each followed by `fix: what: the changed lines`.
  let mistakes: [String]

  /// - Parameter inheritsFromModel: True if the compiler sees that the class in the text inherits from a model.
  init(_ source: String, inheritsFromModel: Bool = false) {
    let conformances: [TypeSyntax] =
      inheritsFromModel ? ["ModelWithValues"] : ["ManagedObject", "ModelWithValues", "Sendable"]
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Tests", fullFilePath: "Test.swift")])
    let specs: [String: MacroSpec] = [
      "Model": MacroSpec(
        type: ModelMacro.self,
        conformances: conformances
      ),
      "Attribute": MacroSpec(type: AttributeMacro.self),
      "Relationship": MacroSpec(type: RelationshipMacro.self),
      "Embedded": MacroSpec(type: EmbeddedMacro.self),
      "Embeddable": MacroSpec(type: EmbeddableMacro.self, conformances: ["EmbeddedValue"]),
      "Index": MacroSpec(type: IndexMacro.self),
      "Unique": MacroSpec(type: IndexMacro.self),
      "_LinkedObjects": MacroSpec(type: LinkedObjectsMacro.self),
      "_StoredAttribute": MacroSpec(type: StoredAttributeMacro.self),
      "_StoredToOne": MacroSpec(type: StoredToOneMacro.self),
      "_StoredToMany": MacroSpec(type: StoredToManyMacro.self),
      "_StoredEmbedded": MacroSpec(type: StoredEmbeddedMacro.self),
    ]
    let expanded = file.expand(
      macroSpecs: specs,
      contextGenerator: {
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
      },
      indentationWidth: .spaces(2)
    )
    text = expanded.description.onOneLine
    mistakes = context.diagnostics.flatMap { diagnostic in
      let place = context.location(
        for: diagnostic.position,
        anchoredAt: diagnostic.node,
        fileName: "Test.swift"
      )
      return ["\(place.line):\(place.column): \(diagnostic.message)"]
        + diagnostic.fixIts.map { "fix: \($0.message.message): \(Self.result(of: $0, context))" }
    }
  }

  /// What the fix-it puts where.
  private static func result(of fixIt: FixIt, _ context: BasicMacroExpansionContext) -> String {
    fixIt.changes.map { change in
      if case .replace(_, let newNode) = change { newNode.trimmedDescription } else { "?" }
    }
    .joined(separator: "; ")
  }
}

extension String {
  /// The text with one space wherever it has spaces and line breaks. What the macros write isn't laid out, so tests compare this.
  var onOneLine: String {
    split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("{ }", with: "{}")
  }
}
