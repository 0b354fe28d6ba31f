/// What predicates and plans need to know of an entity. Built by GraphContext from the model; a plain value.
public struct EntitySchema: Sendable, Hashable, Codable {
  public var name: String
  /// Stored values in slot order: attributes and to-one relationships. `stored[i].slot == i`.
  public var stored: [StoredProperty]
  /// To-many relationships: they have no slot in the record.
  public var toMany: [ToManyProperty]
  public var indexes: [IndexSchema]

  public init(name: String, stored: [StoredProperty], toMany: [ToManyProperty], indexes: [IndexSchema]) {
    self.name = name
    self.stored = stored
    self.toMany = toMany
    self.indexes = indexes
  }

  /// The attribute or to-one relationship of this name. O(properties).
  public func storedProperty(named name: String) -> StoredProperty? { stored.first { $0.name == name } }

  /// Where each stored value lies in a record. O(properties); keep the result.
  public var layout: RecordLayout {
    RecordLayout(kinds: stored.map(\.kind), places: stored.map(\.place))
  }
}

/// An attribute, or a to-one relationship, of an entity.
public struct StoredProperty: Sendable, Hashable, Codable {
  public var name: String
  public var slot: Int
  /// Which value of a record it is. Differs from the slot where a model's properties are in another order than those of
  /// the store.
  public var place: Int
  public var kind: AttributeKind
  public var isOptional: Bool
  /// The entity that a `reference` points to.
  public var destination: String?

  /// - Parameter place: the slot if nil.
  public init(
    name: String,
    slot: Int,
    place: Int? = nil,
    kind: AttributeKind,
    isOptional: Bool,
    destination: String? = nil
  ) {
    self.name = name
    self.slot = slot
    self.place = place ?? slot
    self.kind = kind
    self.isOptional = isOptional
    self.destination = destination
  }
}

/// A to-many relationship of an entity.
public struct ToManyProperty: Sendable, Hashable, Codable {
  public var name: String
  public var destination: String
  /// The relationship of the destination that leads back.
  public var inverse: String

  public init(name: String, destination: String, inverse: String) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
  }
}

/// An index over one or more stored properties of an entity. Its entries are ordered by the encoded values in
/// the order of `slots`, each ascending with nil first and NaN last, ties by object ID.
public struct IndexSchema: Sendable, Hashable, Codable {
  /// Unique within the entity: the names joined by a comma, such as `month,day`, and the folding: `title[cd]`.
  public var name: String
  public var slots: [Int]
  /// No two records share the tuple; a tuple with any nil is not constrained.
  public var isUnique: Bool
  /// How strings are folded before they become keys. The index serves comparisons with the same options, and no others.
  public var folding: StringOptions

  public init(name: String, slots: [Int], isUnique: Bool, folding: StringOptions = []) {
    self.name = name
    self.slots = slots
    self.isUnique = isUnique
    self.folding = folding
  }
}

/// Finds entities by name while paths are resolved.
public protocol SchemaProviding: Sendable {
  /// The entity of this name, or nil.
  func entitySchema(named name: String) -> EntitySchema?
}
