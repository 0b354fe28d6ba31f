import Predicates

/// An index over attributes and to-one relationships of an entity.
///
/// Its entries are ordered by the first property, then the second, and so on; it serves conditions on a leading run of
/// them, and sorting by them.
///
/// Equal descriptions agree in all properties but ``ifExists``, which belongs to the program and is not stored with the
/// schema.
public struct IndexDescription: Sendable, Codable {
  /// The names of the attributes and to-one relationships, in the order in which entries are sorted by them.
  public var properties: [String]
  /// True if no two objects may have equal values in all of the properties. An object with nil in one of them is
  /// exempt.
  public var isUnique: Bool

  /// The folding of the strings among the values; none by default.
  public var folding: IndexFolding
  /// The policy of a save for a new object if an existing object has the same values. Of no effect for an index that
  /// isn't unique.
  public var ifExists: UniquePolicy

  /// Makes a description. A ``Schema`` checks it.
  public init(
    _ properties: [String],
    isUnique: Bool = false,
    folding: IndexFolding = [],
    ifExists: UniquePolicy = .error
  ) {
    self.ifExists = ifExists
    self.properties = properties
    self.isUnique = isUnique
    self.folding = folding
  }

  /// The index's name, unique within an entity: the properties' names joined by commas, and the folding, as in
  /// `title,year[cd]`.
  public var name: String { properties.joined(separator: ",") + folding.stringOptions.formatText }
}

extension IndexDescription: Hashable {
  public static func == (left: IndexDescription, right: IndexDescription) -> Bool {
    (left.properties, left.isUnique, left.folding) == (right.properties, right.isUnique, right.folding)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(properties)
    hasher.combine(isUnique)
    hasher.combine(folding)
  }
}

extension IndexDescription {
  private enum CodingKeys: CodingKey { case properties, isUnique, folding }

  /// Decodes an index. An index without a `folding` has none: stores that know no folding write such indexes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    properties = try container.decode([String].self, forKey: .properties)
    isUnique = try container.decode(Bool.self, forKey: .isUnique)
    folding = try container.decodeIfPresent(IndexFolding.self, forKey: .folding) ?? []
    ifExists = .error
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(properties, forKey: .properties)
    try container.encode(isUnique, forKey: .isUnique)
    if !folding.isEmpty { try container.encode(folding, forKey: .folding) }
  }
}
