import Predicates

/// A schema as rows to print, one for each property.
public struct SchemaTable: Sendable, Hashable, Codable {
  /// One property of an entity.
  public struct Row: Sendable, Hashable, Codable {
    /// The entity's name.
    public var entity: String
    /// The property's name; nil in the one row of an entity without properties.
    public var property: String?
    /// An attribute's kind, such as `int64`; for a relationship `toOne` or `toMany`.
    public var kind: String?
    /// True if nil is a value; false for a to-many relationship.
    public var isOptional: Bool
    /// The entity that a relationship leads to.
    public var destination: String?
    /// The relationship of the destination that leads back; nil for an attribute, and where none does.
    public var inverse: String?
    /// The effect of an object's deletion on the objects at the other end; nil for an attribute.
    public var deleteRule: DeleteRule?
    /// True if a relationship is ordered; nil for an attribute, and for no.
    public var isOrdered: Bool?
    /// The rule by which the store makes an attribute's value; nil for an attribute that programs set.
    public var derivation: AttributeDerivation?
    /// The indexes that the property is in, such as `unique isrc` and `index album,track`.
    public var indexes: [String]
  }

  /// The rows, by the entities' names, then in the order of the properties' declaration.
  public var rows: [Row]

  /// Makes the table of a schema. O(properties × indexes of their entity).
  public init(_ schema: Schema) { rows = schema.entities.flatMap(Self.rows) }

  private static func rows(of entity: EntityDescription) -> [Row] {
    if entity.properties.isEmpty { return [Row(entity: entity.name, isOptional: false, indexes: [])] }
    return entity.declaredProperties.map { property in
      let indexes = entity.declaredIndexes.filter { $0.properties.contains(property.name) }.map(\.description)
      return row(of: property, in: entity, indexes)
    }
  }

  private static func row(
    of property: PropertyDescription,
    in entity: EntityDescription,
    _ indexes: [String]
  ) -> Row {
    switch property {
    case .attribute(let attribute):
      Row(
        entity: entity.name,
        property: attribute.name,
        kind: attribute.typeText,
        isOptional: attribute.isOptional,
        derivation: attribute.derivation,
        indexes: indexes
      )
    case .relationship(let relationship):
      Row(
        entity: entity.name,
        property: relationship.name,
        kind: relationship.isToMany ? "toMany" : "toOne",
        isOptional: relationship.cardinality == .optional,
        destination: relationship.destination,
        inverse: relationship.inverse,
        deleteRule: relationship.deleteRule,
        isOrdered: relationship.isOrdered ? true : nil,
        indexes: indexes
      )
    }
  }
}
