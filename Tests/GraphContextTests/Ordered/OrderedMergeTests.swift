import Cambium
import Foundation
import Observation
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Ordered relationships that several contexts change.
struct OrderedMergeTests {
  private let container: PersistentContainer
  private let list: ManagedObjectID

  init() async throws {
    container = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    list = try await container.performBackgroundTask { context in
      let list = Playlist("A")
      context.insert(list)
      list.tracks = (0..<300).map { Track("\($0)") }
      try context.save()
      return list.objectID
    }
  }

  private func context() throws -> ManagedObjectContext {
    let context = ManagedObjectContext(
      container.coordinator,
      showing: try container.coordinator.engine.newestSource()
    )
    context.automaticallyMergesChangesFromParent = false
    return context
  }

  @Test func twoContextsMoveAHundredEach() async throws {
    var generator = SeededGenerator()
    let (first, second) = (try context(), try context())
    let lists = try [first, second].map { try $0.object(Playlist.self, with: list) }
    for _ in 0..<100 {
      for list in lists {
        let track = list.tracks[generator.number(in: 0...299)]
        list.tracks.removeAll { $0 === track }
        list.tracks.insert(track, at: generator.number(in: 0...299))
      }
    }
    try first.save()
    try second.save()
    try first.refresh()
    let titles = lists[0].titles
    #expect(titles == lists[1].titles)
    #expect(titles.count == 300 && Set(titles).count == 300)
    let third = try context()
    #expect(try third.object(Playlist.self, with: list).titles == titles)
  }

  @Test(arguments: [MergePolicy.overwrite, .rollback], [true, false])
  func aMoveAndAnEditConflictUnderNoPolicy(_ policy: MergePolicy, movesLast: Bool) async throws {
    let (first, second) = (try context(), try context())
    let lists = try [first, second].map { try $0.object(Playlist.self, with: list) }
    second.mergePolicy = policy
    let track = lists[1].tracks[5]
    lists[movesLast ? 0 : 1].tracks[5].title = "edited"
    lists[movesLast ? 1 : 0].tracks.move(from: 5, to: 200)
    try first.save()
    try second.save()
    #expect(track.title == "edited" && lists[1].tracks[200] === track)
  }

  @Test func aMoveAndAnEditDontConflict() async throws {
    let (first, second) = (try context(), try context())
    let lists = try [first, second].map { try $0.object(Playlist.self, with: list) }
    let track = lists[0].tracks[5]
    lists[0].tracks.swapAt(5, 200)
    lists[1].tracks[5].title = "edited"
    lists[1].tracks.append(Track("new"))
    try first.save()
    try second.save()
    #expect(lists[1].tracks[200].title == "edited" && lists[1].tracks[300].title == "new")
    try first.refresh()
    #expect(track.title == "edited" && lists[0].titles == lists[1].titles)
  }

  @Test(arguments: [MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .rollback])
  func twoContextsMoveOneObject(_ policy: MergePolicy) async throws {
    let (first, second) = (try context(), try context())
    second.mergePolicy = policy
    let lists = try [first, second].map { try $0.object(Playlist.self, with: list) }
    let titles = lists[0].titles
    lists[0].tracks.move(from: 10, to: 0)
    lists[1].tracks.move(from: 10, to: 299)
    try first.save()
    try second.save()
    let keepsFirst = policy == .mergeByPropertyStoreTrump || policy == .rollback
    #expect(lists[1].titles.firstIndex(of: titles[10]) == (keepsFirst ? 0 : 299))
    try first.refresh()
    #expect(lists[0].titles == lists[1].titles && lists[0].titles.count == 300)
  }

  @Test func aMoveOfWhatAnotherHasTakenAwayIsForgotten() async throws {
    let (first, second) = (try context(), try context())
    let lists = try [first, second].map { try $0.object(Playlist.self, with: list) }
    let other = Playlist("B")
    first.insert(other)
    other.tracks = [lists[0].tracks[3], lists[0].tracks[1], lists[0].tracks[2]]
    first.delete(lists[0].tracks[0])
    lists[1].tracks.move(from: 1, to: 200)
    lists[1].tracks.move(from: 0, to: 20)
    lists[1].tracks.move(from: 100, to: 0)
    try first.save()
    try second.save()
    let copy = try second.object(Playlist.self, with: other.objectID)
    #expect(copy.titles == ["3", "1", "2"])
    #expect(lists[1].titles.count == 296)
    try first.refresh()
    #expect(lists[0].titles == lists[1].titles && other.titles == copy.titles)
  }

