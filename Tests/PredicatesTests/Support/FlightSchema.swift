import Predicates
import Testing

/// The schema of the model above.
struct FlightSchema: SchemaProviding {
  static let shared = FlightSchema()

  private let entities = [
    entity(
      EntityID(0),
      "Flight",
      [
        ("month", .int64, false, nil), ("day", .int8, false, nil), ("seats", .uint64, false, nil),
        ("depTime", .int64, true, nil), ("delay", .double, true, nil), ("distance", .double, false, nil),
        ("fare", .float, false, nil), ("tailnum", .string, true, nil), ("title", .string, false, nil),
        ("departed", .date, false, nil), ("landed", .date, true, nil), ("token", .uuid, false, nil),
        ("blob", .data, true, nil), ("isLate", .bool, false, nil), ("cabin", .int64, false, nil),
        ("status", .string, true, nil), ("origin", .reference, true, "Airport"),
        ("dest", .reference, true, "Airport"), ("isFull", .bool, true, nil),
      ],
      toMany: [ToManyProperty(name: "legs", destination: "Leg", inverse: "flight")]
    ),
    entity(
      EntityID(1),
      "Airport",
      [
        ("faa", .string, false, nil), ("name", .string, false, nil), ("altitude", .int64, false, nil),
        ("city", .reference, true, "City"), ("isOpen", .bool, false, nil),
      ]
    ),
    entity(EntityID(2), "City", [("title", .string, false, nil)]),
    entity(
      EntityID(3),
      "Leg",
      [
        ("minutes", .int64, true, nil), ("flight", .reference, true, "Flight"),
        ("isShort", .bool, false, nil),
      ]
    ),
  ]

  static var flight: EntitySchema {
    get throws { try #require(shared.entitySchema(named: "Flight")) }
  }

  func entitySchema(named name: String) -> EntitySchema? { entities.first { $0.name == name } }

  func entitySchema(_ id: EntityID) -> EntitySchema { entities[id.ordinal] }

  private static func entity(
    _ id: EntityID,
    _ name: String,
    _ stored: [(String, AttributeKind, Bool, String?)],
    toMany: [ToManyProperty] = []
  ) -> EntitySchema {
    let properties = stored.enumerated().map { slot, property in
      StoredProperty(
        name: property.0,
        slot: slot,
        kind: property.1,
        isOptional: property.2,
        destination: property.3
      )
    }
    return EntitySchema(id: id, name: name, stored: properties, toMany: toMany, indexes: [])
  }
}
