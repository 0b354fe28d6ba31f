import Predicates
import Testing

/// The schema of the model above.
struct FlightSchema: SchemaProviding {
  static let shared = FlightSchema()

  let entities: [String: EntitySchema] = [
    "Flight": entity(
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
    "Airport": entity(
      "Airport",
      [
        ("faa", .string, false, nil), ("name", .string, false, nil), ("altitude", .int64, false, nil),
        ("city", .reference, true, "City"), ("isOpen", .bool, false, nil),
      ]
    ),
    "City": entity("City", [("title", .string, false, nil)]),
    "Leg": entity(
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

  func entitySchema(named name: String) -> EntitySchema? { entities[name] }

  private static func entity(
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
    return EntitySchema(name: name, stored: properties, toMany: toMany, indexes: [])
  }
}
