import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

struct SchemaDocumentTests {
  private static func decoded(_ json: String) throws -> Schema {
    try JSONDecoder().decode(SchemaDocument.self, from: Data(json.utf8)).schema()
  }

  @Test func aSchemaComesBackWithOriginalNamesAndDefaults() throws {
    let values: [(String, AttributeKind, AttributeValue)] = [
      ("bool", .bool, .bool(true)), ("small", .int8, .int(-5)), ("long", .int64, .int(.min)),
      ("wide", .uint64, .uint(.max)), ("wideZero", .uint64, .int(0)), ("double", .double, .double(2)),
      ("infinite", .double, .double(-.infinity)), ("float", .float, .double(0.5)),
      ("decimal", .decimal, .decimal(try #require(Decimal(string: "-1.250000000000000000001")))),
      ("text", .string, .string("a \"b\"\n")), ("id", .uuid, .uuid(UUID())),
      ("data", .data, .data(Data([1, 255]))),
      ("moment", .date, .date(Date(timeIntervalSinceReferenceDate: 12_345.5))),
    ]
    let sample = EntityDescription(
      name: "Sample",
      properties: values.map {
        .attribute(AttributeDescription(name: $0, kind: $1, defaultValue: $2, originalName: "old_\($0)"))
      },
      originalName: "Probe"
    )
    let schema = try Schema(entities: MusicSchemas.new().entities + [sample])
    let coded = try JSONEncoder().encode(SchemaDocument(schema))
    let copy = try JSONDecoder().decode(SchemaDocument.self, from: coded).schema()
    #expect(copy == schema)
    for (entity, read) in zip(schema.entities, copy.entities) {
      #expect(read.originalName == entity.originalName)
      #expect(read.properties.map(\.originalName) == entity.properties.map(\.originalName))
      #expect(read.attributes.map(\.defaultValue) == entity.attributes.map(\.defaultValue), "\(entity.name)")
    }
  }

  @Test func whatIsLeftOutHasItsUsualValue() throws {
    let schema = try Self.decoded(
      """
      {"entities": [
        {"name": "Song", "properties": [
          {"name": "title", "kind": "string"}, {"name": "price", "kind": "decimal", "default": 1.25},
          {"name": "day", "kind": "date", "default": "2001-01-02"},
          {"name": "album", "kind": "toOne", "destination": "Album", "isOptional": true, "inverse": "songs"}],
         "indexes": [{"properties": ["title"], "folding": "cd"}]},
        {"name": "Album", "properties": [{"name": "songs", "kind": "toMany", "destination": "Song"}]}
      ]}
      """
    )
    #expect(
      schema.description == """
        entity Album
          songs: [Song] inverse album nullify
        entity Song
          title: string
          price: decimal
          day: date
          album: Album? inverse songs nullify
          index title[cd]
        """
    )
    #expect(
      schema.entity(named: "Song")?.attributes.map(\.defaultValue) == [
        nil, .decimal(Decimal(125) / 100), .date(Date(timeIntervalSinceReferenceDate: 86_400)),
      ]
    )
  }

  @Test(arguments: [
    (#"{"name": "a", "kind": "text"}"#, "A.a is of the kind text, which doesn't exist"),
    (#"{"name": "a", "kind": "reference"}"#, "A.a is of the kind reference, which doesn't exist"),
    (#"{"name": "a", "kind": "toOne"}"#, "A.a has no destination"),
    (#"{"name": "a", "kind": "int8", "default": 300}"#, "the default of A.a is no int8"),
  ])
  func mistakesAreNamed(property: String, message: String) throws {
    let error = #expect(throws: SchemaError.self) {
      try Self.decoded(#"{"entities": [{"name": "A", "properties": [\#(property)]}]}"#)
    }
    #expect(error?.problems == [message])
  }

  @Test(arguments: [
    ("decimal", "\"1abc\""), ("decimal", "\"nan\""), ("int8", "\"1\""), ("int8", "1.5"), ("bool", "1"),
    ("uint64", "-1"), ("string", "1"), ("date", "\"yesterday\""), ("uuid", "\"x\""), ("data", "\"%\""),
  ])
  func aDefaultOfAnotherKindIsNone(kind: String, value: String) {
    #expect(throws: DecodingError.self) {
      try Self.decoded(
        #"{"entities": [{"name": "A", "properties": [{"name": "a", "kind": "\#(kind)", "default": \#(value)}]}]}"#
      )
    }
  }
}
