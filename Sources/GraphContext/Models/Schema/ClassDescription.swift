/// One class of an entity whose models inherit from each other: a root and its subclasses have one entity, which is
/// named after the root.
public struct ClassDescription: Sendable, Hashable, Codable {
  /// The class's name.
  public var name: String
  /// The class that it inherits from; nil for the root.
  public var parent: String?
  /// True if only its subclasses have objects.
  public var isAbstract: Bool
  /// The names of the properties that the class declares itself. Objects of other classes have nil there.
  public var properties: [String]
  /// Those of the ``properties`` of a subclass for which its objects need a value. For the root, the properties
  /// themselves say this.
  public var required: [String]
  /// The class's name in an earlier version of the schema; nil if it had no other, and for the root, whose entity has
  /// it. Not stored with the schema.
  public var originalName: String?

  private enum CodingKeys: CodingKey { case name, parent, isAbstract, properties, required }

  /// Makes a description. A ``Schema`` checks it.
  public init(
    name: String,
    parent: String? = nil,
    isAbstract: Bool = false,
    properties: [String] = [],
    required: [String] = [],
    originalName: String? = nil
  ) {
    self.name = name
    self.parent = parent
    self.isAbstract = isAbstract
    self.properties = properties
    self.required = required
    self.originalName = originalName
  }

  /// Returns whether the classes are the same, except for the ``originalName``, which is not part of a schema.
  public static func == (left: ClassDescription, right: ClassDescription) -> Bool {
    (left.name, left.parent, left.isAbstract, left.properties, left.required)
      == (right.name, right.parent, right.isAbstract, right.properties, right.required)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(parent)
    hasher.combine(isAbstract)
    hasher.combine(properties)
    hasher.combine(required)
  }
}

extension ClassDescription: CustomStringConvertible {
  /// The class in a line: `class Dog: Animal breed!, weight`. An exclamation mark stands behind properties for which
  /// its objects need a value.
  public var description: String {
    let properties = propertyText
    let head = "\(isAbstract ? "abstract class" : "class") \(name)\(parent.map { ": \($0)" } ?? "")"
    return properties.isEmpty ? head : "\(head) \(properties)"
  }
}

extension ClassDescription {
  /// The properties that the class declares itself: `breed!, weight`.
  var propertyText: String {
    properties.map { required.contains($0) ? "\($0)!" : $0 }.joined(separator: ", ")
  }
}

extension EntityDescription {
  /// Returns the class that declares a property; nil where no class inherits from another.
  func declaringClass(of property: String) -> ClassDescription? {
    classes.first { $0.properties.contains(property) }
  }

  /// Returns whether objects of a class have a property, which the class declares or inherits.
  func hasProperty(_ property: String, _ member: ClassDescription) -> Bool {
    declaringClass(of: property).map { isClass(member, oneOf: $0) } ?? false
  }

  /// Returns whether some class requires a value of the property. An entity has the properties of subclasses as
  /// optional ones.
  func isRequiredOfSomeClass(_ property: String) -> Bool {
    classes.contains { $0.required.contains(property) }
  }

  /// Returns true if a class is another one or inherits from it.
  func isClass(_ member: ClassDescription, oneOf other: ClassDescription) -> Bool {
    var name: String? = member.name
    // At most as many steps as there are classes: a class that inherits from itself is reported as another problem.
    for _ in classes {
      if name == other.name { return true }
      name = classes.first { $0.name == name }?.parent
    }
    return false
  }
}
