import Predicates

/// An index over attributes and to-one relationships of an entity.
///
/// Its entries are ordered by the first property, then the second, and so on; it serves conditions on a leading run of
/// them, and sorting by them.
public struct IndexDescription: Sendable, Hashable, Codable {
  /// The names of the attributes and to-one relationships, the first sorted by first.
  public var properties: [String]
  /// No two objects have equal values in all of the properties. An object with nil in one of them is free.
  public var isUnique: Bool

  /// How the strings among the values are folded; nothing by default.
  public var folding: IndexFolding

  /// Makes a description. A ``Schema`` checks it.
  public init(_ properties: [String], isUnique: Bool = false, folding: IndexFolding = []) {
    self.properties = properties
    self.isUnique = isUnique
    self.folding = folding
  }

  /// Unique within an entity: the properties' names joined by commas, and the folding, as in `title,year[cd]`.
  public var name: String { properties.joined(separator: ",") + folding.stringOptions.formatText }
}

extension IndexDescription {
  private enum CodingKeys: CodingKey { case properties, isUnique, folding }

  /// An index without a `folding` has none: those of stores that know no other kind.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    properties = try container.decode([String].self, forKey: .properties)
    isUnique = try container.decode(Bool.self, forKey: .isUnique)
    folding = try container.decodeIfPresent(IndexFolding.self, forKey: .folding) ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(properties, forKey: .properties)
    try container.encode(isUnique, forKey: .isUnique)
    if !folding.isEmpty { try container.encode(folding, forKey: .folding) }
  }
}
