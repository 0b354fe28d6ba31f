import Cambium
import Testing

/// Deleting and finding many objects at once.
struct ManyObjectsTests {
  @Test func objectsAreDeletedBySequenceByIDAndByRequest() async throws {
    let container = try await Records.open(seconds: [1, 2, 3, 4, 5, 6])
    try await container.performBackgroundTask { context throws in
      let songs = try context.fetch(From<Song>().orderBy(.ascending(\.seconds)))
      context.delete(contentsOf: songs.prefix(2))
      #expect(try context.count(From<Song>()) == 4)
      context.insert(Song("new", seconds: 6))
      let long = From<Song>().where { $0.seconds >= 6 }
      #expect(try context.deleteAll(long) == 2)
      #expect(try context.delete(Song.self, with: songs.map(\.objectID)) == 3)
      #expect(try context.count(From<Song>()) == 0)
      context.rollback()
      #expect(try context.count(From<Song>()) == 6)
      let longest = From<Song>().where { $0.seconds > 1 }.orderBy(.descending(\.seconds)).limit(2)
      #expect(try context.deleteAll(longest) == 2)
      try context.save()
      #expect(try context.fetch(From<Song>()).map(\.seconds).sorted() == [1, 2, 3, 4])
    }
  }

  @Test func anIDThatOccursTwiceCountsOnce() async throws {
    let container = try await Records.open(seconds: [1, 2])
    try await container.performBackgroundTask { context throws in
      let ids = try context.fetch(From<Song>()).map(\.objectID)
      #expect(try context.delete(Song.self, with: ids + ids) == 2)
      #expect(try context.delete(Song.self, with: ids) == 0)
    }
  }

  @Test func objectsOfManyIDsComeInTheirOrderWithoutThoseThatAreGone() async throws {
    let container = try await Records.open(seconds: Array(1...20))
    let ids = try await container.query {
      try $0.fetch(From<Song>().orderBy(.ascending(\.seconds))).map(\.objectID)
    }
    let other = try await container.write { context in
      let album = Album("Blue")
      context.insert(album)
      context.delete(try context.object(Song.self, with: ids[3]))
      return album.objectID
    }
    try await container.performBackgroundTask { context throws in
      let unsaved = Song("new", seconds: 99)
      context.insert(unsaved)
      context.delete(try context.object(Song.self, with: ids[5]))
      let asked = [ids[9], ids[3], unsaved.objectID, ids[0], ids[5], ids[9]]
      let found = try context.existingObjects(Song.self, with: asked)
      #expect(found.map(\.seconds) == [10, 99, 1, 10])
      #expect(found.first === found.last)
      #expect(try context.existingObjects(Song.self, with: []).isEmpty)
      let error = #expect(throws: ContextError.self) {
        try context.existingObjects(Song.self, with: [ids[0], other])
      }
      #expect(error?.code == .unknownEntity)
    }
  }

  /// A range of IDs is read in one pass, not one by one.
  @Test func recordsOfManyIDsAreReadTogether() async throws {
    let container = try await Records.open(seconds: Array(1...26))
    let ids = try await container.query { try $0.fetch(From<Song>()).map(\.objectID) }
    try await container.query { context in
      let songs = try context.existingObjects(Song.self, with: ids.reversed())
      #expect(songs.map(\.objectID) == ids.reversed())
      #expect(songs.reduce(0) { $0 + $1.seconds } == 26 * 27 / 2)
    }
  }
}
