import Predicates

/// A schema as Swift source: the classes that `@Model` makes it from.
///
/// The text compiles without changes. A property whose initial value can be written down has that value. Other
/// properties are parameters of the initialiser, except optionals and to-many relationships. A relationship names its
/// inverse at one end of the pair: at the to-one end, else at the end that comes first by the names of entity and
/// property. The type of a relationship to objects of a hierarchy is the class that declares its inverse, else the
/// root: a schema keeps no other class.
public struct SwiftSource: Sendable, Hashable, CustomStringConvertible {
  /// The text, with an end of line after the last one.
  public let description: String

  /// Makes the source of a schema. O(properties and indexes).
  public init(_ schema: Schema) {
    var taken = Set(schema.entities.flatMap { $0.classes.isEmpty ? [$0.name] : $0.classes.map(\.name) })
    let classes = schema.entities.flatMap { entity in
      entity.classes.isEmpty
        ? [SwiftClass(entity, in: schema, &taken).text] : Self.hierarchy(of: entity, in: schema, &taken)
    }
    description = (["import Cambium\n"] + classes).joined(separator: "\n")
  }

  /// Returns the models of an entity that inherit from each other, each after its superclass.
  private static func hierarchy(
    of entity: EntityDescription,
    in schema: Schema,
    _ taken: inout Set<String>
  ) -> [String] {
    var parameters: [String: [SwiftParameter]] = [:]
    let lost = entity.declaredIndexes.filter { index in
      !entity.classes.contains { Set($0.properties).isSuperset(of: index.properties) }
    }
    let comments = lost.map { index in
      "// No class can declare the index over \(index.properties.joined(separator: ", ")): two classes have these.\n"
    }
    return comments
      + entity.classes.map { member in
        let place = ClassPlace(
          member,
          subclasses: entity.classes.filter { $0.parent == member.name }.map(\.name),
          inherited: member.parent.flatMap { parameters[$0] } ?? []
        )
        let source = SwiftClass(entity.declared(by: member), of: entity.name, at: place, in: schema, &taken)
        parameters[member.name] = source.parameters
        return source.text
      }
  }
}

/// A parameter of an initialiser, which sets the property of its name.
private struct SwiftParameter {
  let name: String
  let type: String
}

/// The position of a model among those that inherit from each other.
private struct ClassPlace {
  let isAbstract: Bool
  let superclass: String?
  /// The subclasses; nil for a model without a superclass that no class can inherit from.
  let subclasses: [String]?
  /// The parameters of the superclass's initialiser.
  let inherited: [SwiftParameter]

  init(_ description: ClassDescription, subclasses: [String]?, inherited: [SwiftParameter]) {
    (isAbstract, superclass) = (description.isAbstract, description.parent)
    // A root without subclasses stays a root: a store may get some.
    self.subclasses = subclasses == [] && superclass != nil ? nil : subclasses
    self.inherited = inherited
  }

  /// A model without superclass and subclasses.
  static let alone = ClassPlace(ClassDescription(name: ""), subclasses: nil, inherited: [])

  /// The arguments of its `@Model`.
  var arguments: [String] {
    var arguments = isAbstract ? ["isAbstract: true"] : []
    if let superclass { arguments.append("superclass: \(SwiftText.literal(superclass))") }
    if let subclasses {
      arguments.append("subclasses: [\(subclasses.map(SwiftText.literal).joined(separator: ", "))]")
    }
    return arguments
  }
}

extension EntityDescription {
  /// Returns the own declarations of a class of the entity, as an entity.
  fileprivate func declared(by member: ClassDescription) -> EntityDescription {
    let own = Set(member.properties)
    let required = Set(member.required)
    return EntityDescription(
      name: member.name,
      properties: declaredProperties.filter { own.contains($0.name) }.map { property in
        required.contains(property.name) ? property.required : property
      },
      indexes: declaredIndexes.filter { own.isSuperset(of: $0.properties) },
      originalName: member.parent == nil ? originalName : member.originalName
    )
  }
}

extension PropertyDescription {
  /// The property as one that needs a value in each object.
  fileprivate var required: PropertyDescription {
    switch self {
    case .attribute(var attribute):
      attribute.isOptional = false
      return .attribute(attribute)
    case .relationship(var relationship):
      relationship.cardinality = .required
      return .relationship(relationship)
    }
  }
}

