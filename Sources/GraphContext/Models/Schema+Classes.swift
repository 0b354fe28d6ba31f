import Predicates

extension Schema {
  /// What is wrong with the classes of an entity.
  static func classProblems(of entity: EntityDescription) -> [String] {
    guard let root = entity.classes.first else { return [] }
    var problems: [String] = []
    if root.name != entity.name || root.parent != nil {
      problems.append("the first class of \(entity.name) is not its root")
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

  /// Each property is declared by one class.
  private static func propertyProblems(of entity: EntityDescription) -> [String] {
    let listed = entity.classes.flatMap(\.properties)
    let declared = Set(entity.declaredProperties.map(\.name))
    return duplicates(in: listed).map { "\(entity.name) and its subclasses have two properties named \($0)" }
      + declared.subtracting(listed).sorted().map { "\(entity.name).\($0) is declared by no class" }
      + Set(listed).subtracting(declared).sorted().map { "a class of \(entity.name) has no property \($0)" }
  }

  /// What is wrong with a property of a subclass.
  private static func problem(of property: PropertyDescription, _ member: ClassDescription) -> String? {
    let name = "\(member.name).\(property.name)"
    switch property {
    case .relationship(let relationship) where relationship.cardinality == .required:
      return "\(name) is required of its root's other objects, too"
    case .relationship(let relationship)
    where relationship.isToMany && member.required.contains(property.name):
      return "\(name) can't be required: it leads to many objects"
    case .attribute(let attribute) where !attribute.isOptional:
      return "\(name) is required of its root's other objects, too"
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
