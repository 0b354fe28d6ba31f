import Predicates

/// The schema as the store's catalogue has it: every entity, property and index with its number, the names of its
/// trees, and every layout that records of the store may have.
package struct CataloguedSchema: Sendable, Hashable {
  /// The number that is given next. One counter serves all kinds of subjects and the trees.
  var nextNumber: UInt32 = 1
  /// The version of the schema, if the app declares one.
  package var version: Schema.Version?
  /// The entities, sorted by name.
  var entities: [CataloguedEntity] = []

  package init() {}

  /// Returns the entity of this number. O(entities).
  func entity(_ number: EntityNumber) -> CataloguedEntity? { entities.first { $0.number == number } }

  package func entity(named name: String) -> CataloguedEntity? { entities.first { $0.name == name } }

  var entitiesByName: [String: CataloguedEntity] { entities.dictionary(by: \.name) }

  /// Returns whether an attribute has a kind that the condition holds for.
  func hasAttribute(where condition: (AttributeKind) -> Bool) -> Bool {
    entities.contains { $0.properties.contains { $0.storedKind.map(condition) ?? false } }
  }
  var hasFoldedIndexes: Bool { entities.contains { $0.indexes.contains { !$0.folding.isEmpty } } }
  /// True if folded strings are stored: in indexes, or as copies.
  var storesFoldedStrings: Bool {
    hasFoldedIndexes || entities.contains { $0.properties.contains { $0.derivation?.folding != nil } }
  }
  /// The tables with which this library folds the strings of a store of the schema; nil if the store has no folded
  /// strings.
  var folding: String? { storesFoldedStrings ? StringFolding.tables : nil }
  var hasHiddenInverses: Bool { entities.contains { $0.properties.contains(where: \.isHiddenInverse) } }
  /// True if a many-to-many relationship has an order.
  var ordersPairs: Bool { !placedTrees.isEmpty }
  /// The trees of links that have places. O(properties).
  var placedTrees: Set<String> {
    var trees: Set<String> = []
    for entity in entities {
      for relationship in entity.properties.lazy.compactMap(\.relationship)
      where relationship.orderTree != nil {
        if let tree = relationship.tree { trees.insert(tree) }
      }
    }
    return trees
  }
  /// True if objects of several classes have places in ordered relationships.
  var ordersClasses: Bool {
    entities.contains { entity in
      !entity.classes.isEmpty && entity.properties.contains { $0.storedKind == .place }
    }
  }
  var derivesValues: Bool { entities.contains { $0.properties.contains { $0.derivation != nil } } }

  /// Returns a number that no entity, property, index or tree of the store has had.
  mutating func takeNumber<Subject>() -> StableNumber<Subject> {
    defer { nextNumber += 1 }
    return StableNumber(rawValue: nextNumber)
  }

  /// Returns the name of a tree that the store never had.
  mutating func takeTree(_ kind: TreeKind) -> String {
    defer { nextNumber += 1 }
    return kind.treeName(nextNumber)
  }
}

/// One entity of a ``CataloguedSchema``.
package struct CataloguedEntity: Sendable, Hashable {
  /// The number of layouts that an entity can have. All of them are read when a store is opened, and a change that
  /// would make one more is refused.
  static let maximumLayoutCount: UInt32 = 1 << 12

  package let number: EntityNumber
  var name: String
  var firstName: String?
  /// The tree of the records.
  var tree: String
  /// The properties, in the order of their declaration when the newest layout was made.
  var properties: [CataloguedProperty]
  var indexes: [CataloguedIndex]
  /// Every layout that the entity's records have had, by number: `layouts[i].number == i`. New records have the last.
  var layouts: [CataloguedLayout]
  /// The classes of the objects, by tag: `classes[i].tag == i`, the root first. Empty where no class inherits from
  /// another.
  var classes: [CataloguedClass] = []

  var identity: EntityIdentity { EntityIdentity(number: number.rawValue, nameTag: NameTags.tag(of: name)) }

  /// Returns the entity's identity in the ID of an object of this number. Its name is the name of the object's
  /// class. O(1).
  func identity(of object: ObjectNumber) -> EntityIdentity {
    let tag = Int(object.classTag)
    guard tag < classes.count else { return identity }
    return EntityIdentity(number: number.rawValue, nameTag: NameTags.tag(of: classes[tag].name))
  }

  func property(named name: String) -> CataloguedProperty? { properties.first { $0.name == name } }
  func property(_ number: PropertyNumber) -> CataloguedProperty? {
    properties.first { $0.number == number }
  }

  /// Returns the property with the places that belong to a to-one relationship, if its inverse is an ordered
  /// relationship; nil if there is no order.
  func place(of property: CataloguedProperty) -> CataloguedProperty? {
    if property.relationship == nil || property.isToMany { return nil }
    return self.property(named: RelationshipDescription.placeName(property.name))
  }

  /// Returns the name of a property; for a place, the name of its to-one relationship.
  func declaredName(of number: PropertyNumber) -> String? {
    guard let property = property(number), property.storedKind == .place else {
      return self.property(number)?.name
    }
    return properties.first { place(of: $0)?.number == number }?.name
  }

  var propertiesByName: [String: CataloguedProperty] { properties.dictionary(by: \.name) }

  /// The trees of the indexes, by the names that an ``IndexDescription`` gives them.
  var treesOfIndexes: [String: String] {
    indexes.dictionary(by: name).mapValues(\.tree)
  }

  /// Returns the name of an index, as ``IndexDescription/name`` forms it. O(properties).
  func name(of index: CataloguedIndex) -> String {
    IndexDescription(index.properties.compactMap { property($0)?.name }, folding: index.folding).name
  }

  /// The properties that have a slot in records.
  var stored: [CataloguedProperty] { properties.filter { !$0.isToMany } }
}

