import Predicates

/// A schema as Swift source: the classes that `@Model` makes it from.
///
/// The text builds as it is. A property whose initial value can be written down has it; the others are parameters of the initialiser, but for
/// optionals and to-many relationships. A relationship names its inverse at one end of the pair: at the to-one end, else at the end that
/// comes first by the names of entity and property.
public struct SwiftSource: Sendable, Hashable, CustomStringConvertible {
  /// The text, with an end of line after the last one.
  public let description: String

  /// O(properties and indexes).
  public init(_ schema: Schema) {
    let classes = schema.entities.map { SwiftClass($0, in: schema).text }
    description = (["import Cambium\n"] + classes).joined(separator: "\n")
  }
}

/// The source of one model.
private struct SwiftClass {
  private static let longestLine = 110

  private let entity: EntityDescription
  private let schema: Schema
  /// Attributes that are marked as unique; other unique indexes have a line of their own.
  private let uniqueAttributes: Set<String>

  init(_ entity: EntityDescription, in schema: Schema) {
    self.entity = entity
    self.schema = schema
    let attributes = Set(entity.attributes.map(\.name))
    uniqueAttributes = Set(
      entity.indexes.filter { $0.isUnique && $0.folding.isEmpty && $0.properties.count == 1 }
        .compactMap(\.properties.first).filter(attributes.contains)
    )
  }

  var text: String {
    let parts = [indexes, entity.declaredProperties.map(declaration), initializer].filter { !$0.isEmpty }
    let body = parts.map { $0.map { "  \($0)\n" }.joined() }.joined(separator: "\n")
    let arguments = entity.earlierName.map { "(originalName: \(SwiftText.literal($0)))" } ?? ""
    return "@Model\(arguments) final class \(SwiftText.identifier(entity.name)) {\n\(body)}\n"
  }

  // MARK: Indexes

  private var indexes: [String] {
    entity.declaredIndexes.filter { !isMarked($0) }.map { index in
      let paths = index.properties.map { "\\.\(SwiftText.identifier($0))" }.joined(separator: ", ")
      let folding = index.folding.isEmpty ? "" : ", folding: \(SwiftText.folding(index.folding))"
      let macro = index.isUnique ? "#Unique" : "#Index"
      return "\(macro)<\(SwiftText.identifier(entity.name))>([\(paths)]\(folding))"
    }
  }

  /// Whether `@Attribute(.unique)` says what the index does.
  private func isMarked(_ index: IndexDescription) -> Bool {
    index.isUnique && index.folding.isEmpty && index.properties.count == 1
      && uniqueAttributes.contains(index.properties[0])
  }

  // MARK: Properties

  private func declaration(of property: PropertyDescription) -> String {
    let variable = "var \(SwiftText.identifier(property.name)): \(type(of: property))"
    let value = initialValue(of: property).map { " = \($0)" } ?? ""
    return mark(of: property) + variable + value
  }

  /// `@Attribute(…)` or `@Relationship(…)`, with a space after it.
  private func mark(of property: PropertyDescription) -> String {
    var arguments: [String] = []
    switch property {
    case .attribute(let attribute):
      if uniqueAttributes.contains(attribute.name) { arguments.append(".unique") }
      if attribute.kind.isExternal { arguments.append(".externalStorage") }
    case .relationship(let relationship):
      if relationship.isOrdered { arguments.append(".ordered") }
      if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule)") }
      if let inverse = namedInverse(of: relationship) { arguments.append("inverse: \(inverse)") }
    }
    if let name = property.earlierName { arguments.append("originalName: \(SwiftText.literal(name))") }
    let name = property.isRelationship ? "@Relationship" : "@Attribute"
    if arguments.isEmpty { return property.isRelationship ? name + " " : "" }
    return "\(name)(\(arguments.joined(separator: ", "))) "
  }

  /// The inverse as the end that names it writes it; nil at the other end.
  private func namedInverse(of relationship: RelationshipDescription) -> String? {
    guard let inverseName = relationship.inverse else { return nil }
    if relationship.destination == entity.name, inverseName == relationship.name { return ".itself" }
    guard
      case .relationship(let inverse)? = schema.entity(named: relationship.destination)?
        .property(named: inverseName)
    else { return nil }
    let isNamedHere =
      relationship.isToMany == inverse.isToMany
      ? (entity.name, relationship.name) < (relationship.destination, inverseName) : inverse.isToMany
    guard isNamedHere else { return nil }
    return "\\\(SwiftText.identifier(relationship.destination)).\(SwiftText.identifier(inverseName))"
  }

  private func type(of property: PropertyDescription) -> String {
    switch property {
    case .attribute(let attribute):
      let type = attribute.elementKind.map { "[\(SwiftText.type(of: $0, in: schema))]" }
      return (type ?? SwiftText.type(of: attribute.kind, in: schema)) + (attribute.isOptional ? "?" : "")
    case .relationship(let relationship):
      let destination = SwiftText.identifier(relationship.destination)
      return switch relationship.cardinality {
      case .optional: "\(destination)?"
      case .required: destination
      case .many: "[\(destination)]"
      }
    }
  }

  private func initialValue(of property: PropertyDescription) -> String? {
    switch property {
    case .attribute(let attribute):
      attribute.defaultValue.flatMap { SwiftText.expression(for: $0, of: attribute.kind, in: schema) }
    case .relationship(let relationship): relationship.isToMany ? "[]" : nil
    }
  }

  // MARK: The initialiser

  private var initializer: [String] {
    let taken = entity.declaredProperties.filter { isRequired($0) && initialValue(of: $0) == nil }
    if taken.isEmpty { return ["init() {}"] }
    let parameters = taken.map { "\(SwiftText.identifier($0.name)): \(type(of: $0))" }
    let assignments = taken.map { property in
      let name = SwiftText.identifier(property.name)
      return "  self.\(name) = \(name)"
    }
    let line = "init(\(parameters.joined(separator: ", "))) {"
    // Two spaces stand before it.
    let isShort = line.count + 2 <= Self.longestLine
    let head = isShort ? [line] : ["init("] + Self.separated(parameters) + [") {"]
    return head + assignments + ["}"]
  }

  private static func separated(_ parameters: [String]) -> [String] {
    parameters.enumerated().map { "  \($1)\($0 + 1 < parameters.count ? "," : "")" }
  }

  private func isRequired(_ property: PropertyDescription) -> Bool {
    switch property {
    case .attribute(let attribute): !attribute.isOptional
    case .relationship(let relationship): relationship.cardinality == .required
    }
  }
}
