import Foundation
import GraphContext
import Predicates

/// What a store should hold: values and links in dictionaries, by the keys of a ``Draft`` and the numbers of the objects.
struct GraphOracle {
  typealias Row = [Int: AttributeValue]

  struct Link: Hashable {
    let from: UInt64
    let to: UInt64
    var reversed: Link { Link(from: to, to: from) }
  }

  /// The objects of each entity.
  var rows: [Int: [UInt64: Row]] = [:]
  /// The links of each relationship; those of a pair of relationships are there at both ends.
  var links: [Int: Set<Link>] = [:]

  func numbers(of entity: Int) -> [UInt64] { rows[entity, default: [:]].keys.sorted() }

  func value(_ property: Int, of number: UInt64, _ entity: Int) -> AttributeValue {
    rows[entity]?[number]?[property] ?? .null
  }

  func targets(of number: UInt64, _ relationship: Int) -> [UInt64] {
    links[relationship, default: []].filter { $0.from == number }.map(\.to).sorted()
  }

  mutating func connect(_ relationship: Int, _ link: Link, in draft: Draft) {
    let description = draft.relationship(relationship)
    if !description.isToMany { disconnectAll(relationship, from: link.from, in: draft) }
    if let inverse = description.inverse, !draft.relationship(inverse).isToMany {
      disconnectAll(inverse, from: link.to, in: draft)
    }
    links[relationship, default: []].insert(link)
    if let inverse = description.inverse { links[inverse, default: []].insert(link.reversed) }
  }

  mutating func disconnectAll(_ relationship: Int, from number: UInt64, in draft: Draft) {
    for link in links[relationship, default: []] where link.from == number {
      links[relationship]?.remove(link)
      if let inverse = draft.relationship(relationship).inverse { links[inverse]?.remove(link.reversed) }
    }
  }

  /// Whether any link leads to the object or from it.
  func isLinked(_ number: UInt64, _ entity: Int, in draft: Draft) -> Bool {
    for owner in draft.entities {
      for property in owner.properties {
        guard let relationship = property.relationship else { continue }
        let known = links[property.key, default: []]
        if owner.key == entity, known.contains(where: { $0.from == number }) { return true }
        if relationship.destination == entity, known.contains(where: { $0.to == number }) { return true }
      }
    }
    return false
  }

  // MARK: Constraints

  /// What a record has in the property: of a to-one relationship the number.
  func stored(_ property: Draft.Property, of number: UInt64, _ entity: Int) -> AttributeValue {
    if property.relationship == nil { return value(property.key, of: number, entity) }
    return targets(of: number, property.key).first.map { .uint($0) } ?? .null
  }

  func isUnique(_ properties: [Int], of entity: Int, in draft: Draft) -> Bool {
    var seen: Set<[AttributeValue]> = []
    for number in numbers(of: entity) {
      let values = properties.map { stored(draft[property: $0], of: number, entity) }
      if !values.contains(where: \.isNull), !seen.insert(values).inserted { return false }
    }
    return true
  }

  /// Whether the data keep what the schema demands.
  func fits(_ draft: Draft) -> Bool {
    for entity in draft.entities {
      for property in entity.properties where isRequired(property) {
        for number in numbers(of: entity.key) where stored(property, of: number, entity.key).isNull {
          return false
        }
      }
      for index in entity.indexes where index.isUnique {
        if !isUnique(index.properties, of: entity.key, in: draft) { return false }
      }
    }
    return true
  }

  private func isRequired(_ property: Draft.Property) -> Bool {
    switch property.content {
    case .attribute(let attribute): !attribute.isOptional
    case .relationship(let relationship): relationship.cardinality == .required
    }
  }

  // MARK: As text

  /// A line for every property of every object.
  func dump(_ draft: Draft) -> [String] {
    var lines: [String] = []
    for entity in draft.entities {
      for number in numbers(of: entity.key) {
        for property in entity.properties {
          let text =
            property.relationship == nil
            ? Self.text(value(property.key, of: number, entity.key))
            : "\(targets(of: number, property.key))"
          lines.append("\(entity.name) \(number) \(property.name) \(text)")
        }
      }
    }
    return lines.sorted()
  }

  /// Different for values that differ in a bit, but for a Decimal's spelling and NaN's bits.
  static func text(_ value: AttributeValue) -> String {
    switch value {
    case .string(let string): "string \(Array(string.utf8))"
    case .date(let date): "date \(date.timeIntervalSinceReferenceDate)"
    case .double(let double) where double.isNaN: "double nan"
    default: "\(value)"
    }
  }
}
