import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Values that a unified object gives to the existing one, and that the existing one has already, are no changes.
struct UnifiedEqualValueTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext
  private let track: UniqueTrack
  private let same: UniqueTrack

  init() async throws {
    store = try await Tracks.open()
    (context, other) = (try store.context(), try store.context())
    track = UniqueTrack("A", "old", plays: 5, rating: 3)
    context.insert(track)
    track.album = UniqueAlbum("Blue")
    try context.save()
    try other.refresh()
    same = try other.existingObject(UniqueTrack.self, with: track.objectID)
  }

  /// The save changes `plays` alone: the new object has the rating that the stored one has.
  @Test func anEqualAttributeOfAChangedObjectIsNoConflictElsewhere() throws {
    same.rating = 4
    track.plays = 6
    context.insert(UniqueTrack("A", rating: 3))
    try context.save()
    #expect(throws: Never.self) { try other.save() }
    try context.refresh()
    #expect(track.rating == 4 && track.plays == 6)
    for context in [context, other] { context.end() }
  }

  /// Nobody else has changed the rating, so the store has no value that could win.
  @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump])
  func anUncontestedChangeIsNotLost(_ policy: MergePolicy) throws {
    other.mergePolicy = policy
    same.rating = 4
    track.plays = 6
    context.insert(UniqueTrack("A", rating: 3))
    try context.save()
    try other.save()
    try context.refresh()
    #expect(same.rating == 4 && track.rating == 4 && track.plays == 6)
    for context in [context, other] { context.end() }
  }

  @Test func theHistoryNamesWhatHasChanged() async throws {
    try await store.keepHistory()
    let token = try store.newestHistoryToken()
    track.plays = 6
    context.insert(UniqueTrack("A", rating: 3))
    // An importer makes the album anew; the save unifies it with the one that the track has.
    track.album = UniqueAlbum("Blue")
    try context.save()
    #expect(track.album?.title == "Blue")
    let changes = try await store.history(HistoryQuery(after: token)).flatMap(\.changes)
    #expect(changes.map(\.objectID) == [track.objectID])
    #expect(changes.map(\.properties) == [["plays"]])
    for context in [context, other] { context.end() }
  }

  /// As with one such object, of which `UniquePolicyTests.mergingEqualValuesStoresNothing` tells.
  @Test func mergingEqualValuesTwiceStoresNothing() throws {
    let commit = context.source.commit
    for _ in 0..<2 { context.insert(UniqueTrack("A", "old", plays: 5, rating: 3)) }
    try context.save()
    #expect(context.source.commit == commit && !context.hasChanges)
    for context in [context, other] { context.end() }
  }
}
