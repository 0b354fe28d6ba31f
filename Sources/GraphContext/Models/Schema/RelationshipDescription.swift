/// The schema's description of one relationship: a link from the objects of an entity to one or many objects of
/// another.
///
/// Equal descriptions agree in everything but the original name and the bounds of the count, which are not stored with
/// the schema.
public struct RelationshipDescription: Sendable, Codable {
  /// The relationship's name.
  public var name: String
  /// The entity at the other end.
  public var destination: String
  /// The number of objects that the relationship can lead to.
  public var cardinality: Cardinality
  /// The relationship of the destination that leads back. Where only one end of a pair names its inverse, a ``Schema``
  /// fills in the other. Where none leads back from a to-many relationship, it adds a hidden one: see
  /// ``hiddenInverse``.
  public var inverse: String?
  /// The effect on the objects at the other end when an object of this entity is deleted.
  public var deleteRule: DeleteRule
  /// True if the program gives the objects at the other end of a to-many relationship an order. Where the inverse is to
  /// one, both ends of the pair say so: the objects keep their places beside their to-one relationship. Where it is to
  /// many, each end has an order of its own, or none.
  public var isOrdered: Bool
  /// The relationship's name in an earlier version of the schema; nil if it had no other.
  public var originalName: String?

  /// The least number of members that a save accepts. Only for a to-many relationship. It belongs to the program, like
  /// ``AttributeDescription/rules``.
  public var minimumCount = 0
  /// The greatest number of members that a save accepts; nil for no limit. Only for a to-many relationship. It belongs
  /// to the program, too.
  public var maximumCount: Int?

  /// The number of objects that a relationship can lead to.
  public enum Cardinality: String, Sendable, Hashable, Codable {
    /// One or none.
    case optional
    /// Exactly one: an object without it can't be saved.
    case required
    /// Any number, each at most once.
    case many
  }

  /// Makes a description. A ``Schema`` checks it.
  public init(
    name: String,
    destination: String,
    cardinality: Cardinality,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isOrdered: Bool = false,
    originalName: String? = nil
  ) {
    self.isOrdered = isOrdered
    self.name = name
    self.destination = destination
    self.cardinality = cardinality
    self.inverse = inverse
    self.deleteRule = deleteRule
    self.originalName = originalName
  }

  /// True if the relationship leads to any number of objects.
  public var isToMany: Bool { cardinality == .many }
}

extension RelationshipDescription: Hashable {
  public static func == (left: RelationshipDescription, right: RelationshipDescription) -> Bool {
    (left.name, left.destination, left.cardinality, left.inverse, left.deleteRule, left.isOrdered)
      == (right.name, right.destination, right.cardinality, right.inverse, right.deleteRule, right.isOrdered)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(destination)
    hasher.combine(cardinality)
    hasher.combine(inverse)
    hasher.combine(deleteRule)
    hasher.combine(isOrdered)
  }
}

extension RelationshipDescription {
  private enum CodingKeys: CodingKey { case name, destination, cardinality, inverse, deleteRule, isOrdered }

  /// Decodes a relationship. A relationship without an `isOrdered` has no order: stores that know no order write such
  /// relationships.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      destination: try container.decode(String.self, forKey: .destination),
      cardinality: try container.decode(Cardinality.self, forKey: .cardinality),
      inverse: try container.decodeIfPresent(String.self, forKey: .inverse),
      deleteRule: try container.decode(DeleteRule.self, forKey: .deleteRule),
      isOrdered: try container.decodeIfPresent(Bool.self, forKey: .isOrdered) ?? false
    )
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(destination, forKey: .destination)
    try container.encode(cardinality, forKey: .cardinality)
    try container.encodeIfPresent(inverse, forKey: .inverse)
    try container.encode(deleteRule, forKey: .deleteRule)
    if isOrdered { try container.encode(isOrdered, forKey: .isOrdered) }
  }
}

/// The effect of an object's deletion on the objects that one of its relationships leads to.
public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
  /// The objects stay; their link back to the deleted object is removed. An object whose link back is required can't
  /// lose it: the save fails.
  case nullify
  /// The objects are deleted too, by their own rules.
  case cascade
  /// While there are such objects, the object can't be deleted: the save fails.
  case deny
}
