/// Which entity and property of an old schema is which of a new one.
struct SchemaRenaming {
  private let origins: [String: EntityDescription]
  private let newNames: [String: String]
  /// By the new entity's name, then the new property's: the old property's.
  private let propertyOrigins: [String: [String: String]]
  /// By the old entity's name, then the old property's: the new property's.
  private let newPropertyNames: [String: [String: String]]

  init(from old: Schema, to new: Schema) {
    let matches = Self.matches(
      old.entities.map(\.name),
      new.entities.map { ($0.name, $0.earlierName) }
    )
    let pairs = new.entities.compactMap { entity in
      matches[entity.name].flatMap(old.entity).map { (old: $0, new: entity) }
    }
    origins = Dictionary(uniqueKeysWithValues: pairs.map { ($0.new.name, $0.old) })
    newNames = Dictionary(uniqueKeysWithValues: pairs.map { ($0.old.name, $0.new.name) })
    let properties = pairs.map { old, new in
      Self.matches(old.properties.map(\.name), new.properties.map { ($0.name, $0.earlierName) })
    }
    propertyOrigins = Dictionary(uniqueKeysWithValues: zip(pairs.map(\.new.name), properties))
    newPropertyNames = Dictionary(
      uniqueKeysWithValues: zip(pairs, properties).map { pair, matches in
        (pair.old.name, Dictionary(uniqueKeysWithValues: matches.map { ($1, $0) }))
      }
    )
  }

  /// What an entity was; nil for a new one.
  func origin(of entity: EntityDescription) -> EntityDescription? { origins[entity.name] }

  /// The new name of an old entity; nil for one that is gone.
  func newName(of entity: String) -> String? { newNames[entity] }

  /// The old name of a property; nil for a new one.
  func origin(of property: PropertyDescription, in entity: String) -> String? {
    propertyOrigins[entity]?[property.name]
  }

  /// The new name of an old property; nil for one that is gone.
  func newName(of property: String, in entity: String) -> String? { newPropertyNames[entity]?[property] }

  /// New names to the old ones that they continue.
  private static func matches(
    _ old: [String],
    _ new: [(name: String, earlierName: String?)]
  ) -> [String: String] {
    let places = SchemaMatching.matches(new.map { ($0.name, $0.earlierName) }, known: old)
    return zip(new, places).reduce(into: [:]) { matches, item in
      matches[item.0.name] = item.1.map { old[$0] }
    }
  }
}
