import Foundation
import GraphTestSupport
import PageStore
import Predicates
import Testing

@testable import GraphContext

/// Changes of entities that opening a store infers.
struct InferredEntityTests {
  private let store: ChangingStore
  private let name = attribute("name", .string)
  private let album = link("album", to: "Album", inverse: "songs")
  private let songs = link("songs", to: "Song", .many, inverse: "album")

  init() throws { store = try ChangingStore() }

  private func fill() async throws {
    let song = entity("Song", [name, album], indexes: [IndexDescription(["name"])])
    try await store.open(song, entity("Album", [name, songs])) { context throws in
      let album = try context.make("Album", ["name": .string("Blue")])
      for title in ["Carey", "River"] {
        try context.make("Song", ["name": .string(title)]).setObject("album", to: album)
      }
    }
  }

  @Test func anEntityIsAdded() async throws {
    try await fill()
    let schema = try Schema(entities: [
      entity("Song", [name, album], indexes: [IndexDescription(["name"])]), entity("Album", [name, songs]),
      entity("Fan", [name, link("favourite", to: "Song")]),
    ])
    try await store.open(schema) { context throws in
      #expect(try context.fetch(DynamicQuery("Fan")).isEmpty)
      try context.make("Fan", ["name": .string("Ada")]).setObject(
        "favourite",
        to: context.fetch(DynamicQuery("Song"))[1]
      )
    }
    try await store.open(schema) { context throws in
      #expect(try context.linked("Fan", "favourite", "name") == [[.string("River")]])
      #expect(try context.linked("Album", "songs", "name") == [[.string("Carey"), .string("River")]])
    }
  }

  @Test func anEntityIsRemoved() async throws {
    try await fill()
    let trees = try await store.open(entity("Album", [name])) { context throws in
      #expect(try context.values("Album", "name") == [.string("Blue")])
      return try context.newestView().snapshot.treeNames
    }
    #expect(trees.sorted() == ["e/1", "schema"])
    // The name is used again: the new entity has no data of the old one, and its object numbers differ from those of
    // other entities.
    try await store.open(entity("Album", [name, songs]), entity("Song", [name, album])) { context throws in
      #expect(try context.fetch(DynamicQuery("Song")).isEmpty)
      #expect(try context.linked("Album", "songs", "name") == [[]])
      try context.make("Song", ["name": .string("Case")]).setObject(
        "album",
        to: context.fetch(DynamicQuery("Album"))[0]
      )
    }
    try await store.open(entity("Album", [name, songs]), entity("Song", [name, album])) { context throws in
      #expect(try context.values("Song", "name") == [.string("Case")])
    }
  }

  @Test func anEntityIsRenamed() async throws {
    try await fill()
    let track = entity("Track", was: "Song", [name, album], indexes: [IndexDescription(["name"])])
    let disc = entity(
      "Disc",
      was: "Album",
      [name, link("songs", to: "Track", .many, inverse: "album")]
    )
    let renamed = try Schema(entities: [
      entity(
        "Track",
        was: "Song",
        [name, link("album", to: "Disc", inverse: "songs")],
        indexes: track.indexes
      ),
      disc,
    ])
    for round in 0..<2 {
      try await store.open(renamed) { context throws in
        #expect(try context.numbers("Track", "name == 'River'") == [2])
        #expect(try context.linked("Track", "album", "name")[0] == [.string("Blue")])
        #expect(try context.linked("Disc", "songs", "name")[0].count == 2 + round)
        let track = try context.make("Track", ["name": .string("California")])
        #expect(track.objectID.number.rawValue > 2)
        try track.setObject("album", to: context.fetch(DynamicQuery("Disc"))[0])
      }
    }
  }

  @Test func entitiesExchangeNamesInTwoSteps() async throws {
    try await store.open(entity("Song", [name]), entity("Album", [name])) { context throws in
      try context.make("Song", ["name": .string("Carey")])
      try context.make("Album", ["name": .string("Blue")])
    }
    try await store.open(entity("Album", was: "Song", [name]), entity("Disc", was: "Album", [name])) {
      context throws in
      #expect(try context.values("Album", "name") == [.string("Carey")])
      #expect(try context.values("Disc", "name") == [.string("Blue")])
    }
    try await store.open(entity("Album", [name]), entity("Song", was: "Disc", [name])) { context throws in
      #expect(try context.values("Song", "name") == [.string("Blue")])
    }
  }
}
