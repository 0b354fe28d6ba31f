import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Ordered to-many relationships in one context, in the store, and in others.
struct OrderedRelationshipTests {
  private func open() async throws -> PersistentContainer {
    try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
  }

  @Test func aDiscardedDeletionGivesTheOrderBack() async throws {
    let lists = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let context = try lists.context()
    defer { context.end() }
    let list = Playlist("L")
    context.insert(list)
    list.queued.append(contentsOf: ["a", "b", "c"].map(Track.init))
    list.queued.move(from: 2, to: 0)
    try context.save()
    context.delete(list)
    context.discardChanges(of: list)
    #expect(list.queuedTitles == ["c", "a", "b"])
    #expect(!context.hasChanges)
  }

  @Test(arguments: [1, 100]) func aBatchAppendsToAReorderedList(chunkSize: Int) async throws {
    let lists = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let context = try lists.context()
    defer { context.end() }
    let (list, other) = (Playlist("L"), Playlist("M"))
    context.insert(list)
    context.insert(other)
    list.queued.append(contentsOf: ["a", "b", "c"].map(Track.init))
    for _ in 0..<20 { list.queued.move(from: 0, to: 2) }
    try context.save()
    let before = list.queuedTitles
    let (id, otherID) = (list.objectID, other.objectID)
    try await lists.batchInsert(
      Track.self,
      from: ["d", "x", "e", "y", "f"],
      .set(\.title) { $0 },
      .set(\.queue) { $0 < "g" ? id : otherID },
      chunkSize: chunkSize
    )
    try context.refresh()
    #expect(list.queuedTitles == before + ["d", "e", "f"])
    #expect(other.queuedTitles == ["x", "y"])
    #expect(try await lists.verify().map(\.description) == [])
  }

