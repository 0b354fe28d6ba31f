/// The identifier of an entity: its position among the schema's entities. It has no meaning in another schema.
public struct EntityID: Sendable, Hashable {
  /// The entity's position in its schema, from 0.
  public let ordinal: Int

  /// Makes the identifier of the entity at a position in a schema.
  public init(_ ordinal: Int) { self.ordinal = ordinal }
}

/// The identifier of an index: its position among its entity's indexes, the declared ones before those of
/// to-one relationships.
public struct IndexID: Sendable, Hashable {
  /// The entity that the index is of.
  public let entity: EntityID
  /// The index's position among those of the entity, from 0.
  public let ordinal: Int

  /// Makes the identifier of the index at a position among those of an entity.
  public init(_ entity: EntityID, _ ordinal: Int) {
    self.entity = entity
    self.ordinal = ordinal
  }
}

/// The identifier of a to-many relationship: its position among its entity's to-many relationships.
package struct ToManyID: Sendable, Hashable {
  package let entity: EntityID
  package let ordinal: Int

  init(_ entity: EntityID, _ ordinal: Int) {
    self.entity = entity
    self.ordinal = ordinal
  }
}
