import Predicates

extension Schema {
  /// Returns the problems of the classes of an entity.
  static func classProblems(of entity: EntityDescription) -> [String] {
    guard let root = entity.classes.first else { return [] }
    var problems: [String] = []
    if root.name != entity.name || root.parent != nil {
      problems.append("the first class of \(entity.name) is not its root")
    }
    if let original = root.originalName, original != root.name, original != entity.originalName {
      problems.append(
        "the original name \(original) of the root class \(entity.name) must be given for its entity instead"
      )
    }
    if entity.classes.count > SchemaLimits.classCount {
      problems.append(
        "\(entity.name) has \(entity.classes.count) classes; \(SchemaLimits.classCount) are possible"
      )
    }
    var known: Set<String> = []
    for member in entity.classes {
      if !isName(member.name) { problems.append("\"\(member.name)\" is no name for a class") }
      if member.name != root.name, member.parent.map(known.contains) != true {
        problems.append("the class \(member.name) of \(entity.name) comes before its superclass, or has none")
      }
      known.insert(member.name)
    }
    return problems + propertyProblems(of: entity) + requiredProblems(of: entity)
  }

  /// Returns the problems of properties that aren't declared by exactly one class.
  private static func propertyProblems(of entity: EntityDescription) -> [String] {
    let listed = entity.classes.flatMap(\.properties)
    // A name stands for a property or for an embedded value with its parts.
    let wholes = entity.classes.flatMap { member in
      Set(member.properties.map { PropertyDescription.propertyName(ofPart: $0).map(String.init) ?? $0 })
    }
    let declared = Set(entity.declaredProperties.map(\.name))
    return Set(duplicates(in: listed) + duplicates(in: wholes)).sorted().map {
      "\(entity.name) and its subclasses have two properties named \($0)"
    }
      + declared.subtracting(listed).sorted().map { "\(entity.name).\($0) is declared by no class" }
      + Set(listed).subtracting(declared).sorted().map { "a class of \(entity.name) has no property \($0)" }
  }

  /// Returns the mistakes in relationships to classes of hierarchies. They are found in the models: a schema's
  /// relationships lead to the roots of hierarchies.
  static func destinationProblems(in entities: [EntityDescription]) -> [String] {
    let pairs = entities.flatMap { entity in
      ([entity.name] + entity.classes.map(\.name)).map { ($0, entity) }
    }
    let owners = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    return entities.flatMap { entity in
      entity.relationships.compactMap { inverseProblem(of: $0, of: entity, owners) }
        + entity.shorthands.compactMap { linkProblem(of: $0, of: entity, owners) }
    }
  }

  /// Returns the problem of the links of a shorthand, which are made without an initialiser; nil if there is none.
  private static func linkProblem(
    of shorthand: LinkShorthand,
    of entity: EntityDescription,
    _ owners: [String: EntityDescription]
  ) -> String? {
    guard let name = entity.property(named: shorthand.links)?.relationship?.destination,
      let destination = owners[name], let link = destination.classes.first(where: { $0.name == name })
    else { return nil }
    let start = "\(entity.name).\(shorthand.name) makes objects of \(link.name)"
    if link.isAbstract { return "\(start), which is abstract" }
    let required = destination.classes.filter { destination.isClass(link, oneOf: $0) }.flatMap(\.required)
    let lacking = destination.attributes.first { required.contains($0.name) && !$0.hasInitialValue }
    return lacking.map {
      "\(start), whose \($0.name) has no value to begin with: give it a default, or let it be nil"
    }
  }

  /// - Parameter owners: the entities by the names of their classes.
  private static func inverseProblem(
    of relationship: RelationshipDescription,
    of entity: EntityDescription,
    _ owners: [String: EntityDescription]
  ) -> String? {
    guard let destination = owners[relationship.destination],
      let target = destination.classes.first(where: { $0.name == relationship.destination })
    else { return nil }
    let inverse =
      relationship.inverse
      ?? destination.relationships.first {
        $0.inverse == relationship.name && owners[$0.destination]?.name == entity.name
      }?.name
    guard let inverse, let declaring = destination.declaringClass(of: inverse),
      let other = destination.classes.first(where: {
        !$0.isAbstract && destination.isClass($0, oneOf: target) && !destination.isClass($0, oneOf: declaring)
      })
    else { return nil }
    let owner = entity.declaringClass(of: relationship.name)?.name ?? entity.name
    return
      "\(owner).\(relationship.name) leads to \(target.name), and its inverse \(inverse) is no property of \(other.name)"
  }

  /// Returns the problem of a property of a subclass; nil if it has none.
  private static func problem(of property: PropertyDescription, _ member: ClassDescription) -> String? {
    let name = "\(member.name).\(property.name)"
    switch property {
    case .relationship(let relationship) where relationship.cardinality == .required:
      return "\(name) must be optional in its entity: objects of other classes don't have it"
    case .relationship(let relationship)
    where relationship.isToMany && member.required.contains(property.name):
      return "\(name) can't be required: it leads to many objects"
    case .attribute(let attribute) where !attribute.isOptional:
      return "\(name) must be optional in its entity: objects of other classes don't have it"
    default: return nil
    }
  }

  private static func requiredProblems(of entity: EntityDescription) -> [String] {
    entity.classes.dropFirst().flatMap { member in
      let unknown = Set(member.required).subtracting(member.properties).sorted().map {
        "\(member.name).\($0) is required by a class that doesn't declare it"
      }
      return unknown
        + member.properties.compactMap { name in
          entity.property(named: name).flatMap { problem(of: $0, member) }
        }
    }
  }
}
