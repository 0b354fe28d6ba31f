import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

struct SchemaTests {
  @Test func aSchemaIsMadeFromModels() throws {
    let schema = try Schema([Tune.self, Record.self, Player.self])
    #expect(schema.entities.map(\.name) == ["Player", "Record", "Tune"])
    let tune = try #require(schema.entitySchema(named: "Tune"))
    #expect(tune.stored.map(\.name) == ["isrc", "seconds", "rating", "genre", "record"])
    #expect(tune.stored.map(\.slot) == [0, 1, 2, 3, 4])
    #expect(tune.stored.map(\.kind) == [.string, .int64, .double, .int64, .reference])
    #expect(tune.stored.map(\.isOptional) == [false, false, true, false, true])
    #expect(tune.stored[4].destination == "Record")
    #expect(tune.toMany == [ToManyProperty(name: "players", destination: "Player", inverse: "tunes")])
    #expect(tune.declaredIndexes.map(\.slots) == [[1], [0]])
    #expect(tune.declaredIndexes.map(\.isUnique) == [false, true])
    #expect(schema.entitySchema(named: "Album") == nil)
  }

  @Test func anInverseIsNamedAtOneEndAndKnownAtBoth() throws {
    let schema = try Schema([Tune.self, Record.self, Player.self])
    #expect(schema.entity(named: "Record")?.toManyRelationships[0].inverse == "record")
    #expect(schema.entity(named: "Tune")?.toManyRelationships[0].inverse == "tunes")
  }

