import Predicates

/// What the schema says of one attribute.
public struct AttributeDescription: Sendable, Hashable, Codable {
  public var name: String
  /// How the values are stored.
  public var kind: AttributeKind
  public var isOptional: Bool

  public init(name: String, kind: AttributeKind, isOptional: Bool = false) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
  }
}
