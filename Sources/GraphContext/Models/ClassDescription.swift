/// One class of an entity whose models inherit from each other: a root and its subclasses have one entity, which is named after the root.
public struct ClassDescription: Sendable, Hashable, Codable {
  /// The class's name.
  public var name: String
  /// The class that it inherits from; nil for the root.
  public var parent: String?
  /// Whether only its subclasses have objects.
  public var isAbstract: Bool
  /// The names of the properties that the class declares itself. Objects of other classes have nil there.
  public var properties: [String]
  /// Of the ``properties`` of a subclass, those that its objects need a value for. The root's say so themselves.
  public var required: [String]

  /// Makes a description. A ``Schema`` checks it.
  public init(
    name: String,
    parent: String? = nil,
    isAbstract: Bool = false,
    properties: [String] = [],
    required: [String] = []
  ) {
    self.name = name
    self.parent = parent
    self.isAbstract = isAbstract
    self.properties = properties
    self.required = required
  }
}

extension ClassDescription: CustomStringConvertible {
  /// The class in a line: `class Dog: Animal breed!, weight`. An exclamation mark stands behind what its objects need a value for.
  public var description: String {
    let properties = properties.map { required.contains($0) ? "\($0)!" : $0 }.joined(separator: ", ")
    let head = "\(isAbstract ? "abstract class" : "class") \(name)\(parent.map { ": \($0)" } ?? "")"
    return properties.isEmpty ? head : "\(head) \(properties)"
  }
}
