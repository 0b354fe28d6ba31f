import Cambium

/// Every plane has a `year`: 0 if it is not known when the plane was built. The rest is as in ``FlightsV2``.
enum FlightsV3: VersionedSchema {
  static let version = Schema.Version(3)

  static func schema() throws(SchemaError) -> Schema? { try schema(unknownYear: 0) }

  /// - Parameter unknownYear: the year of planes that have none; nil to refuse them.
  fileprivate static func schema(unknownYear: Int64?) throws(SchemaError) -> Schema {
    try Schema(entities: [FlightsV2.airline, FlightsV2.airport, plane(unknownYear), FlightsV2.flight])
  }

  private static func plane(_ unknownYear: Int64?) -> EntityDescription {
    EntityDescription(
      name: "Plane",
      properties: [
        .attribute(.init(name: "tailnum", kind: .string)),
        .attribute(.init(name: "year", kind: .int64, defaultValue: unknownYear.map(AttributeValue.int))),
        .attribute(.init(name: "manufacturer", kind: .string)),
        .attribute(.init(name: "model", kind: .string)),
        .attribute(.init(name: "engine", kind: .string)),
        .attribute(.init(name: "engines", kind: .int64)),
        .attribute(.init(name: "seats", kind: .int64)),
        .relationship(.init(name: "flights", destination: "Flight", cardinality: .many, inverse: "plane")),
      ],
      indexes: [IndexDescription(["tailnum"], isUnique: true)]
    )
  }
}

/// A draft of the third version, which doesn't consider the planes without a year.
enum FlightsV3Draft: VersionedSchema {
  static let version = Schema.Version(3)
  static func schema() throws(SchemaError) -> Schema? { try FlightsV3.schema(unknownYear: nil) }
}