  @Test func aChildReadsAListWhoseMovedMemberItsParentDeletes() async throws {
    let parent = try context()
    let child = parent.makeChild()
    let above = try parent.object(Playlist.self, with: list)
    let below = try child.object(Playlist.self, with: list)
    var titles = below.titles
    below.tracks.move(from: 250, to: 3)
    parent.delete(above.tracks[250])
    titles.remove(at: 250)
    #expect(below.titles == titles)
  }

  /// The merge reads lists for observers, before it has looked at each object that differs.
  @Test(arguments: [false, true])
  func aMovedMemberThatAnotherHasDeletedIsInNoObservedList(_ isMovedElsewhere: Bool) async throws {
    let (first, second) = (try context(), try context())
    second.isObservable = true
    let other = Playlist("B")
    first.insert(other)
    other.tracks = [Track("x"), Track("y")]
    try first.save()
    try second.refresh()
    let list = try second.object(Playlist.self, with: self.list)
    let observed = try second.object(Playlist.self, with: other.objectID)
    list.tracks.move(from: 5, to: 20)
    let moved = list.tracks[20]
    #expect(moved.playlist === list)
    _ = withObservationTracking({ observed.tracks.count }, onChange: {})
    let told = Mutex(false)
    let count = withObservationTracking({ list.tracks.count }, onChange: { told.withLock { $0 = true } })
    let remaining = list.titles.filter { $0 != moved.title }

    first.delete(other)
    try first.save()
    let elsewhere = try first.object(Track.self, with: moved.objectID)
    if isMovedElsewhere {
      let third = Playlist("C")
      first.insert(third)
      third.tracks.append(elsewhere)
    } else {
      first.delete(elsewhere)
    }
    try first.save()
    try second.refresh()
    #expect(list.titles == remaining)
    #expect(list.tracks.count == count - 1)
    #expect(told.withLock { $0 })
  }

  /// Nothing but the place that the child has given the object keeps it there.
  @Test(arguments: [false, true])
  func aMovedMemberThatTheParentHasDeletedLeavesTheChildWithItsSave(_ isMerged: Bool) async throws {
    let parent = try context()
    let child = parent.makeChild()
    let shown = try FetchedResults(From<Track>().orderBy(\.title), in: child)
    let below = try child.object(Playlist.self, with: list)
    let moved = below.tracks[250]
    below.tracks.move(from: 250, to: 3)
    child.processPendingChanges()
    let deleting = isMerged ? try context() : parent
    deleting.delete(try deleting.object(Playlist.self, with: list).tracks[250])
    if isMerged {
      try deleting.save()
      try parent.refresh()
    }
    try child.save()
    child.processPendingChanges()
    #expect(moved.isDeleted)
    #expect(!shown.contains { $0.title == "250" })
    #expect(shown.map(\.title) == (try child.fetch(From<Track>().orderBy(\.title)).map(\.title)))
  }

  @Test func aListWhoseMovedMemberAnotherHasDeletedIsReadBeforeTheSave() async throws {
    let (first, second) = (try context(), try context())
    let lists = try [first, second].map { try $0.object(Playlist.self, with: list) }
    var titles = lists[0].titles
    lists[1].tracks.move(from: 10, to: 200)
    first.delete(lists[0].tracks[10])
    titles.remove(at: 10)
    try first.save()
    try second.refresh()
    #expect(lists[1].titles == titles)
    try second.save()
    #expect(lists[1].titles == titles)
  }

  @Test func twoContextsStealOneObject() async throws {
    let (first, second) = (try context(), try context())
    second.mergePolicy = .mergeByPropertyObjectTrump
    var lists: [Playlist] = []
    for (name, context) in [("B", first), ("C", second)] {
      let list = Playlist(name)
      context.insert(list)
      list.tracks.append(try context.object(Playlist.self, with: self.list).tracks[7])
      list.tracks.insert(Track("\(name)1"), at: 0)
      lists.append(list)
    }
    try first.save()
    try second.save()
    try first.refresh()
    #expect(lists[0].titles == ["B1"] && lists[1].titles == ["C1", "7"])
    #expect(try first.object(Playlist.self, with: list).titles.count == 299)
  }