/// The source of one model.
private struct SwiftClass {
  private static let longestLine = 110

  /// The model's own declarations.
  private let entity: EntityDescription
  /// The entity that the schema has for the model: the root of its hierarchy.
  private let entityName: String
  private let place: ClassPlace
  private let schema: Schema
  /// Attributes that are marked as unique; other unique indexes have a line of their own.
  private let uniqueAttributes: Set<String>
  /// Each embedded value, in the order of the first parts.
  private let embedded: [EmbeddedGroup]

  /// - Parameter taken: the names of types so far. The names of the structs are added.
  init(
    _ entity: EntityDescription,
    of entityName: String? = nil,
    at place: ClassPlace = .alone,
    in schema: Schema,
    _ taken: inout Set<String>
  ) {
    self.entity = entity
    self.entityName = entityName ?? entity.name
    self.place = place
    self.schema = schema
    embedded = EmbeddedGroup.all(in: entity.attributes, of: entity.name, &taken)
    let attributes = Set(entity.attributes.map(\.name).filter { !$0.contains(".") })
    uniqueAttributes = Set(
      entity.indexes.filter { $0.isUnique && $0.folding.isEmpty && $0.properties.count == 1 }
        .compactMap(\.properties.first).filter(attributes.contains)
    )
  }

  var text: String {
    let parts = [
      indexes, plainProperties.map { declaration(of: $0) } + embedded.map(\.declaration), initializer,
    ].filter { !$0.isEmpty }
    let body = parts.map { $0.map { "  \($0)\n" }.joined() }.joined(separator: "\n")
    let original = entity.earlierName.map { ["originalName: \(SwiftText.literal($0))"] } ?? []
    let arguments = (original + place.arguments).joined(separator: ", ")
    let mark = arguments.isEmpty ? "@Model" : "@Model(\(arguments))"
    let kind = place.subclasses == nil ? "final class" : "class"
    let superclass = place.superclass.map { ": \(SwiftText.identifier($0))" } ?? ""
    let model = "\(mark) \(kind) \(SwiftText.identifier(entity.name))\(superclass) {\n\(body)}\n"
    return (embedded.map(structure) + [model]).joined(separator: "\n")
  }

  /// The properties that are no part of an embedded value.
  private var plainProperties: [PropertyDescription] {
    entity.declaredProperties.filter { property in !embedded.contains { $0.contains(property.name) } }
  }

  /// Returns the struct of an embedded value, after the structs of its parts.
  private func structure(of group: EmbeddedGroup) -> String {
    let lines = group.parts.map { declaration(of: $0, isPart: true) } + group.nested.map(\.declaration)
    let body = lines.map { "  \($0)\n" }.joined()
    let structure = "@Embeddable struct \(group.structName) {\n\(body)}\n"
    return (group.nested.map(self.structure) + [structure]).joined(separator: "\n")
  }

  // MARK: Indexes

  private var indexes: [String] {
    entity.declaredIndexes.filter { !isMarked($0) }.map { index in
      let paths = index.properties.map(keyPath).joined(separator: ", ")
      let folding = index.folding.isEmpty ? "" : ", folding: \(SwiftText.folding(index.folding))"
      let macro = index.isUnique ? "#Unique" : "#Index"
      return "\(macro)<\(SwiftText.identifier(entity.name))>([\(paths)]\(folding))"
    }
  }

  private func keyPath(to property: String) -> String {
    var names = property.split(separator: ".").map { SwiftText.identifier(String($0)) }
    // A value that is embedded in an embedded value is always there.
    if names.count > 1, embedded.contains(where: { $0.isOptional && $0.contains(property) }) {
      names[0] += "?"
    }
    return "\\." + names.joined(separator: ".")
  }

  /// Returns whether `@Attribute(.unique)` can express the index.
  private func isMarked(_ index: IndexDescription) -> Bool {
    index.isUnique && index.folding.isEmpty && index.properties.count == 1
      && uniqueAttributes.contains(index.properties[0])
  }

  // MARK: Properties

  private func declaration(of property: PropertyDescription, isPart: Bool = false) -> String {
    let variable = "var \(SwiftText.identifier(property.name)): \(type(of: property))"
    let value = initialValue(of: property).map { " = \($0)" } ?? ""
    return mark(of: property, isPart: isPart) + variable + value
  }

