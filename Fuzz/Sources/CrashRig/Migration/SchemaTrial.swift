@_spi(Testing) import GraphContext
import PageStore
import Predicates
import TestSupport

/// A change of a schema that is crashed: the schemas before and after it, and how a store is opened with each.
struct SchemaTrial: Sendable {
  let old: Schema
  let new: Schema
  /// The parts of the change.
  let alterations: [SchemaAlteration]
  /// Whether a custom stage makes the change.
  let isStaged: Bool
  private let newEntities: [EntityDescription]
  private let unused: [SchemaAlteration]

  /// A first change of the schema of songs.
  init(using generator: inout SeededGenerator) throws {
    let isStaged = generator.chance(1, in: 3)
    try self.init(Self.songs, SchemaAlteration.allCases, isStaged: isStaged, using: &generator)
  }

  private init(
    _ entities: [EntityDescription],
    _ possible: [SchemaAlteration],
    isStaged: Bool,
    using generator: inout SeededGenerator
  ) throws {
    let count = generator.number(in: 1...max(1, possible.count - 1))
    let picked = possible.shuffled(using: &generator).prefix(count)
    alterations = possible.filter(picked.contains)
    unused = possible.filter { !picked.contains($0) }
    var altered = entities
    for alteration in alterations { alteration.apply(to: &altered) }
    self.isStaged = isStaged
    if isStaged { altered.append(CustomStage.note) }
    newEntities = altered
    old = try Schema(entities: entities)
    new = try Schema(entities: altered)
  }

  /// Another change behind this one; nil if there is nothing left to change.
  func next(using generator: inout SeededGenerator) throws -> SchemaTrial? {
    if unused.isEmpty { return nil }
    let isStaged = !isStaged && generator.chance(1, in: 3)
    return try SchemaTrial(newEntities, unused, isStaged: isStaged, using: &generator)
  }

  func schema(isNew: Bool) -> Schema { isNew ? new : old }

  /// Returns the contents of the store after the change.
  func altered(_ content: GraphContent) -> GraphContent {
    var content = content
    for alteration in alterations { alteration.apply(to: &content) }
    if isStaged { CustomStage.apply(to: &content) }
    return content
  }

  /// So small that each commit of a change does a few rows.
  private static let chunkByteCount = 400

  /// Opens a container with the schema before the change, or after it: makes the change, continues it, or gives it up.
  ///
  /// - Parameter onReport: called after each commit up to the switch, with the rows that the change has done by then.
  func container(
    isNew: Bool,
    on store: Store,
    onReport: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws -> PersistentContainer {
    let monitor = MigrationMonitor.inChunks(of: Self.chunkByteCount) { onReport($0.completedRowCount) }
    if isNew, isStaged {
      let plan = CustomStage.plan(from: old, to: new)
      return try PersistentContainer("Songs", plan: plan, on: store, monitor: monitor)
    }
    return try PersistentContainer("Songs", schema: schema(isNew: isNew), on: store, monitor: monitor)
  }

  // MARK: The schema before all changes

  private static let songs: [EntityDescription] = [
    EntityDescription(
      name: "Song",
      properties: [
        attribute("code", .int64), attribute("title", .string), attribute("seconds", .int32),
        attribute("rating", .int16, isOptional: true), attribute("notes", .externalString, isOptional: true),
        link("album", to: "Album", .optional, inverse: "songs"),
        link("sessions", to: "Session", .many, inverse: "songs"),
        link("label", to: "Label", .optional),
      ],
      indexes: [IndexDescription(["seconds"]), IndexDescription(["rating", "title"])]
    ),
    EntityDescription(
      name: "Album",
      properties: [
        attribute("code", .int64), attribute("name", .string),
        link("songs", to: "Song", .many, inverse: "album"),
      ]
    ),
    EntityDescription(
      name: "Session",
      properties: [
        attribute("code", .int64), attribute("place", .string),
        link("songs", to: "Song", .many, inverse: "sessions"),
      ],
      indexes: [IndexDescription(["place"])]
    ),
    EntityDescription(name: "Label", properties: [attribute("code", .int64), attribute("name", .string)]),
  ]

  private static func attribute(
    _ name: String,
    _ kind: AttributeKind,
    isOptional: Bool = false
  ) -> PropertyDescription {
    .attribute(AttributeDescription(name: name, kind: kind, isOptional: isOptional))
  }

  private static func link(
    _ name: String,
    to destination: String,
    _ cardinality: RelationshipDescription.Cardinality,
    inverse: String? = nil
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destination: destination,
        cardinality: cardinality,
        inverse: inverse
      )
    )
  }
}
