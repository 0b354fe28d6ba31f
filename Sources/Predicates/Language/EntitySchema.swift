/// The description of an entity for predicates and plans. GraphContext makes it from the model. It is a plain
/// value, and its copies share the derived layout and indexes, which every query needs.
public struct EntitySchema: Sendable {
  private final class Shape: Sendable {
    let id: EntityID
    let name: String
    let identity: EntityIdentity?
    let stored: [StoredProperty]
    let toMany: [ToManyProperty]
    let declaredIndexes: [ResolvedIndex]
    let indexes: [ResolvedIndex]
    let layout: RecordLayout
    let slots: [String: Int]
    let toManyOrdinals: [String: Int]
    /// The selected classes among those whose objects have records of this form; empty for all.
    let classes: [SchemaClass]
    let shorthands: [String: [String]]
    /// The entities of references whose destination doesn't name them, by the reference's name.
    let objectEntities: [String: String]
    /// The unique attributes by name; empty for an entity of several classes, because its conditions also test the
    /// class.
    let uniqueAttributes: [String: UniqueAttribute]
    /// Bits of the slots that objects of these classes have.
    let visibleSlots: UInt64

    init(
      _ id: EntityID,
      _ name: String,
      _ stored: [StoredProperty],
      _ toMany: [ToManyProperty],
      _ declaredIndexes: [ResolvedIndex],
      _ layoutNumber: UInt32,
      _ identity: EntityIdentity?,
      _ classes: [SchemaClass] = [],
      shorthands: [String: [String]],
      objectEntities: [String: String] = [:],
      hiding hidden: UInt64 = 0,
      _ hiddenToManys: Set<String> = []
    ) {
      self.classes = classes
      self.shorthands = shorthands
      self.objectEntities = objectEntities
      visibleSlots = ~hidden
      self.id = id
      self.identity = identity
      self.name = name
      self.stored = stored
      self.toMany = toMany
      self.declaredIndexes = declaredIndexes
      let references = stored.filter { $0.kind == .reference }.enumerated().map { place, relationship in
        ResolvedIndex(IndexID(id, declaredIndexes.count + place), of: relationship)
      }
      indexes = declaredIndexes + references
      layout = RecordLayout(kinds: stored.map(\.kind), places: stored.map(\.place), number: layoutNumber)
      let visible = stored.filter { hidden & 1 << UInt64($0.slot) == 0 }
      let unique = classes.isEmpty ? declaredIndexes.compactMap { UniqueAttribute($0, of: stored) } : []
      uniqueAttributes = Dictionary(
        unique.map { ($0.path.name, $0) },
        uniquingKeysWith: { first, _ in first }
      )
      slots = Dictionary(visible.map { ($0.name, $0.slot) }, uniquingKeysWith: { first, _ in first })
      let visibleToManys = toMany.enumerated().filter { !hiddenToManys.contains($1.name) }
      toManyOrdinals = Dictionary(
        visibleToManys.map { ($1.name, $0) },
        uniquingKeysWith: { first, _ in first }
      )
    }
  }
  private let shape: Shape

  /// Makes the schema of an entity.
  ///
  /// - Parameters:
  ///   - id: the entity's position among those of its schema.
  ///   - name: the entity's name.
  ///   - stored: the attributes and to-one relationships, in slot order.
  ///   - toMany: the to-many relationships.
  ///   - indexes: the declared ones; `indexes[i].id == IndexID(id, i)`.
  ///   - layoutNumber: the number of the layout that new records have.
  public init(
    id: EntityID,
    name: String,
    stored: [StoredProperty],
    toMany: [ToManyProperty],
    indexes: [ResolvedIndex],
    layoutNumber: UInt32 = 0
  ) {
    self.init(
      id: id,
      identity: nil,
      name: name,
      stored: stored,
      toMany: toMany,
      indexes: indexes,
      layoutNumber: layoutNumber
    )
  }

  /// Makes the schema of an entity in a store, or of rows that aren't objects.
  ///
  /// - Parameter objectEntities: for each reference whose destination isn't its objects' entity, that entity's name.
  package init(
    id: EntityID,
    identity: EntityIdentity?,
    name: String,
    stored: [StoredProperty],
    toMany: [ToManyProperty],
    indexes: [ResolvedIndex],
    layoutNumber: UInt32,
    shorthands: [String: [String]] = [:],
    objectEntities: [String: String] = [:]
  ) {
    shape = Shape(
      id,
      name,
      stored,
      toMany,
      indexes,
      layoutNumber,
      identity,
      shorthands: shorthands,
      objectEntities: objectEntities
    )
  }

  private init(_ shape: Shape) { self.shape = shape }

  /// Returns the schema of some classes of an entity's objects, which the class tags of their numbers distinguish
  /// from the others.
  ///
  /// - Parameters:
  ///   - name: the name of the class that the others are below.
  ///   - classes: the selected classes; for the root, all classes that predicates can name.
  ///   - hidden: bits of the slots that objects of the classes don't have.
  ///   - hiddenToManys: the to-many relationships that objects of the classes don't have.
  package func restricted(
    to name: String,
    _ classes: [SchemaClass],
    hiding hidden: UInt64,
    _ hiddenToManys: Set<String> = []
  ) -> EntitySchema {
    EntitySchema(
      Shape(
        id,
        name,
        stored,
        toMany,
        declaredIndexes,
        layout.number,
        identity,
        classes,
        shorthands: shorthands,
        hiding: hidden,
        hiddenToManys
      )
    )
  }

  /// The selected classes; empty where there is no inheritance.
  package var classes: [SchemaClass] { shape.classes }

  /// Names that stand for paths of several names.
  package var shorthands: [String: [String]] { shape.shorthands }

