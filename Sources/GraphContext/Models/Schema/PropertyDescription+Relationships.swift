// Descriptions of relationships.

extension PropertyDescription {
  /// Describes a to-one relationship that can be nil, to objects of a model.
  public static func toOne(
    _ name: String,
    _ target: (some ManagedObject).Type,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isOrdered: Bool = false,
    originalName: String? = nil
  ) -> PropertyDescription {
    toOne(
      name,
      to: target.entityName,
      inverse: inverse,
      deleteRule: deleteRule,
      isOrdered: isOrdered,
      originalName: originalName
    )
  }

  /// Describes a to-one relationship that can be nil, to objects of the entity of a name, with or without a class.
  public static func toOne(
    _ name: String,
    to entity: String,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isOrdered: Bool = false,
    originalName: String? = nil
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destination: entity,
        cardinality: .optional,
        inverse: inverse,
        deleteRule: deleteRule,
        isOrdered: isOrdered,
        originalName: originalName
      )
    )
  }

  /// Describes a to-one relationship that always leads to one object, of a model.
  public static func requiredToOne(
    _ name: String,
    _ target: (some ManagedObject).Type,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isOrdered: Bool = false,
    originalName: String? = nil
  ) -> PropertyDescription {
    requiredToOne(
      name,
      to: target.entityName,
      inverse: inverse,
      deleteRule: deleteRule,
      isOrdered: isOrdered,
      originalName: originalName
    )
  }

  /// Describes a to-one relationship that always leads to one object, of the entity of a name, with or without a class.
  public static func requiredToOne(
    _ name: String,
    to entity: String,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isOrdered: Bool = false,
    originalName: String? = nil
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destination: entity,
        cardinality: .required,
        inverse: inverse,
        deleteRule: deleteRule,
        isOrdered: isOrdered,
        originalName: originalName
      )
    )
  }

  /// Describes a to-many relationship to objects of a model.
  public static func toMany(
    _ name: String,
    _ target: (some ManagedObject).Type,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isOrdered: Bool = false,
    minimumCount: Int = 0,
    maximumCount: Int? = nil,
    originalName: String? = nil
  ) -> PropertyDescription {
    toMany(
      name,
      to: target.entityName,
      inverse: inverse,
      deleteRule: deleteRule,
      isOrdered: isOrdered,
      minimumCount: minimumCount,
      maximumCount: maximumCount,
      originalName: originalName
    )
  }

  /// Describes a to-many relationship to objects of the entity of a name, with or without a class.
  public static func toMany(
    _ name: String,
    to entity: String,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isOrdered: Bool = false,
    minimumCount: Int = 0,
    maximumCount: Int? = nil,
    originalName: String? = nil
  ) -> PropertyDescription {
    var relationship = RelationshipDescription(
      name: name,
      destination: entity,
      cardinality: .many,
      inverse: inverse,
      deleteRule: deleteRule,
      isOrdered: isOrdered,
      originalName: originalName
    )
    (relationship.minimumCount, relationship.maximumCount) = (minimumCount, maximumCount)
    return .relationship(relationship)
  }
}
