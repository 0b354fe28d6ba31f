import Predicates

/// A name for the objects behind the links of a many-to-many relationship, where each link is an object with attributes
/// of its own.
///
/// ```swift
/// LinkShorthand("members", through: "memberships", to: "person")
/// ```
///
/// With this, the condition `ANY members.name == "Ada"` is `ANY memberships.person.name == "Ada"`. A shorthand belongs
/// to the program: a store doesn't keep it.
public struct LinkShorthand: Sendable, Hashable {
  /// The name, which no property of the entity has.
  public var name: String
  /// The to-many relationship of the entity that leads to the links.
  public var links: String
  /// The to-one relationship of a link that leads to the other end.
  public var target: String

  /// Makes a shorthand. A ``Schema`` checks it.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - links: the to-many relationship of the entity that leads to the links.
  ///   - target: the to-one relationship of a link that leads to the other end.
  public init(_ name: String, through links: String, to target: String) {
    (self.name, self.links, self.target) = (name, links, target)
  }
}

extension EntityDescription {
  /// The paths that names stand for.
  var shorthandPaths: [String: [String]] {
    Dictionary(shorthands.map { ($0.name, [$0.links, $0.target]) }, uniquingKeysWith: { first, _ in first })
  }
}

extension Schema {
  static func shorthandProblems(of entity: EntityDescription, _ names: SchemaNames) -> [String] {
    duplicates(in: entity.shorthands.map(\.name)).map { "\(entity.name) has two shorthands named \($0)" }
      + entity.shorthands.compactMap { problem(of: $0, entity, names) }
  }

  private static func problem(
    of shorthand: LinkShorthand,
    _ entity: EntityDescription,
    _ names: SchemaNames
  ) -> String? {
    let name = "\(entity.name).\(shorthand.name)"
    let own = names.entity(named: entity.name)
    if own?.property(named: shorthand.name) != nil { return "\(name) is a property and a shorthand" }
    guard let links = own?.property(named: shorthand.links)?.relationship, links.isToMany else {
      return "\(name) goes through \(entity.name).\(shorthand.links), which is no to-many relationship"
    }
    let back = links.inverse.flatMap {
      names.entity(named: links.destination)?.property(named: $0)?.relationship
    }
    if back?.isToMany == true || links.hasHiddenInverse {
      return
        "\(name) goes through \(entity.name).\(shorthand.links), whose links can have several owners: they need a to-one relationship that leads back"
    }
    let link = names.entity(named: links.destination)?.description
    if let attribute = link?.attributes.first(where: \.needsAValueFromOutside) {
      return
        "\(name) makes objects of \(links.destination), whose \(attribute.name) has no value to begin with: give it a default, or let it be nil"
    }
    let target = names.entity(named: links.destination)?.property(named: shorthand.target)?.relationship
    return target.map { !$0.isToMany } ?? false
      ? nil : "\(name) leads to \(links.destination).\(shorthand.target), which is no to-one relationship"
  }
}

extension AttributeDescription {
  /// True if only an initialiser of the class can give a value.
  fileprivate var needsAValueFromOutside: Bool { !isOptional && !hasInitialValue }

  /// True if a new object has a value of the attribute before an initialiser of the class runs.
  var hasInitialValue: Bool { defaultValue != nil || insertionDefault != nil || derivation != nil }
}