  /// Returns `@Attribute(…)` or `@Relationship(…)`, with a space after it.
  private func mark(of property: PropertyDescription, isPart: Bool) -> String {
    var arguments: [String] = []
    switch property {
    case .attribute(let attribute):
      if !isPart, uniqueAttributes.contains(attribute.name) { arguments.append(".unique") }
      if let derivation = attribute.derivation {
        arguments.append(".derived(\(SwiftText.literal(derivation.text)))")
      }
      if attribute.kind.isExternal { arguments.append(".externalStorage") }
    case .relationship(let relationship):
      if relationship.isOrdered { arguments.append(".ordered") }
      if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule)") }
      if let inverse = namedInverse(of: relationship) { arguments.append("inverse: \(inverse)") }
    }
    if let name = property.earlierName { arguments.append("originalName: \(SwiftText.literal(name))") }
    let name = property.isRelationship ? "@Relationship" : "@Attribute"
    if arguments.isEmpty { return property.isRelationship || isMarkedList(property) ? name + " " : "" }
    return "\(name)(\(arguments.joined(separator: ", "))) "
  }

  /// Returns whether a list needs the mark `@Attribute`. Without it, the macro reads `[UInt8]` as bytes, and
  /// a list of a type with a module name as a relationship.
  private func isMarkedList(_ property: PropertyDescription) -> Bool {
    guard let kind = property.attribute?.elementKind else { return false }
    return kind == .uint8 || SwiftText.type(of: kind, in: schema).contains(".")
  }

  /// Returns the inverse as it is written at the end that names it; nil at the other end.
  private func namedInverse(of relationship: RelationshipDescription) -> String? {
    guard let inverseName = relationship.inverse else { return nil }
    if relationship.hasHiddenInverse { return ".hidden" }
    if relationship.destination == entityName, inverseName == relationship.name { return ".itself" }
    guard
      case .relationship(let inverse)? = schema.entity(named: relationship.destination)?
        .property(named: inverseName)
    else { return nil }
    let isNamedHere =
      relationship.isToMany == inverse.isToMany
      ? (entityName, relationship.name) < (relationship.destination, inverseName) : inverse.isToMany
    guard isNamedHere else { return nil }
    return "\\\(destination(of: relationship)).\(SwiftText.identifier(inverseName))"
  }

  /// Returns the class that a relationship leads to: the one that declares the inverse.
  private func destination(of relationship: RelationshipDescription) -> String {
    let declaring = relationship.inverse.flatMap {
      schema.entity(named: relationship.destination)?.declaringClass(of: $0)?.name
    }
    return SwiftText.identifier(declaring ?? relationship.destination)
  }

  private func type(of property: PropertyDescription) -> String {
    switch property {
    case .attribute(let attribute):
      let type = attribute.elementKind.map { "[\(SwiftText.type(of: $0, in: schema))]" }
      return (type ?? SwiftText.type(of: attribute.kind, in: schema)) + (attribute.isOptional ? "?" : "")
    case .relationship(let relationship):
      let destination = destination(of: relationship)
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
      attribute.defaultValue.flatMap { value in
        guard let kind = attribute.elementKind, case .string(let json) = value else {
          return SwiftText.expression(for: value, of: attribute.kind, in: schema)
        }
        return list(json, of: kind)
      }
    case .relationship(let relationship): relationship.isToMany ? "[]" : nil
    }
  }

  /// Returns a literal for a list of values; nil where an element has none.
  private func list(_ json: String, of kind: AttributeKind) -> String? {
    guard let values = try? ListElements.values(of: json, kind) else { return nil }
    let elements = values.map { SwiftText.expression(for: $0, of: kind, in: schema) }
    return elements.contains(nil) ? nil : "[\(elements.compactMap(\.self).joined(separator: ", "))]"
  }

  // MARK: The initialiser

  /// The parameters of the model's own properties.
  private var ownParameters: [SwiftParameter] {
    let properties = plainProperties.filter { isRequired($0) && initialValue(of: $0) == nil }
    return properties.map { SwiftParameter(name: SwiftText.identifier($0.name), type: type(of: $0)) }
      + embedded.filter { !$0.isOptional }.map {
        SwiftParameter(name: SwiftText.identifier($0.name), type: $0.structName)
      }
  }

  var parameters: [SwiftParameter] { place.inherited + ownParameters }

  private var initializer: [String] {
    let own = ownParameters
    let isSubclass = place.superclass != nil
    if parameters.isEmpty, !isSubclass { return ["init() {}"] }
    // An initialiser with the parameters of the superclass's overrides it.
    let name = isSubclass && own.isEmpty ? "override init" : "init"
    let parameters = parameters.map { "\($0.name): \($0.type)" }
    var statements = own.map { "  self.\($0.name) = \($0.name)" }
    if isSubclass {
      statements.append(
        "  super.init(\(place.inherited.map { "\($0.name): \($0.name)" }.joined(separator: ", ")))"
      )
    }
    let line = "\(name)(\(parameters.joined(separator: ", "))) {"
    // Two spaces stand before it.
    let isShort = line.count + 2 <= Self.longestLine
    let head = isShort ? [line] : ["\(name)("] + Self.separated(parameters) + [") {"]
    return head + statements + ["}"]
  }

  private static func separated(_ parameters: [String]) -> [String] {
    parameters.enumerated().map { "  \($1)\($0 + 1 < parameters.count ? "," : "")" }
  }

  private func isRequired(_ property: PropertyDescription) -> Bool {
    switch property {
    case .attribute(let attribute): !attribute.isOptional && attribute.derivation == nil
    case .relationship(let relationship): relationship.cardinality == .required
    }
  }
}