  @Test func aChildHandsItsOrderOver() async throws {
    let parent = try context()
    let child = parent.makeChild()
    let (above, below) = (
      try parent.object(Playlist.self, with: list), try child.object(Playlist.self, with: list)
    )
    below.tracks.move(from: 250, to: 3)
    above.tracks.move(from: 0, to: 5)
    #expect(below.titles[0..<7] == ["1", "2", "250", "3", "4", "5", "0"])
    below.tracks.insert(Track("new"), at: 1)
    try child.save()
    #expect(above.titles[0..<8] == ["1", "new", "2", "250", "3", "4", "5", "0"])
    try parent.save()
    #expect(above.titles == below.titles)
  }

  @Test func undoGivesTheOrderBack() async throws {
    let context = try context()
    let undo = ContextUndoManager()
    context.undoManager = undo
    let list = try context.object(Playlist.self, with: list)
    let titles = list.titles
    var later: [[String]] = []
    for step in 0..<20 {
      undo.beginUndoGrouping()
      list.tracks.move(from: step * 10, to: 299 - step * 3)
      if step % 3 == 0 { list.tracks.insert(Track("new \(step)"), at: step) }
      if step % 4 == 0 { list.tracks.remove(at: step * 2) }
      if step == 7 { context.delete(list.tracks[100]) }
      if step == 11 { try context.save() }
      undo.endUndoGrouping()
      later.append(list.titles)
    }
    for step in (0..<20).reversed() {
      #expect(list.titles == later[step])
      #expect(context.undo())
    }
    #expect(list.titles == titles)
    for step in 0..<20 {
      #expect(context.redo())
      #expect(list.titles == later[step])
    }
  }
}

extension Array {
  /// Moves the element at a position, so that it is at another one afterwards.
  mutating func move(from old: Int, to new: Int) { insert(remove(at: old), at: new) }
}

private enum Import {
  @Model final class Feed {
    @Attribute(.unique(ifExists: .merge)) var name: String
    @Relationship(.ordered, inverse: \Item.feed) var items: [Item] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Item {
    @Attribute(.unique(ifExists: .merge)) var code: Int
    @Relationship(.ordered) var feed: Feed?
    init(_ code: Int) { self.code = code }
  }
}

/// Imports of lists whose objects exist already, and deletions by other contexts.
struct OrderedImportTests {
  @Test func anImportGivesTheOrderToObjectsThatExist() async throws {
    let container = try await PersistentContainer(
      "Feeds",
      models: Import.Feed.self,
      Import.Item.self,
      at: .inMemory
    )
    for codes in [[1, 2, 3], [3, 4, 1, 5, 2], [5, 9]] {
      try await container.performBackgroundTask { context in
        let feed = Import.Feed("news")
        feed.items = codes.map(Import.Item.init)
        context.insert(feed)
        try context.save()
      }
      let shown = try await container.performBackgroundTask { context in
        try #require(try context.fetch(From<Import.Feed>()).first).items.map(\.code)
      }
      // Items that the feed had before stay, in an order of their own.
      #expect(shown.filter(codes.contains) == codes)
      #expect(try await container.verify() == [])
    }
  }

  @Test func batchesKeepListsWhole() async throws {
    let container = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let id = try await container.performBackgroundTask { context in
      let list = Playlist("A")
      list.tracks = (0..<10).map { Track("\($0)") }
      context.insert(list)
      list.tracks.reverse()
      try context.save()
      return list.objectID
    }
    _ = try await container.batchDelete(From<Track>().where { $0.title == "7" })
    let titles = try await container.performBackgroundTask { context in
      let list = try context.object(Playlist.self, with: id)
      defer { context.delete(list) }
      return list.titles
    }
    #expect(titles == ["9", "8", "6", "5", "4", "3", "2", "1", "0"])
    #expect(try await container.verify() == [])
    try await container.performBackgroundTask { context in
      context.delete(try context.object(Playlist.self, with: id))
      try context.save()
      #expect(try context.count(From<Track>()) == 0)
    }
    #expect(try await container.verify() == [])
  }
}
