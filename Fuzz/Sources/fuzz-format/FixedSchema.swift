import Predicates

/// Two entities with an attribute of every kind, parts of embedded values, lists, and relationships of both kinds. Names are short, so that the fuzzer
/// finds them.
struct FixedSchema: SchemaProviding {
  static let shared = FixedSchema()
  static let attributes: [(name: String, kind: AttributeKind)] =
    Array(zip("abcdefghijklmnopqrstuv".map(String.init), AttributeKind.allCases.filter { $0 != .reference }))

  /// Parts of embedded values, and lists with the kinds of their elements.
  static let partsAndLists: [(name: String, kind: AttributeKind, elementKind: AttributeKind?)] = [
    ("p.q", .int32, nil), ("p.r.s", .string, nil), ("w", .coded, .int64), ("x", .coded, .string),
  ]

  let one = entity(EntityID(0), "One", link: "y", to: "Two", elements: "z")
  let two = entity(EntityID(1), "Two", link: "y", to: "One", elements: "z")

  func entitySchema(named name: String) -> EntitySchema? { name == "One" ? one : name == "Two" ? two : nil }

  func entitySchema(_ id: EntityID) -> EntitySchema { id == one.id ? one : two }

  private static func entity(
    _ id: EntityID,
    _ name: String,
    link: String,
    to destination: String,
    elements: String
  ) -> EntitySchema {
    var stored = attributes.enumerated().map { slot, attribute in
      StoredProperty(name: attribute.name, slot: slot, kind: attribute.kind, isOptional: slot % 2 == 0)
    }
    for property in partsAndLists {
      stored.append(
        StoredProperty(
          name: property.name,
          slot: stored.count,
          kind: property.kind,
          elementKind: property.elementKind,
          isOptional: true
        )
      )
    }
    stored.append(
      StoredProperty(
        name: link,
        slot: stored.count,
        kind: .reference,
        isOptional: true,
        destination: destination
      )
    )
    let toMany = ToManyProperty(name: elements, destination: destination, inverse: link)
    return EntitySchema(id: id, name: name, stored: stored, toMany: [toMany], indexes: [])
  }
}
