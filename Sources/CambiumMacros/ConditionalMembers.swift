import SwiftDiagnostics
import SwiftSyntax

// Members that depend on the conditions of a build can't be part of the schema, because a macro sees all
// branches of an `#if`, and doesn't see which of them holds.

extension MemberBlockItemListSyntax {
  /// Diagnostics for each `#if` that contains stored properties or indexes.
  var conditionMistakes: [Diagnostic] {
    compactMap { $0.decl.as(IfConfigDeclSyntax.self) }.filter(\.decidesWhatIsStored)
      .map { ModelDiagnostic.conditional.at($0) }
  }

  /// The methods that are declared in an `#if`.
  var conditionalMethods: [FunctionDeclSyntax] {
    compactMap { $0.decl.as(IfConfigDeclSyntax.self) }.flatMap { condition in
      condition.clauses.flatMap { clause -> [FunctionDeclSyntax] in
        guard case .decls(let members)? = clause.elements else { return [] }
        return members.compactMap { $0.decl.as(FunctionDeclSyntax.self) } + members.conditionalMethods
      }
    }
  }
}

extension AttributeListSyntax {
  /// Diagnostics for each `#if` around a mark that says whether or how a property is stored.
  var conditionMistakes: [Diagnostic] {
    compactMap { element in
      guard case .ifConfigDecl(let condition) = element, condition.hasMark else { return nil }
      return ModelDiagnostic.conditional.at(condition)
    }
  }
}

extension IfConfigDeclSyntax {
  private static let marks: Set<String> = ["Attribute", "Relationship", "Embedded", "Transient"]

  fileprivate var hasMark: Bool {
    clauses.contains { clause in
      guard case .attributes(let attributes)? = clause.elements else { return false }
      return attributes.contains { element in
        switch element {
        case .attribute(let attribute): attribute.plainName.map { Self.marks.contains($0) } ?? false
        case .ifConfigDecl(let inner): inner.hasMark
        }
      }
    }
  }

  fileprivate var decidesWhatIsStored: Bool {
    clauses.contains { clause in
      guard case .decls(let members)? = clause.elements else { return false }
      return members.contains { member in
        if let inner = member.decl.as(IfConfigDeclSyntax.self) { return inner.decidesWhatIsStored }
        if let macro = member.decl.as(MacroExpansionDeclSyntax.self) {
          return ["Index", "Unique"].contains(macro.macroName.text)
        }
        guard let variable = member.decl.as(VariableDeclSyntax.self) else { return false }
        return variable.isPersistent || variable.isLinked
      }
    }
  }
}
