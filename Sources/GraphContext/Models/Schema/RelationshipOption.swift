/// An option of `@Relationship`, ``ToOneLink`` and ``ToManyLink``, given without a label.
public struct RelationshipOption: Sendable, Hashable {
  private let name: String
  /// The objects that a to-many relationship leads to have an order. Where the relationship that leads back is to one,
  /// both ends of the pair say so: each object keeps its place beside its to-one relationship. Where it is to many,
  /// each end has an order of its own, or none.
  public static let ordered = RelationshipOption(name: "ordered")
}

/// The argument `inverse` of `@Relationship`, ``ToOneLink`` and ``ToManyLink`` for a relationship whose inverse is no
/// other property.
public struct OwnInverse: Sendable, Hashable {
  private let name: String
  /// The relationship is its own inverse.
  public static let itself = OwnInverse(name: "itself")
  /// No relationship leads back, although there are some that could.
  public static let hidden = OwnInverse(name: "hidden")
}
