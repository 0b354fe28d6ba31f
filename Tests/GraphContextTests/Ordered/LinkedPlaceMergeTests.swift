import Cambium
import Foundation
import Testing

@testable import GraphContext

/// A place that another context gives an object in its old list doesn't count in the list that this context links the
/// object to.
struct LinkedPlaceMergeTests {
  private let container: PersistentContainer
  private let old: ManagedObjectID
  private let new: ManagedObjectID
  private let third: ManagedObjectID

  init() async throws {
    container = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    (old, new, third) = try await container.performBackgroundTask { context in
      let lists = ["old", "new", "third"].map { Playlist($0) }
      for list in lists { context.insert(list) }
      lists[0].tracks = (0..<10).map { Track("\($0)") }
      try context.save()
      return (lists[0].objectID, lists[1].objectID, lists[2].objectID)
    }
  }

  private func context() throws -> ManagedObjectContext {
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    context.automaticallyMergesChangesFromParent = false
    return context
  }

  /// Links the tracks 5 and 6 to the new list, in this order. Both are there at the places of their numbers.
  private func link(in context: ManagedObjectContext) throws -> Playlist {
    let (from, to) = (
      try context.object(Playlist.self, with: old), try context.object(Playlist.self, with: new)
    )
    let tracks = from.tracks
    to.tracks.append(tracks[5])
    to.tracks.append(tracks[6])
    #expect(to.titles == ["5", "6"])
    return to
  }

  @Test(arguments: [false, true])
  func aMoveInTheOldListDoesNotReorderTheNewOne(refreshes: Bool) async throws {
    let (first, second) = (try context(), try context())
    let list = try link(in: second)
    let same = try first.object(Playlist.self, with: old)
    // Track 5 becomes the last one of the old list.
    var tracks = same.tracks
    tracks.append(tracks.remove(at: 5))
    same.tracks = tracks
    try first.save()
    if refreshes {
      try second.refresh()
      #expect(list.titles == ["5", "6"])
    }
    try second.save()
    #expect(list.titles == ["5", "6"])
    let third = try context()
    #expect(try third.object(Playlist.self, with: new).titles == ["5", "6"])
    for context in [first, second, third] { context.end() }
  }

  @Test func aWonConflictTakesNoPlaceOfTheOtherList() async throws {
    let (first, second) = (try context(), try context())
    second.mergePolicy = .mergeByPropertyObjectTrump
    let list = try link(in: second)
    // The first context puts track 5 behind track 8, into a third list.
    let (from, other) = (
      try first.object(Playlist.self, with: old), try first.object(Playlist.self, with: third)
    )
    let tracks = from.tracks
    other.tracks.append(tracks[8])
    other.tracks.append(tracks[5])
    #expect(other.titles == ["8", "5"])
    try first.save()
    try second.save()
    #expect(list.titles == ["5", "6"])
    let reader = try context()
    #expect(try reader.object(Playlist.self, with: new).titles == ["5", "6"])
    for context in [first, second, reader] { context.end() }
  }
}
