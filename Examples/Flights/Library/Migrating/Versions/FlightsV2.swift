import Cambium

/// Flights have an `arrivalDelay`, which was `arrDelay`, with an index; and a `destination`, which was `dest`.
///
/// A stage leads here, so there is a schema. The app no longer works with objects of this version, so there are no
/// classes.
enum FlightsV2: VersionedSchema {
  static let version = Schema.Version(2)

  static func schema() throws(SchemaError) -> Schema? {
    try Schema(entities: [airline, airport, plane, flight])
  }

  static let airline = EntityDescription(
    name: "Airline",
    properties: [
      .attribute(.init(name: "carrier", kind: .string)),
      .attribute(.init(name: "name", kind: .string)),
      .relationship(.init(name: "flights", destination: "Flight", cardinality: .many, inverse: "airline")),
    ],
    indexes: [IndexDescription(["carrier"], isUnique: true)]
  )

  static let airport = EntityDescription(
    name: "Airport",
    properties: [
      .attribute(.init(name: "faa", kind: .string)),
      .attribute(.init(name: "name", kind: .string)),
      .relationship(.init(name: "departures", destination: "Flight", cardinality: .many, inverse: "origin")),
      .relationship(
        .init(name: "arrivals", destination: "Flight", cardinality: .many, inverse: "destination")
      ),
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

  static let flight = EntityDescription(
    name: "Flight",
    properties: [
      .attribute(.init(name: "month", kind: .int64)),
      .attribute(.init(name: "day", kind: .int64)),
      .attribute(.init(name: "flight", kind: .int64)),
      .attribute(.init(name: "arrivalDelay", kind: .int64, isOptional: true, originalName: "arrDelay")),
      .attribute(.init(name: "distance", kind: .int64)),
      .relationship(
        .init(name: "airline", destination: "Airline", cardinality: .optional, inverse: "flights")
      ),
      .relationship(.init(name: "plane", destination: "Plane", cardinality: .optional, inverse: "flights")),
      .relationship(
        .init(name: "origin", destination: "Airport", cardinality: .optional, inverse: "departures")
      ),
      .relationship(
        .init(
          name: "destination",
          destination: "Airport",
          cardinality: .optional,
          inverse: "arrivals",
          originalName: "dest"
        )
      ),
    ],
    indexes: [IndexDescription(["month", "day"]), IndexDescription(["arrivalDelay"])]
  )
}

/// The second version in a plan in which no stage leads to it.
enum FlightsV2ByNumber: VersionedSchema {
  static let version = FlightsV2.version
}
