import Predicates

/// A schema, worked out: which trees hold what, and what refers to what. Made once for each container.
package final class StoredSchema: Sendable {
  package let schema: Schema
  /// In the schema's order; `entities[i].ordinal == i`.
  package let entities: [StoredEntity]
  private let ordinals: [String: Int]

  /// - Throws: `unknownEntity` when a relationship leads to an entity or an inverse that the schema doesn't have.
  package init(_ schema: Schema) throws(ContextError) {
    let builder = StoredSchemaBuilder(schema)
    self.schema = schema
    self.entities = try builder.build()
    self.ordinals = builder.ordinals
  }

  package func entity(named name: String) -> StoredEntity? { ordinals[name].map { entities[$0] } }

  package subscript(id: EntityID) -> StoredEntity { entities[id.ordinal] }

  /// The to-many relationship, and the entity that has it.
  package subscript(id: ToManyID) -> (relationship: StoredToMany, entity: StoredEntity) {
    let entity = self[id.entity]
    return (entity.toManys[id.ordinal], entity)
  }

  /// The tree of an index of any entity.
  package func treeName(of index: IndexID) -> String { self[index.entity].treeName(of: index) }
}

/// One entity: its records' layout, its trees, its relationships in both directions.
package final class StoredEntity: Sendable {
  package let ordinal: Int
  package let name: String
  package let schema: EntitySchema
  package let layout: RecordLayout
  /// The slots in the order in which a record is written.
  package let slotsByPlace: [Int]
  /// The tree of the records: object number → record.
  package let treeName: String
  /// Components and object number → nothing.
  package let declaredIndexes: [ResolvedIndex]
  /// The trees of all indexes, by their ordinals: the declared ones first, then those of the to-one relationships.
  package let indexTreeNames: [String]
  /// To-one relationships, in slot order.
  package let toOnes: [StoredToOne]
  /// To-many relationships, in the order of their declaration.
  package let toManys: [StoredToMany]
  /// To-one relationships that lead here, of every entity.
  package let incoming: [IncomingToOne]
  /// To-many relationships kept as pairs that lead here.
  package let incomingPairs: [IncomingPairs]
  /// Bits of the slots that must not be nil.
  package let requiredSlots: UInt64
  /// Bits of the slots of to-one relationships.
  package let referenceSlots: UInt64

  init(
    ordinal: Int,
    schema: EntitySchema,
    toOnes: [StoredToOne],
    toManys: [StoredToMany],
    incoming: [IncomingToOne],
    incomingPairs: [IncomingPairs]
  ) {
    self.ordinal = ordinal
    self.name = schema.name
    self.schema = schema
    self.layout = schema.layout
    self.slotsByPlace = layout.slotsByPlace
    self.treeName = TreeName.records(schema.name)
    self.declaredIndexes = schema.declaredIndexes
    self.indexTreeNames =
      schema.declaredIndexes.map { TreeName.index($0.name, of: schema.name) } + toOnes.map(\.treeName)
    self.toOnes = toOnes
    self.toManys = toManys
    self.incoming = incoming
    self.incomingPairs = incomingPairs
    self.referenceSlots = toOnes.reduce(0) { $0 | 1 << UInt64($1.slot) }
    self.requiredSlots = schema.stored.reduce(0) { $1.isOptional ? $0 : $0 | 1 << UInt64($1.slot) }
  }

  package var id: EntityID { schema.id }

  /// The tree of one of the entity's indexes. O(1).
  package func treeName(of index: IndexID) -> String { indexTreeNames[index.ordinal] }

  /// The to-one relationship at this slot. O(relationships).
  package func toOne(slot: Int) -> StoredToOne? { toOnes.first { $0.slot == slot } }
}

/// A to-one relationship and the tree that answers who refers to an object: destination and object number → nothing.
package struct StoredToOne: Sendable {
  package let name: String
  package let slot: Int
  /// Ordinal of the entity at the other end.
  package let destination: Int
  package let treeName: String
  package let isRequired: Bool
  package let deleteRule: DeleteRule
  package let inverse: Inverse

  /// The relationship that leads back.
  package enum Inverse: Sendable, Equatable {
    case none
    /// A to-one relationship: its slot.
    case toOne(Int)
    /// A to-many relationship: its place among those of the destination.
    case toMany(Int)
  }
}

extension StoredEntity {
  /// Whether the relationship at a slot, or at a place after the slots for those to many, has an inverse.
  func hasInverse(_ property: Int) -> Bool {
    let place = property - schema.stored.count
    if place < 0 { return toOne(slot: property).map { $0.inverse != .none } ?? false }
    guard case .pairs(let trees) = toManys[place].storage else { return true }
    return trees.inverse != nil
  }
}

/// A to-many relationship: where its elements are found.
package struct StoredToMany: Sendable {
  package let name: String
  package let ordinal: Int
  /// Ordinal of the entity at the other end.
  package let destination: Int
  package let deleteRule: DeleteRule
  package let storage: Storage

  package enum Storage: Sendable {
    /// The other end is the to-one relationship at this slot: its tree has the elements.
    case references(slot: Int, treeName: String)
    /// Pairs of numbers, kept from both ends: owner and element → nothing, element and owner → nothing.
    case pairs(PairTrees)
  }

  /// The tree of pairs of numbers, owner and element, that has the elements.
  var treeName: String {
    switch storage {
    case .references(_, let treeName): treeName
    case .pairs(let trees): trees.forward
    }
  }
}

/// The two trees of a many-to-many relationship, seen from one end, and the relationship at the other end if it has a name.
package struct PairTrees: Sendable {
  package let forward: String
  package let backward: String
  package let inverse: Int?
}

/// A to-one relationship, seen from where it leads to.
package struct IncomingToOne: Sendable {
  /// Ordinal of the entity that has the relationship.
  package let source: Int
  package let toOne: StoredToOne
  /// What the deletion of a destination does to the objects that refer to it: the rule of the inverse, or nullify.
  package let rule: DeleteRule
}

/// A to-many relationship kept as pairs, seen from where it leads to, when it has no inverse there.
package struct IncomingPairs: Sendable {
  package let source: Int
  package let trees: PairTrees
}

/// The names of a store's trees.
package enum TreeName {
  /// What describes the rest: the schema and the counters.
  package static let catalogue = "schema"
  package static func records(_ entity: String) -> String { "e/\(entity)" }
  package static func index(_ index: String, of entity: String) -> String { "i/\(entity)/\(index)" }
  package static func references(_ relationship: String, of entity: String) -> String {
    "r/\(entity)/\(relationship)"
  }
  package static func pairs(_ relationship: String, of entity: String) -> String {
    "m/\(entity)/\(relationship)"
  }
  /// The backward tree of a to-many relationship without an inverse.
  package static func reversedPairs(_ relationship: String, of entity: String) -> String {
    "m/\(entity)/\(relationship)/inverse"
  }
}
