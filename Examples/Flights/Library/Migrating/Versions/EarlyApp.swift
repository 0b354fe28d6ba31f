import Cambium

/// The first version of the app. It is here to make a store of that time: the plan knows the version by its number
/// alone (``FlightsV1``).
enum EarlyApp: VersionedSchema {
  static let version = Schema.Version(1)

  static func schema() throws(SchemaError) -> Schema? {
    try Schema(entities: [airline, airport, plane, flight])
  }

  private static let airline = EntityDescription(
    name: "Airline",
    properties: [
      .attribute(.init(name: "carrier", kind: .string)),
      .attribute(.init(name: "name", kind: .string)),
      .relationship(.init(name: "flights", destination: "Flight", cardinality: .many, inverse: "airline")),
    ],
    indexes: [IndexDescription(["carrier"], isUnique: true)]
  )

  private static let airport = EntityDescription(
    name: "Airport",
    properties: [
      .attribute(.init(name: "faa", kind: .string)),
      .attribute(.init(name: "name", kind: .string)),
      .relationship(.init(name: "departures", destination: "Flight", cardinality: .many, inverse: "origin")),
      .relationship(.init(name: "arrivals", destination: "Flight", cardinality: .many, inverse: "dest")),
    ],
    indexes: [IndexDescription(["faa"], isUnique: true)]
  )

  private static let plane = EntityDescription(
    name: "Plane",
    properties: [
      .attribute(.init(name: "tailnum", kind: .string)),
      .attribute(.init(name: "year", kind: .int64, isOptional: true)),
      .attribute(.init(name: "manufacturer", kind: .string)),
      .attribute(.init(name: "model", kind: .string)),
      .attribute(.init(name: "engine", kind: .string)),
      .attribute(.init(name: "engines", kind: .int64)),
      .attribute(.init(name: "seats", kind: .int64)),
      .relationship(.init(name: "flights", destination: "Flight", cardinality: .many, inverse: "plane")),
    ],
    indexes: [IndexDescription(["tailnum"], isUnique: true)]
  )

  private static let flight = EntityDescription(
    name: "Flight",
    properties: [
      .attribute(.init(name: "month", kind: .int64)),
      .attribute(.init(name: "day", kind: .int64)),
      .attribute(.init(name: "flight", kind: .int64)),
      .attribute(.init(name: "arrDelay", kind: .int64, isOptional: true)),
      .attribute(.init(name: "distance", kind: .int64)),
      .relationship(
        .init(name: "airline", destination: "Airline", cardinality: .optional, inverse: "flights")
      ),
      .relationship(.init(name: "plane", destination: "Plane", cardinality: .optional, inverse: "flights")),
      .relationship(
        .init(name: "origin", destination: "Airport", cardinality: .optional, inverse: "departures")
      ),
      .relationship(.init(name: "dest", destination: "Airport", cardinality: .optional, inverse: "arrivals")),
    ],
    indexes: [IndexDescription(["month", "day"])]
  )
}
