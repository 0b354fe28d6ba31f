import Foundation
import Predicates
import TestSupport

@testable import GraphContext

/// A store of songs before and after a change of its schema. The change includes every kind of schema change.
enum MusicSchemas {
  static func link(
    _ name: String,
    _ destination: String,
    _ cardinality: RelationshipDescription.Cardinality = .optional,
    inverse: String? = nil,
    was originalName: String? = nil
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destination: destination,
        cardinality: cardinality,
        inverse: inverse,
        originalName: originalName
      )
    )
  }

  static func old() throws -> Schema {
    try Schema(entities: [
      EntityDescription(
        name: "Song",
        properties: [
          .attribute("title", String.self), .attribute("year", Int16?.self), .attribute("seconds", Int.self),
          .attribute("mood", String?.self), link("album", "Album", inverse: "songs"),
          link("genre", "Genre", inverse: "songs"),
        ],
        indexes: [IndexDescription(["title"]), IndexDescription(["seconds"]), IndexDescription(["year"])]
      ),
      EntityDescription(
        name: "Album",
        properties: [.attribute("name", String.self), link("songs", "Song", .many)]
      ),
      EntityDescription(
        name: "Genre",
        properties: [.attribute("name", String.self), link("songs", "Song", .many)]
      ),
      EntityDescription(name: "Label", properties: [.attribute("name", String.self)]),
    ])
  }

  /// - Parameter year: the default of the year, which is required now.
  static func new(year: Int? = 1900) throws -> Schema {
    try Schema(entities: [
      EntityDescription(
        name: "Song",
        properties: [
          .attribute("name", String.self, originalName: "title"), .attribute("year", Int.self, default: year),
          .attribute("seconds", Int.self), .attribute("plays", Int.self, default: 7),
          link("album", "Record", inverse: "songs"),
          link("genres", "Genre", .many, inverse: "songs", was: "genre"),
        ],
        indexes: [
          IndexDescription(["name"]), IndexDescription(["year"]), IndexDescription(["plays", "name"]),
        ]
      ),
      EntityDescription(
        name: "Record",
        properties: [.attribute("name", String?.self), link("songs", "Song", .many)],
        indexes: [IndexDescription(["name"], folding: .case)],
        originalName: "Album"
      ),
      EntityDescription(
        name: "Genre",
        properties: [.attribute("name", String.self), link("songs", "Song", .many)]
      ),
      EntityDescription(name: "Player", properties: [.attribute("name", String.self)]),
    ])
  }

  /// A closed store of 20 songs, of which 5 have no year, on 2 albums and of 2 genres, and of 3 labels.
  static func makeStore(at url: URL) async throws {
    let music = try await PersistentContainer("Music", schema: old(), at: url)
    try await music.performBackgroundTask { context in
      let albums = try ["Blue", "blue"].map { try make("Album", $0, context) }
      let genres = try ["Folk", "Jazz"].map { try make("Genre", $0, context) }
      for number in 0..<20 {
        let song = try context.insert(entity: "Song")
        try song.set("title", to: "Song \(number)")
        if number % 4 != 0 { try song.set("year", to: .int(Int64(1950 + number))) }
        try song.set("seconds", to: .int(Int64(number)))
        try song.setObject("album", to: albums[number % 2])
        if number % 3 == 0 { try song.setObject("genre", to: genres[number % 2]) }
      }
      for name in ["A", "B", "C"] { _ = try make("Label", name, context) }
      try context.save()
    }
    try await music.close()
  }

  private static func make(
    _ entity: String,
    _ name: String,
    _ context: ManagedObjectContext
  ) throws -> ManagedRecord {
    let record = try context.insert(entity: entity)
    try record.set("name", to: name)
    return record
  }
}
