import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Embeddable`: makes a struct an embedded value, each of whose stored properties is an attribute of the model that has it.
enum EmbeddableMacro: ExtensionMacro, WrittenMacro {
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
    let parts = parts(of: value, &diagnostics)
    if diagnostics.isEmpty, parts.isEmpty { diagnostics = [ModelDiagnostic.noParts.at(value.name)] }
    guard diagnostics.isEmpty else {
      diagnostics.forEach(context.diagnose)
      return []
    }
    // Members of an extension are internal by default. These mention the struct, so they are `fileprivate` where an enclosing type is private.
    let isHidden = context.lexicalContext.contains(where: \.isHiddenInFile)
    let access = value.witnessAccess.isEmpty && isHidden ? "fileprivate " : value.witnessAccess
    return [try EmbeddedStruct(type: "\(type.trimmed)", access: access, parts: parts).conformance]
  }

  private static func parts(
    of value: StructDeclSyntax,
    _ diagnostics: inout [Diagnostic]
  ) -> [ModelProperty] {
    value.memberBlock.members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isStoredInInstances,
        let part = ModelProperty(variable, diagnostics: &diagnostics)
      else { return nil }
      guard case .attribute = part.kind, !part.isUnique, !part.isExternal, !part.isMadeLater,
        part.transformation == nil
      else {
        diagnostics.append(ModelDiagnostic.partKind.at(variable))
        return nil
      }
      return part
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
  /// Of members that fulfil public requirements.
  let access: String
  let parts: [ModelProperty]

  var conformance: ExtensionDeclSyntax {
    get throws {
      try ExtensionDeclSyntax(
        """
        nonisolated extension \(raw: type): GraphContext.EmbeddedValue {
          \(raw: access)static var _$partKeyPaths: [AnyKeyPath] {
            [\(raw: parts.map { "\\\(type).\($0.name)" }.joined(separator: ", "))]
          }

          private init(_$parts parts: inout _Parts, of object: some GraphContext.ManagedObject, at slot: Int) {
            \(raw: lines(4) { "self.\($1.name) = parts._\($1.name).value(of: object, at: slot + \($0))" })
          }

          private init<Reader: GraphContext.ValuesReader>(_$from reader: inout Reader) throws(Reader.Failure) {
            \(raw: lines(4) { "self.\($1.name) = try reader.attribute()" })
          }

          nonisolated \(raw: access)struct _Parts: GraphContext.EmbeddedParts {
            \(raw: access)typealias Value = \(raw: type)

            \(raw: lines(4) { "fileprivate var _\($1.name): GraphContext.EmbeddedPart<\($1.type.trimmedDescription)>" })

            \(raw: access)static var attributes: [GraphContext.PropertyDescription] {
              [
                \(raw: lines(8) { $1.description })
              ]
            }

            \(raw: access)init() {
              \(raw: lines(6) { "_\($1.name) = .init()" })
            }

            \(raw: access)init(_ value: \(raw: type)) {
              \(raw: lines(6) { "_\($1.name) = .init(value.\($1.name))" })
            }

            \(raw: access)mutating func value(of object: some GraphContext.ManagedObject, at slot: Int) -> \(raw: type) {
              \(raw: type)(_$parts: &self, of: object, at: slot)
            }

            \(raw: access)static func value<Reader: GraphContext.ValuesReader>(
              from reader: inout Reader
            ) throws(Reader.Failure) -> \(raw: type) {
              try \(raw: type)(_$from: &reader)
            }

            \(raw: access)mutating func visit<Visitor: GraphContext.PropertyVisitor>(
              _ part: Int, at slot: Int, _ visitor: inout Visitor
            ) {
              switch part {
              \(raw: lines(6) { "case \($0): _\($1.name).visit(at: slot, &visitor)" })
              default: fatalError("\(raw: type) has no part \\(part)")
              }
            }
          }
        }
        """
      )
    }
  }

  private func lines(_ indentation: Int, _ line: (Int, ModelProperty) -> String) -> String {
    parts.enumerated().map { line($0, $1) }.joined(
      separator: "\n" + String(repeating: " ", count: indentation)
    )
  }
}
