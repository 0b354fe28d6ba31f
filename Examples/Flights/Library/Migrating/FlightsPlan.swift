import Cambium

/// The four versions, and the one stage that needs code.
enum FlightsPlan {
  /// One stage after the other.
  ///
  /// - Parameters:
  ///   - count: how many planes one commit of the custom stage splits.
  ///   - watch: called with each batch before it is saved.
  static func splitting(
    inBatchesOf count: Int,
    watch: @escaping @Sendable (MigrationBatch) throws -> Void = { _ in }
  ) -> MigrationPlan {
    MigrationPlan(
      [FlightsV1.self, FlightsV2.self, FlightsV3.self, FlightsV4.self],
      stages: [split(inBatchesOf: count, watch)]
    )
  }

  /// Returns the same plan with a stage that skips the second version, which then needs no schema. A store of the
  /// second version continues from there all the same.
  static func shorter(inBatchesOf count: Int) -> MigrationPlan {
    MigrationPlan(
      [FlightsV1.self, FlightsV2ByNumber.self, FlightsV3.self, FlightsV4.self],
      stages: [.lightweight(from: FlightsV1.self, to: FlightsV3.self), split(inBatchesOf: count)]
    )
  }

  private static func split(
    inBatchesOf count: Int,
    _ watch: @escaping @Sendable (MigrationBatch) throws -> Void = { _ in }
  ) -> MigrationStage {
    .custom(
      from: FlightsV3.self,
      to: FlightsV4.self,
      rebuilding: ["Plane", "AircraftModel"],
      .forEach("Plane", inBatchesOf: count) { batch in
        try AircraftSplit.split(batch)
        try watch(batch)
      }
    )
  }

  /// The plan as it was when the third version had no default yet.
  static let draft = MigrationPlan([FlightsV1.self, FlightsV2.self, FlightsV3Draft.self])
}
