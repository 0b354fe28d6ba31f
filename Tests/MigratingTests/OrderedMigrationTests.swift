import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

private enum Plain {
  @Model final class Album {
    var title: String
    @Relationship var songs: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    var title: String
    @Relationship(inverse: \Album.songs) var album: Album?
    init(_ title: String) { self.title = title }
  }
}

private enum Ordered {
  @Model final class Album {
    var title: String
    @Relationship(.ordered) var songs: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    var title: String
    var seconds: Int = 0
    @Relationship(.ordered, inverse: \Album.songs) var album: Album?
    init(_ title: String) { self.title = title }
  }
}

private enum Renamed {
  @Model(originalName: "Album") final class Record {
    var title: String
    @Relationship(.ordered, originalName: "songs") var tunes: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    var title: String
    var seconds: Int = 0
    @Relationship(.ordered, inverse: \Record.tunes, originalName: "album") var record: Record?
    init(_ title: String) { self.title = title }
  }
}

private enum Implicit {
  @Model final class Album {
    var title: String
    @Relationship(.ordered) var songs: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    var title: String
    var seconds: Int = 0
    @Relationship(.ordered, inverse: \Album.songs) var on: Album?
    init(_ title: String) { self.title = title }
  }
}

/// Stores whose relationships get an order, lose it, and keep it under other names.
struct OrderedMigrationTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("songs.cambium")) }

  init() throws { folder = try TemporaryFolder() }

  private func plain(_ body: @escaping (ManagedObjectContext) throws -> Void) async throws {
    let container = try await PersistentContainer("S", models: Plain.Album.self, Plain.Song.self, at: url)
    try await run(container, body)
  }

  private func ordered(_ body: @escaping (ManagedObjectContext) throws -> Void) async throws {
    let container = try await PersistentContainer("S", models: Ordered.Album.self, Ordered.Song.self, at: url)
    try await run(container, body)
  }

  private func run(
    _ container: PersistentContainer,
    _ body: @escaping (ManagedObjectContext) throws -> Void
  ) async throws {
    nonisolated(unsafe) let body = body
    try await container.performBackgroundTask { context in
      try body(context)
      try context.save()
    }
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
  }

  private func makePlain() async throws {
    try await plain { context in
      let album = Plain.Album("A")
      context.insert(album)
      for number in 0..<500 { album.songs.append(Plain.Song("\(number)")) }
    }
  }

  @Test func anOrderBeginsWithThatOfTheNumbersAndMayGo() async throws {
    try await makePlain()
    try await ordered { context in
      let album = try #require(try context.fetch(From<Ordered.Album>()).first)
      #expect(album.songs.map(\.title) == (0..<500).map { "\($0)" })
      album.songs.insert(album.songs.removeLast(), at: 0)
      album.songs.insert(Ordered.Song("new"), at: 250)
      #expect(context.updatedObjects.count <= 2)
    }
    try await ordered { context in
      let album = try #require(try context.fetch(From<Ordered.Album>()).first)
      #expect(album.songs[0].title == "499" && album.songs[250].title == "new" && album.songs.count == 501)
    }
    try await plain { context in
      let album = try #require(try context.fetch(From<Plain.Album>()).first)
      #expect(album.songs.map(\.title) == (0..<500).map { "\($0)" } + ["new"])
    }
  }

  @Test func theOrderStaysUnderOtherNames() async throws {
    try await makePlain()
    try await ordered { context in
      let album = try #require(try context.fetch(From<Ordered.Album>()).first)
      album.songs.reverse()
    }
    let titles = (0..<500).reversed().map { "\($0)" }
    let renamed = try await PersistentContainer("S", models: Renamed.Record.self, Renamed.Song.self, at: url)
    try await run(renamed) { context in
      let record = try #require(try context.fetch(From<Renamed.Record>()).first)
      #expect(record.tunes.map(\.title) == titles)
    }
  }

  @Test func theOrderGoesOnWithTheInverse() async throws {
    try await makePlain()
    try await ordered { context in
      let album = try #require(try context.fetch(From<Ordered.Album>()).first)
      album.songs.reverse()
    }
    let implicit = try await PersistentContainer(
      "S",
      models: Implicit.Album.self,
      Implicit.Song.self,
      at: url
    )
    try await run(implicit) { context in
      let album = try #require(try context.fetch(From<Implicit.Album>()).first)
      #expect(album.songs.map(\.title) == (0..<500).reversed().map { "\($0)" })
    }
  }

  @Test func aProgramWithoutTheClassesSeesTheOrder() async throws {
    try await makePlain()
    try await ordered { context in
      let album = try #require(try context.fetch(From<Ordered.Album>()).first)
      album.songs.reverse()
    }
    let container = try await PersistentContainer("S", at: url)
    let schema = container.schema
    #expect(schema.entity(named: "Song")?.attributes.map(\.name) == ["title", "seconds"])
    #expect(schema.description.contains("songs: [Song] inverse album nullify ordered"))
    #expect(!schema.description.contains("place"))
    #expect(try SchemaDocument(schema).schema() == schema)
    #expect(
      "\(SwiftSource(schema))".contains("@Relationship(.ordered, inverse: \\Album.songs) var album: Album?")
    )
    #expect("\(SwiftSource(schema))".contains("@Relationship(.ordered) var songs: [Song] = []"))
    try await run(container) { context in
      let album = try #require(try context.fetch(DynamicQuery("Album")).first)
      #expect(
        try album.objects("songs", at: 0..<2).map { try $0["title"] } == [.string("499"), .string("498")]
      )
      let song = try context.insert(entity: "Song")
      try song.set("title", to: "new")
      try song.set("seconds", to: 1)
      try album.insert(song, into: "songs", at: 1)
      #expect(throws: ContextError.self) { try song["album.place"] }
    }
    try await ordered { context in
      let album = try #require(try context.fetch(From<Ordered.Album>()).first)
      #expect(album.songs[0..<3].map(\.title) == ["499", "new", "498"])
    }
  }

  @Test func bothEndsAreMarked() throws {
    func link(
      _ name: String,
      _ destination: String,
      many: Bool,
      inverse: String,
      _ isOrdered: Bool
    )
      -> PropertyDescription
    {
      .relationship(
        RelationshipDescription(
          name: name,
          destination: destination,
          cardinality: many ? .many : .optional,
          inverse: inverse,
          isOrdered: isOrdered
        )
      )
    }
    func problems(_ first: Bool, _ second: Bool, many: Bool) -> [String] {
      do throws(SchemaError) {
        _ = try Schema(entities: [
          EntityDescription(name: "A", properties: [link("b", "B", many: true, inverse: "a", first)]),
          EntityDescription(name: "B", properties: [link("a", "A", many: many, inverse: "b", second)]),
        ])
        return []
      } catch { return error.problems }
    }
    #expect(problems(true, true, many: false) == [])
    #expect(
      problems(true, false, many: false) == [
        "A.b is ordered, and its inverse B.a is not: both ends must be marked as ordered"
      ]
    )
    #expect(
      problems(false, true, many: false) == [
        "B.a is ordered, and its inverse A.b is not: both ends must be marked as ordered"
      ]
    )
    #expect(problems(true, true, many: true) == [])
    #expect(problems(true, false, many: true) == [])
  }
}
