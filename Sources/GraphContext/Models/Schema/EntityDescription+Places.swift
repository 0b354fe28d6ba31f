import Predicates

// Parts of an ordered relationship beside its links: an attribute for the place of each object, and an index that has
// the objects in the order of their places.

extension EntityDescription {
  /// Adds the attribute and the index of each ordered to-one relationship that has none yet.
  mutating func addPlaces() {
    for relationship in relationships where relationship.isOrdered && !relationship.isToMany {
      if property(named: relationship.placeName) == nil { properties.append(.place(of: relationship)) }
      let index = IndexDescription([relationship.name, relationship.placeName])
      if !indexes.contains(where: { $0.name == index.name }) { indexes.append(index) }
    }
  }

  /// The properties that the model declares: all but the places and the hidden inverses.
  public var declaredProperties: [PropertyDescription] {
    properties.filter { !$0.isPlace && !$0.isHiddenInverse }
  }

  /// The indexes that the model declares: all but those of places.
  public var declaredIndexes: [IndexDescription] {
    let places = Set(properties.filter(\.isPlace).map(\.name))
    return places.isEmpty ? indexes : indexes.filter { places.isDisjoint(with: $0.properties) }
  }
}

extension RelationshipDescription {
  /// The name of the attribute with the places of an ordered to-one relationship. Because of its point, no property in
  /// Swift has this name.
  var placeName: String { Self.placeName(name) }

  static func placeName(_ name: String) -> String { "\(name).place" }
}

extension PropertyDescription {
  fileprivate static func place(of relationship: RelationshipDescription) -> PropertyDescription {
    .attribute(
      AttributeDescription(
        name: relationship.placeName,
        kind: .place,
        isOptional: true,
        originalName: relationship.originalName.map(RelationshipDescription.placeName)
      )
    )
  }

  /// True if the property is the place of objects in an ordered relationship, which the library keeps.
  public var isPlace: Bool { attribute?.kind == .place }

  var attribute: AttributeDescription? { if case .attribute(let attribute) = self { attribute } else { nil } }
}
