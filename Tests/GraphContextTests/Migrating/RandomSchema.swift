import GraphContext
import Predicates
import TestSupport

/// A random schema with what a store of it should hold.
struct RandomSchema {
  var draft = Draft()
  var oracle = GraphOracle()
  var values: RandomValues
  /// The names, by the keys of the schema that the store has.
  private(set) var storedNames: [Int: String] = [:]
  /// The entities of the properties that the store has, by the properties' keys.
  private(set) var storedOwners: [Int: Int] = [:]
  /// Attributes whose optionality or default was settled since: what they were in between, the store doesn't see.
  var settled: Set<Int> = []
  /// An attribute that every entity has and no change touches.
  static let serial = "serial"

  static let attributeKinds = AttributeKind.allCases.filter { $0 != .reference && $0 != .place }
  private static let entityNames = ["Ape", "Bee", "Cat", "Dog", "Elk", "Fox", "Gnu"]
  private static let propertyNames = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]

  init(_ generator: SeededGenerator) {
    values = RandomValues(generator: generator)
    for _ in 0..<generatorNumber(1...4) { addEntity() }
    for _ in 0..<generatorNumber(0...4) { addRelationship() }
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
  mutating func addAttribute(to place: Int) -> Bool { addAttribute(named: propertyName(), to: place) }

  @discardableResult
  private mutating func addAttribute(named name: String, to place: Int) -> Bool {
    // Values of variable width that follow each other are moved together.
    let kinds = chance(1, in: 4) ? [AttributeKind.string, .data] : Self.attributeKinds
    let kind = values.generator.pick(kinds)
    var attribute = Draft.Attribute(kind: kind, isOptional: chance(1, in: 2))
    let value = values.value(kind, nilOneIn: attribute.isOptional ? 2 : 1 << 30)
    attribute.defaultValue = value.isNull ? nil : value
    guard !draft.entities[place].properties.contains(where: { $0.name == name }) else { return false }
    let key = draft.takeKey()
    settled.insert(key)
    draft.entities[place].properties.append(.init(key: key, name: name, content: .attribute(attribute)))
    let entity = draft.entities[place].key
    for number in oracle.numbers(of: entity) { oracle.rows[entity]?[number]?[key] = value }
    return true
  }

  /// Adds a relationship of any sort, and with a chance its inverse.
  @discardableResult
  mutating func addRelationship() -> Bool {
    let (source, destination) = (pickEntity(), pickEntity())
    let (name, inverseName) = (propertyName(), propertyName())
    guard isFree(name, in: source) else { return false }
    let key = draft.takeKey()
    var relationship = Draft.Relationship(
      destination: draft.entities[destination].key,
      cardinality: chance(1, in: 2) ? .many : .optional
    )
    if source == destination, chance(1, in: 3) {
      relationship.inverse = key
      append(.init(key: key, name: name, content: .relationship(relationship)), to: source)
      return true
    }
    if chance(1, in: 3) {
      let isEmpty = oracle.numbers(of: draft.entities[source].key).isEmpty
      if isEmpty, relationship.cardinality == .optional, chance(1, in: 3) {
        relationship.cardinality = .required
      }
      append(.init(key: key, name: name, content: .relationship(relationship)), to: source)
      return true
    }
    guard isFree(inverseName, in: destination), source != destination || name != inverseName else {
      return false
    }
    let back = draft.takeKey()
    relationship.inverse = back
    let inverse = Draft.Relationship(
      destination: draft.entities[source].key,
      cardinality: chance(1, in: 2) ? .many : .optional,
      inverse: key
    )
    append(.init(key: key, name: name, content: .relationship(relationship)), to: source)
    append(.init(key: back, name: inverseName, content: .relationship(inverse)), to: destination)
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
    let stored = draft.entities[place].properties.filter(\.isIndexable).shuffled(using: &values.generator)
    let properties = stored.prefix(generatorNumber(1...2)).map(\.key)
    let isFolding = stored.first?.attribute?.kind == .string && chance(1, in: 2)
    let folding: IndexFolding = isFolding ? [.case] : []
    let isKnown = draft.entities[place].indexes.contains {
      $0.properties == properties && $0.folding == folding
    }
    if isKnown || properties.isEmpty { return false }
    let entity = draft.entities[place].key
    let isUnique = !isFolding && chance(1, in: 3) && oracle.isUnique(properties, of: entity, in: draft)
    draft.entities[place].indexes.append(.init(properties: properties, isUnique: isUnique, folding: folding))
    return true
  }

  /// Another order of everything, which means nothing.
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
    settled = []
    for place in draft.entities.indices {
      storedNames[draft.entities[place].key] = draft.entities[place].name
      if chance(1, in: 2) { draft.entities[place].originalName = nil }
      for property in draft.entities[place].properties.indices {
        let known = draft.entities[place].properties[property]
        storedNames[known.key] = known.name
        storedOwners[known.key] = draft.entities[place].key
        if chance(1, in: 2) { draft.entities[place].properties[property].originalName = nil }
      }
    }
  }
}
