import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Rules of derived attributes: their spellings, rules that a schema refuses, and the other forms in which a schema
/// is written.
struct DerivedSchemaTests {
  @Test(arguments: [
    ("songs.@count", "songs.@count"), ("songs.@sum.seconds", "songs.@sum.seconds"),
    ("title[dc]", "title[cd]"), ("canonical:(title)", "title[cd]"), ("title[c]", "title[c]"),
  ])
  func aRuleHasOneSpelling(text: String, spelling: String) throws {
    let rule = AttributeDerivation(text)
    #expect(rule.form != nil && rule.text == spelling)
    let read = try JSONDecoder().decode(AttributeDerivation.self, from: JSONEncoder().encode(rule))
    #expect(read == rule)
  }

  private static func problems(
    _ attribute: PropertyDescription,
    _ indexes: [IndexDescription] = []
  ) -> [String] {
    let album = EntityDescription(
      name: "Album",
      properties: [
        .attribute("title", String.self), .attribute("cover", Data?.self), attribute,
        .relationship(.init(name: "songs", destination: "Song", cardinality: .many, inverse: "album")),
        .relationship(.init(name: "artist", destination: "Song", cardinality: .optional)),
      ],
      indexes: indexes
    )
    let song = EntityDescription(
      name: "Song",
      properties: [
        .attribute("title", String.self), .attribute("seconds", Int.self), .attribute("rating", Double?.self),
        .attribute("folded", String.self, derived: "title[c]"), .attribute("words", [String].self),
        .relationship(.init(name: "album", destination: "Album", cardinality: .optional)),
      ]
    )
    do throws(SchemaError) {
      _ = try Schema(entities: [album, song])
      return []
    } catch {
      return error.problems
    }
  }

  private static func derived<Value: AttributeType>(
    _ type: Value.Type,
    _ rule: AttributeDerivation
  ) -> [String] {
    problems(.attribute("x", type, derived: rule))
  }

  @Test func rulesThatFitAreTaken() {
    #expect(Self.derived(Int.self, "songs.@count") == [])
    #expect(Self.derived(Int8.self, "songs.@sum.seconds") == [])
    #expect(Self.derived(Double.self, "songs.@sum.rating") == [])
    #expect(Self.derived(Int?.self, "songs.@max.seconds") == [])
    #expect(Self.derived(String?.self, "songs.@min.title") == [])
    #expect(Self.derived(String.self, "title[d]") == [])
  }

  @Test func rulesThatDoNotFitAreProblems() {
    #expect(Self.derived(Int.self, "songs.count").count == 1)
    #expect(
      Self.derived(Int.self, "song.@count") == [
        "Album.x is derived from song, which is no to-many relationship of Album"
      ]
    )
    #expect(
      Self.derived(Int.self, "artist.@count") == [
        "Album.x is derived from artist, which is no to-many relationship of Album"
      ]
    )
    #expect(
      Self.derived(Int?.self, "songs.@count") == [
        "Album.x is a count: it must be an integer, and not optional"
      ]
    )
    #expect(
      Self.derived(Int.self, "songs.@sum.title") == ["Album.x can't be songs.@sum.title: string has no sum"]
    )
    #expect(
      Self.derived(Int.self, "songs.@sum.rating") == [
        "Album.x is a sum: it must be a double, and not optional"
      ]
    )
    #expect(
      Self.derived(Int.self, "songs.@sum.length") == [
        "Album.x is derived from Song.length, which is no attribute"
      ]
    )
    #expect(
      Self.derived(String?.self, "songs.@max.folded") == [
        "Album.x is derived from Song.folded, which is derived itself"
      ]
    )
    #expect(
      Self.derived(Int.self, "songs.@max.seconds") == [
        "Album.x is songs.@max.seconds: it must be int64, and optional for an object without members"
      ]
    )
    #expect(Self.derived([String]?.self, "songs.@max.words").count == 1)
    #expect(
      Self.derived(String?.self, "title[c]") == [
        "Album.x is title[c]: it must be a string, and optional exactly if title is"
      ]
    )
    #expect(
      Self.derived(String.self, "cover[c]") == [
        "Album.x can't be cover[c]: cover is data, and only strings are folded"
      ]
    )
    let unique = [IndexDescription(["x"], isUnique: true)]
    #expect(
      Self.problems(.attribute("x", Int.self, derived: "songs.@count"), unique) == [
        "Album.x is derived, and can't be unique; an index with a folding can be"
      ]
    )
  }

  @Test func aSchemaIsWrittenWithItsRules() async throws {
    let schema = try Schema([DerivedModels.Album.self, DerivedModels.Song.self, DerivedModels.Tag.self])
    let text = try JSONEncoder().encode(SchemaDocument(schema))
    #expect(try JSONDecoder().decode(SchemaDocument.self, from: text).schema() == schema)
    #expect(try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema)) == schema)
    #expect(
      SwiftSource(schema).description.contains(#"@Attribute(.derived("songs.@count")) var songCount: Int"#)
    )
    #expect(schema.description.contains("longest: int16? derived songs.@max.seconds"))
    #expect(SchemaTable(schema).rows.first { $0.property == "weight" }?.derivation == "tags.@sum.weight")
    #expect(try CataloguedSchema(schema).schema() == schema)
    var entities = schema.entities
    entities[0].properties.removeAll { $0.name == "weight" }
    entities[0].properties.append(.attribute("weight", Int.self, derived: "tags.@count"))
    let changed = try Schema(entities: entities)
    #expect(
      SchemaDifference(from: schema, to: changed).description
        == "changed attribute Album.weight: derived tags.@sum.weight → tags.@count"
    )
  }
}
