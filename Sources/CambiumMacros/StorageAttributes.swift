import SwiftSyntax
import Synchronization

/// The attribute that `@Model` attaches to each property of a class, by the property's name.
///
/// The compiler asks for each property by itself, and the answer needs the whole class. So the answers for the most
/// recent class are cached: a class of n properties is read once, and not n times.
enum StorageAttributes {
  private struct Answers: Sendable {
    var source = ""
    var attributes: [String: String] = [:]
  }
  private static let last = Mutex(Answers())

  /// Empty for a class that can't be a model.
  ///
  /// - Parameter context: the declarations around a property of the class, from inside out.
  static func of(
    _ model: ClassDeclSyntax,
    marked node: AttributeSyntax,
    in context: [Syntax]
  ) -> [String: String] {
    let source = model.description
    if let known = last.withLock({ $0.source == source ? $0.attributes : nil }) { return known }
    let isInside = context.first?.as(ClassDeclSyntax.self)?.name.text == model.name.text
    let around = isInside ? Array(context.dropFirst()) : context
    let attributes = attributes(of: ModelDeclaration(model, marked: node, in: around))
    last.withLock { $0 = Answers(source: source, attributes: attributes) }
    return attributes
  }

  private static func attributes(of model: ModelDeclaration) -> [String: String] {
    guard model.canBeAModel else { return [:] }
    var attributes: [String: String] = [:]
    for (ordinal, property) in model.toMany.enumerated() {
      attributes[property.name] = "@_StoredToMany(\(ordinal)\(model.classArgument))"
    }
    for (ordinal, property) in model.embedded.enumerated() {
      let type = "(\(property.type.trimmedDescription)).self"
      attributes[property.name] = "@_StoredEmbedded(\(ordinal), as: \(type)\(model.classArgument))"
    }
    for (slot, property) in model.stored.enumerated() {
      let macro = if case .attribute = property.kind { "_StoredAttribute" } else { "_StoredToOne" }
      attributes[property.name] = "@\(macro)(\(slot)\(model.classArgument))"
    }
    return attributes
  }
}
