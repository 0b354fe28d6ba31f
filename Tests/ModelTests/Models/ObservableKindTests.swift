import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Models with property wrappers and records are observed as models with the macro are.
struct ObservableKindTests {
  /// The observers of properties, and which of them were called.
  private struct Observers {
    private let observers: [(name: String, observer: Observer)]

    init(_ properties: [(name: String, read: () -> Void)]) {
      observers = properties.map { ($0.name, Observer($0.read)) }
    }

    var called: [String] { observers.filter(\.observer.wasCalled).map(\.name) }
  }

  @Test func wrappedModels() async throws {
    let studio = try await PersistentContainer("Studio", models: Studio.models, at: .inMemory)
    let context = try studio.context()
    context.isObservable = true
    let (album, song) = (Studio.Album(name: "Blue"), Studio.Song("Carey"))
    let (side, person) = (Studio.Side(), Studio.Person(name: "Ada"))
    side.name = "A"
    side.album = album
    song.album = album
    song.players = [person]
    context.insert(song)
    context.insert(side)
    try context.save()
    let (albumID, songID, sideID) = (album.objectID, song.objectID, side.objectID)
    func observe() -> Observers {
      Observers([
        ("title", { _ = song.title }), ("tags", { _ = song.tags }), ("cover", { _ = song.cover }),
        ("album", { _ = song.album }), ("producer", { _ = song.producer }), ("players", { _ = song.players }),
        ("songs", { _ = album.songs }), ("sides", { _ = album.sides.count }), ("side", { _ = side.album }),
        ("friends", { _ = person.friends }), ("person.songs", { _ = person.songs.count }),
      ])
    }
    var observers = observe()
    song.title = "Carey!"
    #expect(observers.called == ["title"])
    observers = observe()
    song.tags.append("sea")
    song.producer = person
    #expect(observers.called == ["tags", "producer"])
    observers = observe()
    song.players = []
    song.album = nil
    #expect(observers.called == ["album", "players", "songs", "person.songs"])
    observers = observe()
    context.rollback()
    #expect(observers.called == ["title", "tags", "album", "producer", "players", "songs", "person.songs"])
    observers = observe()
    let other = try studio.context()
    let song2 = try other.object(Studio.Song.self, with: songID)
    song2.cover = Data(repeating: 3, count: 9_000)
    let second = Studio.Side()
    second.name = "B"
    second.album = try other.object(Studio.Album.self, with: albumID)
    second.album.sides.move(from: 1, to: 0)
    try other.save()
    try context.refresh()
    #expect(observers.called == ["cover", "sides"])
    observers = observe()
    try other.object(Studio.Side.self, with: sideID).album.sides.move(from: 0, to: 1)
    try other.save()
    try context.refresh()
    #expect(observers.called == ["sides"])
    observers = observe()
    person.friends = [person]
    #expect(observers.called == ["friends"])
  }

  @Test func records() async throws {
    let archive = try await Archive.open()
    let context = try archive.context()
    context.isObservable = true
    let sheet = Archive.Sheet()
    context.insert(sheet)
    let note = try context.insert(entity: "Note")
    let topic = try context.insert(entity: "Topic")
    let line = try context.insert(entity: "Line")
    try note.set("text", to: "first")
    try note.setObject("sheet", to: sheet)
    try context.save()
    let (noteID, topicID) = (note.objectID, topic.objectID)
    func observe() -> Observers {
      Observers([
        ("text", { _ = try? note["text"] }), ("rank", { _ = try? note.value("rank", as: Int.self) }),
        ("sheet", { _ = try? note.object("sheet", as: Archive.Sheet.self) }),
        ("topic", { _ = try? note.object("topic") }),
        ("topic.notes", { _ = try? topic.count(of: "notes") }),
        ("topic.sheets", { _ = try? topic.objects("sheets", as: Archive.Sheet.self) }),
        ("sheet.notes", { _ = sheet.notes.count }), ("sheet.topics", { _ = sheet.topics }),
        ("sheet.lines", { _ = sheet.lines.isEmpty }), ("line.sheet", { _ = try? line.object("sheet") }),
        ("gone", { _ = note.isDeleted }),
      ])
    }
    var observers = observe()
    try note.set("text", to: "second")
    #expect(observers.called == ["text"])
    observers = observe()
    try note.set(["rank": .int(8), "text": .string("third")])
    try note.setObject("topic", to: topic)
    #expect(observers.called == ["text", "rank", "topic", "topic.notes"])
    observers = observe()
    try topic.add(sheet, to: "sheets")
    sheet.lines.append(line)
    #expect(observers.called == ["topic.sheets", "sheet.topics", "sheet.lines"])
    observers = observe()
    context.rollback()
    #expect(
      observers.called == [
        "text", "rank", "topic", "topic.notes", "topic.sheets", "sheet.topics", "sheet.lines",
      ]
    )
    observers = observe()
    let other = try archive.context()
    let (note2, topic2) = (
      try other.object(ManagedRecord.self, with: noteID), try other.object(ManagedRecord.self, with: topicID)
    )
    try note2.set("rank", to: 9)
    try note2.setObject("topic", to: topic2)
    try other.save()
    try context.refresh()
    #expect(observers.called == ["rank", "topic", "topic.notes"])
    observers = observe()
    other.delete(note2)
    try other.save()
    try context.refresh()
    #expect(observers.called == ["sheet", "topic", "topic.notes", "sheet.notes", "gone"])
  }
}
