/// The largest schema. A stored schema beyond these limits counts as damage: no program has so many models, and a
/// hostile file could make the opening take any time.
public enum SchemaLimits {
  /// Entities in a schema.
  public static let entityCount = 2_048
  /// Attributes and relationships of an entity; of these, ``ObjectState/maximumSlotCount`` can be attributes and to-one
  /// relationships.
  public static let propertyCount = 1_024
  /// Classes of an entity, the root among them.
  public static let classCount = 1_024
  /// Indexes of an entity.
  public static let indexCount = 256
}

extension Schema {
  /// Returns the limits that these entities exceed. Other problems are only searched for if there are none of these.
  static func excesses(in entities: [EntityDescription]) -> [String] {
    guard entities.count <= SchemaLimits.entityCount else {
      return ["there are \(entities.count) models; \(SchemaLimits.entityCount) are possible"]
    }
    return entities.flatMap { entity in
      var excesses: [String] = []
      if entity.properties.count > SchemaLimits.propertyCount {
        excesses.append(
          "\(entity.name) has \(entity.properties.count) properties; \(SchemaLimits.propertyCount) are possible"
        )
      }
      if entity.indexes.count > SchemaLimits.indexCount {
        excesses.append(
          "\(entity.name) has \(entity.indexes.count) indexes; \(SchemaLimits.indexCount) are possible"
        )
      }
      for index in entity.indexes where index.properties.count > ObjectState.maximumSlotCount {
        excesses.append(
          "an index of \(entity.name) has \(index.properties.count) properties; "
            + "\(ObjectState.maximumSlotCount) are possible"
        )
      }
      return excesses
    }
  }
}
