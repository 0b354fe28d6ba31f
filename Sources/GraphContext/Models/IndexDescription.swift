/// An index over attributes and to-one relationships of an entity.
///
/// Its entries are ordered by the first property, then the second, and so on; it serves conditions on a leading run of
/// them, and sorting by them.
public struct IndexDescription: Sendable, Hashable, Codable {
  public var properties: [String]
  /// No two objects have equal values in all of the properties. An object with nil in one of them is free.
  public var isUnique: Bool

  public init(_ properties: [String], isUnique: Bool = false) {
    self.properties = properties
    self.isUnique = isUnique
  }

  /// Unique within an entity: the properties' names joined by commas.
  public var name: String { properties.joined(separator: ",") }
}
