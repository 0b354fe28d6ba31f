import SwiftDiagnostics
import SwiftSyntax

// Members that depend on the conditions of a build can't be part of the schema, because a macro sees all
// branches of an `#if`.

extension MemberBlockItemListSyntax {
  /// Diagnostics for each `#if` that contains stored properties or indexes.
  var conditionMistakes: [Diagnostic] {
    compactMap { $0.decl.as(IfConfigDeclSyntax.self) }.filter(\.decidesWhatIsStored)
      .map { ModelDiagnostic.conditional.at($0) }
  }
}

extension IfConfigDeclSyntax {
  fileprivate var decidesWhatIsStored: Bool {
    clauses.contains { clause in
      guard case .decls(let members)? = clause.elements else { return false }
      return members.contains { member in
        if let inner = member.decl.as(IfConfigDeclSyntax.self) { return inner.decidesWhatIsStored }
        if let macro = member.decl.as(MacroExpansionDeclSyntax.self) {
          return ["Index", "Unique"].contains(macro.macroName.text)
        }
        return member.decl.as(VariableDeclSyntax.self)?.isStoredInInstances == true
      }
    }
  }
}
