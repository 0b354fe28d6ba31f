import Predicates

/// A schema, resolved: the content of each tree, and the references between entities. Made once for each container.
package final class ResolvedSchema: Sendable {
  package let schema: Schema
  /// The schema with its numbers, as the store has it.
  let catalogue: CataloguedSchema
  /// The entities, in the schema's order; `entities[i].ordinal == i`.
  package let entities: [StoredEntity]
  /// The derived attributes that the objects of each entity take part in, by the entity's ordinal.
  let memberDerivations: [[MemberDerivation]]
  /// True if a derived attribute is an aggregate over a many-to-many relationship.
  let derivesFromPairs: Bool
  private let ordinals: [String: Int]
  private let ordinalsByNumber: [EntityNumber: Int]

  /// - Parameters:
  ///   - catalogue: the store's catalogue.
  ///   - schema: the same entities and properties in the order of the models that use the store.
  /// - Throws: `unknownEntity` when the two differ.
  init(_ catalogue: CataloguedSchema, as schema: Schema) throws(ContextError) {
    let placed = schema.placed(in: catalogue)
    let builder = ResolvedSchemaBuilder(placed, catalogue)
    self.schema = placed
    self.catalogue = catalogue
    self.entities = try builder.build()
    self.ordinals = builder.ordinals
    memberDerivations = Self.memberDerivations(entities)
    derivesFromPairs = memberDerivations.joined().contains {
      if case .pairs = $0.storage { true } else { false }
    }
    ordinalsByNumber = entities.dictionary(by: \.number).mapValues(\.ordinal)
  }

  /// Makes the schema in the order in which the store has it.
  ///
  /// - Throws: `corrupt` when the catalogue has something that can't be declared.
  package convenience init(_ catalogue: CataloguedSchema) throws(ContextError) {
    let schema: Schema
    do throws(SchemaError) { schema = try catalogue.schema() } catch {
      throw ContextError.damaged("the schema (\(error))")
    }
    try self.init(catalogue, as: schema)
  }

  /// Makes the schema that a new store gets.
  convenience init(_ schema: Schema) throws(ContextError) {
    try self.init(CataloguedSchema(schema), as: schema)
  }

  /// Returns the schema without folded indexes: for a reader that folds strings in another way.
  func withoutFoldedIndexes() throws(ContextError) -> ResolvedSchema {
    try ResolvedSchema(catalogue, as: schema.withoutFoldedIndexes)
  }

  func entity(_ number: EntityNumber) -> StoredEntity? { ordinalsByNumber[number].map { entities[$0] } }

  /// Returns the entity that an object ID names: by its number, or by its name if the ID has no number.
  func entity(_ label: EntityLabel) -> StoredEntity? {
    if let number = label.number { return entity(number) }
    return entity(named: label.name)
  }

  /// Returns the slot of a property; nil for one that has none. O(entities + properties).
  func slot(of property: PropertyNumber, in entity: StoredEntity) -> Int? {
    let name = catalogue.entity(entity.number)?.property(property)?.name
    return name.flatMap { entity.schema.storedProperty(named: $0)?.slot }
  }

  /// Returns an index by its number. O(entities + indexes).
  func index(_ number: IndexNumber, of entity: StoredEntity) -> ResolvedIndex? {
    let tree = catalogue.entity(entity.number)?.indexes.first { $0.number == number }?.tree
    return tree.flatMap { tree in entity.declaredIndexes.first { entity.treeName(of: $0.id) == tree } }
  }

  /// Returns the schema for queries for objects of a model: the entity's schema, or that of a class below its root.
  /// O(1).
  func entitySchema(of type: any ManagedObject.Type, _ entity: StoredEntity) -> EntitySchema {
    entity.classes.isEmpty ? entity.schema : schema.entitySchema(named: type.entityName) ?? entity.schema
  }

  /// Returns the entity of this name, or that of the objects of the class of this name. O(1), of a class O(entities).
  func entity(named name: String) -> StoredEntity? {
    ordinals[name].map { entities[$0] } ?? entities.first { $0.storedClass(named: name) != nil }
  }

  package subscript(id: EntityID) -> StoredEntity { entities[id.ordinal] }

  /// Returns the to-many relationship, and the entity that has it.
  package subscript(id: ToManyID) -> (relationship: StoredToMany, entity: StoredEntity) {
    let entity = self[id.entity]
    return (entity.toManys[id.ordinal], entity)
  }

  /// Returns the tree of an index of any entity.
  func treeName(of index: IndexID) -> String { self[index.entity].treeName(of: index) }
}

