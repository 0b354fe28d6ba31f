import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

struct SchemaDifferenceTests {
  private static func link(
    _ name: String,
    _ destination: String,
    _ cardinality: RelationshipDescription.Cardinality = .optional,
    inverse: String? = nil,
    _ rule: DeleteRule = .nullify,
    was originalName: String? = nil
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destination: destination,
        cardinality: cardinality,
        inverse: inverse,
        deleteRule: rule,
        originalName: originalName
      )
    )
  }

  private static func old() throws -> Schema {
    try Schema(entities: [
      EntityDescription(
        name: "Record",
        properties: [.attribute("name", String.self), link("tracks", "Track", .many, inverse: "record")]
      ),
      EntityDescription(
        name: "Track",
        properties: [
          .attribute("name", String.self), .attribute("year", Int16?.self), .attribute("seconds", Int.self),
          .attribute("mood", String.self), link("record", "Record"), link("cover", "Track"),
        ],
        indexes: [
          IndexDescription(["name", "record"]), IndexDescription(["year"]), IndexDescription(["seconds"]),
        ]
      ),
      EntityDescription(name: "Player", properties: []),
    ])
  }

  private static func new() throws -> Schema {
    try Schema(entities: [
      EntityDescription(
        name: "Album",
        properties: [
          .attribute("name", String.self),
          link("songs", "Song", .many, inverse: "album", .cascade, was: "tracks"),
        ],
        originalName: "Record"
      ),
      EntityDescription(
        name: "Song",
        properties: [
          .attribute("year", Int.self), .attribute("title", String.self, originalName: "name"),
          .attribute("seconds", Int.self), link("mood", "Mood"), link("album", "Album", was: "record"),
          link("cover", "Album", .required),
        ],
        indexes: [
          IndexDescription(["title", "album"]), IndexDescription(["year"], isUnique: true),
          IndexDescription(["title"], folding: .case),
        ],
        originalName: "Track"
      ),
      EntityDescription(name: "Mood", properties: [.attribute("name", String.self)]),
    ])
  }

  @Test func everyChangeIsALine() throws {
    let difference = SchemaDifference(from: try Self.old(), to: try Self.new())
    #expect(
      difference.description == """
        changed entity Album: name Record → Album
        changed relationship Album.songs: name tracks → songs, delete rule nullify → cascade
        added entity Mood
        removed entity Player
        changed entity Song: name Track → Song
        removed attribute Song.mood: string
        changed attribute Song.year: kind int16 → int64, optional true → false
        changed attribute Song.title: name name → title
        added relationship Song.mood: Mood? nullify
        changed relationship Song.album: name record → album
        changed relationship Song.cover: destination Song → Album, cardinality optional → required
        removed index Song: index seconds
        changed index Song.year: unique false → true
        added index Song: index title[c]
        """
    )
    let coded = try JSONEncoder().encode(difference)
    #expect(try JSONDecoder().decode(SchemaDifference.self, from: coded) == difference)
  }

  @Test func equalSchemasDoNotDiffer() throws {
    #expect(SchemaDifference(from: try Self.old(), to: try Self.old()).isEmpty)
    // A renamed entity or property isn't a difference any more once its new name is stored.
    #expect(SchemaDifference(from: try Self.new(), to: try Self.new()).isEmpty)
    #expect(SchemaDifference(from: try Self.new(), to: try Self.new()).description == "")
  }

  @Test func withoutOriginalNamesThingsGoAndCome() throws {
    let difference = SchemaDifference(from: try Self.new(), to: try Self.old())
    #expect(
      difference.description == """
        removed entity Album
        removed entity Mood
        added entity Player
        added entity Record
        removed entity Song
        added entity Track
        """
    )
  }

  /// A hint that stays in a model therefore has no effect on a store that has followed it.
  @Test func thePresentNameComesBeforeTheOriginalOne() throws {
    func schema(_ properties: [PropertyDescription]) throws -> Schema {
      try Schema(entities: [EntityDescription(name: "A", properties: properties)])
    }
    let difference = SchemaDifference(
      from: try schema([.attribute("title", String.self), .attribute("name", Int.self)]),
      to: try schema([.attribute("title", Int.self, originalName: "name")])
    )
    #expect(
      difference.description
        == "removed attribute A.name: int64\nchanged attribute A.title: kind string → int64"
    )
  }

  /// Entities and properties with equal numbers are compared with each other, whatever their names are.
  @Test func schemasOfOneStoreAreComparedByNumbers() throws {
    let old = CataloguedSchema(try Self.old())
    let new = SchemaChange(from: old, to: try Self.new()).target
    let difference = try SchemaDifference(from: old, to: new)
    // The catalogue has the properties in an order of its own.
    #expect(
      Set(difference.changes) == Set(SchemaDifference(from: try Self.old(), to: try Self.new()).changes)
    )
    let back = try SchemaDifference(from: new, to: old)
    #expect(
      back.changes.filter { $0.subject == .entity }.map(\.description) == [
        "removed entity Mood", "added entity Player", "changed entity Record: name Album → Record",
        "changed entity Track: name Song → Track",
      ]
    )
  }

  @Test func aCopyThatWasChangedInAnotherWayHasOtherNumbers() throws {
    func changed(_ schema: CataloguedSchema, _ kind: AttributeKind) throws -> CataloguedSchema {
      var entities = try schema.schema().entities
      let attribute = AttributeDescription(name: "new\(kind)", kind: kind, isOptional: true)
      entities[0].properties.append(.attribute(attribute))
      return SchemaChange(from: schema, to: try Schema(entities: entities)).target
    }
    let old = CataloguedSchema(try Self.old())
    let (one, other) = try (changed(old, .bool), changed(old, .date))
    #expect(old.canBecome(old) && old.canBecome(one) && old.canBecome(other))
    #expect(!one.canBecome(old) && !one.canBecome(other) && !other.canBecome(one))
    #expect(try one.canBecome(changed(changed(one, .date), .uuid)))
  }

  /// Two copies give the same number to new attributes of one kind; the number of a renamed one is its own.
  @Test func newElementsWithOneNumberAreToldByTheirFirstNames() throws {
    let old = CataloguedSchema(try Self.old())
    func added(
      _ name: String,
      was original: String? = nil,
      to schema: CataloguedSchema
    ) throws -> CataloguedSchema {
      var entities = try Self.old().entities
      entities[0].properties.append(attribute(name, .int32, optional: true, was: original))
      return SchemaChange(from: schema, to: try Schema(entities: entities)).target
    }
    let (pages, rank) = try (added("pages", to: old), added("rank", to: old))
    #expect(pages.nextNumber == rank.nextNumber && !pages.canBecome(rank))
    let renamed = try added("leaves", was: "pages", to: pages)
    let again = try added("sheets", was: "leaves", to: renamed)
    #expect(pages.canBecome(renamed) && pages.canBecome(again) && !rank.canBecome(again))
    #expect(try added("pages", was: "sheets", to: again) == pages)
  }

  @Test func aSchemaCanFollowThatOfACopy() throws {
    let old = CataloguedSchema(try Self.old())
    let new = SchemaChange(from: old, to: try Self.new()).target
    let schema = try new.schema(following: old)
    #expect(schema.stableHash == (try Self.new().stableHash))
    #expect(SchemaChange(from: old, to: schema).target == new)
  }

  /// Each name matches the equal name in one step, so a description can't express that two names were exchanged in
  /// several steps.
  @Test func exchangedNamesOfACopyAreRefused() throws {
    func schema(_ names: (String, String?)...) throws -> Schema {
      let properties = names.map { PropertyDescription.attribute($0.0, String.self, originalName: $0.1) }
      return try Schema(entities: [EntityDescription(name: "E", properties: properties)])
    }
    let old = CataloguedSchema(try schema(("a", nil), ("b", nil)))
    let middle = SchemaChange(from: old, to: try schema(("x", "a"), ("a", "b"))).target
    #expect(try middle.schema(following: old).entities[0].properties.map(\.name) == ["x", "a"])
    let new = SchemaChange(from: middle, to: try schema(("b", "x"), ("a", nil))).target
    #expect(try new.schema(following: middle).entities[0].properties.map(\.name) == ["b", "a"])
    let error = #expect(throws: SchemaError.self) { try new.schema(following: old) }
    #expect(error?.problems.map { $0.prefix(8) } == ["E.a is b", "E.b is a"])
  }

  @Test func anIndexWhoseNameIsUsedAgainIsGone() throws {
    func schema(_ properties: [PropertyDescription], _ indexed: [String]) throws -> Schema {
      let indexes = indexed.map { IndexDescription([$0]) }
      return try Schema(entities: [EntityDescription(name: "E", properties: properties, indexes: indexes)])
    }
    let first = CataloguedSchema(
      try schema([.attribute("a", Int.self), .attribute("b", Int.self)], ["a", "b"])
    )
    let second = SchemaChange(from: first, to: try schema([.attribute("b", Int.self)], ["b"])).target
    let third = SchemaChange(
      from: second,
      to: try schema([.attribute("a", Int.self, originalName: "b")], ["a"])
    ).target
    let changes = try SchemaDifference(from: first, to: third).changes
    #expect(changes.count { $0.subject == .index } == 1 && changes.count == 3, "\(changes)")
    #expect(changes.contains { $0.subject == .index && $0.kind == .removed })
  }

  @Test func aTableHasARowForEachProperty() throws {
    let rows = SchemaTable(try Self.new()).rows
    #expect(rows.map(\.entity) == ["Album", "Album", "Mood"] + Array(repeating: "Song", count: 6))
    let songs = rows[1]
    #expect(songs.property == "songs" && songs.kind == "toMany" && !songs.isOptional)
    #expect(songs.destination == "Song" && songs.inverse == "album" && songs.deleteRule == .cascade)
    let title = rows[4]
    #expect(title.property == "title" && title.kind == "string" && title.destination == nil)
    #expect(title.indexes == ["index title,album", "index title[c]"])
    #expect(rows[7].kind == "toOne" && rows[7].isOptional && !rows[8].isOptional)
    let empty = SchemaTable(try Self.old()).rows[0]
    #expect(empty.entity == "Player" && empty.property == nil && empty.indexes.isEmpty)
  }
}
