import SwiftDiagnostics
import SwiftSyntax

/// One index of a model: an element of `#Index` or `#Unique`, or an attribute marked `.unique`.
struct ModelIndex {
  let properties: [String]
  let isUnique: Bool
  /// The expression after `folding:`, as it is written.
  var folding: String?

  var name: String { properties.joined(separator: ",") + (folding.map { " folding \($0)" } ?? "") }

  /// The indexes that `#Index<Song>([\.title], [\.album, \.track])` declares, as far as they are right.
  static func declared(
    by expansion: MacroExpansionDeclSyntax,
    in model: String,
    _ properties: [ModelProperty],
    _ diagnostics: inout [Diagnostic]
  ) -> [ModelIndex] {
    guard ["Index", "Unique"].contains(expansion.macroName.text) else { return [] }
    if let argument = expansion.genericArgumentClause?.arguments.first?.argument.trimmedDescription,
      argument != model, argument != "Self"
    {
      diagnostics.append(ModelDiagnostic.indexOfAnother(argument, in: model).at(expansion))
      return []
    }
    let isUnique = expansion.macroName.text == "Unique"
    let folding = expansion.arguments.first { $0.label?.text == "folding" }?.expression.trimmedDescription
    return expansion.arguments.filter { $0.label == nil }.compactMap { argument in
      let names = names(in: argument.expression, model, properties, &diagnostics)
      return names.map { ModelIndex(properties: $0, isUnique: isUnique, folding: folding) }
    }
  }

  private static func names(
    in expression: ExprSyntax,
    _ model: String,
    _ properties: [ModelProperty],
    _ diagnostics: inout [Diagnostic]
  ) -> [String]? {
    guard let array = expression.as(ArrayExprSyntax.self), !array.elements.isEmpty else {
      diagnostics.append(ModelDiagnostic.indexForm.at(expression))
      return nil
    }
    var names: [String] = []
    for element in array.elements {
      guard let name = element.expression.as(KeyPathExprSyntax.self)?.onlyProperty else {
        diagnostics.append(ModelDiagnostic.indexForm.at(element.expression))
        return nil
      }
      if let mistake = mistake(with: name, after: names, model, properties) {
        diagnostics.append(mistake.at(element.expression))
        return nil
      }
      names.append(name)
    }
    return names
  }

  private static func mistake(
    with name: String,
    after names: [String],
    _ model: String,
    _ properties: [ModelProperty]
  ) -> ModelDiagnostic? {
    guard let property = properties.first(where: { $0.name == name }) else {
      return .notAProperty(name, of: model)
    }
    if property.isToMany { return .toManyInIndex(name) }
    return names.contains(name) ? .repeatedInIndex(name) : nil
  }
}
