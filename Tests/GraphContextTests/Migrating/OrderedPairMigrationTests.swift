import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

private enum Unordered {
  @Model final class Album {
    var title: String
    @Relationship var songs: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    var title: String
    @Relationship(inverse: \Album.songs) var albums: [Album] = []
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
    @Relationship(inverse: \Album.songs) var albums: [Album] = []
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
    @Relationship(.ordered, inverse: \Record.tunes, originalName: "albums") var records: [Record] = []
    init(_ title: String) { self.title = title }
  }
}

private enum OneWay {
  @Model final class Album {
    var title: String
    @Relationship(.ordered) var songs: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    var title: String
    init(_ title: String) { self.title = title }
  }
}

private enum Single {
  @Model final class Album {
    var title: String
    @Relationship(.ordered) var songs: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    var title: String
    @Relationship(.ordered, inverse: \Album.songs) var albums: Album?
    init(_ title: String) { self.title = title }
  }
}

/// Stores whose many-to-many relationships get an order, lose it, and keep it under other names.
struct OrderedPairMigrationTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("songs.cambium")) }
  private static let titles = (0..<300).map { "\($0)" }

  init() throws { folder = try TemporaryFolder() }

  private func run(
    _ models: [any ManagedObject.Type],
    _ body: @escaping (ManagedObjectContext) throws -> Void
  ) async throws {
    let container = try await PersistentContainer("S", models: models, at: .file(url))
    nonisolated(unsafe) let body = body
    try await container.performBackgroundTask { context in
      try body(context)
      try context.save()
    }
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
  }

  private func unordered(_ body: @escaping (Unordered.Album) throws -> Void) async throws {
    try await run([Unordered.Album.self, Unordered.Song.self]) { context in
      try body(try #require(try context.fetch(From<Unordered.Album>()).first))
    }
  }

  private func ordered(_ body: @escaping (Ordered.Album) throws -> Void) async throws {
    try await run([Ordered.Album.self, Ordered.Song.self]) { context in
      try body(try #require(try context.fetch(From<Ordered.Album>()).first))
    }
  }

  private func make() async throws {
    try await run([Unordered.Album.self, Unordered.Song.self]) { context in
      let album = Unordered.Album("A")
      context.insert(album)
      album.songs = Self.titles.map(Unordered.Song.init)
    }
  }

  @Test func aManyToManyOrderBeginsWithThatOfTheNumbersAndMayGo() async throws {
    try await make()
    try await ordered { album in
      #expect(album.songs.map(\.title) == Self.titles)
      album.songs.reverse()
    }
    let reversed = Array(Self.titles.reversed())
    try await ordered { #expect($0.songs.map(\.title) == reversed) }
    try await unordered { album in
      #expect(album.songs.map(\.title) == Self.titles)
      album.songs.append(Unordered.Song("new"))
    }
    try await ordered { #expect($0.songs.map(\.title) == Self.titles + ["new"]) }
  }

  @Test func theOrderStaysUnderOtherNames() async throws {
    try await make()
    try await ordered { $0.songs.reverse() }
    try await run([Renamed.Record.self, Renamed.Song.self]) { context in
      let record = try #require(try context.fetch(From<Renamed.Record>()).first)
      #expect(record.tunes.map(\.title) == Self.titles.reversed())
      #expect(record.tunes[0].records.map(\.title) == ["A"])
    }
  }

  @Test func theInverseGoesAndTheOrderStays() async throws {
    try await make()
    try await ordered { $0.songs.reverse() }
    try await run([OneWay.Album.self, OneWay.Song.self]) { context in
      let album = try #require(try context.fetch(From<OneWay.Album>()).first)
      #expect(album.songs.map(\.title) == Self.titles.reversed())
      album.songs.swapAt(0, 299)
    }
    try await ordered { #expect($0.songs.first?.title == "0" && $0.songs.last?.title == "299") }
  }

  @Test func membersOfOneListKeepTheirOrderWhenTheyMayBeInMany() async throws {
    try await run([Single.Album.self, Single.Song.self]) { context in
      let album = Single.Album("A")
      context.insert(album)
      album.songs = Self.titles.map(Single.Song.init)
      album.songs.reverse()
      context.insert(Single.Song("alone"))
    }
    try await ordered { album in
      #expect(album.songs.map(\.title) == Self.titles.reversed())
      #expect(album.songs[7].albums.map(\.title) == ["A"])
      album.songs.insert(album.songs.removeLast(), at: 0)
    }
    try await ordered { #expect($0.songs.first?.title == "0" && $0.songs.last?.title == "1") }
  }
}
