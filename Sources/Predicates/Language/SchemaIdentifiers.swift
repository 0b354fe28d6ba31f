/// Which entity of a schema: its place among the schema's entities. Means nothing in another schema.
public struct EntityID: Sendable, Hashable {
  public let ordinal: Int

  public init(_ ordinal: Int) { self.ordinal = ordinal }
}

/// Which index of a schema: its place among its entity's indexes, the declared ones before those of to-one relationships.
public struct IndexID: Sendable, Hashable {
  public let entity: EntityID
  public let ordinal: Int

  public init(_ entity: EntityID, _ ordinal: Int) {
    self.entity = entity
    self.ordinal = ordinal
  }
}

/// Which to-many relationship of a schema: its place among its entity's to-many relationships.
package struct ToManyID: Sendable, Hashable {
  package let entity: EntityID
  package let ordinal: Int

  package init(_ entity: EntityID, _ ordinal: Int) {
    self.entity = entity
    self.ordinal = ordinal
  }
}
