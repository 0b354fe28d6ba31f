import Foundation
import Predicates
import TestSupport

/// A generated schema and the rows of its two entities, as plain dictionaries.
struct PlainWorld {
  struct Attribute {
    var name: String
    var kind: AttributeKind
    var isOptional = true
    /// The values that rows have; few, so that conditions and sorts meet equals.
    var pool: [Plain]
  }

  /// The entity that is fetched, `Thing`, and the one that it refers to, `Place`, which refers to itself and to things.
  static let fetched = "Thing"
  static let referred = "Place"

  /// To-one relationships, and the entities that they lead to.
  static let links = [
    fetched: [(name: "place", destination: referred)],
    referred: [(name: "next", destination: referred), (name: "guest", destination: fetched)],
  ]
  /// The same relationships from their other ends.
  static let relationships = [
    PlainRelationship(entity: referred, name: "things", destination: fetched, inverse: "place"),
    PlainRelationship(entity: referred, name: "previous", destination: referred, inverse: "next"),
    PlainRelationship(entity: fetched, name: "visitors", destination: referred, inverse: "guest"),
  ]
  /// Returns the relationships of an entity, in the order of their ordinals.
  static func relationships(of entity: String) -> [PlainRelationship] {
    relationships.filter { $0.entity == entity }
  }
  /// The attribute of things that no two have alike.
  static let serial = "serial"

  private(set) var attributes: [String: [Attribute]] = [:]
  private(set) var objects: [String: [PlainObject]] = [:]

  init(
    attributes: [String: [Attribute]],
    rows: [String: [(number: UInt64, values: [String: Plain])]]
  ) {
    self.attributes = attributes
    for (entity, list) in rows {
      objects[entity] = list.map { PlainObject(entity: entity, number: $0.number, values: $0.values) }
    }
  }

  init(using random: inout SeededGenerator) {
    attributes[Self.referred] = [
      Self.attribute("code", .string, &random), Self.attribute("height", .int32, &random),
      Self.attribute("weight", .double, &random),
    ]
    attributes[Self.fetched] = Self.attributes(&random)
    let counts = [
      Self.referred: random.number(in: 1...8), Self.fetched: random.number(in: 8...28),
    ]
    for (entity, count) in counts.sorted(by: { $0.key < $1.key }) {
      objects[entity] = makeObjects(entity, count, counts, &random)
    }
  }

  /// Some attributes of any kind, twice a kind at times; a string and two kinds of numbers always.
  private static func attributes(_ random: inout SeededGenerator) -> [Attribute] {
    let kinds = AttributeKind.allCases.filter { $0 != .reference && $0 != .place && $0.isComparable }
    let chosen = (0..<random.number(in: 1...9)).map { _ in random.pick(kinds) }
    let numbers = kinds.filter(\.isNumeric).shuffled(using: &random).prefix(2)
    let all = (chosen + numbers + [.string]).enumerated().map { place, kind in
      attribute("\(kind) \(place)", kind, &random)
    }
    // Its values are not taken from the pool: every object has its own.
    return all + [Attribute(name: serial, kind: .int32, isOptional: false, pool: (0...9).map { .whole($0) })]
  }

  private func makeObjects(
    _ entity: String,
    _ count: Int,
    _ counts: [String: Int],
    _ random: inout SeededGenerator
  ) -> [PlainObject] {
    var number: UInt64 = 0
    let serials = (0..<count).map { Plain.whole(Int128($0 - 5)) }.shuffled(using: &random)
    return (0..<count).map { place in
      number += UInt64(random.number(in: 1...3))
      var values: [String: Plain] = [:]
      for attribute in attributes[entity] ?? [] { values[attribute.name] = random.pick(attribute.pool) }
      if entity == Self.fetched { values[Self.serial] = serials[place] }
      for link in Self.links[entity] ?? [] {
        // Some links name objects that don't exist.
        let target = random.number(in: 1...(counts[link.destination] ?? 1) * 2 + 1)
        values[link.name] = random.chance(1, in: 5) ? .missing : .link(UInt64(target))
      }
      return PlainObject(entity: entity, number: number, values: values)
    }
  }

  /// The fetched entity's objects.
  var things: [PlainObject] { objects[Self.fetched] ?? [] }

  /// The value at the names, from an object on.
  func value(_ names: ArraySlice<String>, of object: PlainObject) -> Plain {
    guard let first = names.first, first != "SELF" else { return .link(object.number) }
    let value = object.values[first] ?? .missing
    let rest = names.dropFirst()
    // The value of a relationship is the number that it names, even if no such object exists.
    if rest.isEmpty || rest.first == "SELF" { return value }
    guard case .link(let target) = value,
      let link = Self.links[object.entity]?.first(where: { $0.name == first }),
      let next = objects[link.destination]?.first(where: { $0.number == target })
    else { return .missing }
    return self.value(rest, of: next)
  }

  /// The objects that name the owner, in the order of their numbers.
  func elements(_ relationship: PlainRelationship, of owner: Plain) -> [PlainObject] {
    guard case .link(let number) = owner else { return [] }
    return (objects[relationship.destination] ?? []).filter {
      if case .link(number) = $0.values[relationship.inverse] { true } else { false }
    }
  }

  // MARK: Values

  private static func attribute(
    _ name: String,
    _ kind: AttributeKind,
    _ random: inout SeededGenerator
  ) -> Attribute {
    let count = random.number(in: 2...9)
    var pool = (0..<count).map { _ in value(kind, &random) }
    let isOptional = random.chance(3, in: 4)
    if isOptional { pool.append(.missing) }
    return Attribute(name: name, kind: kind, isOptional: isOptional, pool: pool)
  }
}