/// A class of a ``CataloguedEntity``.
struct CataloguedClass: Sendable, Hashable, Codable {
  /// The class tag in the numbers of its objects: 0 is the root's.
  let tag: UInt16
  var name: String
  /// The first name of the class; nil for the root: the entity has the root's first name.
  var firstName: String?
  /// The tag of the class that it inherits from, which is less than its own; nil for the root.
  var parent: UInt16?
  var isAbstract: Bool
  /// The properties that the class itself declares.
  var properties: [PropertyNumber]
  /// Those of ``properties`` for which objects of a subclass need a value.
  var required: [PropertyNumber]
}

/// An attribute or a relationship of a ``CataloguedEntity``.
struct CataloguedProperty: Sendable, Hashable {
  let number: PropertyNumber
  var name: String
  var firstName: String?
  var content: Content
  /// The kind in which each element of a list is stored; nil if the attribute is no list.
  var elementKind: AttributeKind?
  /// True for a part of an optional embedded value that is nil only if the whole value is nil.
  var isRequiredPart = false
  /// The value of objects whose records were stored before the property was added; for a part of an embedded value
  /// that may be nil, only of objects whose embedded value isn't nil.
  var absentValue: AttributeValue = .null
  /// The tree of the long values of an attribute that is stored externally; nil for any other property.
  var blobTree: String?
  /// The rule by which the store derives the value; nil for a property that programs set.
  var derivation: CataloguedDerivation?

  enum Content: Sendable, Hashable {
    case attribute(AttributeKind, isOptional: Bool)
    case relationship(CataloguedRelationship)
  }

  var relationship: CataloguedRelationship? {
    if case .relationship(let relationship) = content { relationship } else { nil }
  }

  /// The trees that the property owns.
  var trees: [String] { [relationship?.tree, relationship?.orderTree, blobTree].compactMap(\.self) }

  var isToMany: Bool { relationship?.cardinality == .many }

  /// True if the property is the hidden inverse of a to-many relationship.
  var isHiddenInverse: Bool { isToMany && name.hasSuffix(RelationshipDescription.hiddenInverse) }

  /// True if nil is allowed.
  var isOptional: Bool {
    switch content {
    case .attribute(_, let isOptional): isOptional
    case .relationship(let relationship): relationship.cardinality == .optional
    }
  }

  /// The kind of the property's slot in a record. Nil for a to-many relationship, which has no slot.
  var storedKind: AttributeKind? {
    switch content {
    case .attribute(let kind, _): kind
    case .relationship(let relationship): relationship.cardinality == .many ? nil : .reference
    }
  }
}

/// The entry of a derived attribute in the catalogue.
struct CataloguedDerivation: Sendable, Hashable, Codable {
  /// The aggregate function; nil for a count, and for a folded copy.
  var function: AttributeDerivation.Function?
  /// The to-many relationship of the entity; nil for a folded copy.
  var relationship: PropertyNumber?
  /// An attribute of the relationship's members, or of the entity itself; nil for a count.
  var attribute: PropertyNumber?
  /// The folding, for a folded copy; nil for other rules.
  var folding: IndexFolding?
}

/// The entry of a relationship in the catalogue.
struct CataloguedRelationship: Sendable, Hashable {
  var destination: EntityNumber
  var cardinality: RelationshipDescription.Cardinality
  /// The property of the destination that leads back.
  var inverse: PropertyNumber?
  var deleteRule: DeleteRule
  /// For a to-one relationship, the tree from destinations to objects. For a many-to-many relationship, the tree
  /// from objects to elements. Nil for a to-many relationship whose inverse is to one: the inverse's tree has the
  /// elements.
  var tree: String?
  /// For a many-to-many relationship whose elements have an order, the tree from objects and places to elements.
  /// Nil if there is no order, and if the inverse is to one: then an index of the inverse's entity has the order.
  var orderTree: String?
}

/// An index of a ``CataloguedEntity``.
struct CataloguedIndex: Sendable, Hashable, Codable {
  let number: IndexNumber
  var tree: String
  var properties: [PropertyNumber]
  var isUnique: Bool
  var folding: IndexFolding
}

/// A form that records of an entity have or had.
struct CataloguedLayout: Sendable, Hashable, Codable {
  /// The layout's number, which the records have in bytes 4 to 7.
  let number: UInt32
  /// The fields, in the order in which a record has the values.
  var fields: [Field]

  struct Field: Sendable, Hashable, Codable {
    let property: PropertyNumber
    let kind: AttributeKind
    /// The value that is read where a record of this layout has nil: the attribute got a default when it lost its
    /// optionality. Nil if nil is read.
    var nilValue: AttributeValue?
  }
}

/// The kind of a tree's content, which is part of the tree's name.
enum TreeKind: String {
  case records = "e"
  case index = "i"
  case references = "r"
  case pairs = "m"
  case orders = "o"
  case blobs = "b"

  func treeName(_ number: UInt32) -> String { "\(rawValue)/\(number)" }
}

extension Sequence {
  /// Returns the elements by a key. Of two elements with the same key, the first one is taken.
  func dictionary<Key: Hashable>(by key: (Element) -> Key) -> [Key: Element] {
    Dictionary(map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
  }
}