  @Test func arraysKeepTheOrderTheyAreGiven() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let list = Playlist("A")
      context.insert(list)
      let (a, b, c, d) = (Track("a"), Track("b"), Track("c"), Track("d"))
      list.tracks = [c, a, b]
      #expect(list.titles == ["c", "a", "b"])
      #expect(a.playlist === list)
      list.tracks.insert(d, at: 1)
      #expect(list.titles == ["c", "d", "a", "b"])
      list.tracks.append(Track("e"))
      list.tracks.swapAt(0, 4)
      #expect(list.titles == ["e", "d", "a", "b", "c"])
      try context.save()
      #expect(list.titles == ["e", "d", "a", "b", "c"])
      list.tracks.remove(at: 2)
      list.tracks.reverse()
      #expect(list.titles == ["c", "b", "d", "e"])
      #expect(a.playlist == nil)
      try context.save()
    }
    try await container.performBackgroundTask { context in
      let list = try #require(try context.fetch(From<Playlist>()).first)
      #expect(list.titles == ["c", "b", "d", "e"])
      let sorted = try context.fetch(
        From<Track>().where { $0.playlist == list }.orderBy(.position(in: \.playlist)).offset(1).limit(2)
      )
      #expect(sorted.map(\.title) == ["b", "d"])
    }
  }

  @Test func whatIsGivenBeforeTheInsertionKeepsItsOrder() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let list = Playlist("A")
      let tracks = ["c", "a", "b"].map(Track.init)
      list.tracks = tracks
      tracks[2].playlist = list
      context.insert(tracks[2])
      #expect(list.titles == ["c", "a", "b"])
      let other = Playlist("B")
      other.queued = [tracks[1], tracks[0]]
      other.queued.insert(tracks[2], at: 1)
      #expect(other.queuedTitles == ["a", "b", "c"])
      context.insert(other)
      #expect(other.queuedTitles == ["a", "b", "c"])
      try context.save()
      #expect(list.titles == ["c", "a", "b"])
      #expect(other.queuedTitles == ["a", "b", "c"])
    }
  }

  @Test func theViewKnowsPositions() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let list = Playlist("A")
      context.insert(list)
      let tracks = (0..<100).map { Track("\($0)") }
      for track in tracks { list.queued.append(track) }
      try context.save()
      #expect(list.queued[17] === tracks[17])
      #expect(list.queued[10..<13].map(\.title) == ["10", "11", "12"])
      #expect(list.queued.firstIndex(of: tracks[42]) == 42)
      list.queued.move(from: 99, to: 0)
      #expect(list.queued[0] === tracks[99] && list.queued[1] === tracks[0])
      list.queued.move(fromOffsets: IndexSet([0, 2, 4]), toOffset: 6)
      #expect(list.queued[0..<7].map(\.title) == ["0", "2", "4", "99", "1", "3", "5"])
      #expect(list.queued.remove(at: 3) === tracks[99])
      #expect(tracks[99].queue == nil && list.queued.count == 99)
      list.queued.insert(tracks[50], at: 0)
      #expect(list.queued.count == 99 && list.queued.firstIndex(of: tracks[50]) == 0)
      try context.save()
      #expect(list.queued[0..<4].map(\.title) == ["50", "0", "2", "4"])
    }
  }

  @Test func aListStealsFromAnother() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let (first, second) = (Playlist("A"), Playlist("B"))
      context.insert(first)
      context.insert(second)
      let tracks = ["a", "b", "c"].map(Track.init)
      first.tracks = tracks
      second.tracks = [Track("x"), tracks[1], Track("y")]
      #expect(first.titles == ["a", "c"])
      #expect(second.titles == ["x", "b", "y"])
      tracks[0].playlist = second
      #expect(first.titles == ["c"])
      #expect(second.titles == ["x", "b", "y", "a"])
      try context.save()
      #expect(first.titles == ["c"])
      #expect(second.titles == ["x", "b", "y", "a"])
    }
  }

  @Test func insertionsInTheMiddleHaveShortPlaces() async throws {
    let container = try await open()
    try await container.performBackgroundTask { context in
      let list = Playlist("A")
      context.insert(list)
      var titles = ["first", "last"]
      list.queued = [Track("first"), Track("last")]
      for number in 0..<1_000 {
        // After the first, before the last, and in the middle.
        let position = [1, titles.count - 1, titles.count / 2][number / 400]
        list.queued.insert(Track("\(number)"), at: position)
        titles.insert("\(number)", at: position)
        if number % 100 == 0 { try context.save() }
      }
      #expect(list.queuedTitles == titles)
      try context.save()
      #expect(list.queuedTitles == titles)
      let sizes = try context.fetch(From<Track>()).map { $0.placeByteCount }
      #expect(sizes.max() ?? 0 <= 16)
    }
  }

  @Test func aHistoryNamesTheRelationshipOfWhatWasMoved() async throws {
    let container = try await open()
    try await container.keepHistory()
    let moved = try await container.performBackgroundTask { context in
      let list = Playlist("A")
      list.queued = [Track("a"), Track("b"), Track("c")]
      context.insert(list)
      try context.save()
      list.queued.move(from: 2, to: 0)
      #expect(list.queued[0].changedValues.isEmpty && list.queued[0].hasPersistentChanges)
      try context.save()
      #expect(list.queuedTitles == ["c", "a", "b"])
      return list.queued[0].objectID
    }
    let changes = try await container.history().last?.changes ?? []
    #expect(changes.map(\.objectID) == [moved] && changes.map(\.properties) == [["queue"]])
  }

  @Test func insertionsAtTheFrontHaveShortPlaces() async throws {
    let count = TestEffort.times(2_000, long: 20_000)
    let container = try await open()
    let other = try await container.performBackgroundTask { context in
      let list = Playlist("A")
      context.insert(list)
      for number in 0..<count { list.queued.insert(Track("\(number)"), at: 0) }
      #expect(list.queuedTitles == (0..<count).reversed().map { "\($0)" })
      try context.save()
      #expect(list.queuedTitles == (0..<count).reversed().map { "\($0)" })
      list.queued.insert(Track("last"), at: 0)
      #expect(context.updatedObjects.isEmpty)
      try context.save()
      let keys = try context.fetch(From<Track>()).map(\.placeByteCount)
      let average = Double(keys.reduce(0, +)) / Double(keys.count)
      #expect(average <= 16 && keys.max() ?? 0 <= 16)
      print("average bytes of a place: \(average), greatest \(keys.max() ?? 0)")
      return list.objectID
    }
    try await container.performBackgroundTask { context in
      let list = try context.object(Playlist.self, with: other)
      #expect(list.queued.count == count + 1)
      #expect(list.queued[count / 2].title == "\(count - count / 2)")
    }
  }

  @Test func aListThatCannotBeReadTrapsNothing() async throws {
    let container = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let (listID, trackID) = try await container.write { (context: ManagedObjectContext) throws in
      let (list, track) = (Playlist("A"), Track("a"))
      context.insert(list)
      context.insert(track)
      try context.save()
      return (list.objectID, track.objectID)
    }
    let context = try container.context()
    defer { context.end() }
    let list = try context.existingObject(Playlist.self, with: listID)
    let track = try context.existingObject(Track.self, with: trackID)
    #expect(track.queue == nil && list.name == "A")
    try await container.close()
    track.queue = list
    list.tracks = [track]
    list.queued.append(track)
    #expect(throws: ContextError.self) { try context.save() }
  }

  @Test func aDeletedObjectJoinsNoList() async throws {
    let container = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let context = try container.context()
    defer { context.end() }
    let list = Playlist("A")
    context.insert(list)
    list.queued.append(contentsOf: ["a", "b"].map { Track($0) })
    let other = Track("c")
    context.insert(other)
    try context.save()
    context.delete(other)
    list.queued.insert(other, at: 0)
    #expect(list.queuedTitles == ["a", "b"] && list.queued.count == 2)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .missingDestination)
  }
}

extension Track {
  /// The bytes of the object's place in the queue.
  fileprivate var placeByteCount: Int {
    if case .data(let data) = attributeValue(at: 5) { data.count } else { 0 }
  }
}
