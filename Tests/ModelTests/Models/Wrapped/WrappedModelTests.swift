import Cambium
import Foundation
import GraphTestSupport
import Observation
import Testing

@testable import GraphContext

/// Models whose properties have wrappers.
struct WrappedModelTests {
  private func studio() async throws -> PersistentContainer {
    try await PersistentContainer("Studio", models: Studio.models, at: .inMemory)
  }

  @Test func theWrappersDescribeTheModel() throws {
    let song = Studio.Song.entityDescription
    #expect(song.name == "Song")
    #expect(
      song.properties.map(\.name) == [
        "title", "code", "rating", "key", "token", "added", "genre", "tags", "notes", "cover", "seconds",
        "album", "producer", "players",
      ]
    )
    let side = try Schema(Studio.models).entity(named: "Side")
    #expect(side?.description == "entity Side\n  name: string\n  album: Album inverse sides nullify ordered")
    #expect(song.attributes[0].defaultValue == .string(""))
    #expect(song.attributes[2].rules == [.min(0), .max(5)])
    #expect(Studio.Side.entityDescription.attributes[0].originalName == "letter")
  }

  @Test func anObserverReadsALinkBeforeItChanges() async throws {
    let studio = try await studio()
    let context = try studio.context()
    defer { context.end() }
    context.isObservable = true
    let (song, album) = (Studio.Song("s"), Studio.Album(name: "Blue"))
    context.insert(song)
    song.album = album
    try context.save()
    context.undoManager = ContextUndoManager()
    for isFault in [false, true] {
      if isFault { context.refresh(song) }
      nonisolated(unsafe) var seen: [String?] = []
      // Safety: the closure runs on this thread, in the setter.
      nonisolated(unsafe) let shown = song
      withObservationTracking {
        _ = song.album
      } onChange: {
        seen.append(shown.album?.name)
      }
      if isFault { context.refresh(song) }
      song.album = nil
      #expect(seen == ["Blue"] && song.album == nil && album.songs.isEmpty)
      context.undo()
      #expect(song.album === album && album.songs == [song])
    }
  }

  @Test func theStoreMakesDerivedValues() async throws {
    let studio = try await studio()
    let context = try studio.context()
    defer { context.end() }
    let album = Studio.Album(name: "Blé")
    #expect(album.songCount == 0 && album.bestRating == nil && album.plainName == "")
    context.insert(album)
    for rating in [2, 5] {
      let song = Studio.Song("s\(rating)")
      song.rating = rating
      album.songs.append(song)
    }
    #expect(album.songCount == 0)
    try context.save()
    #expect(album.songCount == 2 && album.bestRating == 5 && album.plainName == "ble")
    context.delete(album.songs.max { $0.rating < $1.rating } ?? album.songs[0])
    album.name = "Ärger"
    album.colour = Transformed(Studio.Colour(red: 17))
    try context.save()
    context.reset()
    let found = try #require(try context.fetchOne(From<Studio.Album>().where { $0.songCount == 1 }))
    #expect(found.bestRating == 2 && found.plainName == "arger" && found.colour.value.red == 17)
    #expect(
      try context.count(From<Studio.Album>().where(format: "colour == '11' AND plainName == 'arger'")) == 1
    )
    let error = #expect(throws: ContextError.self) { try found.setValue(.int(9), forKey: "songCount") }
    #expect(error?.code == .derivedValue)
    #expect(try await studio.verify().map(\.description) == [])
  }

  @Test func objectsAreStored() async throws {
    let studio = try await studio()
    let id = try await studio.performBackgroundTask { context in
      let album = Studio.Album(name: "Blue")
      let song = Studio.Song("Carey", seconds: 181.5)
      song.code = "A1"
      song.genre = .jazz
      song.tags = ["sea", "wind"]
      song.notes = Studio.Notes(text: "loud")
      song.cover = Data(repeating: 4, count: 2_000)
      #expect(song.token == song.token)
      song.album = album
      album.songs.append(Studio.Song("My Old Man"))
      context.insert(album)
      #expect(song._$state.host == nil)
      context.insert(song)
      #expect(album.songs.count == 2)
      #expect(song.hooks == ["insert"])
      let person = Studio.Person(name: "Ada")
      person.songs.append(song)
      person.songs.append(album.songs[0])
      context.insert(person)
      #expect(song.players == [person])
      for name in ["A", "B", "C"] {
        let side = Studio.Side()
        side.name = name
        album.sides.insert(side, at: 0)
      }
      try context.save()
      #expect(album.sides.map(\.name) == ["C", "B", "A"])
      return song.objectID
    }
    try await studio.performBackgroundTask { context in
      let song = try context.existingObject(Studio.Song.self, with: id)
      #expect(song.isFault)
      #expect(song.title == "Carey")
      #expect(song.hooks == ["fetch"])
      #expect(song.code == "A1" && song.rating == 3 && song.key == nil && song.seconds == 181.5)
      #expect(song.genre == .jazz && song.tags == ["sea", "wind"] && song.notes?.text == "loud")
      #expect(song.cover?.count == 2_000)
      #expect(song.album?.name == "Blue")
      #expect(song.players.map(\.name) == ["Ada"])
      #expect(song.players.first?.songs.count == 2)
      let named = From<Studio.Song>().where { $0.title == "Carey" && $0.album.name == "Blue" }
      let found = try context.fetch(named)
      #expect(found.map(\.objectID) == [id])
      let sorted = try context.fetch(From<Studio.Song>().orderBy(.ascending(\.title)))
      #expect(sorted.map(\.title) == ["Carey", "My Old Man"])
      #expect(try context.count(From<Studio.Song>().where { $0.tags.contains("sea") }) == 1)
      let predicate = #Predicate<Studio.Song> { $0.title == "Carey" && $0.seconds > 100 }
      #expect(try context.fetch(From<Studio.Song>().where(predicate)).count == 1)
      let sides = try context.fetch(From<Studio.Side>().orderBy(.position(in: \.album)))
      #expect(sides.map(\.name) == ["C", "B", "A"])
      #expect(sides[0].album === song.album)
      song.album = nil
      song.rating = 5
      try context.save()
      if let album = sides.first?.album { context.delete(album) }
      try context.save()
      #expect(try context.count(From<Studio.Song>()) == 1)
      #expect(try context.count(From<Studio.Side>()) == 0)
    }
    #expect(try await studio.verify().isEmpty)
  }

  @Test func whatIsMissingOrBreaksARuleFailsTheSave() async throws {
    let studio = try await studio()
    try await studio.performBackgroundTask { context in
      let song = Studio.Song()
      context.insert(song)
      #expect(song.seconds == 0)
      song.rating = 9
      song.key = "abcd"
      let side = Studio.Side()
      context.insert(side)
      do {
        try context.save()
        Issue.record("was saved")
      } catch let error as ContextError {
        let failures = error.failures.map { "\($0.code) \($0.context.properties)" }
        #expect(
          failures.sorted() == [
            "missingValue [\"album\"]", "missingValue [\"name\"]", "missingValue [\"seconds\"]",
            "validationFailed [\"key\"]", "validationFailed [\"key\"]", "validationFailed [\"rating\"]",
          ]
        )
      }
      context.rollback()
    }
  }
}