/// One entity: its records' layout, its trees, its relationships in both directions.
package final class StoredEntity: Sendable {
  let ordinal: Int
  let number: EntityNumber
  let name: String
  /// The label of the entity in the IDs of its objects.
  let label: EntityLabel
  let schema: EntitySchema
  let layout: RecordLayout
  /// The translations of records of the layouts before ``layout``, by the layout's number.
  private let translations: [LayoutTranslation?]
  /// The values from which ``translations`` were made: the layouts before ``layout``, and the properties of the
  /// slots.
  private let (earlierLayouts, slots): ([CataloguedLayout], [CataloguedProperty])
  /// The slots in the order in which a record is written.
  let slotsByPlace: [Int]
  /// The tree of the records: object number → record.
  let treeName: String
  /// The declared indexes: components and object number → nothing.
  let declaredIndexes: [ResolvedIndex]
  /// The trees of all indexes, by their ordinals: the declared ones first, then those of the to-one relationships.
  let indexTreeNames: [String]
  /// To-one relationships, in slot order.
  let toOnes: [StoredToOne]
  /// To-many relationships, in the order of their declaration.
  let toManys: [StoredToMany]
  /// To-one relationships of every entity that lead to this entity.
  let incoming: [IncomingToOne]
  /// True if relationships in the store can lead to an object of the entity: to-one relationships, of this entity
  /// or of others, or links of many-to-many relationships.
  let canBeReferredTo: Bool
  /// The slots that must not be nil.
  let requiredSlots: SlotSet
  /// The slots of to-one relationships.
  let referenceSlots: SlotSet
  /// The slots with the places of the object in ordered relationships.
  let placeSlots: SlotSet
  /// The slots of attributes that are stored externally.
  let externalSlots: SlotSet
  /// The classes of the objects, by tag; empty where no class inherits from another.
  let classes: [StoredClass]
  /// The derived attributes, in slot order.
  let derivations: [StoredDerivation]
  /// The slots of the derived attributes.
  let derivedSlots: SlotSet
  /// The embedded values that may be nil.
  let embeddedValues: [StoredEmbeddedValue]

  init(
    ordinal: Int,
    schema: EntitySchema,
    catalogued: CataloguedEntity,
    toOnes: [StoredToOne],
    toManys: [StoredToMany],
    incoming: [IncomingToOne],
    derivations: [StoredDerivation]
  ) {
    self.derivations = derivations
    derivedSlots = SlotSet(derivations.map(\.slot))
    self.ordinal = ordinal
    self.number = catalogued.number
    self.label = .known(catalogued.identity)
    self.name = schema.name
    self.schema = schema
    self.layout = schema.layout
    self.slotsByPlace = layout.slotsByPlace
    self.treeName = catalogued.tree
    self.declaredIndexes = schema.declaredIndexes
    let treesOfIndexes = catalogued.treesOfIndexes
    self.indexTreeNames =
      schema.declaredIndexes.map { treesOfIndexes[$0.name, default: ""] } + toOnes.map(\.treeName)
    let properties = catalogued.propertiesByName
    let slots = schema.stored.compactMap { properties[$0.name] }
    earlierLayouts = catalogued.layouts.dropLast()
    translations = earlierLayouts.map { LayoutTranslation($0, to: schema.layout, slots: slots) }
    self.slots = slots
    embeddedValues = StoredEmbeddedValue.values(of: slots)
    classes = StoredClass.classes(of: catalogued, slots)
    self.toOnes = toOnes
    self.toManys = toManys
    self.incoming = incoming
    canBeReferredTo =
      !incoming.isEmpty
      || toManys.contains { if case .pairs = $0.storage { true } else { false } }
    self.referenceSlots = SlotSet(toOnes.map(\.slot))
    placeSlots = SlotSet(toOnes.compactMap(\.list?.slots.place))
    self.externalSlots = SlotSet(slots.indices.filter { slots[$0].blobTree != nil })
    self.requiredSlots = SlotSet(schema.stored.filter { !$0.isOptional }.map(\.slot))
  }

  package var id: EntityID { schema.id }

  /// Returns the tree of one of the entity's indexes. O(1).
  func treeName(of index: IndexID) -> String { indexTreeNames[index.ordinal] }

  /// True if there may be records of other layouts than ``layout``.
  var hasEarlierLayouts: Bool { !translations.isEmpty }

  /// Returns the translation of records of an earlier layout; nil if the entity never had that layout. O(1) for all
  /// slots, else O(slots).
  ///
  /// - Parameter wanted: the slots that are read. The others are undefined.
  func translation(from layout: UInt32, reading wanted: SlotSet = .all) -> LayoutTranslation? {
    guard layout < translations.count else { return nil }
    if wanted == .all { return translations[Int(layout)] }
    return LayoutTranslation(earlierLayouts[Int(layout)], to: self.layout, slots: slots, reading: wanted)
  }

  /// Returns the number of the property at a slot. O(1).
  func propertyNumber(at slot: Int) -> PropertyNumber { slots[slot].number }

  /// Returns the slots of the places that belong to the to-one relationships among these slots.
  func places(of slots: SlotSet) -> SlotSet {
    if placeSlots.isEmpty { return .empty }
    var places = SlotSet.empty
    for toOne in toOnes {
      if let list = toOne.list?.slots, slots.contains(list.reference) { places.insert(list.place) }
    }
    return places
  }

  /// Returns the tree of the long values of the attribute at a slot, which is stored externally. O(1).
  func blobTreeName(at slot: Int) -> String { slots[slot].blobTree ?? "" }

  /// Returns the to-one relationship at this slot. O(relationships).
  func toOne(slot: Int) -> StoredToOne? { toOnes.first { $0.slot == slot } }
}

