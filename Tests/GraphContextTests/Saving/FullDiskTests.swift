import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

private enum FullShelf {
  @Model final class Album {
    #Index<Album>([\.title])
    var title: String
    @Attribute(.derived("songs.@count")) var songCount: Int
    @Relationship(inverse: \Song.album) var songs: [Song] = []
    init(_ title: String) { self.title = title }
  }
  @Model final class Song {
    #Index<Song>([\.title], [\.year])
    @Attribute(.unique) var number: Int
    var title: String
    var year: Int
    @Relationship var album: Album?
    init(_ number: Int, in album: Album) {
      self.number = number
      title = "\(number * 7_919 % 10_007): " + String(repeating: "la", count: 60)
      year = 1_950 + number % 70
      self.album = album
    }
  }
}

/// A container on a real file system that is full. Skipped where the process may not mount one.
struct FullDiskTests {
  private static let isAvailable = SmallFileSystem.tmpfs.isAvailable

  @Test(.enabled(if: isAvailable, "this process may not mount a tmpfs"))
  func recordedDeletionsWithInversesMakeRoom() async throws {
    try await SmallFileSystem.tmpfs.mounted { (folder) async throws in
      let shelf = try await PersistentContainer(
        "Shelf",
        models: [FullShelf.Album.self, FullShelf.Song.self],
        at: URL(fileURLWithPath: folder + "/shelf")
      )
      try await shelf.keepHistory()
      let count = try await fill(shelf)
      // Each nullifies the inverse, changes a derived attribute, and is recorded.
      for number in 0..<300 {
        let problem = try await failure {
          try await shelf.write { context in
            let song = try context.fetchOne(From<FullShelf.Song>().where { $0.number == number })
            context.delete(try #require(song))
          }
        }
        try #require(problem == nil, "song \(number)")
      }
      // Each sets the references of the five songs of an album to nil.
      for number in stride(from: 2_000, to: 2_250, by: 5) {
        let problem = try await failure {
          try await shelf.write { context in
            let song = try context.fetchOne(From<FullShelf.Song>().where { $0.number == number })
            context.delete(try #require(song?.album))
          }
        }
        try #require(problem == nil, "the album of song \(number)")
      }
      try await shelf.compact()
      #expect(try await failure { try await insert(10, from: count, in: shelf) } == nil)
      #expect(try await shelf.verify() == [])
      try await shelf.close()
    }
  }

  /// Saves songs until several saves in turn are refused, and returns how many were saved.
  private func fill(_ shelf: PersistentContainer) async throws -> Int {
    var (count, refusals) = (0, 0)
    // Many at a time first, and then single ones, which fit into the room that is left.
    for batch in [500, 20, 1] {
      refusals = 0
      while refusals < 3 {
        let problem = try await failure { try await insert(batch, from: count, in: shelf) }
        if problem == nil { count += batch }
        refusals = problem == nil ? 0 : refusals + 1
      }
    }
    try #require(count > 3_000)
    return count
  }

  private func insert(_ count: Int, from first: Int, in shelf: PersistentContainer) async throws {
    try await shelf.write { context in
      var album: FullShelf.Album?
      for number in first..<first + count {
        if album == nil || number % 5 == 0 {
          let next = FullShelf.Album("album of \(number)")
          context.insert(next)
          album = next
        }
        if let album { context.insert(FullShelf.Song(number, in: album)) }
      }
    }
  }

  /// Returns `diskFull` if `body` throws that, and nil if it throws nothing. Throws any other error.
  private func failure(_ body: () async throws -> Void) async throws -> StoreError.Code? {
    do {
      try await body()
      return nil
    } catch let error as ContextError where error.storeError?.code == .diskFull {
      return .diskFull
    }
  }
}
