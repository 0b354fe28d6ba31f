import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// One index of a model: an element of `#Index` or `#Unique`, or an attribute marked `.unique`.
struct ModelIndex {
  let properties: [String]
  let isUnique: Bool
  /// The expression after `folding:`, as it is written.
  var folding: String?
  /// The expression after `ifExists:`, as it is written.
  var ifExists: String?

  var name: String { properties.joined(separator: ",") + (folding.map { " folding \($0)" } ?? "") }

  /// The indexes that `#Index<Song>([\.title], [\.album, \.track])` declares, as far as they are right.
  static func declared(
    by expansion: MacroExpansionDeclSyntax,
    in model: ClassDeclSyntax,
    _ properties: [ModelProperty],
    _ diagnostics: inout [Diagnostic]
  ) -> [ModelIndex] {
    guard ["Index", "Unique"].contains(expansion.macroName.text) else { return [] }
    if let argument = expansion.genericArgumentClause?.arguments.first?.argument.trimmedDescription,
      // A nested class may be spelled with its enclosing types.
      argument.split(separator: ".").last.map(String.init) != model.name.text, argument != "Self"
    {
      diagnostics.append(ModelDiagnostic.indexOfAnother(argument, in: model.name.text).at(expansion))
      return []
    }
    let isUnique = expansion.macroName.text == "Unique"
    if let mistake = mistake(inWhole: expansion, of: model) { diagnostics.append(mistake) }
    func text(after label: String) -> String? {
      expansion.arguments.first { $0.label?.text == label }?.expression.trimmedDescription
    }
    let (folding, ifExists) = (text(after: "folding"), text(after: "ifExists"))
    var indexes: [ModelIndex] = []
    // Without `filter`: its result loses the position in the file, which a diagnostic needs.
    for argument in expansion.arguments where argument.label == nil {
      if let names = names(in: argument.expression, isUnique, model, properties, &diagnostics) {
        indexes.append(
          ModelIndex(properties: names, isUnique: isUnique, folding: folding, ifExists: ifExists)
        )
      }
    }
    return indexes
  }

  /// An expansion without an index, or whose key paths have no model.
  private static func mistake(
    inWhole expansion: MacroExpansionDeclSyntax,
    of model: ClassDeclSyntax
  ) -> Diagnostic? {
    let macro = expansion.macroName.text
    if !expansion.arguments.contains(where: { $0.label == nil }) {
      return ModelDiagnostic.emptyIndex(macro).at(expansion)
    }
    let paths = expansion.arguments.compactMap { $0.expression.as(ArrayExprSyntax.self) }
      .flatMap { $0.elements.compactMap { $0.expression.as(KeyPathExprSyntax.self) } }
    guard expansion.genericArgumentClause == nil, !paths.contains(where: { $0.root != nil }) else {
      return nil
    }
    var fixed = expansion.macroName
    fixed = .identifier("\(macro)<\(model.name.text)>").with(\.trailingTrivia, fixed.trailingTrivia)
    return ModelDiagnostic.indexWithoutModel(macro, model.name.text).at(
      expansion,
      fixIts: .replacing(expansion.macroName, by: fixed, "insert '<\(model.name.text)>'")
    )
  }

  private static func names(
    in expression: ExprSyntax,
    _ isUnique: Bool,
    _ model: ClassDeclSyntax,
    _ properties: [ModelProperty],
    _ diagnostics: inout [Diagnostic]
  ) -> [String]? {
    guard let array = expression.as(ArrayExprSyntax.self), !array.elements.isEmpty else {
      diagnostics.append(ModelDiagnostic.indexForm.at(expression))
      return nil
    }
    var names: [String] = []
    for element in array.elements {
      guard let keyPath = element.expression.as(KeyPathExprSyntax.self),
        let path = keyPath.properties, let first = path.first
      else {
        diagnostics.append(ModelDiagnostic.indexForm.at(element.expression))
        return nil
      }
      let property = properties.first { $0.name == first }
      let name = path.joined(separator: ".")
      if path.count > 1, property?.isEmbedded != true {
        diagnostics.append(ModelDiagnostic.indexForm.at(element.expression))
        return nil
      }
      guard let property else {
        diagnostics.append(unknown(name, keyPath, model, properties))
        return nil
      }
      if let mistake = mistake(in: property, path, after: names, isUnique) {
        diagnostics.append(mistake.at(keyPath))
        return nil
      }
      names.append(name)
    }
    return names
  }

  /// Returns the reason why an index can't have a property, or a part of an embedded one.
  ///
  /// - Parameters:
  ///   - path: the names in the key path.
  ///   - names: the names before it in the index.
  private static func mistake(
    in property: ModelProperty,
    _ path: [String],
    after names: [String],
    _ isUnique: Bool
  ) -> ModelDiagnostic? {
    let name = path.joined(separator: ".")
    if property.isEmbedded, path.count == 1 { return .embeddedInIndex(name) }
    if property.isToMany { return .toManyInIndex(name) }
    if names.contains(name) { return .repeatedInIndex(name) }
    if property.attribute.isExternal { return .externalInIndex(name) }
    let isList = PropertyType(property.attribute.transformation?.stored ?? property.type).isCollection
    return isList && (isUnique || !names.isEmpty) ? .listInIndex(name, isUnique: isUnique) : nil
  }

  /// The diagnostic for a name that no stored property has.
  private static func unknown(
    _ name: String,
    _ keyPath: KeyPathExprSyntax,
    _ model: ClassDeclSyntax,
    _ properties: [ModelProperty]
  ) -> Diagnostic {
    if model.computes(name) { return ModelDiagnostic.computedInIndex(name).at(keyPath) }
    let candidates = properties.filter { !$0.isToMany }.map(\.name)
    if let correction = Misspelling.correction(of: name, among: candidates) {
      let fixed = ExprSyntax("\\.\(raw: correction)").with(\.trailingTrivia, keyPath.trailingTrivia)
      return ModelDiagnostic.notAProperty(name, of: model.name.text)
        .at(keyPath, fixIts: .replacing(keyPath, by: fixed, "use '\(correction)'"))
    }
    let diagnostic: ModelDiagnostic =
      model.inheritanceClause == nil
      ? .notAProperty(name, of: model.name.text) : .notOwnProperty(name, of: model.name.text)
    return diagnostic.at(keyPath)
  }
}

extension ClassDeclSyntax {
  /// Returns whether the class declares a computed property with this name.
  fileprivate func computes(_ name: String) -> Bool {
    memberBlock.members.contains { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic else { return false }
      return variable.bindings.contains { binding in
        binding.accessorBlock != nil
          && binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText == name
      }
    }
  }
}