  /// The identifier of the entity in its schema.
  public var id: EntityID { shape.id }
  /// The entity's name.
  public var name: String { shape.name }
  /// The store's identity of the entity; nil where the schema belongs to no store.
  package var identity: EntityIdentity? { shape.identity }
  /// Stored values in slot order: attributes and to-one relationships. `stored[i].slot == i`.
  public var stored: [StoredProperty] { shape.stored }
  /// The ``stored`` values that objects of the selected classes have, in slot order.
  package var visible: [StoredProperty] { stored.filter { shape.visibleSlots & 1 << UInt64($0.slot) != 0 } }
  /// To-many relationships: they have no slot in the record.
  public var toMany: [ToManyProperty] { shape.toMany }
  /// Every index by its ordinal: the declared ones first, then those of the to-one relationships in slot order.
  public var indexes: [ResolvedIndex] { shape.indexes }
  /// The indexes that the model declares, in the order of their declaration.
  public var declaredIndexes: [ResolvedIndex] { shape.declaredIndexes }
  /// The positions of the stored values in a record.
  public var layout: RecordLayout { shape.layout }

  /// Returns the attribute or to-one relationship of this name. O(1).
  public func storedProperty(named name: String) -> StoredProperty? { shape.slots[name].map { stored[$0] } }

  /// Returns the name of the entity to whose objects a property refers; nil for an attribute. O(1).
  func objectEntity(of property: StoredProperty) -> String? {
    shape.objectEntities[property.name] ?? property.destination
  }

  /// Returns the attribute of this name, if it is unique by itself. O(1).
  func uniqueAttribute(named name: String) -> UniqueAttribute? { shape.uniqueAttributes[name] }

  /// Returns the position in ``toMany`` of the relationship of this name. O(1).
  public func toManyOrdinal(named name: String) -> Int? { shape.toManyOrdinals[name] }
}

extension EntitySchema: Hashable {
  public static func == (left: EntitySchema, right: EntitySchema) -> Bool {
    left.shape === right.shape
      || (left.id == right.id && left.name == right.name && left.classes == right.classes
        && left.stored == right.stored
        && left.toMany == right.toMany && left.indexes == right.indexes)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// An attribute, or a to-one relationship, of an entity.
public struct StoredProperty: Sendable, Hashable, Codable {
  /// The property's name.
  public var name: String
  /// Its position among the stored properties of the model, from 0.
  public var slot: Int
  /// Its index among the values of a record. It differs from the slot if the model's properties are in another order
  /// than those of the store.
  public var place: Int
  /// The kind in which the values are stored; `reference` for a relationship.
  public var kind: AttributeKind
  /// The kind of a list's elements; nil for a property that is no list.
  public var elementKind: AttributeKind?
  /// True if nil is a value.
  public var isOptional: Bool
  /// The entity that a `reference` points to.
  public var destination: String?

  /// Makes a stored property.
  ///
  /// - Parameters:
  ///   - name: the property's name.
  ///   - slot: its position among the stored properties of the model, from 0.
  ///   - place: its index among the values of a record; nil if it is the slot.
  ///   - kind: the kind in which the values are stored; `reference` for a relationship.
  ///   - elementKind: the kind of a list's elements; nil for a property that is no list.
  ///   - isOptional: true if nil is a value.
  ///   - destination: the entity that a `reference` points to.
  public init(
    name: String,
    slot: Int,
    place: Int? = nil,
    kind: AttributeKind,
    elementKind: AttributeKind? = nil,
    isOptional: Bool,
    destination: String? = nil
  ) {
    self.name = name
    self.slot = slot
    self.place = place ?? slot
    self.kind = kind
    self.elementKind = elementKind
    self.isOptional = isOptional
    self.destination = destination
  }
}

extension EntitySchema {
  /// The schemas of list elements, by their kind: a record with one value.
  private static let ofElements: [AttributeKind: EntitySchema] = Dictionary(
    uniqueKeysWithValues: AttributeKind.allCases.map { kind in
      let value = StoredProperty(name: "SELF", slot: 0, kind: kind, isOptional: true)
      let id = EntityID(-1 - Int(kind.rawValue))
      return (kind, EntitySchema(id: id, name: kind.noun, stored: [value], toMany: [], indexes: []))
    }
  )

  /// Returns the schema of the elements of a list.
  static func element(of kind: AttributeKind) -> EntitySchema {
    guard let schema = ofElements[kind] else { fatalError("no elements of \(kind)") }
    return schema
  }
}

/// A to-many relationship of an entity.
public struct ToManyProperty: Sendable, Hashable, Codable {
  /// The relationship's name.
  public var name: String
  /// The entity at the other end.
  public var destination: String
  /// The relationship of the destination that leads back.
  public var inverse: String

  /// Makes a property.
  public init(name: String, destination: String, inverse: String) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
  }
}

/// The entities of a schema: found by name while paths are resolved, and by identifier afterwards.
public protocol SchemaProviding: Sendable {
  /// Returns the entity of this name, or nil. O(1).
  func entitySchema(named name: String) -> EntitySchema?

  /// Returns the entity with this identifier, which is one of this schema's. O(1).
  func entitySchema(_ id: EntityID) -> EntitySchema

  /// The names of the entities, by the numbers that a store gave them; nil where the schema is of no store.
  var entityNamesByNumber: [UInt32: String]? { get }

  /// Returns the name of the root of a class's hierarchy; any other name as it is. O(1).
  func rootName(of name: String) -> String
}

extension SchemaProviding {
  /// Nil: the schema is of no store.
  public var entityNamesByNumber: [UInt32: String]? { nil }

  /// Looks for the entity of the class.
  public func rootName(of name: String) -> String {
    entitySchema(named: name).map { entitySchema($0.id).name } ?? name
  }
}
