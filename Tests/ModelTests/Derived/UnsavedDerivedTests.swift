import Cambium
import GraphTestSupport
import Testing

/// Derived attributes of objects for which no save has computed them yet.
struct UnsavedDerivedTests {
  @Test func aDerivedValueOfAnObjectThatWasRolledBackIsEmpty() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    let album = DerivedModels.Album("A")
    context.insert(album)
    context.rollback()
    #expect(album.songCount == 0 && album.canonicalTitle == "" && album.longest == nil)
    context.insert(album)
    #expect(album.songCount == 0)
    context.delete(album)
    #expect(album.price == 0)
  }

  @Test func aRedoneInsertionHasEmptyDerivedValues() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    context.undoManager = ContextUndoManager()
    let album = DerivedModels.Album("A")
    context.insert(album)
    #expect(context.undo())
    #expect(album.songCount == 0)
    #expect(context.redo())
    #expect(album.songCount == 0)
    try context.save()
    #expect(try context.count(From<DerivedModels.Album>()) == 1)
  }

  @Test func unsavedObjectsHaveEmptyDerivedValuesEverywhere() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    context.insert(DerivedModels.Album("A"))
    let rows = try context.fetch(From<DerivedModels.Album>().select(\.title, \.songCount))
    #expect(rows.map(\.1) == [0])
    let empty = From<DerivedModels.Album>().where { $0.songCount == 0 }
    #expect(try context.count(empty) == 1)
    let child = context.makeChild()
    let album = try #require(try child.fetch(From<DerivedModels.Album>()).first)
    #expect(album.songCount == 0 && album.canonicalTitle == "")
    #expect(try child.count(From<DerivedModels.Album>()) == 1)
  }

  @Test func aParentGoesOnWithWhatAChildHasInserted() async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    context.undoManager = ContextUndoManager()
    let child = context.makeChild()
    child.insert(DerivedModels.Album("A"))
    try child.save()
    context.processPendingChanges()
    let all = From<DerivedModels.Album>()
    let album = try #require(try context.fetch(all).first)
    #expect(album.songCount == 0)
    #expect(try context.count(all) == 1)
    album.title = "B"
    context.processPendingChanges()
    #expect(context.undo())
    #expect(album.title == "A")
    try context.save()
    #expect(try context.count(all) == 1)
  }

  /// A child deletes an object of the store and saves the deletion to its parent. Then the deletion is taken back.
  @Test(arguments: [false, true]) func aDeletionThatAChildTakesBackLeavesDerivedValues(
    parentRollsBack: Bool
  ) async throws {
    let container = try await DerivedModels.open()
    let context = try container.context()
    defer { context.end() }
    let album = DerivedModels.Album("A")
    context.insert(album)
    context.insert(DerivedModels.Song("x", seconds: 5, in: album))
    try context.save()
    let child = context.makeChild()
    defer { child.end() }
    child.undoManager = ContextUndoManager()
    child.delete(try child.existingObject(DerivedModels.Album.self, with: album.objectID))
    try child.save()
    #expect(child.undo())
    if parentRollsBack { context.rollback() } else { try child.save() }
    let shown = parentRollsBack ? child : context
    let found = try shown.existingObject(DerivedModels.Album.self, with: album.objectID)
    #expect(found.songCount == 1 && found.canonicalTitle == "a")
    #expect(found.changedValues["songCount"] == nil)
    #expect(try shown.count(From<DerivedModels.Album>().where { $0.songCount > 0 }) == 1)
    try child.save()
    try context.save()
    #expect(try await container.verify().map(\.description) == [])
  }
}