/// A to-one relationship, and the tree with the objects that refer to a destination: destination and object number
/// → nothing.
struct StoredToOne: Sendable {
  let name: String
  let slot: Int
  /// Ordinal of the entity at the other end.
  let destination: Int
  /// Links from the destination to the object.
  let links: LinkTable
  let deleteRule: DeleteRule
  let inverse: Inverse
  /// The order of the objects that refer to one destination; nil if they have no order.
  let list: ReferenceList?

  var treeName: String { links.treeName }

  /// The relationship that leads back.
  enum Inverse: Sendable, Equatable {
    case none
    /// A to-one relationship: its slot.
    case toOne(Int)
    /// A to-many relationship: its position among those of the destination.
    case toMany(Int)
  }
}

extension StoredEntity {
  /// Returns whether a relationship has an inverse that isn't hidden. To-one relationships are given by slot,
  /// to-many relationships by a position after the slots.
  func hasInverse(_ property: Int) -> Bool {
    let place = property - schema.stored.count
    if place < 0 { return toOne(slot: property).map { $0.inverse != .none } ?? false }
    return !toManys[place].hasHiddenInverse
  }
}

/// A to-many relationship: where its elements are found.
package struct StoredToMany: Sendable {
  let name: String
  let ordinal: Int
  /// Ordinal of the entity at the other end.
  let destination: Int
  let deleteRule: DeleteRule
  let storage: Storage
  /// True if the relationship is a hidden inverse, which no class has.
  let isHidden: Bool
  /// True if its inverse is hidden.
  let hasHiddenInverse: Bool

  enum Storage: Sendable {
    /// The other end is the to-one relationship at this slot: its tree has the elements.
    case references(slot: Int, treeName: String)
    /// Pairs of numbers, kept from both ends: owner and element, element and owner. A pair has no value, or its
    /// place if its end has an order.
    case pairs(PairTrees)
  }

  /// Links from the owner to the element.
  let links: LinkTable
  /// The order of the elements; nil where they have none.
  let list: ListTable?
}

/// The two trees of a many-to-many relationship, seen from one end, and the position of the relationship at the other
/// end.
struct PairTrees: Sendable {
  /// The relationship of the forward tree.
  let relationship: ChangeSet.Relationship
  let forward: String
  let backward: String
  let inverse: Int?
  /// The trees of the orders at either end; nil where the end has none.
  let forwardOrder: String?
  let backwardOrder: String?
}

/// A to-one relationship, seen from its destination.
struct IncomingToOne: Sendable {
  /// Ordinal of the entity that has the relationship.
  let source: Int
  let toOne: StoredToOne
  /// The effect of deleting a destination on the objects that refer to it: the rule of the inverse, or nullify.
  let rule: DeleteRule
}
