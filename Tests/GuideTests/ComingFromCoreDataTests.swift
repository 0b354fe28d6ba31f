import Cambium
import Foundation
import TestSupport
import Testing

private enum Apple {
  // Quoted in Docs/ComingFromCoreData.md
  @Model final class Song {
    #Index<Song>([\.title])
    @Attribute(.unique) var isrc: String
    @Attribute(.length(1...200)) var title: String
    var seconds: Int = 0
    var rating: Double?
    @Relationship var album: Album?

    init(isrc: String, title: String) {
      self.isrc = isrc
      self.title = title
    }
  }

  @Model final class Album {
    var title: String
    @Relationship(deleteRule: .cascade, inverse: \Song.album) var songs: [Song] = []

    init(title: String) { self.title = title }
  }
  // End of quotation
}

private typealias Song = Apple.Song
private typealias Album = Apple.Album

struct ComingFromCoreDataTests {
  @Test @MainActor func theGuideDoesWhatItSays() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("music.cambium"))
    // Quoted in Docs/ComingFromCoreData.md
    let music = try await PersistentContainer("Music", models: Song.self, Album.self, at: url)
    let context = music.viewContext  // Follows the saves of other contexts, and has an undo manager.
    // End of quotation
    try await music.keepHistory()
    let token = try music.newestHistoryToken()
    try edit(context)
    #expect(try fetch(context) == ["Carey"])
    let id = try await work(music)
    try music.waitForViewContext()
    try draft(context, id)
    // Quoted in Docs/ComingFromCoreData.md
    let subscription = context.onObjectsDidChange { changes in
      print(changes.origin, changes.inserted.count, changes.updated.count, changes.deleted.count)
    }
    // End of quotation
    subscription.cancel()
    try context.save()
    // Quoted in Docs/ComingFromCoreData.md
    try await music.batchUpdate(From<Song>().where { $0.seconds == 0 }, .set(\.seconds, to: 180))
    let deleted = try await music.batchDelete(From<Song>().where { $0.rating < 2 })
    // End of quotation
    #expect(deleted.isEmpty)
    #expect(
      try await music.query { try $0.fetch(From<Song>().orderBy(\.title)).map(\.seconds) } == [180, 244]
    )
    // Quoted in Docs/ComingFromCoreData.md
    try await music.keepHistory()
    for transaction in try await music.history(HistoryQuery(after: token)) {
      for change in transaction.changes { print(change.kind, change.objectID, change.properties) }
    }
    // End of quotation
    #expect(try await music.history(HistoryQuery(after: token)).count == 6)
    try await music.close()
  }

  @MainActor private func edit(_ context: ManagedObjectContext) throws {
    // Quoted in Docs/ComingFromCoreData.md
    let album = Album(title: "Blue")
    context.insert(album)
    album.songs.append(Song(isrc: "US-A", title: "Carey"))  // Comes into the context with the album.
    try context.save()
    context.delete(album)
    context.rollback()
    // End of quotation
    #expect(!context.hasChanges)
  }

  @MainActor private func fetch(_ context: ManagedObjectContext) throws -> [String] {
    // Quoted in Docs/ComingFromCoreData.md
    let request = From<Song>().where { $0.album.title == "Blue" }.orderBy(\.title).limit(20)
    let songs = try context.fetch(request)
    let count = try context.count(request)
    let titles = try context.fetch(request.select(\.title))  // Values, without objects.
    print(try context.explain(request))  // How it is answered, with exact counts of rows.
    // End of quotation
    #expect(songs.count == 1 && count == 1)
    return titles
  }

  private func work(_ music: PersistentContainer) async throws -> ManagedObjectID {
    // Quoted in Docs/ComingFromCoreData.md
    let id = try await music.performBackgroundTask { context in
      let song = Song(isrc: "US-B", title: "River")
      context.insert(song)
      try context.save()
      return song.objectID
    }
    let importer = try music.newBackgroundContext(name: "import", mergePolicy: .mergeByPropertyObjectTrump)
    try await importer.perform { try $0.existingObject(Song.self, with: id).seconds = 244 }
    // Saves when the block returns.
    try await music.write { try $0.existingObject(Song.self, with: id).rating = 5 }
    // End of quotation
    try await importer.perform { try $0.save() }
    return id
  }

  @MainActor private func draft(_ context: ManagedObjectContext, _ id: ManagedObjectID) throws {
    // Quoted in Docs/ComingFromCoreData.md
    let draft = context.makeChild()
    let copy = try draft.existingObject(Song.self, with: id)
    copy.title = "River (live)"
    try draft.save()  // To the parent. Without it the draft is dropped with the object that holds it.
    // End of quotation
    #expect(try context.existingObject(Song.self, with: id).title == "River (live)")
  }
}
