import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Saves of new objects that have unique values of existing ones.
struct UniquePolicyTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext

  init() async throws {
    store = try await Tracks.open()
    context = try store.context()
  }

  /// A track in the store.
  private func stored(_ code: String, _ title: String = "old") throws -> UniqueTrack {
    let track = UniqueTrack(code, title, plays: 5, rating: 3)
    context.insert(track)
    try context.save()
    return track
  }

  private func insert(_ track: UniqueTrack) -> UniqueTrack {
    context.insert(track)
    return track
  }

  /// All tracks, as another context sees them.
  private func shown() throws -> [String] {
    let reader = try store.context()
    defer { reader.end() }
    #expect(try store.verify().map(\.description) == [])
    return try reader.fetch(From<UniqueTrack>().orderBy(.ascending(\.code))).map { track in
      "\(track.code ?? "-") \(track.title) \(track.plays) \(track.rating.map(String.init) ?? "-")"
    }
  }

  /// References to unified objects cause a second pass. A key that an object has lost in the first pass is free.
  @Test func aKeyThatAnImportTakesAwayIsFreeForAnother() throws {
    let old = try stored("A")
    old.album = UniqueAlbum("X")
    old.place = 1
    try context.save()
    let (moved, new) = (UniqueTrack("A", "moved"), UniqueTrack("B", "new"))
    (moved.album, moved.place) = (UniqueAlbum("Y"), 2)
    (new.album, new.place) = (UniqueAlbum("X"), 1)
    context.insert(moved)
    context.insert(new)
    try context.save()
    #expect(try shown() == ["A moved 5 3", "B new 0 -"])
    #expect(old.album?.title == "Y" && old.place == 2)
    #expect(new.album?.title == "X" && new.album?.tracks == [new])
    #expect(try context.count(From<UniqueAlbum>()) == 2)
  }

  // MARK: Values

  @Test(arguments: [
    (UniquePolicy.keep, "A old 5 3"), (.merge, "A new 5 3"), (.replace, "A new 0 -"),
  ])
  func theExistingObjectHasWhatThePolicySays(_ policy: UniquePolicy, _ expected: String) throws {
    let old = try stored("A")
    let new = insert(UniqueTrack("A", "new"))
    let id = new.objectID
    try context.save(ifExists: policy)
    #expect(try shown() == [expected])
    #expect(old.title == (policy == .keep ? "old" : "new") && old.plays == (policy == .replace ? 0 : 5))
    #expect(new.isDeleted && new.title == "new" && new.objectID == id)
    #expect(context.aliases == [id: old.objectID])
    #expect(try context.object(UniqueTrack.self, with: id) === old)
    #expect(try context.existingObject(UniqueTrack.self, with: id) === old)
    #expect(context.registeredObject(UniqueTrack.self, with: id) === old)
    #expect(!context.hasChanges && context.insertedObjects.isEmpty)
    context.reset()
    #expect(context.aliases.isEmpty)
  }

  @Test func aRefusedObjectIsSavedByAnotherPolicy() throws {
    let old = try stored("A")
    let new = insert(UniqueTrack("A", "new"))
    let error = #expect(throws: ContextError.self) { try context.save(ifExists: .error) }
    #expect(
      error?.code == .notUnique && error?.context.objectID == new.objectID
        && error?.context.otherID == old.objectID
    )
    #expect(new.isInserted && context.hasChanges && context.aliases.isEmpty)
    #expect(try shown() == ["A old 5 3"])
    // The constraint declares to merge.
    try context.save()
    #expect(try shown() == ["A new 5 3"])
  }

  @Test func anUndeclaredPolicyIsAnError() throws {
    context.insert(UniqueTag("warm"))
    try context.save()
    context.insert(UniqueTag("warm"))
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .notUnique)
    try context.save(ifExists: .keep)
    #expect(try context.count(From<UniqueTag>()) == 1)
  }

  @Test func mergingEqualValuesStoresNothing() throws {
    _ = try stored("A")
    let commit = context.source.commit
    let new = insert(UniqueTrack("A", "old", plays: 5, rating: 3))
    try context.save()
    #expect(context.source.commit == commit && new.isDeleted && !context.hasChanges)
    #expect(try shown() == ["A old 5 3"])
  }

  @Test func newObjectsAreUnifiedWithEachOther() throws {
    let first = insert(UniqueTrack("A", "first", plays: 1))
    let second = insert(UniqueTrack("A", "second", rating: 2))
    let third = insert(UniqueTrack("A", "", plays: 3))
    let free = [insert(UniqueTrack(nil, "x")), insert(UniqueTrack(nil, "y"))]
    try context.save()
    #expect(try shown() == ["- x 0 -", "- y 0 -", "A second 3 2"])
    #expect(first.title == "second" && first.plays == 3 && first.rating == 2)
    #expect(second.isDeleted && third.isDeleted && free.allSatisfy { !$0.isDeleted })
    #expect(context.aliases == [second.objectID: first.objectID, third.objectID: first.objectID])
  }

  // MARK: Existing objects that change in the same save

  @Test func aValueThatTheSaveTakesAwayIsFree() throws {
    let (renamed, deleted) = (try stored("A"), try stored("B"))
    renamed.code = "C"
    context.delete(deleted)
    let new = [insert(UniqueTrack("A", "a")), insert(UniqueTrack("B", "b")), insert(UniqueTrack("C", "c"))]
    try context.save()
    #expect(try shown() == ["A a 0 -", "B b 0 -", "C c 5 3"])
    #expect(new.map(\.isDeleted) == [false, false, true] && renamed.title == "c")
  }

  @Test func changesOfTheExistingObjectAreKept() throws {
    let old = try stored("A")
    old.plays = 9
    old.title = "mine"
    context.insert(UniqueTrack("A", "new", rating: 1))
    try context.save()
    #expect(try shown() == ["A new 9 1"])
    #expect(old.plays == 9 && old.title == "new")
  }

  @Test func storedObjectsAreNeverUnified() throws {
    let (a, b) = (try stored("A"), try stored("B"))
    b.code = "A"
    let error = #expect(throws: ContextError.self) { try context.save(ifExists: .merge) }
    #expect(error?.code == .notUnique && !a.isDeleted && !b.isDeleted)
  }

  @Test func valuesOfTwoExistingObjectsAreRefused() throws {
    let album = UniqueAlbum("Blue")
    let (a, b) = (try stored("A"), try stored("B"))
    (a.album, a.place) = (album, 1)
    try context.save()
    let new = insert(UniqueTrack("B", "both"))
    (new.album, new.place) = (album, 1)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .notUnique && error?.failures.count == 2)
    #expect(b.title == "old" && new.isInserted)
  }

  @Test func anotherContextsCommitCounts() throws {
    let other = try store.context()
    defer { other.end() }
    let old = try stored("A")
    try other.refresh()
    try other.existingObject(UniqueTrack.self, with: old.objectID).plays = 7
    other.insert(UniqueTrack("B", "theirs"))
    try other.save()
    old.rating = 1
    let new = [insert(UniqueTrack("A", "mine")), insert(UniqueTrack("B", "mine", plays: 2))]
    try context.save()
    #expect(try shown() == ["A mine 7 1", "B mine 2 -"])
    #expect(old.plays == 7 && old.rating == 1 && new.allSatisfy(\.isDeleted))
    #expect(try context.object(UniqueTrack.self, with: new[1].objectID).plays == 2)
  }

  // MARK: Links

  @Test(arguments: [UniquePolicy.keep, .merge, .replace])
  func linksLeadToTheExistingObject(_ policy: UniquePolicy) throws {
    let (old, oldSleeve) = (try stored("A"), UniqueSleeve("old"))
    let tags = ["x", "y", "z"].map(UniqueTag.init)
    old.sleeve = oldSleeve
    old.tags = [tags[0], tags[1]]
    for tag in tags { context.insert(tag) }
    try context.save()
    let (new, sleeve) = (insert(UniqueTrack("A", "new")), UniqueSleeve("new"))
    new.sleeve = sleeve
    new.tags = [tags[1], tags[2]]
    try context.save(ifExists: policy)
    #expect(old.sleeve === sleeve && sleeve.track === old && oldSleeve.track == nil)
    #expect(Set(old.tags.map(\.word)) == ["x", "y", "z"] && tags[2].tracks.contains(old))
    #expect(tags.allSatisfy { $0.tracks.count == 1 })
    #expect(try shown().count == 1)
  }

  @Test func theLastPartnerStays() throws {
    let old = try stored("A")
    let sleeves = (0..<3).map { UniqueSleeve("s\($0)") }
    for sleeve in sleeves { insert(UniqueTrack("A")).sleeve = sleeve }
    for sleeve in sleeves { #expect(sleeve.track != nil) }
    try context.save()
    #expect(old.sleeve === sleeves[2] && sleeves.map { $0.track === old } == [false, false, true])
    #expect(sleeves[0].track == nil && sleeves[1].track == nil)
    #expect(try shown() == ["A old 5 3"])
  }

  @Test func aKeyWithAReferenceIsTheOneOfTheExistingObject() throws {
    let blue = UniqueAlbum("Blue", year: 1971)
    let carey = insert(UniqueTrack("A", "Carey", plays: 4))
    (carey.album, carey.place) = (blue, 4)
    try context.save()
    // An imported file has neither the album's nor the track's identity.
    let (album, track) = (UniqueAlbum("Blue", year: 2021), UniqueTrack(nil, "Carey (live)"))
    context.insert(album)
    context.insert(track)
    (track.album, track.place) = (album, 4)
    let other = insert(UniqueTrack("B", "River"))
    (other.album, other.place) = (album, 5)
    try context.save()
    #expect(blue.year == 1971 && album.isDeleted && track.isDeleted)
    #expect(carey.title == "Carey (live)" && carey.code == nil && carey.plays == 0)
    #expect(other.album === blue && blue.tracks.count == 2)
    #expect(try shown() == ["- Carey (live) 0 -", "B River 0 -"])
  }

  // MARK: Other ways to save

  @Test func aChildsObjectsAreUnifiedByItsParent() throws {
    let old = try stored("A")
    let child = context.makeChild()
    let new = UniqueTrack("A", "child")
    child.insert(new)
    try child.save()
    let id = new.objectID
    #expect(!new.isDeleted)
    try context.save()
    #expect(old.title == "child" && new.isDeleted && context.aliases == [id: old.objectID])
    #expect(try child.object(UniqueTrack.self, with: id).title == "child")
    #expect(try child.fetch(From<UniqueTrack>()).count == 1)
  }

  // MARK: Listeners

  @Test func whatAListenerChangesWhenObjectsAreUnifiedIsUnsaved() throws {
    let old = try stored("A")
    let album = UniqueAlbum("Blue")
    context.insert(album)
    try context.save()
    var count = 0
    let subscription = context.onObjectsDidChange { changes in
      guard changes.origin == .store, !changes.deleted.isEmpty else { return }
      count += 1
      album.year += 1
    }
    context.insert(UniqueTrack("A", "new"))
    album.year = 5
    try context.save()
    #expect(count == 1 && album.year == 6 && old.title == "new" && context.hasChanges)
    try context.save()
    #expect(!context.hasChanges)
    let reader = try store.context()
    #expect(try reader.fetchOne(From<UniqueAlbum>())?.year == 6)
    reader.end()
    withExtendedLifetime(subscription) {}
  }

  @Test func whatAChildsListenerChangesWhenObjectsAreUnifiedCanBeUndone() throws {
    _ = try stored("A")
    let album = UniqueAlbum("Blue")
    context.insert(album)
    let new = insert(UniqueTrack("A", "new"))
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let tag = UniqueTag("w")
    child.insert(tag)
    tag.tracks = [try child.object(UniqueTrack.self, with: new.objectID)]
    let copy = try child.object(UniqueAlbum.self, with: album.objectID)
    var isDone = false
    let subscription = child.onObjectsDidChange { changes in
      if changes.origin != .parent || !changes.updated.contains(tag.objectID) || isDone { return }
      isDone = true
      copy.year = 7
    }
    child.processPendingChanges()
    try context.save()
    child.processPendingChanges()
    #expect(isDone && copy.year == 7)
    #expect(child.undo() && copy.year == 0)
    withExtendedLifetime(subscription) {}
  }

  // MARK: A child's unsaved work

  @Test func aChildsUnsavedLinksLeadToTheExistingObject() throws {
    let (old, oldSleeve) = (try stored("A"), UniqueSleeve("old"))
    old.sleeve = oldSleeve
    let tag = UniqueTag("t")
    for object in [UniqueAlbum("Blue"), tag, UniqueSleeve("changed")] as [any ManagedObject] {
      context.insert(object)
    }
    try context.save()
    let (new, album) = (insert(UniqueTrack("A", "new")), UniqueAlbum("Blue"))
    context.insert(album)
    let child = context.makeChild()
    let grandchild = child.makeChild()
    let sleeve = try #require(
      try child.fetch(From<UniqueSleeve>().where { $0.name == "changed" }).first
    )
    sleeve.track = try child.object(UniqueTrack.self, with: new.objectID)
    try child.object(UniqueTag.self, with: tag.objectID).tracks = [sleeve.track!]
    let track = UniqueTrack("B", "child's")
    child.insert(track)
    track.album = try child.object(UniqueAlbum.self, with: album.objectID)
    let other = UniqueTrack("C", "grandchild's")
    grandchild.insert(other)
    other.album = try grandchild.object(UniqueAlbum.self, with: album.objectID)
    try context.save()
    let copy = try child.object(UniqueTrack.self, with: old.objectID)
    #expect(sleeve.track === copy && copy.sleeve === sleeve && track.album?.title == "Blue")
    #expect(copy.tags.map(\.word) == ["t"] && other.album?.title == "Blue")
    #expect(try child.existingObject(UniqueSleeve.self, with: oldSleeve.objectID).track == nil)
    #expect(track.album?.tracks.map(\.title) == ["child's"])
    try grandchild.save()
    try child.save()
    #expect(old.sleeve?.name == "changed" && tag.tracks == [old])
    try context.save()
    let reader = try store.context()
    defer { reader.end() }
    let albums = try reader.fetch(From<UniqueAlbum>())
    #expect(albums.count == 1 && albums[0].tracks.count == 2)
    #expect(try store.verify().map(\.description) == [])
  }

  /// Values that a child has set in an object that is unified meanwhile can't be stored.
  @Test func aChildsOwnChangesOfAUnifiedObjectAreAConflict() throws {
    _ = try stored("A")
    let new = insert(UniqueTrack("A", "new"))
    let child = context.makeChild()
    try child.object(UniqueTrack.self, with: new.objectID).title = "child's"
    try context.save()
    let error = #expect(throws: ContextError.self) { try child.save() }
    #expect(error?.code == .conflict)
    child.rollback()
    try child.save()
  }

  // MARK: Undoing

  @Test func groupsAfterTheUnifiedObjectStay() throws {
    let old = try stored("A")
    let manager = ContextUndoManager()
    context.undoManager = manager
    old.rating = 1
    context.processPendingChanges()
    let new = insert(UniqueTrack("A", "new"))
    context.processPendingChanges()
    let tag = UniqueTag("t")
    context.insert(tag)
    context.processPendingChanges()
    tag.word = "u"
    context.processPendingChanges()
    #expect(manager.undoCount == 4)
    try context.save()
    #expect(manager.undoCount == 2 && new.isDeleted)
    #expect(context.undo() && tag.word == "t")
    #expect(context.undo() && !context.undo() && tag.isDeleted)
    #expect(context.redo() && context.redo() && tag.word == "u")
    #expect(old.rating == 1 && old.title == "new")
    try context.save()
    #expect(try store.verify().map(\.description) == [])
  }

  @Test func groupsThatWouldLeadToTheUnifiedObjectGo() throws {
    _ = try stored("A")
    let sleeve = UniqueSleeve("s")
    context.insert(sleeve)
    let new = insert(UniqueTrack("A", "new"))
    sleeve.track = new
    let manager = ContextUndoManager()
    context.undoManager = manager
    sleeve.track = nil
    context.processPendingChanges()
    sleeve.name = "renamed"
    context.processPendingChanges()
    try context.save()
    #expect(manager.undoCount == 1)
    #expect(context.undo() && !context.undo())
    #expect(sleeve.name == "s" && sleeve.track == nil)
  }

  // MARK: Aliases

  @Test func aliasesOfEarlierSavesAreBounded() throws {
    _ = try stored("A")
    var ids = UnifiedIDs()
    func id(_ number: Int) -> ManagedObjectID {
      ManagedObjectID(
        entity: EntityLabel(nil, name: "T"),
        number: ObjectNumber(rawValue: UInt64(number)),
        storeID: store.storeID
      )
    }
    func save(_ numbers: Range<Int>) {
      ids.add(Dictionary(uniqueKeysWithValues: numbers.map { (id($0), id(1)) }))
    }
    save(2..<3)
    for start in stride(from: 10, to: 10_010, by: 1_000) { save(start..<start + 1_000) }
    #expect(ids.aliases.count == UnifiedIDs.limit && ids.aliases[id(2)] == nil && ids.aliases[id(10)] != nil)
    save(20_000..<32_000)
    #expect(ids.aliases.count == 12_000 && ids.aliases[id(20_000)] != nil)
    save(40_000..<40_001)
    #expect(ids.aliases.count == UnifiedIDs.limit && ids.aliases[id(40_000)] == id(1))
  }

  @Test func savingWithoutBlockingUnifiesToo() async throws {
    try await Self.run(on: store)
  }

  @MainActor private static func run(on store: PersistentContainer) async throws {
    let context = store.viewContext
    let old = UniqueTrack("A", "old")
    context.insert(old)
    try await context.saveWithoutBlocking()
    context.insert(UniqueTrack("A", "new"))
    try await context.saveWithoutBlocking(ifExists: .keep)
    #expect(old.title == "old")
    context.insert(UniqueTrack("A", "new"))
    try await context.saveWithoutBlocking()
    #expect(old.title == "new")
    #expect(!context.undoManager!.canUndo)
  }

  @Test func eventsTellOfBoth() throws {
    let old = try stored("A")
    var (saves, changes): ([ObjectChanges], [ObjectChanges]) = ([], [])
    let subscriptions = [
      context.onDidSave { saves.append($0) }, context.onObjectsDidChange { changes.append($0) },
    ]
    let new = insert(UniqueTrack("A", "new"))
    context.processPendingChanges()
    let id = new.objectID
    try context.save()
    withExtendedLifetime(subscriptions) {}
    #expect(saves.count == 1 && saves[0].aliases == [id: old.objectID] && saves[0].updated == [old.objectID])
    #expect(saves[0].inserted.isEmpty)
    #expect(changes.flatMap(\.inserted) == [id] && changes.flatMap(\.deleted) == [id])
    #expect(changes.flatMap(\.refreshed) + changes.flatMap(\.updated) == [old.objectID])
  }

  @Test(arguments: [nil, 2])
  func rowsOfABatchAreUnified(_ chunkSize: Int?) async throws {
    let old = try stored("A")
    let rows = [("B", 1), ("A", 2), ("B", 0), ("C", 3), ("A", 0)]
    let ids = try await store.batchInsert(
      UniqueTrack.self,
      from: rows,
      .set(\.code) { $0.0 },
      .set(\.plays) { $0.1 },
      chunkSize: chunkSize
    )
    #expect(ids[1] == old.objectID && ids[4] == ids[1] && ids[0] == ids[2])
    #expect(try shown() == ["A old 2 3", "B  1 -", "C  3 -"])
    await #expect(throws: ContextError.self) {
      try await store.batchInsert(UniqueTrack.self, from: ["A"], .set(\.code) { $0 }, ifExists: .error)
    }
    let kept = try await store.batchInsert(
      UniqueTrack.self,
      from: ["A"],
      .set(\.code) { $0 },
      .set(\.plays) { _ in 8 },
      ifExists: .keep
    )
    #expect(kept == [old.objectID])
    #expect(try shown() == ["A old 2 3", "B  1 -", "C  3 -"])
  }
}
