import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

private enum Before {
  @Model final class Song {
    var title: String
    init(_ title: String) { self.title = title }
  }

  @Model final class Note {
    var text: String
    init(_ text: String) { self.text = text }
  }
}

private enum Linked {
  @Model final class Song {
    var title: String
    init(_ title: String) { self.title = title }
  }

  @Model final class Note {
    var text: String
    @Relationship var song: Song?
    init(_ text: String) { self.text = text }
  }
}

private enum After {
  @Model(originalName: "Song") final class Track {
    var title: String
    init(_ title: String) { self.title = title }
  }
}

/// A class that continues an entity of another name, in a container that has records for all other entities of the
/// store.
struct RenamedBesideRecordsTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("songs.cambium")) }

  init() throws { folder = try TemporaryFolder() }

  @Test func theContinuedEntityIsNoOtherEntityOfTheStore() async throws {
    let before = try await PersistentContainer("Songs", models: Before.Song.self, Before.Note.self, at: url)
    try await before.performBackgroundTask { context in
      context.insert(Before.Song("Carey"))
      context.insert(Before.Note("blue"))
      try context.save()
    }
    try await before.close()
    let after = try await PersistentContainer("Songs", models: After.Track.self, entities: .stored, at: url)
    #expect(try await after.query { try $0.fetch(From<After.Track>()).map(\.title) } == ["Carey"])
    try await after.close()
    #expect(try StoreMetadata(at: url).schema.entities.map(\.name) == ["Note", "Track"])
  }

  @Test func relationshipsOfRecordsLeadToTheRenamedEntity() async throws {
    let before = try await PersistentContainer("Songs", models: Linked.Song.self, Linked.Note.self, at: url)
    try await before.performBackgroundTask { context in
      let (song, note) = (Linked.Song("Carey"), Linked.Note("blue"))
      context.insert(song)
      context.insert(note)
      note.song = song
      try context.save()
    }
    try await before.close()
    let after = try await PersistentContainer("Songs", models: After.Track.self, entities: .stored, at: url)
    try await after.close()
    #expect(try StoreMetadata(at: url).schema.entities.map(\.name) == ["Note", "Track"])
  }
}
