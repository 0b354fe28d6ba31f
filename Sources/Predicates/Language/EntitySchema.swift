/// What predicates and plans need to know of an entity. Built by GraphContext from the model; a plain value, whose copies share what follows
/// from it: every query asks for its layout and its indexes.
public struct EntitySchema: Sendable {
  private final class Shape: Sendable {
    let name: String
    let stored: [StoredProperty]
    let toMany: [ToManyProperty]
    let indexes: [IndexSchema]
    let layout: RecordLayout
    let indexReferences: [IndexReference]

    init(_ name: String, _ stored: [StoredProperty], _ toMany: [ToManyProperty], _ indexes: [IndexSchema]) {
      self.name = name
      self.stored = stored
      self.toMany = toMany
      self.indexes = indexes
      layout = RecordLayout(kinds: stored.map(\.kind), places: stored.map(\.place))
      indexReferences = IndexReference.all(of: name, stored, indexes)
    }
  }
  private let shape: Shape

  public init(name: String, stored: [StoredProperty], toMany: [ToManyProperty], indexes: [IndexSchema]) {
    shape = Shape(name, stored, toMany, indexes)
  }

  public var name: String { shape.name }
  /// Stored values in slot order: attributes and to-one relationships. `stored[i].slot == i`.
  public var stored: [StoredProperty] { shape.stored }
  /// To-many relationships: they have no slot in the record.
  public var toMany: [ToManyProperty] { shape.toMany }
  public var indexes: [IndexSchema] { shape.indexes }
  /// Where each stored value lies in a record.
  public var layout: RecordLayout { shape.layout }
  /// Every index of the entity, the declared ones first.
  package var indexReferences: [IndexReference] { shape.indexReferences }

  /// The attribute or to-one relationship of this name. O(properties).
  public func storedProperty(named name: String) -> StoredProperty? { stored.first { $0.name == name } }
}

extension EntitySchema: Hashable {
  public static func == (left: EntitySchema, right: EntitySchema) -> Bool {
    left.shape === right.shape
      || (left.name == right.name && left.stored == right.stored && left.toMany == right.toMany
        && left.indexes == right.indexes)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
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
