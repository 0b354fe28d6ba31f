import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

private enum V1 {
  @Model final class Song {
    enum Mood: Int, AttributeType { case gay, blue }
    #Index<Song>([\.title])
    var title: String
    var mood: Mood?
    var seconds: Int16
    @Relationship var album: Album?

    init(_ title: String, mood: Mood?, seconds: Int16) {
      self.title = title
      self.mood = mood
      self.seconds = seconds
    }
  }

  @Model final class Album {
    var name: String
    @Relationship(inverse: \Song.album) var songs: [Song] = []

    init(_ name: String) { self.name = name }
  }

  static let models: [any ManagedObject.Type] = [Song.self, Album.self]
}

private enum V2 {
  @Model(originalName: "Song") final class Track {
    /// The same raw values with other names, and one more.
    enum Feeling: Int, AttributeType { case happy, sad, angry }
    #Index<Track>([\.name], [\.key])
    @Attribute(originalName: "title") var name: String
    @Attribute(originalName: "mood") var feeling: Feeling = Feeling.angry
    var seconds: Int
    var key: UUID = UUID()
    var added: Date = Date()
    @Relationship(originalName: "album") var albums: [Album] = []

    init(_ name: String) {
      self.name = name
      seconds = 0
    }
  }

  @Model final class Album {
    var name: String
    @Relationship(inverse: \Track.albums, originalName: "songs") var tracks: [Track] = []

    init(_ name: String) { self.name = name }
  }

  static let models: [any ManagedObject.Type] = [Track.self, Album.self]
}

/// Versions of models as an app has them, with classes.
struct ModelVersionTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("songs.cambium")) }

  init() throws { folder = try TemporaryFolder() }

  private func fill() async throws {
    let container = try await PersistentContainer("Songs", models: V1.models, at: .file(url))
    try await container.performBackgroundTask { context in
      let album = V1.Album("Blue")
      for (title, mood) in [("Carey", V1.Song.Mood.gay), ("River", .blue), ("Case", nil)] {
        let song = V1.Song(title, mood: mood, seconds: 180)
        context.insert(song)
        if mood != nil { song.album = album }
      }
      try context.save()
    }
    try await container.close()
  }

  private func open<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let container = try await PersistentContainer("Songs", models: V2.models, at: .file(url))
    let result = try await container.performBackgroundTask(body)
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
    return result
  }

  @Test func theRawTypeOfAnEnumStays() async throws {
    try await fill()
    for _ in 0..<2 {
      try await open { context in
        let tracks = try context.fetch(From<V2.Track>())
        #expect(tracks.map(\.feeling) == [.happy, .sad, .angry])
        #expect(tracks.map(\.name) == ["Carey", "River", "Case"])
        #expect(tracks.map(\.seconds).allSatisfy { $0 == 180 })
        #expect(try context.fetch(From<V2.Track>().where { $0.name == "River" }) == [tracks[1]])
        #expect(tracks.map(\.albums.count) == [1, 1, 0])
        #expect(tracks[0].albums.first?.tracks.map(\.name) == ["Carey", "River"])
      }
    }
  }

  @Test func aDefaultIsEvaluatedOnce() async throws {
    try await fill()
    let first = try await open { try $0.fetch(From<V2.Track>()).map { "\($0.key) \($0.added)" } }
    #expect(Set(first).count == 1)
    let again = try await open { context in
      let tracks = try context.fetch(From<V2.Track>())
      tracks[1].name = "Rivers"
      context.insert(V2.Track("New"))
      try context.save()
      let key = tracks[0].key
      #expect(try context.fetch(From<V2.Track>().where { $0.key == key }).count == 3)
      return tracks.map { "\($0.key) \($0.added)" }
    }
    #expect(first == again)
  }
}
