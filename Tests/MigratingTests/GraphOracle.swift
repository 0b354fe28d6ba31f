import Foundation
import GraphContext
import Predicates

/// The expected contents of a store: values and links in dictionaries, by the keys of a ``Draft`` and the numbers of
/// the objects.
struct GraphOracle {
  typealias Row = [Int: AttributeValue]

  struct Link: Hashable {
    let from: UInt64
    let to: UInt64
    var reversed: Link { Link(from: to, to: from) }
  }

  /// The objects of each entity.
  var rows: [Int: [UInt64: Row]] = [:]
  /// The keys of the objects' classes; none for objects of a root.
  var classes: [Int: [UInt64: Int]] = [:]
  /// The links of each relationship; those of a pair of relationships are there at both ends.
  var links: [Int: Set<Link>] = [:]
  /// The members of each owner in an ordered relationship, by the key of its to-many end.
  var orders: [Int: [UInt64: [UInt64]]] = [:]

  func numbers(of entity: Int) -> [UInt64] { rows[entity, default: [:]].keys.sorted() }

  /// The objects of an entity to which a relationship may lead.
  func destinations(of relationship: Draft.Relationship, in draft: Draft) -> [UInt64] {
    let entity = draft.entities[draft.entityPlace(relationship.destination)]
    return numbers(of: entity.key).filter { number in
      entity.isClass(classes[entity.key]?[number], relationship.destinationClass)
    }
  }

  func value(_ property: Int, of number: UInt64, _ entity: Int) -> AttributeValue {
    rows[entity]?[number]?[property] ?? .null
  }

  func targets(of number: UInt64, _ relationship: Int) -> [UInt64] {
    let all = links[relationship, default: []].filter { $0.from == number }.map(\.to)
    return orders[relationship].map { $0[number] ?? [] } ?? all.sorted()
  }

  /// Returns the value that a record shows in an attribute. A derived value is computed from its sources.
  func shown(_ property: Draft.Property, of number: UInt64, _ entity: Int, in draft: Draft) -> AttributeValue
  {
    switch property.attribute?.derivation {
    case nil: return value(property.key, of: number, entity)
    // The texts have no capital letters; a folded one is composed.
    case .folded(let source)?:
      guard case .string(let text) = value(source, of: number, entity) else { return .null }
      return .string(text.precomposedStringWithCanonicalMapping)
    case .count(let relationship)?: return .int(Int64(targets(of: number, relationship).count))
    case .aggregate(let function, let relationship, let source)?:
      let members = draft.relationship(relationship).destination
      let values = targets(of: number, relationship).compactMap { member -> Int128? in
        switch value(source, of: member, members) {
        case .int(let value): Int128(value)
        case .uint(let value): Int128(value)
        default: nil
        }
      }
      let result =
        switch function {
        case .sum: values.reduce(0, +)
        case .min: values.min()
        case .max: values.max()
        }
      return result.map { Int64(exactly: $0).map(AttributeValue.int) ?? .uint(UInt64($0)) } ?? .null
    }
  }

  mutating func connect(_ relationship: Int, _ link: Link, in draft: Draft) {
    if links[relationship]?.contains(link) == true { return }
    let description = draft.relationship(relationship)
    if !description.isToMany { disconnectAll(relationship, from: link.from, in: draft) }
    if let inverse = description.inverse, !draft.relationship(inverse).isToMany {
      disconnectAll(inverse, from: link.to, in: draft)
    }
    links[relationship, default: []].insert(link)
    if let inverse = description.inverse { links[inverse, default: []].insert(link.reversed) }
    if description.isOrdered, description.isToMany {
      orders[relationship, default: [:]][link.from, default: []].append(link.to)
    }
    guard let inverse = description.inverse else { return }
    if draft.relationship(inverse).isOrdered, draft.relationship(inverse).isToMany {
      orders[inverse, default: [:]][link.to, default: []].append(link.from)
    }
  }

  /// Moves a member of an ordered relationship to a position among the others.
  mutating func move(_ member: UInt64, to position: Int, of owner: UInt64, _ relationship: Int) {
    orders[relationship]?[owner]?.removeAll { $0 == member }
    orders[relationship]?[owner]?.insert(member, at: position)
  }

  /// Makes a relationship ordered, at first by the numbers of the members, or makes it unordered.
  mutating func order(_ relationship: Int, _ isOrdered: Bool) {
    orders[relationship] = nil
    guard isOrdered else { return }
    // In a hierarchy the number's high bits say the class.
    func sequence(_ number: UInt64) -> UInt64 { ObjectNumber(rawValue: number).sequence }
    for link in links[relationship, default: []].sorted(by: { sequence($0.to) < sequence($1.to) }) {
      orders[relationship, default: [:]][link.from, default: []].append(link.to)
    }
  }

  mutating func disconnectAll(_ relationship: Int, from number: UInt64, in draft: Draft) {
    for link in links[relationship, default: []] where link.from == number {
      links[relationship]?.remove(link)
      orders[relationship]?[link.from]?.removeAll { $0 == link.to }
      if let inverse = draft.relationship(relationship).inverse {
        links[inverse]?.remove(link.reversed)
        orders[inverse]?[link.to]?.removeAll { $0 == link.from }
      }
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

  /// Returns the value that a record stores in the property; for a to-one relationship, the number of its object.
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

  /// Returns true if the data satisfy the schema.
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
    case .attribute(let attribute): !attribute.isOptional && attribute.derivation == nil
    case .relationship(let relationship): relationship.cardinality == .required
    }
  }

  // MARK: As text

  /// A line for every object and for each of its properties.
  func dump(_ draft: Draft) -> [String] {
    var lines: [String] = []
    for entity in draft.entities {
      for number in numbers(of: entity.key) {
        let member = classes[entity.key]?[number]
        let name = entity.classes.first { $0.key == member }?.name ?? entity.name
        lines.append("\(entity.name) \(number) is a \(name)")
        for property in entity.properties {
          let text =
            property.relationship == nil
            ? Self.text(shown(property, of: number, entity.key, in: draft))
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
