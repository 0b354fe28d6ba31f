import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// After every save, derived attributes agree with the properties that they are derived from.
struct DerivedAttributeTests {
  @Test func aNewObjectHasItsValuesOnceItIsSaved() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    let album = DerivedModels.Album("Café")
    #expect(album.songCount == 0 && album.longest == nil && album.canonicalTitle == "")
    context.insert(album)
    context.insert(DerivedModels.Song("a", seconds: 10, rating: 0.5, price: 1.25, in: album))
    context.insert(DerivedModels.Song("b", seconds: 30, in: album))
    context.insert(DerivedModels.Song("c", in: album))
    #expect(album.songCount == 0)
    try context.save()
    #expect(album.canonicalTitle == "cafe")
    #expect(album.songCount == 3 && album.seconds == 40 && album.shortest == 10 && album.longest == 30)
    #expect(album.ratings == 0.5 && album.price == 1.25 && album.lastTitle == "c")
    #expect(try await container.verify() == [])
  }

  @Test func membersAreMovedChangedAndDeleted() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    let (first, second) = (DerivedModels.Album("A"), DerivedModels.Album("B"))
    context.insert(first)
    context.insert(second)
    let songs = (1...4).map { DerivedModels.Song("\($0)", seconds: Int16($0 * 10), in: first) }
    for song in songs { context.insert(song) }
    try context.save()
    songs[3].album = second
    songs[0].seconds = 15
    first.title = "AA"
    try context.save()
    #expect(first.longest == 30 && first.shortest == 15 && first.seconds == 65 && first.songCount == 3)
    #expect(second.longest == 40 && second.songCount == 1)
    try DerivedModels.expectExact(context)
    context.delete(songs[2])
    songs[3].album = nil
    try context.save()
    #expect(first.longest == 20 && second.longest == nil && second.seconds == 0)
    try DerivedModels.expectExact(context)
    context.delete(first)
    try context.save()
    try DerivedModels.expectExact(context)
    #expect(try await container.verify() == [])
  }

  @Test func manyToManyRelationshipsAreCountedAtBothEnds() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    let albums = ["A", "B"].map { DerivedModels.Album($0) }
    let tags = [DerivedModels.Tag(1), DerivedModels.Tag(2), DerivedModels.Tag(4)]
    for album in albums { context.insert(album) }
    for tag in tags { context.insert(tag) }
    albums[0].tags = tags
    albums[1].tags = [tags[0]]
    try context.save()
    #expect(albums[0].weight == 7 && albums[1].weight == 1 && tags[0].albumCount == 2)
    tags[0].weight = 10
    albums[0].tags.removeLast()
    try context.save()
    #expect(albums[0].weight == 12 && albums[1].weight == 10 && tags[2].albumCount == 0)
    context.delete(tags[0])
    try context.save()
    #expect(albums[0].weight == 2 && albums[1].tagCount == 0)
    #expect(try await container.verify() == [])
  }

  @Test func aCountThatItsTypeCantHoldFailsTheSave() async throws {
    let container = try await DerivedModels.openBoxes()
    let context = try container.context()
    defer { context.end() }
    let box = DerivedModels.Box()
    context.insert(box)
    for number in 0..<127 { context.insert(DerivedModels.Parcel("\(number)", in: box)) }
    try context.save()
    #expect(box.count == 127)
    for number in 127..<200 { context.insert(DerivedModels.Parcel("\(number)", in: box)) }
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .validationFailed && error?.context.properties == ["count"])
    #expect(try await container.verify() == [])
  }

  @Test func aDerivedStringThatIsTooLongForItsIndexFailsTheSave() async throws {
    let container = try await DerivedModels.openBoxes()
    let context = try container.context()
    defer { context.end() }
    let box = DerivedModels.Box()
    context.insert(box)
    context.insert(DerivedModels.Parcel(String(repeating: "x", count: 5_000), in: box))
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .indexedValueTooLong && error?.context.properties == ["label"])
    #expect(error?.context.entity == "Box" && error?.context.objectID == box.objectID)
    #expect(try await container.verify() == [])
  }

  @Test func undoingLeavesWhatASaveHasDerived() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    let album = DerivedModels.Album("A")
    context.insert(album)
    try context.save()
    context.insert(DerivedModels.Song("a", seconds: 10, in: album))
    let manager = ContextUndoManager()
    context.undoManager = manager
    manager.beginUndoGrouping()
    album.title = "B"
    try context.save()
    manager.endUndoGrouping()
    #expect(album.songCount == 1)
    context.undo()
    #expect(album.title == "A" && album.songCount == 1 && album.seconds == 10)
    context.redo()
    #expect(album.title == "B" && album.songCount == 1)
    try context.save()
    try DerivedModels.expectExact(context)
    #expect(try await container.verify() == [])
  }

  @Test func theyAreQueriedSortedAndSelected() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    for count in [2, 0, 1] {
      let album = DerivedModels.Album("Ä\(count)")
      context.insert(album)
      for place in 0..<count { context.insert(DerivedModels.Song("\(place)", seconds: 60, in: album)) }
    }
    try context.save()
    #expect(
      try context.fetch(From<DerivedModels.Album>().where { $0.songCount > 0 }.orderBy(\.songCount)).map(
        \.title
      )
        == [
          "Ä1", "Ä2",
        ]
    )
    #expect(
      try context.fetch(From<DerivedModels.Album>().where { $0.canonicalTitle == "a2" }).map(\.seconds) == [
        120
      ]
    )
    #expect(
      try context.fetch(From<DerivedModels.Album>().orderBy(.descending(\.seconds))).map(\.songCount) == [
        2, 1, 0,
      ]
    )
    let plan = try context.explain(From<DerivedModels.Album>().where { $0.songCount == 1 })
    #expect("\(plan)".contains("songCount"))
  }

  // MARK: Other contexts

  @Test func aChangedMemberIsNoConflictWithAChangeOfItsOwner() async throws {
    let container = try await DerivedModels.open()
    let (mine, theirs) = (try container.context(), try container.context())
    defer { for context in [mine, theirs] { context.end() } }
    let album = DerivedModels.Album("A")
    mine.insert(album)
    try mine.save()
    try theirs.refresh()
    let other = try #require(try theirs.fetch(From<DerivedModels.Album>()).first)
    theirs.insert(DerivedModels.Song("x", seconds: 5, in: other))
    mine.insert(DerivedModels.Song("y", seconds: 7, in: album))
    album.title = "B"
    try theirs.save()
    try mine.save()
    #expect(album.songCount == 2 && album.seconds == 12)
    try theirs.refresh()
    #expect(other.songCount == 2 && other.canonicalTitle == "b")
    // Nor is the deletion of an album whose songs another context has changed.
    let song = try #require(try theirs.fetch(From<DerivedModels.Song>().where { $0.title == "x" }).first)
    song.seconds = 6
    try theirs.save()
    mine.delete(album)
    for song in try mine.fetch(From<DerivedModels.Song>()) where song.title == "y" { mine.delete(song) }
    _ = try? mine.save()
    #expect(try await container.verify() == [])
  }

  @Test func followersAndEventsLearnOfThem() async throws {
    let container = try await DerivedModels.open()
    let (mine, theirs) = (try container.context(), try container.context())
    defer { for context in [mine, theirs] { context.end() } }
    let album = DerivedModels.Album("A")
    mine.insert(album)
    try mine.save()
    try theirs.refresh()
    let other = try #require(try theirs.fetch(From<DerivedModels.Album>()).first)
    #expect(other.songCount == 0)
    mine.insert(DerivedModels.Song("x", in: album))
    try mine.save()
    #expect(other.songCount == 0)
    try theirs.refresh()
    #expect(other.songCount == 1)
  }

  @Test func aChildShowsThemOnceTheParentIsSaved() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    let child = context.makeChild()
    let album = DerivedModels.Album("A")
    child.insert(album)
    child.insert(DerivedModels.Song("x", seconds: 5, in: album))
    try child.save()
    #expect(album.songCount == 0)
    try context.save()
    #expect(album.songCount == 1 && album.longest == 5 && album.canonicalTitle == "a")
    try DerivedModels.expectExact(context)
    #expect(try await container.verify() == [])
  }

  @Test func anUndoneChangeIsDerivedAgain() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    context.undoManager = ContextUndoManager()
    let album = DerivedModels.Album("A")
    context.insert(album)
    let song = DerivedModels.Song("x", seconds: 5, in: album)
    context.insert(song)
    try context.save()
    song.seconds = 9
    context.processPendingChanges()
    try context.save()
    #expect(album.longest == 9)
    #expect(context.undo())
    try context.save()
    #expect(album.longest == 5)
    try DerivedModels.expectExact(context)
  }

  // MARK: Batches

  @Test func batchesKeepThem() async throws {
    let container = try await DerivedModels.open()
    try await container.performBackgroundTask { context in
      for title in ["A", "B"] { context.insert(DerivedModels.Album(title)) }
      try context.save()
    }
    let albums = try await container.query {
      try $0.fetch(From<DerivedModels.Album>().orderBy(\.title)).map(\.objectID)
    }
    try await DerivedModels.insertSongs(1_000, into: albums, container)
    try await container.performBackgroundTask { try DerivedModels.expectExact($0) }
    _ = try await container.batchUpdate(
      From<DerivedModels.Song>().where { $0.seconds > 900 },
      .set(\.seconds, to: 1)
    )
    _ = try await container.batchUpdate(From<DerivedModels.Album>(), .set(\.title, to: "É"))
    _ = try await container.batchDelete(From<DerivedModels.Song>().where { $0.seconds < 100 })
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<DerivedModels.Album>()).first)
      #expect(album.canonicalTitle == "e" && album.shortest == 100)
    }
    #expect(try await container.verify() == [])
    _ = try await container.batchDelete(From<DerivedModels.Song>())
    try await container.performBackgroundTask { context in
      let counts = try context.fetch(From<DerivedModels.Album>()).map(\.songCount)
      #expect(counts == [0, 0])
    }
    #expect(try await container.verify() == [])
    let refused = await #expect(throws: ContextError.self) {
      _ = try await container.batchUpdate(From<DerivedModels.Album>(), .set(\.songCount, to: 1))
    }
    #expect(refused?.queryError?.code == .keyPath)
  }

  @Test func aSumThatNoIntegerHoldsIsRefused() async throws {
    let container = try await PersistentContainer(
      "Bills",
      models: DerivedModels.Bill.self,
      DerivedModels.Item.self,
      at: .inMemory
    )
    let context = try container.context()
    defer { context.end() }
    let bill = DerivedModels.Bill()
    context.insert(bill)
    let items = [DerivedModels.Item(100, bill), DerivedModels.Item(100, bill)]
    for item in items { context.insert(item) }
    let refused = #expect(throws: ContextError.self) { try context.save() }
    #expect(refused?.code == .validationFailed)
    items[1].price = -100
    try context.save()
    #expect(bill.total == 0)
  }

  // MARK: Without classes

  @Test func aProgramWithoutTheClassesKeepsThem() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("derived"))
    let container = try await DerivedModels.open(.file(url))
    try await container.performBackgroundTask { context in
      let album = DerivedModels.Album("A")
      context.insert(album)
      context.insert(DerivedModels.Song("x", seconds: 5, in: album))
      try context.save()
    }
    try await container.close()
    let dynamic = try await PersistentContainer("Derived", at: url)
    try await dynamic.performBackgroundTask { context in
      let album = try #require(try context.fetch(DynamicQuery("Album")).first)
      let song = try context.insert(entity: "Song")
      for (name, value) in [
        "title": .string("y"), "seconds": .int(8), "rating": .double(0.5), "price": .decimal(2),
      ] as [String: AttributeValue] {
        try song.set(name, to: value)
      }
      try song.setObject("album", to: album)
      let refused = #expect(throws: ContextError.self) { try album.set("songCount", to: 7) }
      #expect(refused?.code == .derivedValue)
      let new = try context.insert(entity: "Album")
      try new.set("title", to: "NEW")
      try context.save()
      #expect(try album["songCount"] == .int(2))
      #expect(try album["longest"] == .int(8))
      #expect(try new["canonicalTitle"] == .string("new"))
      #expect(try new["songCount"] == .int(0))
    }
    #expect(try await dynamic.verify() == [])
  }
}
