import Cambium
import Foundation
import Testing

/// What objects, contexts and containers are in a debugger.
struct DescriptionTests {
  @Test func anObjectShowsWhatItHasInMemory() async throws {
    let container = try await Records.open()
    let song = Song("Carey", seconds: 182)
    #expect("\(song)" == #"Song/new title: "Carey", seconds: 182, note: nil"#)
    let id = try await container.write { context in
      let song = Song("Carey", seconds: 182)
      context.insert(song)
      #expect(song.debugDescription.contains("inserted title: \"Carey\""))
      return song.objectID
    }
    try await container.performBackgroundTask { context throws in
      let song = try context.object(Song.self, with: id)
      #expect(song.debugDescription == "Song/\(id.number) fault")
      song.note = String(repeating: "x", count: 50)
      let text = song.debugDescription
      #expect(text.hasSuffix("note: \"\(String(repeating: "x", count: 40))…\""))
      context.delete(song)
      #expect(song.debugDescription.hasPrefix("Song/\(id.number) deleted"))
    }
  }

  @Test func whatAnObjectThatIsGoneHasNotReadIsLeftOut() async throws {
    let container = try await Records.open()
    let id = try await container.write { context in
      let song = Song("Carey", seconds: 182)
      context.insert(song)
      return song.objectID
    }
    try await container.performBackgroundTask { context throws in
      let read = try context.object(Song.self, with: id)
      #expect(read.title == "Carey")
      context.reset()
      #expect(read.debugDescription == "Song/\(id.number) gone title: \"Carey\"")
      let other = try context.object(Song.self, with: id)
      context.reset()
      #expect(other.debugDescription == "Song/\(id.number) gone")
    }
  }

  @Test func aContextCountsItsUnsavedChanges() async throws {
    let container = try await Records.open(seconds: [1, 2])
    #expect(container.debugDescription.hasPrefix("Records, 3 entities, "))
    try await container.performBackgroundTask { context throws in
      context.name = "import"
      for song in try context.fetch(From<Song>()) { song.seconds += 1 }
      context.insert(Song("new"))
      #expect(context.debugDescription.hasPrefix("import at commit "))
      #expect(context.debugDescription.hasSuffix(": 1 inserted, 2 updated, 0 deleted"))
      #expect(context.makeChild().debugDescription.hasPrefix("child at commit "))
    }
  }
}