  @Test func aSchemaSurvivesEncoding() throws {
    let schema = try Schema([Tune.self, Record.self, Player.self])
    let copy = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema))
    #expect(copy == schema)
    #expect(copy.stableHash == schema.stableHash)
  }

  @Test func theHashIsTheSameInEveryProcessAndOrder() throws {
    let schema = try Schema([Tune.self, Record.self, Player.self])
    #expect(try Schema([Player.self, Tune.self, Record.self]).stableHash == schema.stableHash)
    #expect(
      schema.description == """
        entity Player
          name: string
          favourite: Tune nullify
          tunes: [Tune] inverse players nullify
        entity Record
          title: string
          year: int16?
          tunes: [Tune] inverse record cascade
        entity Tune
          isrc: string
          seconds: int64
          rating: double?
          genre: int64
          record: Record? inverse tunes nullify
          players: [Player] inverse tunes nullify
          index seconds
          unique isrc
        """
    )
  }

  @Test func everythingThatIsWrongIsNamed() throws {
    let song = EntityDescription(
      name: "Song",
      properties: [
        .attribute(AttributeDescription(name: "title", kind: .string)),
        .attribute(AttributeDescription(name: "title", kind: .string)),
        .attribute(AttributeDescription(name: "a b", kind: .string)),
        .relationship(
          RelationshipDescription(
            name: "album",
            destination: "Album",
            cardinality: .required,
            inverse: "songs"
          )
        ),
        .relationship(RelationshipDescription(name: "covers", destination: "Song", cardinality: .many)),
        .relationship(RelationshipDescription(name: "label", destination: "Label", cardinality: .optional)),
      ],
      indexes: [
        IndexDescription(["year"]), IndexDescription(["covers"]), IndexDescription(["album", "album"]),
        IndexDescription([]), IndexDescription(["title"]), IndexDescription(["title"], isUnique: true),
      ]
    )
    let album = EntityDescription(
      name: "Album",
      properties: [
        .relationship(
          RelationshipDescription(
            name: "songs",
            destination: "Song",
            cardinality: .many,
            deleteRule: .nullify
          )
        ),
        .relationship(
          RelationshipDescription(name: "hits", destination: "Song", cardinality: .many, inverse: "album")
        ),
        .relationship(
          RelationshipDescription(name: "odd", destination: "Song", cardinality: .many, inverse: "covers")
        ),
        .relationship(
          RelationshipDescription(name: "bad", destination: "Song", cardinality: .many, inverse: "title")
        ),
      ]
    )
    let error = #expect(throws: SchemaError.self) { try Schema(entities: [song, album, album]) }
    let text = try #require(error?.description)
    for sentence in [
      "two models are named Album",
      "Song has two properties named title",
      "\"a b\" is no name for a property of Song",
      "an index of Song has year, which is none of its properties",
      "an index of Song has covers, which is a to-many relationship",
      "an index of Song has album twice",
      "an index of Song has no properties",
      "Song has two indexes over title",
      "Song.label leads to Label, which is not among the models",
      "Album.songs can't nullify: Song.album is required",
      "Album.hits names Song.album as its inverse, whose own inverse is songs",
      "Album.odd names Song.covers as its inverse, which leads to Song",
      "Album.bad names Song.title as its inverse, which is no relationship",
    ] {
      #expect(text.contains(sentence))
    }
  }

  /// Hints about an earlier version are part of the classes, and are not stored.
  @Test func hintsAreNoPartOfASchema() throws {
    let plain = try Schema(entities: [
      EntityDescription(
        name: "Song",
        properties: [
          .attribute("year", Int.self),
          .relationship(RelationshipDescription(name: "next", destination: "Song", cardinality: .optional)),
        ]
      )
    ])
    let hinting = try Schema(entities: [
      EntityDescription(
        name: "Song",
        properties: [
          .attribute("year", Int.self, default: 1990, originalName: "released"),
          .relationship(
            RelationshipDescription(
              name: "next",
              destination: "Song",
              cardinality: .optional,
              originalName: "following"
            )
          ),
        ],
        originalName: "Track"
      )
    ])
    let song = try #require(hinting.entity(named: "Song"))
    #expect(song.originalName == "Track")
    #expect(song.properties.map(\.originalName) == ["released", "following"])
    #expect(song.attributes[0].defaultValue == .int(1990))
    #expect(plain == hinting && plain.hashValue == hinting.hashValue)
    #expect(plain.description == hinting.description && plain.stableHash == hinting.stableHash)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let coded = try encoder.encode(hinting)
    #expect(try coded == encoder.encode(plain))
    let copy = try #require(try JSONDecoder().decode(Schema.self, from: coded).entity(named: "Song"))
    #expect(copy.originalName == nil && copy.properties.allSatisfy { $0.originalName == nil })
    #expect(copy.attributes[0].defaultValue == nil)
  }

  @Test func anEarlierNameLeadsToOnePlace() throws {
    func entity(_ name: String, was originalName: String?, _ names: [(String, String?)]) -> EntityDescription
    {
      EntityDescription(
        name: name,
        properties: names.map { .attribute($0, Int.self, originalName: $1) },
        originalName: originalName
      )
    }
    let sound = [
      entity("Song", was: "Song", [("title", "title"), ("year", "released")]),
      entity("Album", was: "Record", [("year", "released")]),
    ]
    #expect(throws: Never.self) { try Schema(entities: sound) }
    let error = #expect(throws: SchemaError.self) {
      try Schema(entities: [
        entity("A", was: "Old", []), entity("B", was: "Old", []), entity("C", was: "A", []),
        entity("D", was: "", [("a", "x"), ("b", "x"), ("c", "a"), ("d", "a b"), ("e", "e"), ("f", "e")]),
      ])
    }
    #expect(
      error?.problems == [
        "A and B have the same original name, Old", "\"\" is no original name for D",
        "D.a and D.b have the same original name, x", "\"a b\" is no original name for D.d",
      ]
    )
  }

  @Test func aDefaultIsOfItsAttributesKind() {
    let attributes = [
      AttributeDescription(name: "a", kind: .int8, defaultValue: .int(128)),
      AttributeDescription(name: "b", kind: .string, defaultValue: .bool(true)),
      AttributeDescription(name: "c", kind: .uint64, defaultValue: .int(5)),
      AttributeDescription(name: "d", kind: .float, defaultValue: .double(.infinity)),
      AttributeDescription(name: "e", kind: .data, defaultValue: .null),
    ]
    let error = #expect(throws: SchemaError.self) {
      try Schema(entities: [EntityDescription(name: "A", properties: attributes.map { .attribute($0) })])
    }
    #expect(error?.problems == ["the default of A.a is no int8", "the default of A.b is no string"])
  }

  @Test func aToManyNeedsAnInverse() throws {
    let error = #expect(throws: SchemaError.self) { try Schema([Tune.self, Record.self]) }
    #expect(error?.problems == ["Tune.players leads to Player, which is not among the models"])
  }

  @Test func aDamagedSchemaIsRefused() {
    let text = """
      {"entities": [{"name": "A", "properties": [], "indexes": [{"properties": ["x"], "isUnique": false}]}]}
      """
    #expect(throws: SchemaError.self) { try JSONDecoder().decode(Schema.self, from: Data(text.utf8)) }
  }
}

