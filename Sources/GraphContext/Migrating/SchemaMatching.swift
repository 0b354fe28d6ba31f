import Predicates

/// The matching of a new schema with a store's schema: which entity and which property of the store each new one
/// continues, by name.
///
/// A new entity or property continues the stored one with its own name. If there is none, or if another one
/// continues it, the new one continues the stored one with its original name. A new one whose own name is taken in
/// this way is matched by its original name in the same way. So a name that was given up can be used again for
/// something else, and a chain of names can be shifted. A hint that is left in a model after the store was changed has
/// no effect.
///
/// A to-one relationship that continues nothing by its name continues the stored inverse of its inverse, if nothing
/// else continues that: the two have the same links. So does a hidden inverse, whatever the stored inverse was,
/// even one with a name.
struct SchemaMatching {
  struct Entity {
    let description: EntityDescription
    let number: EntityNumber
    /// The entity of the store that this one continues; nil for a new one.
    let old: CataloguedEntity?
    /// True if the entity has no objects.
    let isEmpty: Bool
    /// The properties, by their position in the description.
    private(set) var properties: [Property]
    private let places: [String: Int]

    init(
      _ description: EntityDescription,
      _ number: EntityNumber,
      continuing old: CataloguedEntity?,
      isEmpty: Bool,
      _ properties: [Property]
    ) {
      self.description = description
      self.number = number
      self.old = old
      self.isEmpty = isEmpty
      self.properties = properties
      places = SchemaMatching.places(of: properties.map(\.description.name))
    }

    func property(named name: String) -> Property? { places[name].map { properties[$0] } }

    /// Returns the flag of the embedded value that a property is a part of; nil if the property is no part of an
    /// embedded value that may be nil.
    func flag(of property: Property) -> Property? {
      guard let whole = PropertyDescription.propertyName(ofPart: property.description.name) else {
        return nil
      }
      // The place in an ordered relationship has such a name too.
      return self.property(named: String(whole)).flatMap { $0.description.attribute == nil ? nil : $0 }
    }

    /// Returns true for the flag of an embedded value that may be nil: an attribute which is true if the value is
    /// there.
    func isFlag(_ property: Property) -> Bool {
      property.description.attribute?.kind == .bool
        && properties.contains {
          PropertyDescription.isPart($0.description.name, of: property.description.name)
        }
    }

    /// Returns whether a property is the new flag of an embedded value that is there in all objects of the store:
    /// it had parts, and could not be nil.
    func wasAlwaysThere(_ flag: Property) -> Bool {
      flag.old == nil
        && properties.contains { part in
          part.old != nil
            && PropertyDescription.propertyName(ofPart: part.description.name).map(String.init)
              == flag.description.name
        }
    }

    /// Returns whether objects of the store may have the embedded value that a property is a part of. True, too, if
    /// the property is no part of an embedded value that may be nil.
    func mayHaveValue(with part: Property) -> Bool {
      flag(of: part).map { $0.old != nil || wasAlwaysThere($0) } ?? true
    }

    /// Makes a new property continue a property of the store.
    fileprivate mutating func setProperty(named name: String, continuing old: CataloguedProperty) {
      guard let place = places[name] else { return }
      properties[place] = Property(description: properties[place].description, number: old.number, old: old)
    }

    /// Makes a property begin anew.
    fileprivate mutating func beginProperty(named name: String, numbered number: PropertyNumber) {
      guard let place = places[name] else { return }
      properties[place] = Property(description: properties[place].description, number: number, old: nil)
    }
  }

  /// A property of the new schema.
  struct PropertyName: Hashable {
    let entity: String
    let property: String
  }

  struct Property {
    let description: PropertyDescription
    let number: PropertyNumber
    let old: CataloguedProperty?
  }

  /// The entities, in the order of the new schema.
  private(set) var entities: [Entity]
  private let entityPlaces: [String: Int]
  private var continuedProperties: Set<PropertyNumber>

  /// - Parameters:
  ///   - rebuilding: the entities, classes and properties of the new schema that continue nothing of the store.
  ///   - target: gives the numbers of new entities and properties.
  ///   - isEmpty: whether an entity of the store has no objects. Then a property that can't be continued begins anew.
  init(
    _ old: CataloguedSchema,
    _ new: Schema,
    besides rebuilding: SchemaRebuilding,
    numbering target: inout CataloguedSchema,
    isEmpty: (CataloguedEntity) -> Bool
  ) {
    let matches = Self.matches(new.entities, known: old.entities, besides: rebuilding.madeAnew)
    var entities: [Entity] = []
    for (entity, match) in zip(new.entities, matches) {
      let known = match.map { old.entities[$0] }
      let number = known?.number ?? target.takeNumber()
      let properties = Self.properties(
        of: entity,
        known,
        beginningAnew: rebuilding.begunAnew,
        numbering: &target,
        isEmpty: isEmpty
      )
      let isEmpty = known.map(isEmpty) ?? true
      entities.append(Entity(entity, number, continuing: known, isEmpty: isEmpty, properties))
    }
    self.entities = entities
    entityPlaces = Self.places(of: new.entities.map(\.name))
    continuedProperties = []
    beginHiddenInversesAnew(numbering: &target)
    continuedProperties = Set(self.entities.flatMap { $0.properties.compactMap { $0.old?.number } })
    matchInverses(old, besides: rebuilding.begunAnew)
  }