/// The attributes of an entity that are the parts of one embedded value.
private struct EmbeddedGroup {
  /// The property's name.
  let name: String
  /// The parts, without the name of the property, and without those of ``nested``.
  let parts: [PropertyDescription]
  /// The parts that are embedded values themselves.
  let nested: [EmbeddedGroup]
  /// True if an attribute says that the value is there.
  let isOptional: Bool
  let structName: String
  /// The argument `originalName:` in brackets; empty without one.
  private let earlierName: String

  /// The property that has the value.
  var declaration: String {
    "@Embedded\(earlierName) var \(SwiftText.identifier(name)): \(structName)\(isOptional ? "?" : "")"
  }

  func contains(_ property: String) -> Bool { property == name || property.hasPrefix(name + ".") }

  /// - Parameters:
  ///   - owner: the beginning of the names of the structs.
  ///   - taken: the names of types so far. The names of the structs are added.
  static func all(
    in attributes: [AttributeDescription],
    of owner: String,
    _ taken: inout Set<String>
  ) -> [EmbeddedGroup] {
    var names: [String] = []
    for name in attributes.compactMap({ $0.name.embeddedName }) where !names.contains(name) {
      names.append(name)
    }
    return names.map { EmbeddedGroup($0, in: attributes, of: owner, &taken) }
  }

  private init(
    _ name: String,
    in all: [AttributeDescription],
    of owner: String,
    _ taken: inout Set<String>
  ) {
    self.name = name
    isOptional = all.contains { $0.name == name }
    let attributes = all.filter { $0.name.embeddedName == name }
    let earlier = Set(attributes.map { $0.originalName?.embeddedName ?? name })
    let isRenamed = earlier.count == 1 && earlier.first != name
    earlierName = isRenamed ? "(originalName: \(SwiftText.literal(earlier.first ?? name)))" : ""
    let inner = attributes.map { attribute in
      var part = attribute
      part.name = String(attribute.name.dropFirst(name.count + 1))
      let original = attribute.originalName.map { String($0.drop { $0 != "." }.dropFirst()) }
      part.originalName = original == part.name ? nil : original
      if part.isRequiredPart == true { (part.isOptional, part.defaultValue) = (false, part.partDefault) }
      return part
    }
    var structName = owner + name.prefix(1).uppercased() + name.dropFirst()
    while !taken.insert(structName).inserted { structName += "Value" }
    self.structName = SwiftText.identifier(structName)
    parts = inner.filter { $0.name.embeddedName == nil }.map(PropertyDescription.attribute)
    nested = Self.all(in: inner, of: structName, &taken)
  }
}

extension String {
  /// The property's name in the name of a part of an embedded value; nil for any other name.
  fileprivate var embeddedName: String? { firstIndex(of: ".").map { String(self[..<$0]) } }
}