struct ManagedObjectIDTests {
  let id = ManagedObjectID(
    entityName: "Tune",
    number: 42,
    storeID: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))
  )

  @Test func anIDSurvivesItsURI() throws {
    #expect(id.uriRepresentation == "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune/42")
    #expect(ManagedObjectID(uriRepresentation: id.uriRepresentation) == id)
    let copy = try JSONDecoder().decode([ManagedObjectID].self, from: JSONEncoder().encode([id]))
    #expect(copy == [id])
  }

  @Test(arguments: [
    "", "cambium://", "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune/0",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune/+1",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune/042",
    "cambium://01020304-0506-0708-090A-0b0c0d0e0fff/Tune/42",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff//42",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/.7/42",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune./42",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune.0/42",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune.07/42",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune.4294967296/42",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune.7.7/42",
    "cambium://01020304-0506-0708-090a-0b0c0d0e0fff/Tune/42/",
    "http://01020304-0506-0708-090a-0b0c0d0e0fff/Tune/42",
  ])
  func otherTextIsNoID(text: String) {
    #expect(ManagedObjectID(uriRepresentation: text) == nil)
  }

  // MARK: Limits

  private func entity(_ name: String, propertyCount: Int, indexCount: Int = 0) -> EntityDescription {
    EntityDescription(
      name: name,
      properties: (0..<propertyCount).map { index in
        .relationship(
          RelationshipDescription(
            name: "p\(index)",
            destination: name,
            cardinality: .many,
            inverse: "p\(index)"
          )
        )
      },
      indexes: Array(repeating: IndexDescription(["p0"]), count: indexCount)
    )
  }

  /// Only the limits are checked in this case, although the names are wrong, too.
  @Test func aSchemaBeyondTheLimitsIsRefusedByThemAlone() {
    func problems(_ entities: [EntityDescription]) -> [String]? {
      let text = try? JSONEncoder().encode(["entities": entities])
      let error = #expect(throws: SchemaError.self) {
        try JSONDecoder().decode(Schema.self, from: try #require(text))
      }
      return error?.problems
    }
    #expect(
      problems([entity("a b", propertyCount: 20_000)])
        == ["a b has 20000 properties; 1024 are possible"]
    )
    #expect(
      problems([entity("a b", propertyCount: 1, indexCount: 20_000)])
        == ["a b has 20000 indexes; 256 are possible"]
    )
    var wide = entity("a b", propertyCount: 1)
    wide.indexes = [IndexDescription(Array(repeating: "p0", count: 20_000))]
    #expect(problems([wide]) == ["an index of a b has 20000 properties; 64 are possible"])
    #expect(
      problems(Array(repeating: entity("a b", propertyCount: 0), count: 20_000))
        == ["there are 20000 models; 2048 are possible"]
    )
  }

  @Test func aSchemaWithinTheLimitsIsTaken() throws {
    let wide = entity("Wide", propertyCount: SchemaLimits.propertyCount)
    let others = (1..<SchemaLimits.entityCount).map { number in
      EntityDescription(
        name: "E\(number)",
        properties: [
          .relationship(RelationshipDescription(name: "wide", destination: "Wide", cardinality: .optional))
        ]
      )
    }
    let stored = try ResolvedSchema(Schema(entities: [wide] + others))
    let found = try #require(stored.entity(named: "Wide"))
    #expect(found.toManys.count == SchemaLimits.propertyCount)
    #expect(found.incoming.map(\.source) == Array(0..<SchemaLimits.entityCount - 1))
    #expect(found.toManys.last?.name == "p\(SchemaLimits.propertyCount - 1)")
  }

  // MARK: Indexes

  @Test func everyIndexHasItsTree() throws {
    let stored = try ResolvedSchema(Schema([Tune.self, Record.self, Player.self]))
    let tune = try #require(stored.entity(named: "Tune"))
    #expect(
      tune.schema.indexes.map { stored.treeName(of: $0.id) }
        == ["i/Tune/seconds", "i/Tune/isrc", "r/Tune/record"].map(stored.tree)
    )
    for entity in stored.entities {
      #expect(stored[entity.id] === entity)
      #expect(entity.schema.indexes.map(\.id) == entity.indexTreeNames.indices.map { IndexID(entity.id, $0) })
    }
  }

  @Test func indexesAreNumberedAnewWithoutTheFoldedOnes() throws {
    func schema(_ names: [String]) throws -> Schema {
      try Schema(entities: [
        EntityDescription(
          name: "Word",
          properties: names.map { .attribute(AttributeDescription(name: $0, kind: .string)) },
          indexes: [IndexDescription(["text"], folding: .case), IndexDescription(["sound"])]
        )
      ])
    }
    let placed = try schema(["text", "sound"]).placed(in: CataloguedSchema(schema(["sound", "text"])))
    let word = placed.withoutFoldedIndexes.entitySchema(EntityID(0))
    #expect(word.indexes.map(\.name) == ["sound"])
    #expect(word.indexes.map(\.id) == [IndexID(EntityID(0), 0)])
    #expect(word.indexes.map(\.slots) == [[1]])
    #expect(word.stored.map(\.place) == [1, 0])
  }
}