  /// Makes a hidden inverse begin anew if its relationship continues another relationship than the one it was the
  /// inverse of. Its name follows the relationship's name, which may have been used for something else.
  private mutating func beginHiddenInversesAnew(numbering target: inout CataloguedSchema) {
    for place in entities.indices {
      for property in entities[place].properties {
        guard case .relationship(let described) = property.description, described.isHiddenInverse,
          let known = property.old?.relationship, let relationship = described.inverse,
          entity(named: described.destination)?.property(named: relationship)?.old?.number != known.inverse
        else { continue }
        entities[place].beginProperty(named: described.name, numbered: target.takeNumber())
      }
    }
  }

  /// Makes new to-one relationships and hidden inverses continue stored ones whose other end is continued.
  private mutating func matchInverses(_ old: CataloguedSchema, besides begunAnew: Set<PropertyName>) {
    for property in entities.flatMap(\.properties) {
      guard case .relationship(let described) = property.description, let name = described.inverse,
        let known = property.old?.relationship, let number = known.inverse, !continues(number),
        let inverse = old.entity(known.destination)?.property(number),
        described.hasHiddenInverse || inverse.relationship?.cardinality != .many,
        let place = entityPlaces[described.destination], entities[place].old?.number == known.destination,
        let new = entities[place].property(named: name), new.old == nil,
        described.hasHiddenInverse || !new.description.isToMany,
        !begunAnew.contains(PropertyName(entity: described.destination, property: name))
      else { continue }
      entities[place].setProperty(named: name, continuing: inverse)
      continuedProperties.insert(number)
      continuePlaces(of: inverse, as: name, in: place)
    }
  }

  /// Makes the places in an ordered relationship continue with the relationship.
  private mutating func continuePlaces(of inverse: CataloguedProperty, as name: String, in place: Int) {
    let placeName = RelationshipDescription.placeName(name)
    guard let known = entities[place].old?.place(of: inverse), !continues(known.number),
      let new = entities[place].property(named: placeName), new.old == nil
    else { return }
    entities[place].setProperty(named: placeName, continuing: known)
    continuedProperties.insert(known.number)
  }

  /// Returns whether the new schema continues a property of the store.
  func continues(_ property: PropertyNumber) -> Bool { continuedProperties.contains(property) }

  /// Returns true if an entity of the new schema continues this entity of the store.
  func continues(_ entity: CataloguedEntity) -> Bool { entities.contains { $0.old?.number == entity.number } }

  func entity(named name: String) -> Entity? { entityPlaces[name].map { entities[$0] } }

  private static func places(of names: [String]) -> [String: Int] {
    Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private static func properties(
    of entity: EntityDescription,
    _ old: CataloguedEntity?,
    beginningAnew begunAnew: Set<PropertyName>,
    numbering target: inout CataloguedSchema,
    isEmpty: (CataloguedEntity) -> Bool
  ) -> [Property] {
    let known = old?.properties ?? []
    let matches = matches(
      entity.properties.map { ($0.name, $0.originalName) },
      known: known.map(\.name)
    )
    return zip(entity.properties, matches).map { property, match in
      var continued = match.map { known[$0] }
      if let kept = continued, let old, !kept.canContinue(as: property), isEmpty(old) { continued = nil }
      if begunAnew.contains(PropertyName(entity: entity.name, property: property.name)) { continued = nil }
      return Property(description: property, number: continued?.number ?? target.takeNumber(), old: continued)
    }
  }

  /// Returns, for each of the new entities, the position of the entity that it continues.
  private static func matches(
    _ new: [EntityDescription],
    known: [CataloguedEntity],
    besides madeAnew: Set<String>
  ) -> [Int?] {
    let continuing = new.indices.filter { !madeAnew.contains(new[$0].name) }
    let found = matches(
      continuing.map { (new[$0].name, new[$0].originalName) },
      known: known.map(\.name)
    )
    var matches: [Int?] = new.map { _ in nil }
    for (place, match) in zip(continuing, found) { matches[place] = match }
    return matches
  }

  /// Returns, for each of the new names, the position of the known name that it continues. No two of the original names
  /// are the same.
  static func matches(_ new: [(name: String, original: String?)], known: [String]) -> [Int?] {
    let places = places(of: known)
    let owners = Self.places(of: new.map(\.name))
    var matches = new.map { places[$0.name] }
    for first in new.indices where places[new[first].name] == nil {
      var giving: Int? = first
      while let place = giving, let original = new[place].original, original != new[place].name,
        let taken = places[original]
      {
        matches[place] = taken
        giving = owners[original]
        if let displaced = giving { matches[displaced] = nil }
      }
    }
    return matches
  }
}

extension CataloguedEntity {
  /// Returns true for the attribute that an entity has for an embedded value that may be nil.
  func isFlag(_ property: CataloguedProperty) -> Bool {
    guard case .attribute(.bool, _) = property.content else { return false }
    return properties.contains { PropertyDescription.isPart($0.name, of: property.name) }
  }
}

extension CataloguedProperty {
  /// Returns whether an attribute can keep its stored values. Relationships are checked with their inverses.
  func canContinue(as property: PropertyDescription) -> Bool {
    switch (content, property) {
    case (.attribute(let kind, _), .attribute(let attribute)):
      AttributeDescription(name: name, kind: kind, elementKind: elementKind).canContinue(as: attribute)
    case (.relationship, .relationship): true
    default: false
    }
  }
}
