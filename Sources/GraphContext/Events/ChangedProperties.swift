import Predicates

/// Properties of an object, as slots and positions: names would be many copies of few strings.
struct ChangedProperties: Sendable, Hashable {
  /// The attributes and to-one relationships.
  var slots = SlotSet.empty
  /// Positions of the to-many relationships that are kept as pairs.
  var pairs: Set<Int> = []

  mutating func formUnion(_ other: ChangedProperties) {
    slots.formUnion(other.slots)
    if !other.pairs.isEmpty { pairs.formUnion(other.pairs) }
  }
}

extension ChangedProperties {
  /// Returns every attribute, every to-one relationship, and every to-many relationship that is kept as pairs.
  static func all(of entity: StoredEntity) -> ChangedProperties {
    let pairs = entity.toManys.filter { toMany in
      if case .pairs = toMany.storage { !toMany.isHidden } else { false }
    }
    return ChangedProperties(slots: .all, pairs: Set(pairs.map(\.ordinal)))
  }

  /// Makes the set of an entity's properties that have these names.
  init(named names: [String], of entity: StoredEntity) {
    for name in names {
      if let slot = entity.schema.storedProperty(named: name)?.slot {
        slots.insert(slot)
        slots.formUnion(entity.places(of: SlotSet(slot)))
      } else if let toMany = entity.toManys.first(where: { $0.name == name }) {
        pairs.insert(toMany.ordinal)
      }
    }
  }
}

/// The names of changed properties. Objects of which equal properties have changed share the list.
struct ChangedPropertyNames {
  private struct Key: Hashable {
    let entity: Int
    let properties: ChangedProperties
  }
  private var known: [Key: [String]] = [:]

  /// Returns the names, sorted. O(1) for properties that were asked for before.
  mutating func names(of properties: ChangedProperties, _ entity: StoredEntity) -> [String] {
    let key = Key(entity: entity.ordinal, properties: properties)
    if let names = known[key] { return names }
    let names = entity.names(of: properties.slots) + properties.pairs.map { entity.toManys[$0].name }
    let sorted = names.sorted()
    known[key] = sorted
    return sorted
  }
}
