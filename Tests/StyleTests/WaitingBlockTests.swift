import Cambium
import Testing

/// Blocks for which a thread waits.
struct WaitingBlockTests {
  private struct Refused: Error {}

  private func count<Object: ManagedObject>(
    _ type: Object.Type,
    in container: PersistentContainer
  ) throws -> Int {
    try container.queryAndWait { try $0.count(From<Object>()) }
  }

  @Test func aBlockThatIsWaitedForIsSaved() async throws {
    let container = try await Records.open()
    let id = try container.writeAndWait { context in
      let song = Song("Carey", seconds: 182)
      context.insert(song)
      return song.objectID
    }
    let title = try container.queryAndWait { try $0.existingObject(Song.self, with: id).title }
    #expect(title == "Carey")
    try await MainActor.run {
      try container.waitForViewContext()
      #expect(try container.viewContext.count(From<Song>()) == 1)
    }
  }

  @Test func aBlockThatThrowsOrSaysSoSavesNothing() async throws {
    let container = try await Records.open()
    #expect(throws: Refused.self) {
      try container.writeAndWait { context in
        context.insert(Song("Carey"))
        throw Refused()
      }
    }
    try container.writeAndWait { context, shouldSave in
      context.insert(Song("Carey"))
      shouldSave = false
    }
    #expect(try count(Song.self, in: container) == 0)
  }

  /// Core libraries block for ever here.
  @Test func aBlockThatWaitsForAnotherThrows() async throws {
    let container = try await Records.open()
    let fromAsynchronous = try await container.write { context -> Int in
      context.insert(Song("outer"))
      let error = #expect(throws: ContextError.self) { try container.writeAndWait { _ in } }
      #expect(error?.code == .saveNotAllowed)
      return try container.queryAndWait { try $0.count(From<Song>()) }
    }
    #expect(fromAsynchronous == 0)
    let inner = try container.writeAndWait { _ in
      #expect(throws: ContextError.self) { try container.writeAndWait { _ in } }?.code
    }
    #expect(inner == .saveNotAllowed)
    #expect(try count(Song.self, in: container) == 1)
  }

  @Test func aFailedWriteLeavesTheNextOneClean() async throws {
    let container = try await Records.open()
    await #expect(throws: ContextError.self) {
      try await container.write { context in
        let album = Album("")
        context.insert(album)
        album.songs.append(Song("gone"))
      }
    }
    try await container.write { $0.insert(Song("next")) }
    #expect(try count(Album.self, in: container) == 0)
    #expect(try count(Song.self, in: container) == 1)
  }

  @Test func aQueryThatChangesSomethingThrows() async throws {
    let container = try await Records.open(seconds: [1])
    let error = #expect(throws: ContextError.self) {
      try container.queryAndWait { context in try context.fetch(From<Song>()).first?.seconds = 9 }
    }
    #expect(error?.code == .readOnlyContext)
  }

  @MainActor @Test func aViewContextCanBeReadOnly() async throws {
    let container = try await Records.open(seconds: [1])
    let view = container.viewContext
    view.isReadOnly = true
    let song = try #require(try view.fetch(From<Song>()).first)
    song.seconds = 9
    #expect(throws: ContextError.self) { try view.save() }
    view.rollback()
    #expect(song.seconds == 1)
    try await container.write { try $0.fetch(From<Song>()).first?.seconds = 2 }
    try container.waitForViewContext()
    #expect(song.seconds == 2)
    view.isReadOnly = false
    song.seconds = 3
    try view.save()
    let stored = try container.queryAndWait { try $0.fetch(From<Song>()).map(\.seconds) }
    #expect(stored == [3])
  }
}
