import Foundation
import GraphTestSupport
import PageStore
import Predicates
import Testing

@testable import GraphContext

/// Changes of to-many relationships that have no inverse, or lose it or get one. Docs/SchemaChanges.md lists them.
struct HiddenInverseChangeTests {
  private let store: ChangingStore
  private let name = attribute("name", .string)
  private let alone = link("songs", to: "Song", .many)
  private let album = link("album", to: "Album", inverse: "songs")
  private let albums = link("albums", to: "Album", .many, inverse: "songs")

  init() throws { store = try ChangingStore() }

  private func strings(_ text: String) -> [[AttributeValue]] {
    text.split(separator: " ", omittingEmptySubsequences: false).map { $0.map { .string(String($0)) } }
  }

  private func schema(_ songs: [PropertyDescription], _ albums: [PropertyDescription]) throws -> Schema {
    try Schema(entities: [entity("Song", [name] + songs), entity("Album", [name] + albums)])
  }

  /// Songs a, b and c and albums x and y; the songs of each album are named.
  private func fill(
    _ songs: [PropertyDescription],
    _ albums: [PropertyDescription],
    _ members: [String]
  ) async throws {
    try await store.open(schema(songs, albums)) { context throws in
      let songs = try ["a", "b", "c"].map { try context.make("Song", ["name": .string($0)]) }
      for (name, members) in zip(["x", "y"], members) {
        let album = try context.make("Album", ["name": .string(name)])
        for song in songs where try members.contains(song.value("name", as: String.self) ?? "") {
          try album.add(song, to: "songs")
        }
      }
    }
  }

  private func record(
    _ entity: String,
    _ name: String,
    _ context: ManagedObjectContext
  ) throws -> ManagedRecord {
    try #require(
      try context.fetch(DynamicQuery(entity, where: PredicateTree(format: "name == '\(name)'"))).first
    )
  }

  /// Records have no values of the new inverse yet, and a store that is open for reading only doesn't get them.
  @Test func aNewToOneInverseIsNotReadWhereNothingIsWritten() async throws {
    try await fill([], [alone], ["a", "b"])
    var options = StoreOptions()
    options.isReadOnly = true
    let next = try schema([album], [link("songs", to: "Song", .many, inverse: "album")])
    do {
      _ = try await PersistentContainer("Changing", schema: next, at: store.url, options: options)
      Issue.record("the store was opened")
    } catch {
      #expect(error.code == .schemaMismatch)
      #expect(error.message.contains("the values of Song.album"))
    }
  }

  @Test func aToManyRelationshipWithoutAnInverseIsAdded() async throws {
    try await store.open(schema([], [])) { context throws in
      for name in ["a", "b"] { try context.make("Song", ["name": .string(name)]) }
      try context.make("Album", ["name": .string("x")])
    }
    let next = try schema([], [alone])
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings(""))
      try record("Album", "x", context).add(record("Song", "b", context), to: "songs")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("b"))
      context.delete(try record("Song", "b", context))
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings(""))
    }
  }

  /// The name of a hidden inverse is that of its relationship. Another relationship may get this name.
  @Test func theNameOfARelationshipIsUsedAgain() async throws {
    try await fill([], [alone], ["ab", "b"])
    let tracks = link("tracks", to: "Song", .many, was: "songs")
    try await store.open(schema([], [tracks, alone])) { context throws in
      #expect(try context.linked("Album", "tracks", "name") == strings("ab b"))
      #expect(try context.linked("Album", "songs", "name") == strings(" "))
      try record("Album", "x", context).add(record("Song", "c", context), to: "songs")
    }
    try await store.open(schema([], [link("songs", to: "Song", .many, was: "tracks")])) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("c "))
    }
  }

  @Test func bothEndsOfAHiddenInverseAreRenamed() async throws {
    try await fill([], [alone], ["ab", "b"])
    let tracks = entity("Track", was: "Song", [name, attribute("year", .int64, optional: true)])
    let tape = entity("Tape", was: "Album", [name, link("tracks", to: "Track", .many, was: "songs")])
    try await store.open(tracks, tape) { context throws in
      #expect(try context.linked("Tape", "tracks", "name") == strings("ab b"))
      context.delete(try record("Track", "b", context))
    }
    try await store.open(tracks, tape) { context throws in
      #expect(try context.linked("Tape", "tracks", "name") == strings("a "))
    }
  }

  @Test(arguments: [true, false]) func aToManyRelationshipLosesItsInverse(isMany: Bool) async throws {
    let songs = link("songs", to: "Song", .many, inverse: isMany ? "albums" : "album")
    try await fill([isMany ? albums : album], [songs], isMany ? ["ab", "bc"] : ["ab", "c"])
    let next = try schema([], [alone])
    for _ in 0..<2 {
      try await store.open(next) { context throws in
        #expect(try context.linked("Album", "songs", "name") == strings(isMany ? "ab bc" : "ab c"))
      }
    }
    try await store.open(next) { context throws in context.delete(try record("Song", "a", context)) }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings(isMany ? "b bc" : "b c"))
    }
  }

  @Test func aHiddenInverseIsNamed() async throws {
    try await fill([], [alone], ["ab", "b"])
    let next = try schema([albums], [link("songs", to: "Song", .many, inverse: "albums")])
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("ab b"))
      #expect(try context.linked("Song", "albums", "name") == strings("x xy "))
      try record("Song", "c", context).add(record("Album", "x", context), to: "albums")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("abc b"))
    }
  }

  @Test(arguments: [1, 1 << 20]) func aHiddenInverseIsNamedThatLeadsToOne(chunkByteCount: Int) async throws {
    try await fill([], [alone], ["ab", "b"])
    let songs = link("songs", to: "Song", .many, inverse: "album")
    let error = try await store.refusal(of: entity("Song", [name, album]), entity("Album", [name, songs]))
    #expect(error.code == .notUnique)
    try await store.open(schema([], [alone])) { context throws in
      try record("Album", "x", context).remove(record("Song", "b", context), from: "songs")
    }
    let next = try schema([album], [songs])
    try await store.open(next, chunkByteCount: chunkByteCount) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("a b"))
      #expect(try context.linked("Song", "album", "name") == strings("x y "))
    }
  }

  /// Each end has had the links of the other.
  @Test func bothEndsOfManyToManyGoOnAlone() async throws {
    try await fill([albums], [link("songs", to: "Song", .many, inverse: "albums")], ["ab", "b"])
    let hidden = RelationshipDescription.hiddenInverse
    let next = try schema(
      [link("albums", to: "Album", .many, inverse: hidden)],
      [link("songs", to: "Song", .many, inverse: hidden)]
    )
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("ab b"))
      #expect(try context.linked("Song", "albums", "name") == strings("x xy "))
      try record("Album", "y", context).remove(record("Song", "b", context), from: "songs")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("ab "))
      #expect(try context.linked("Song", "albums", "name") == strings("x xy "))
    }
  }

  @Test func aToOneRelationshipWithoutAnInverseLeadsToMany() async throws {
    try await store.open(schema([], [link("songs", to: "Song")])) { context throws in
      let song = try context.make("Song", ["name": .string("a")])
      try context.make("Song", ["name": .string("b")])
      for name in ["x", "y"] {
        try context.make("Album", ["name": .string(name)]).setObject("songs", to: song)
      }
    }
    let next = try schema([], [alone])
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("a a"))
      try record("Album", "y", context).add(record("Song", "b", context), to: "songs")
    }
    try await store.open(next) { context throws in
      #expect(try context.linked("Album", "songs", "name") == strings("a ab"))
    }
  }
}
