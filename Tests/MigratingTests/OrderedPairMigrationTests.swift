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

private enum Returned {
  @Model final class Album {
    var title: String
    @Relationship(.ordered) var songs: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    var title: String
    @Relationship(.ordered, inverse: \Album.songs) var record: Album?
    init(_ title: String) { self.title = title }
  }
}

private enum FirstTapes: VersionedSchema {
  static let version = Schema.Version(1)
  static var models: [any ManagedObject.Type] { [Tape.self, Take.self] }

  @Model final class Tape {
    var title: String
    @Relationship(.ordered) var takes: [Take] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Take {
    var title: String
    @Relationship(.ordered, inverse: \Tape.takes) var tapes: [Tape] = []
    init(_ title: String) { self.title = title }
  }
}

private enum SecondTapes: VersionedSchema {
  static let version = Schema.Version(2)
  static var models: [any ManagedObject.Type] { [Tape.self, Take.self] }

  @Model final class Tape {
    var title: String
    @Relationship(.ordered) var takes: [Take] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Take {
    var title: String
    var length: Int
    @Relationship(.ordered, inverse: \Tape.takes) var tapes: [Tape] = []
    init(_ title: String, _ length: Int) { (self.title, self.length) = (title, length) }
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

  @Test func anOrderGoesOnWhereItsNewInverseIsToOne() async throws {
    try await run([OneWay.Album.self, OneWay.Song.self]) { context in
      let album = OneWay.Album("A")
      context.insert(album)
      album.songs = Self.titles.map(OneWay.Song.init)
      album.songs.reverse()
      context.insert(OneWay.Song("alone"))
    }
    try await run([Returned.Album.self, Returned.Song.self]) { context in
      let album = try #require(try context.fetch(From<Returned.Album>()).first)
      #expect(album.songs.map(\.title) == Self.titles.reversed())
      #expect(album.songs[4].record === album)
      album.songs.swapAt(0, 299)
    }
  }

  @Test(arguments: ["Take", "Tape"]) func aStageThatRebuildsAnEndKeepsTheOrder(_ entity: String) async throws
  {
    let first = try await PersistentContainer("S", plan: MigrationPlan([FirstTapes.self]), at: .file(url))
    try await first.performBackgroundTask { context in
      let (one, two) = (FirstTapes.Tape("1"), FirstTapes.Tape("2"))
      context.insert(one)
      context.insert(two)
      one.takes = Self.titles.map(FirstTapes.Take.init)
      two.takes = Array(one.takes[0..<10])
      one.takes.reverse()
      two.takes.swapAt(0, 9)
      one.takes[0].tapes.reverse()
      try context.save()
    }
    try await first.close()
    let plan = MigrationPlan(
      [FirstTapes.self, SecondTapes.self],
      stages: [
        .custom(
          from: FirstTapes.self,
          to: SecondTapes.self,
          rebuilding: ["Take", entity],
          .forEach("Take", inBatchesOf: 7) { batch in
            for take in batch.objects {
              let title: String = try take.value("title") ?? ""
              try batch.successor(of: take)?.set("length", to: title.utf8.count)
            }
          }
        )
      ]
    )
    let second = try await PersistentContainer("S", plan: plan, at: .file(url))
    try await second.performBackgroundTask { context in
      let tapes = try context.fetch(From<SecondTapes.Tape>().orderBy(.ascending(\.title)))
      #expect(tapes[0].takes.map(\.title) == Self.titles.reversed())
      #expect(tapes[1].takes.map(\.title) == ["9", "1", "2", "3", "4", "5", "6", "7", "8", "0"])
      #expect(tapes[0].takes[299].tapes.map(\.title) == ["1", "2"])
      #expect(tapes[0].takes[0].length == 3)
      tapes[0].takes.append(SecondTapes.Take("new", 1))
      try context.save()
    }
    #expect(try await second.verify().map(\.description) == [])
    try await second.close()
  }
}
