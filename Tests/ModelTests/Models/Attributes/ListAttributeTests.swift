import Cambium
import Foundation
import TestSupport
import Testing

/// Lists and sets of values as attributes.
struct ListAttributeTests {
  enum Mood: Int, AttributeType { case calm = 1, wild = 7 }

  @Model final class Song {
    @Attribute(.unique) var title: String
    var tags: [String] = []
    var marks: Set<Int>
    var takes: [Date]?
    @Attribute var moods: [Mood] = [.calm]
    var prices: [Decimal] = []
    var ids: [UUID] = []
    var levels: [Double] = []
    var flags: [Bool] = []
    @Relationship(inverse: \Album.songs) var album: Album?
    init(_ title: String, tags: [String] = [], marks: Set<Int> = []) {
      self.title = title
      self.tags = tags
      self.marks = marks
    }
  }

  @Model final class Album {
    var name: String
    @Relationship var songs: [Song] = []
    init(_ name: String) { self.name = name }
  }

  let folder: TemporaryFolder
  let container: PersistentContainer

  init() async throws {
    folder = try TemporaryFolder()
    container = try await PersistentContainer(
      "Songs",
      models: Song.self,
      Album.self,
      at: URL(fileURLWithPath: folder.file("songs.cambium"))
    )
  }

  private static let hard = ["", "\"", "\\", "a\nb\u{0}\u{1F}", "\u{1F3B8}é", "]", ",", "null", "\\u0041"]

  private func fill() async throws {
    try await container.performBackgroundTask { context in
      let album = Album("Live")
      context.insert(album)
      let one = Song("A", tags: ["live", "jazz"], marks: [3, -5, 300])
      one.takes = [Date(timeIntervalSinceReferenceDate: 0.1 + 0.2), .distantPast]
      one.moods = [.wild]
      one.prices = [Decimal(string: "0.1")!, .nan, Decimal(string: "-12345678901234567890.5")!]
      one.ids = [UUID(uuidString: "01020304-0506-0708-090A-0B0C0D0E0FFF")!]
      one.levels = [0.1, .infinity, -.infinity, 1e300, -0.0]
      one.flags = [true, false]
      one.album = album
      context.insert(one)
      let two = Song("B", tags: Self.hard)
      two.album = album
      context.insert(two)
      context.insert(Song("C"))
      try context.save()
    }
  }

  @Test func valuesComeBackAsTheyWere() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      let songs = try context.fetch(From<Song>().orderBy(.ascending(\.title)))
      #expect(songs[0].tags == ["live", "jazz"])
      #expect(songs[0].marks == [3, -5, 300])
      #expect(songs[0].takes == [Date(timeIntervalSinceReferenceDate: 0.1 + 0.2), .distantPast])
      #expect(songs[0].moods == [.wild])
      #expect(songs[0].prices[0] == Decimal(string: "0.1")! && songs[0].prices[1].isNaN)
      #expect(songs[0].prices[2] == Decimal(string: "-12345678901234567890.5")!)
      #expect(songs[0].ids == [UUID(uuidString: "01020304-0506-0708-090A-0B0C0D0E0FFF")!])
      #expect(songs[0].levels == [0.1, .infinity, -.infinity, 1e300, -0.0])
      #expect(songs[0].levels[4].sign == .minus)
      #expect(songs[0].flags == [true, false])
      #expect(songs[1].tags == Self.hard)
      #expect(
        songs[2].tags == [] && songs[2].marks == [] && songs[2].takes == nil && songs[2].moods == [.calm]
      )
    }
    #expect(try await container.verify().isEmpty)
  }

  private func titles(_ request: From<Song>) async throws -> [String] {
    try await container.performBackgroundTask { context in
      try context.fetch(request.orderBy(.ascending(\.title))).map(\.title)
    }
  }

  @Test func conditionsAreAboutElements() async throws {
    try await fill()
    let songs = From<Song>()
    #expect(try await titles(songs.where { $0.tags.contains("jazz") }) == ["A"])
    for tag in Self.hard { #expect(try await titles(songs.where { $0.tags.contains(tag) }) == ["B"]) }
    #expect(try await titles(songs.where { $0.tags.any { $0.hasPrefix("li") } }) == ["A"])
    #expect(try await titles(songs.where { $0.tags.isEmpty }) == ["C"])
    #expect(try await titles(songs.where { $0.tags.count == 2 }) == ["A"])
    #expect(try await titles(songs.where { $0.marks.max() > 100 }) == ["A"])
    #expect(try await titles(songs.where { $0.marks.sum() == 298 }) == ["A"])
    #expect(try await titles(songs.where { $0.marks.all { $0 != 3 } }) == ["B", "C"])
    #expect(try await titles(songs.where { $0.moods.contains(.wild) }) == ["A"])
    #expect(try await titles(songs.where { $0.takes.any { $0 < Date.distantPast + 1 } }) == ["A"])
    #expect(try await titles(songs.where { $0.levels.contains(.infinity) }) == ["A"])
    #expect(try await titles(songs.where { $0.prices.any { $0 < 0 } }) == ["A"])
    #expect(try await titles(songs.where { $0.takes == nil }) == ["B", "C"])
    #expect(try await titles(songs.where(format: "ANY tags BEGINSWITH[c] 'JA'")) == ["A"])
    #expect(try await titles(songs.where(format: "'live' IN tags")) == ["A"])
    #expect(try await titles(songs.where(format: "tags CONTAINS %@", "]")) == ["B"])
    #expect(try await titles(songs.where(format: "ANY marks IN {3, 4}")) == ["A"])
    #expect(try await titles(songs.where(format: "ALL marks > 0")) == ["B", "C"])
    #expect(try await titles(songs.where(format: "NONE tags = 'jazz'")) == ["B", "C"])
    #expect(try await titles(songs.where(format: "tags.@count > 5")) == ["B"])
    #expect(try await titles(songs.where(format: "marks.@min = -5 AND marks.@avg > 90")) == ["A"])
    #expect(
      try await titles(songs.where(format: "SUBQUERY(marks, $m, $m > 2 AND $m < 400).@count = 2")) == ["A"]
    )
    #expect(
      try await titles(songs.where(format: "ANY ids = '01020304-0506-0708-090A-0B0C0D0E0FFF'")) == ["A"]
    )
    #expect(try await titles(songs.where(#Predicate { $0.tags.contains("jazz") })) == ["A"])
    #expect(try await titles(songs.where(#Predicate { $0.marks.contains(where: { $0 > 100 }) })) == ["A"])
    #expect(try await titles(songs.where(format: "album.name = 'Live' AND ANY tags = 'live'")) == ["A"])
    try await container.performBackgroundTask { context in
      #expect(try context.count(From<Album>().where(format: "ANY songs.tags = 'jazz'")) == 1)
      #expect(try context.count(From<Album>().where { $0.songs.any { $0.tags.contains("nope") } }) == 0)
      #expect(
        try context.count(
          From<Album>().where { $0.songs.any { $0.tags.contains("live") && $0.marks.contains(3) } }
        ) == 1
      )
      #expect(
        try context.fetch(From<Song>().orderBy(.ascending(\.title)).select(\.title, \.tags)).map(\.1)[0] == [
          "live", "jazz",
        ]
      )
      // Unsaved changes.
      let song = try #require(context.fetch(From<Song>().where { $0.title == "C" }).first)
      song.tags.append("jazz")
      #expect(try context.count(From<Song>().where { $0.tags.contains("jazz") }) == 2)
      try context.save()
    }
    #expect(try await titles(songs.where { $0.tags.contains("jazz") }) == ["A", "C"])
  }
}
