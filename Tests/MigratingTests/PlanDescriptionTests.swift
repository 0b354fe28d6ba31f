import GraphContext
import GraphTestSupport
import Predicates
import Testing

private enum V1: VersionedSchema {
  static let version = Schema.Version(1)
}

private enum V2: VersionedSchema {
  static let version = Schema.Version(2)
  static func schema() throws(SchemaError) -> Schema? {
    try Schema(entities: [
      EntityDescription(name: "Song", properties: [.attribute(.init(name: "year", kind: .string))]),
      EntityDescription(name: "Album", properties: [.attribute(.init(name: "title", kind: .string))]),
    ])
  }
}

private enum V3: VersionedSchema {
  static let version = Schema.Version(2, 1)
  static func schema() throws(SchemaError) -> Schema? {
    try Schema(entities: [
      EntityDescription(name: "Song", properties: [.attribute(.init(name: "year", kind: .int16))])
    ])
  }
}

/// The description of a plan.
struct PlanDescriptionTests {
  @Test func versionsAndStagesHaveALineEach() {
    let plan = MigrationPlan(
      [V1.self, V2.self, V3.self],
      stages: [
        .custom(
          from: V2.self,
          to: V3.self,
          rebuilding: ["Song"],
          .converting("year", of: "Song", .clamping),
          .forEach("Song", inBatchesOf: 10) { _ in },
          .once { _ in }
        ),
        .custom(from: V1.self, to: V3.self),
      ]
    )
    #expect(
      plan.description == """
        versions:
          1.0.0, without a schema
          2.0.0, without classes: Album, Song
          2.1.0, without classes: Song
        stages:
          1.0.0 → 2.0.0: inferred
          1.0.0 → 2.1.0: custom, rebuilds every entity
          2.0.0 → 2.1.0: custom, rebuilds Song; converts Song.year to year; for each Song, 10 in a batch; once
        """
    )
  }

  @Test func aPlanWithMistakesSaysThem() {
    #expect(MigrationPlan([V1.self]).description == "the plan is wrong: the newest version has no schema")
  }
}
