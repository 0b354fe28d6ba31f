import GraphContext
import GraphTestSupport
import Predicates
import TestSupport

/// A random schema with the expected contents of its store.
struct RandomSchema {
  var draft = Draft()
  var oracle = GraphOracle()
  var values: RandomValues
  /// The names, by the keys of the schema that the store has.
  private(set) var storedNames: [Int: String] = [:]
  /// The entities of the properties that the store has, by the properties' keys.
  private(set) var storedOwners: [Int: Int] = [:]
  /// Attributes whose optionality or default was changed since the last opening. The store doesn't see states in between.
  var decided: Set<Int> = []
  /// An attribute that every entity has and no change touches.
  static let serial = "serial"

  static let attributeKinds = AttributeKind.allCases.filter { $0 != .reference && $0 != .place }
  private static let entityNames = ["Ape", "Bee", "Cat", "Dog", "Elk", "Fox", "Gnu"]
  private static let propertyNames = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]
  /// Parts of embedded values.
  private static let partNames = ["v.x", "v.y", "w.x"]
  private static let classNames = ["Hen", "Ibis", "Jay", "Kite", "Lark"]

  init(_ generator: SeededGenerator) {
    values = RandomValues(generator: generator)
    for _ in 0..<generatorNumber(1...4) { addEntity() }
    for _ in 0..<generatorNumber(0...4) { addRelationship() }
    if chance(1, in: 3) {
      addClass()
      addRelationship()
    }
    if chance(1, in: 3) { addEmbedded() }
    for _ in 0..<generatorNumber(0...2) { addDerived() }
    for _ in 0..<generatorNumber(0...3) { addIndex() }
    shuffle()
  }

  mutating func generatorNumber(_ range: ClosedRange<Int>) -> Int { values.generator.number(in: range) }
  mutating func chance(_ numerator: Int, in denominator: Int) -> Bool {
    values.generator.chance(numerator, in: denominator)
  }

  // MARK: Picking

  mutating func pickEntity() -> Int { generatorNumber(0...draft.entities.count - 1) }

  /// The key of a property for which the condition holds.
  mutating func pickProperty(where condition: (Draft.Property) -> Bool) -> Int? {
    let keys = draft.entities.flatMap(\.properties).filter { $0.name != Self.serial && condition($0) }.map(
      \.key
    )
    return keys.isEmpty ? nil : values.generator.pick(keys)
  }

  mutating func entityName() -> String { values.generator.pick(Self.entityNames) }
  mutating func propertyName() -> String { values.generator.pick(Self.propertyNames) }

  // MARK: Making

  @discardableResult
  mutating func addEntity() -> Bool {
    var entity = Draft.Entity(key: draft.takeKey(), name: entityName())
    let serial = Draft.Attribute(kind: .int64, isOptional: false)
    entity.properties.append(.init(key: draft.takeKey(), name: Self.serial, content: .attribute(serial)))
    if draft.entities.contains(where: { $0.name == entity.name }) { return false }
    draft.entities.append(entity)
    let place = draft.entities.count - 1
    for _ in 0..<generatorNumber(0...5) { addAttribute(to: place) }
    // Records whose null bitmap has several bytes, and that are longer than a translator's first buffer.
    if chance(1, in: 6) {
      for number in 0..<generatorNumber(4...40) { addAttribute(named: "wide\(number)", to: place) }
    }
    return true
  }

  /// Adds an attribute; objects have its default.
  @discardableResult
  mutating func addAttribute(to place: Int) -> Bool {
    let name = chance(1, in: 6) ? values.generator.pick(Self.partNames) : propertyName()
    return addAttribute(named: name, to: place)
  }

  @discardableResult
  private mutating func addAttribute(named name: String, to place: Int) -> Bool {
    // Values of variable width that follow each other are moved together.
    let kinds = chance(1, in: 4) ? [AttributeKind.string, .data] : Self.attributeKinds
    let kind = values.generator.pick(kinds)
    var attribute = Draft.Attribute(kind: kind, isOptional: chance(1, in: 2))
    if chance(1, in: 6) {
      attribute.kind = .coded
      attribute.elementKind = values.generator.pick(AttributeKind.allCases.filter(\.isElementKind))
    }
    // Objects of other classes have nil, and so have existing objects of the class.
    let classKey = pickClass(of: place)
    if classKey != nil { attribute.isOptional = true }
    let value =
      classKey == nil ? self.value(attribute, nilOneIn: attribute.isOptional ? 2 : 1 << 30) : .null
    attribute.defaultValue = value.isNull ? nil : value
    guard !draft.entities[place].properties.contains(where: { $0.name == name }) else { return false }
    let key = draft.takeKey()
    decided.insert(key)
    draft.entities[place].properties.append(
      .init(key: key, name: name, content: .attribute(attribute), classKey: classKey)
    )
    let entity = draft.entities[place].key
    for number in oracle.numbers(of: entity) { oracle.rows[entity]?[number]?[key] = value }
    return true
  }

  /// A value that an attribute can have.
  mutating func value(_ attribute: Draft.Attribute, nilOneIn rarity: Int) -> AttributeValue {
    guard let kind = attribute.elementKind else { return values.value(attribute.kind, nilOneIn: rarity) }
    if chance(1, in: rarity) { return .null }
    let elements = (0..<generatorNumber(0...3)).map { _ in values.value(kind, nilOneIn: 1 << 30) }
    return .string(ListText.json(of: elements, kind))
  }

  /// Adds a class below the root of an entity, or below another class.
  @discardableResult
  mutating func addClass() -> Bool {
    let place = pickEntity()
    let name = values.generator.pick(Self.classNames)
    guard !draft.entities.flatMap(\.classes).contains(where: { $0.name == name }) else { return false }
    let parent =
      chance(1, in: 2) ? draft.entities[place].classes.randomElement(using: &values.generator)?.key : nil
    draft.entities[place].classes.append(.init(key: draft.takeKey(), name: name, parent: parent))
    return true
  }

  /// Returns the key for an entity as the owner of its classes. The names of classes are separate from those of
  /// properties.
  static func ownerOfClasses(_ entity: Int) -> Int { -entity }

  /// Gives a class another name.
  mutating func renameClass() -> Bool {
    let place = pickEntity()
    guard let member = draft.entities[place].classes.indices.randomElement(using: &values.generator) else {
      return false
    }
    draft.entities[place].classes[member].originalName =
      storedNames[draft.entities[place].classes[member].key]
    draft.entities[place].classes[member].name = values.generator.pick(Self.classNames)
    return true
  }

  /// Adds an attribute that is made of others.
  @discardableResult
  mutating func addDerived() -> Bool {
    let place = pickEntity()
    let entity = draft.entities[place]
    let name = propertyName()
    guard isFree(name, in: place), let attribute = derivedAttribute(of: entity) else { return false }
    let key = draft.takeKey()
    decided.insert(key)
    draft.entities[place].properties.append(.init(key: key, name: name, content: .attribute(attribute)))
    return true
  }

  private mutating func derivedAttribute(of entity: Draft.Entity) -> Draft.Attribute? {
    let own = entity.properties.filter { $0.classKey == nil && !$0.isDerived }
    guard
      let members = own.filter({ $0.relationship?.isToMany == true }).randomElement(using: &values.generator),
      let relationship = members.relationship, chance(3, in: 4)
    else {
      guard let text = own.filter({ $0.attribute?.kind == .string }).randomElement(using: &values.generator),
        let isOptional = text.attribute?.isOptional
      else { return nil }
      return Draft.Attribute(kind: .string, isOptional: isOptional, derivation: .folded(text.key))
    }
    let sources = draft.entities[draft.entityPlace(relationship.destination)].properties.filter {
      $0.attribute?.kind.isInteger == true && !$0.isDerived
    }
    guard let source = sources.randomElement(using: &values.generator), let kind = source.attribute?.kind,
      chance(2, in: 3)
    else { return Draft.Attribute(kind: .int64, isOptional: false, derivation: .count(of: members.key)) }
    if Self.shortKinds.contains(kind), chance(1, in: 2) {
      let sum = Draft.Derivation.aggregate(.sum, over: members.key, of: source.key)
      return Draft.Attribute(kind: .int64, isOptional: false, derivation: sum)
    }
    let extreme = Draft.Derivation.aggregate(
      chance(1, in: 2) ? .min : .max,
      over: members.key,
      of: source.key
    )
    return Draft.Attribute(kind: kind, isOptional: true, derivation: extreme)
  }

  /// The kinds whose sums never overflow.
  static let shortKinds: [AttributeKind] = [.int8, .int16, .int32, .uint8, .uint16, .uint32]

  /// Whether no sum of a store with these attributes can be too great.
  var hasShortSums: Bool {
    let properties = draft.entities.flatMap(\.properties)
    return properties.allSatisfy { property in
      guard case .aggregate(.sum, _, let key)? = property.attribute?.derivation else { return true }
      // A change may have removed the source of the sum.
      guard let source = properties.first(where: { $0.key == key })?.attribute else { return false }
      return Self.shortKinds.contains(source.kind)
    }
  }

  /// The key of a class below the root of an entity; nil for the root.
  mutating func pickClass(of place: Int) -> Int? {
    chance(1, in: 2) ? draft.entities[place].classes.randomElement(using: &values.generator)?.key : nil
  }

  /// Adds a relationship of any sort, and with a chance its inverse.
  @discardableResult
  mutating func addRelationship() -> Bool {
    let (source, destination) = (pickEntity(), pickEntity())
    let (sourceClass, destinationClass) = (pickClass(of: source), pickClass(of: destination))
    let (name, inverseName) = (propertyName(), propertyName())
    guard isFree(name, in: source) else { return false }
    let key = draft.takeKey()
    var relationship = Draft.Relationship(
      destination: draft.entities[destination].key,
      destinationClass: destinationClass,
      cardinality: chance(1, in: 2) ? .many : .optional
    )
    if source == destination, sourceClass == destinationClass, chance(1, in: 3) {
      relationship.inverse = key
      append(
        .init(key: key, name: name, content: .relationship(relationship), classKey: sourceClass),
        to: source
      )
      return true
    }
    if chance(1, in: 3) {
      let isEmpty = oracle.numbers(of: draft.entities[source].key).isEmpty
      if isEmpty, sourceClass == nil, relationship.cardinality == .optional, chance(1, in: 3) {
        relationship.cardinality = .required
      }
      append(
        .init(key: key, name: name, content: .relationship(relationship), classKey: sourceClass),
        to: source
      )
      return true
    }
    guard isFree(inverseName, in: destination), source != destination || name != inverseName else {
      return false
    }
    let back = draft.takeKey()
    relationship.inverse = back
    var inverse = Draft.Relationship(
      destination: draft.entities[source].key,
      destinationClass: sourceClass,
      cardinality: chance(1, in: 2) ? .many : .optional,
      inverse: key
    )
    if relationship.isToMany != inverse.isToMany, chance(1, in: 2) {
      relationship.isOrdered = true
      inverse.isOrdered = true
    } else if relationship.isToMany, inverse.isToMany {
      relationship.isOrdered = chance(1, in: 2)
      inverse.isOrdered = chance(1, in: 2)
    }
    append(
      .init(key: key, name: name, content: .relationship(relationship), classKey: sourceClass),
      to: source
    )
    append(
      .init(key: back, name: inverseName, content: .relationship(inverse), classKey: destinationClass),
      to: destination
    )
    return true
  }

  func isFree(_ name: String, in place: Int) -> Bool {
    !draft.entities[place].properties.contains { $0.name == name }
  }

  private mutating func append(_ property: Draft.Property, to place: Int) {
    draft.entities[place].properties.append(property)
  }

  @discardableResult
  mutating func addIndex() -> Bool {
    let place = pickEntity()
    var stored = draft.entities[place].properties.filter(\.isIndexable).shuffled(using: &values.generator)
    let lists = draft.entities[place].properties.filter(\.isList)
    if chance(1, in: 2), let list = lists.randomElement(using: &values.generator) {
      stored.insert(list, at: 0)
    }
    let properties = stored.prefix(generatorNumber(1...2)).map(\.key)
    let isFolding = stored.first?.attribute?.kind == .string && chance(1, in: 2)
    let folding: IndexFolding = isFolding ? [.case] : []
    let isKnown = draft.entities[place].indexes.contains {
      $0.properties == properties && $0.folding == folding
    }
    if isKnown || properties.isEmpty { return false }
    let entity = draft.entities[place].key
    let canBeUnique = !stored.prefix(2).contains { $0.isList || $0.isDerived }
    let isUnique =
      !isFolding && canBeUnique && chance(1, in: 3) && oracle.isUnique(properties, of: entity, in: draft)
    draft.entities[place].indexes.append(.init(properties: properties, isUnique: isUnique, folding: folding))
    return true
  }

  /// Shuffles the order of everything, which must have no effect.
  mutating func shuffle() {
    for place in draft.entities.indices {
      draft.entities[place].properties.shuffle(using: &values.generator)
      draft.entities[place].indexes.shuffle(using: &values.generator)
    }
    draft.entities.shuffle(using: &values.generator)
  }

  /// Notes that the store has the schema. A hint at an earlier name may stay in the models.
  mutating func didStore() {
    storedNames = [:]
    storedOwners = [:]
    decided = []
    for place in draft.entities.indices {
      storedNames[draft.entities[place].key] = draft.entities[place].name
      if chance(1, in: 2) { draft.entities[place].originalName = nil }
      for property in draft.entities[place].properties.indices {
        let known = draft.entities[place].properties[property]
        storedNames[known.key] = known.name
        storedOwners[known.key] = draft.entities[place].key
        if chance(1, in: 2) { draft.entities[place].properties[property].originalName = nil }
      }
      for member in draft.entities[place].classes.indices {
        let known = draft.entities[place].classes[member]
        storedNames[known.key] = known.name
        storedOwners[known.key] = Self.ownerOfClasses(draft.entities[place].key)
        if chance(1, in: 2) { draft.entities[place].classes[member].originalName = nil }
      }
    }
  }
}
