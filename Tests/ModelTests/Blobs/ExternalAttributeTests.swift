import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Attributes whose long values lie outside of records.
struct ExternalAttributeTests {
  @Model final class Album {
    #Index<Album>([\.title])
    var title: String
    @Attribute(.externalStorage) var cover: Data?
    @Attribute(.externalStorage) var notes: String = ""
    @Relationship(deleteRule: .cascade) var pages: [Page] = []
    init(_ title: String, cover: Data? = nil) {
      self.title = title
      self.cover = cover
    }
  }

  @Model final class Memo {
    var title: String
    var copy: String?
    @Attribute(.externalStorage) var notes: String?
    init(_ title: String, notes: String?) {
      self.title = title
      self.notes = notes
    }
  }

  @Model final class Page {
    @Attribute(.externalStorage) var scan: Data
    @Relationship(inverse: \Album.pages) var album: Album?
    init(_ scan: Data) { self.scan = scan }
  }

  let folder: TemporaryFolder
  let container: PersistentContainer

  init() async throws {
    folder = try TemporaryFolder()
    container = try await Self.open(folder)
  }

  static func open(
    _ folder: borrowing TemporaryFolder,
    options: StoreOptions = StoreOptions()
  ) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Albums",
      models: Album.self,
      Page.self,
      at: URL(fileURLWithPath: folder.file("albums.cambium")),
      options: options
    )
  }

  /// Bytes that depend on the seed at every place.
  static func bytes(_ count: Int, _ seed: Int) -> Data {
    var random = SeededGenerator(seed: UInt64(seed))
    return Data(random.bytes(count))
  }

  /// The entries of all trees of long values.
  private var partCount: Int {
    get throws {
      let snapshot = try container.store.snapshot()
      return try snapshot.treeNames.filter { $0.hasPrefix("b/") }.reduce(0) {
        try $0 + snapshot.tree($1).count
      }
    }
  }

  @Test(arguments: [0, 1, 511, 512, 513, 65_471, 65_472, 65_473, 300_000])
  func valuesOfEveryLengthComeBack(count: Int) async throws {
    let cover = Self.bytes(count, count)
    let notes = String(repeating: "ä", count: count / 2)
    try await container.performBackgroundTask { context in
      let album = Album("A", cover: cover)
      album.notes = notes
      context.insert(album)
      context.insert(Album("B"))
      try context.save()
      #expect(album.cover == cover)
    }
    try await container.close()
    let container = try await Self.open(folder)
    try await container.performBackgroundTask { context in
      let albums = try context.fetch(From<Album>().orderBy(.ascending(\.title)))
      #expect(albums[0].cover == cover && albums[0].notes == notes)
      #expect(albums[1].cover == nil && albums[1].notes == "")
    }
    #expect(try await container.verify().isEmpty)
  }

  @Test(arguments: [3, 900, 100_000])
  func aBatchAssignsWholeValues(count: Int) async throws {
    let container = try await PersistentContainer("Memos", models: Memo.self, at: .inMemory)
    let notes = String(repeating: "n", count: count)
    try await container.write { context in
      context.insert(Memo("A", notes: notes))
      context.insert(Memo("B", notes: nil))
    }
    let all = From<Memo>()
    try await container.batchUpdate(all, .set(\.copy) { $0.notes }, .set(\.notes) { $0.notes })
    try await container.performBackgroundTask { context in
      let memos = try context.fetch(all.orderBy(.ascending(\.title)))
      #expect(memos[0].copy == notes && memos[0].notes == notes)
      #expect(memos[1].copy == nil && memos[1].notes == nil)
    }
    #expect(try await container.verify().isEmpty)
  }

  @Test func aCoverThatAnotherContextReplacesIsNoDamage() async throws {
    let context = try container.context()
    defer { context.end() }
    context.undoManager = ContextUndoManager()
    let album = Album("A", cover: Self.bytes(100_000, 1))
    context.insert(album)
    try context.save()
    let id = album.objectID
    album.title = "B"
    try await container.write {
      try $0.existingObject(Album.self, with: id).cover = Self.bytes(90_000, 2)
    }
    try context.refresh()
    try context.save()
    context.undo()
    #expect(album.title == "A" && album.cover == Self.bytes(90_000, 2))
    album.cover = Self.bytes(80_000, 3)
    try await container.write {
      try $0.existingObject(Album.self, with: id).cover = Self.bytes(70_000, 4)
    }
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.refresh()
    try context.save()
    context.undo()
    #expect(album.title == "A" && album.cover != nil)
    try context.save()
  }

  /// The undo group has an image of the album with its first cover. Another context replaces this cover, and then the
  /// group changes the cover or deletes the album.
  @Test(arguments: [false, true], [90_000, 10, nil])
  func aGroupThatSpansAnothersCoverIsNoDamage(deletes: Bool, count: Int?) async throws {
    let theirs = count.map { Self.bytes($0, 2) }
    let context = try container.context()
    defer { context.end() }
    let undo = ContextUndoManager()
    context.undoManager = undo
    let album = Album("A", cover: Self.bytes(100_000, 1))
    context.insert(album)
    try context.save()
    let id = album.objectID
    undo.beginUndoGrouping()
    album.title = "B"
    try await container.write { try $0.existingObject(Album.self, with: id).cover = theirs }
    try context.refresh()
    if deletes { context.delete(album) } else { album.cover = nil }
    undo.endUndoGrouping()
    #expect(try context.fetch(From<Album>()).count == (deletes ? 0 : 1))
    if deletes { try context.save() }
    #expect(context.undo())
    try context.save()
    let again = try context.existingObject(Album.self, with: id)
    #expect(again.title == "A" && again.cover == theirs)
  }

  /// The undo group has changed the cover itself. Undoing brings the first cover back, although another context has
  /// stored another one in between.
  @Test func aGroupGivesTheCoverBackThatItHasReplaced() async throws {
    let context = try container.context()
    defer { context.end() }
    let undo = ContextUndoManager()
    context.undoManager = undo
    context.mergePolicy = .mergeByPropertyObjectTrump
    let album = Album("A", cover: Self.bytes(100_000, 1))
    context.insert(album)
    try context.save()
    let id = album.objectID
    undo.beginUndoGrouping()
    album.cover = Self.bytes(80_000, 3)
    try await container.write {
      try $0.existingObject(Album.self, with: id).cover = Self.bytes(90_000, 2)
    }
    try context.refresh()
    undo.endUndoGrouping()
    try context.save()
    #expect(context.undo())
    #expect(album.cover == Self.bytes(100_000, 1))
    try context.save()
  }

  @Test func aChangeOfAnotherAttributeLogsNoBlob() async throws {
    let covers = 20
    try await container.performBackgroundTask { context in
      for number in 0..<covers { context.insert(Album("\(number)", cover: Self.bytes(256 << 10, number))) }
      try context.save()
    }
    try await container.store.checkpoint()
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<Album>().where { $0.title == "7" }).first)
      let before = try container.statistics
      album.title = "Seven"
      try context.save()
      let after = try container.statistics
      #expect(after.bytesLogged - before.bytesLogged <= 1_024)
      // The store may sync its own notes some time after the previous commit.
      #expect((1...2).contains(after.syncs - before.syncs))
      #expect(album.cover == Self.bytes(256 << 10, 7))
    }
    try await container.store.checkpoint()
    #expect(try await container.verify().isEmpty)
  }

  @Test func titlesOfAThousandAlbumsReadNoBlob() async throws {
    let cover = Self.bytes(256 << 10, 1)
    for chunk in 0..<10 {
      try await container.performBackgroundTask { context in
        for number in 0..<100 { context.insert(Album("\(chunk * 100 + number)", cover: cover)) }
        try context.save()
      }
    }
    try await container.close()
    let container = try await Self.open(folder)
    try await container.performBackgroundTask { context in
      let albums = try context.fetch(From<Album>())
      #expect(Set(albums.map(\.title)).count == 1_000)
      let titles = try context.fetch(From<Album>().select(\.title))
      #expect(titles.count == 1_000)
      let missesOfTitles = try container.statistics.cacheMisses
      // The records of a thousand albums, of fewer than 128 bytes each, and the branches above them.
      #expect(missesOfTitles < 64)
      #expect(albums[0].cover == cover)
      #expect(try container.statistics.cacheMisses > missesOfTitles)
    }
  }

  @Test func nothingIsLeftOfWhatIsReplacedOrDeleted() async throws {
    let id = try await container.performBackgroundTask { context in
      let album = Album("A", cover: Self.bytes(200_000, 1))
      album.notes = String(repeating: "n", count: 10_000)
      for number in 0..<3 { album.pages.append(Page(Self.bytes(70_000, number))) }
      context.insert(album)
      try context.save()
      return album.objectID
    }
    #expect(try partCount == 4 + 1 + 3 * 2)
    for (cover, count) in [
      (Self.bytes(1_000, 2), 8), (Self.bytes(10, 3), 7), (Self.bytes(90_000, 4), 9), (nil, 7),
    ] {
      try await container.performBackgroundTask { context in
        let album = try context.existingObject(Album.self, with: id)
        album.cover = cover
        try context.save()
      }
      #expect(try partCount == count)
      #expect(try await container.verify().isEmpty)
    }
    try await container.performBackgroundTask { context in
      context.delete(try context.existingObject(Album.self, with: id))
      try context.save()
    }
    #expect(try partCount == 0)
    #expect(try await container.verify().isEmpty)
  }

  @Test func settingWhatIsThereStoresNothing() async throws {
    let cover = Self.bytes(100_000, 5)
    try await container.performBackgroundTask { context in
      let album = Album("A", cover: cover)
      context.insert(album)
      try context.save()
      let commit = try container.statistics.lastCommit
      album.cover = Data(cover)
      try context.save()
      #expect(try container.statistics.lastCommit == commit)
      album.cover = Self.bytes(100_000, 6)
      try context.save()
      #expect(try container.statistics.lastCommit == commit + 1)
    }
  }

  @Test func batchesWriteAndRemoveBlobs() async throws {
    try await container.batchInsert(
      Album.self,
      from: Array(0..<10),
      .set(\.title) { "\($0)" },
      .set(\.notes) { _ in "" },
      .set(\.cover) { Self.bytes(80_000, $0) }
    )
    #expect(try partCount == 20)
    try await container.batchUpdate(
      From<Album>().where { $0.title < "5" },
      .set(\.cover, to: Self.bytes(1_000, 1))
    )
    #expect(try partCount == 15)
    try await container.batchUpdate(
      From<Album>().where { $0.title == "0" },
      .set(\.notes, to: String(repeating: "x", count: 900))
    )
    #expect(try partCount == 16)
    try await container.performBackgroundTask { context in
      let albums = try context.fetch(From<Album>().orderBy(.ascending(\.title)))
      #expect(albums[0].cover == Self.bytes(1_000, 1) && albums[9].cover == Self.bytes(80_000, 9))
    }
    try await container.batchDelete(From<Album>().where { $0.title > "4" })
    #expect(try partCount == 6)
    #expect(try await container.verify().isEmpty)
  }

  @Test func queriesAskForNilAndSelect() async throws {
    try await container.performBackgroundTask { context in
      context.insert(Album("A", cover: Self.bytes(70_000, 1)))
      context.insert(Album("B", cover: Self.bytes(7, 1)))
      context.insert(Album("C"))
      try context.save()
      context.insert(Album("D", cover: Self.bytes(70_000, 2)))
      let with = try context.fetch(From<Album>().where { $0.cover != nil }.orderBy(.ascending(\.title)))
      #expect(with.map(\.title) == ["A", "B", "D"])
      let covers = try context.fetch(From<Album>().orderBy(.ascending(\.title)).select(\.cover))
      #expect(covers == [Self.bytes(70_000, 1), Self.bytes(7, 1), nil, Self.bytes(70_000, 2)])
      let formats = [
        "notes == 'x'", "notes != title", "notes CONTAINS 'x'", "notes LIKE 'x*'", "notes MATCHES 'x'",
        "notes BETWEEN {'a', 'b'}", "notes IN {'a'}", "notes BEGINSWITH[c] 'x'", "cover == notes",
        "cover == cover",
        "ANY pages.scan == cover", "lowercase(notes) == 'x'", "pages.@max.scan != nil", "title == notes",
      ]
      for format in formats {
        let error = #expect(throws: (any Error).self, "\(format)") {
          try context.count(From<Album>().where(format: format))
        }
        #expect((error as? ContextError)?.code == .invalidQuery, "\(format): \(String(describing: error))")
      }
      #expect(throws: ContextError.self) { try context.max(of: \.notes, in: From<Album>()) }
      #expect(try context.count(From<Album>().where(format: "ANY pages.scan == nil")) == 0)
      #expect(throws: ContextError.self) { try context.fetch(From<Album>().orderBy(.ascending(\.notes))) }
    }
  }

  @Test func theSchemaSaysWhatIsStoredExternally() throws {
    let source = SwiftSource(container.schema).description
    #expect(source.contains("  @Attribute(.externalStorage) var cover: Data?\n"), "\(source)")
    #expect(source.contains("  @Attribute(.externalStorage) var notes: String = \"\"\n"))
    let document = try JSONEncoder().encode(SchemaDocument(container.schema))
    #expect(try JSONDecoder().decode(SchemaDocument.self, from: document).schema() == container.schema)
    var album = Album.entityDescription
    album.indexes.append(IndexDescription(["cover"]))
    let error = #expect(throws: SchemaError.self) {
      try Schema(entities: [album, Page.entityDescription])
    }
    #expect("\(try #require(error))".contains("Album has cover, which is externally stored data"))
  }

  @Test func undoGivesABlobBack() async throws {
    let (first, second) = (Self.bytes(100_000, 1), Self.bytes(90_000, 2))
    try await container.performBackgroundTask { context in
      context.undoManager = ContextUndoManager()
      let album = Album("A", cover: first)
      context.insert(album)
      try context.save()
      let id = album.objectID
      album.cover = second
      try context.save()
      #expect(context.undo())
      #expect(album.cover == first)
      try context.save()
      #expect(album.cover == first)
      #expect(context.redo())
      #expect(album.cover == second)
      try context.save()
      album.title = "B"
      context.processPendingChanges()
      context.delete(album)
      try context.save()
      #expect(context.undo())
      try context.save()
      context.refreshAllObjects()
      let again = try context.existingObject(Album.self, with: id)
      #expect(again.cover == second && again.title == "B")
    }
    #expect(try await container.verify().isEmpty)
  }

  @Test func aChildReadsAndWritesBlobs() async throws {
    let (first, second) = (Self.bytes(100_000, 1), Self.bytes(90_000, 2))
    try await container.performBackgroundTask { context in
      let album = Album("A", cover: first)
      context.insert(album)
      try context.save()
      context.refreshAllObjects()
      album.title = "B"
      let child = context.makeChild()
      let own = try child.existingObject(Album.self, with: album.objectID)
      #expect(own.cover == first && own.title == "B")
      own.cover = second
      child.insert(Album("C", cover: first))
      try child.save()
      #expect(album.cover == second)
      try context.save()
    }
    try await container.performBackgroundTask { context in
      let albums = try context.fetch(From<Album>().orderBy(.ascending(\.title)))
      #expect(albums.map(\.cover) == [second, first])
    }
    #expect(try await container.verify().isEmpty)
  }

  @Test func conflictsShowAndKeepBlobs() async throws {
    let (first, second, third) = (Self.bytes(100_000, 1), Self.bytes(90_000, 2), Self.bytes(80_000, 3))
    try await container.performBackgroundTask { context in
      let album = Album("A", cover: first)
      context.insert(album)
      try context.save()
    }
    let (mine, theirs) = (try container.context(), try container.context())
    defer { for context in [mine, theirs] { context.end() } }
    let album = try #require(try mine.fetch(From<Album>()).first)
    album.cover = second
    let other = try #require(try theirs.fetch(From<Album>()).first)
    other.cover = third
    try theirs.save()
    #expect(throws: ContextError.self) { try mine.save() }
    mine.mergePolicy = .custom { conflict in
      let cover = try #require(conflict["cover"])
      #expect(cover.base == .data(first) && cover.mine == .data(second) && cover.theirs == .data(third))
      conflict.keepMine()
    }
    try mine.save()
    #expect(album.cover == second)
    #expect(try await container.verify().isEmpty)
  }

  @Test func overwritingBringsBackWhatTheContextShows() async throws {
    let (first, second) = (Self.bytes(100_000, 1), Self.bytes(90_000, 2))
    try await container.performBackgroundTask { context in
      context.insert(Album("A", cover: first))
      try context.save()
    }
    let (mine, theirs) = (try container.context(), try container.context())
    defer { for context in [mine, theirs] { context.end() } }
    let album = try #require(try mine.fetch(From<Album>()).first)
    album.title = "B"
    let other = try #require(try theirs.fetch(From<Album>()).first)
    other.cover = second
    try theirs.save()
    mine.mergePolicy = .overwrite
    try mine.save()
    #expect(album.title == "B" && album.cover == first)
    #expect(try await container.verify().isEmpty)
  }
}
