import Cambium
import Observation
import Testing

@testable import GraphContext

/// Observers that list the members of a relationship while it changes.
struct ObservedListTests {
  private let town: PersistentContainer
  private let context: ManagedObjectContext
  private let venue: Venue
  private let nights: [Night]

  init() async throws {
    town = try await Town.open()
    let ids = try await town.write { (context: ManagedObjectContext) throws in
      let venue = Venue("Cave")
      let nights = ["Opening", "Second", "Closing"].map { Night($0) }
      venue.nights = nights
      context.insert(venue)
      context.insert(VenueGuest("Ada"))
      try context.save()
      return [venue.objectID] + nights.map(\.objectID)
    }
    context = try town.context()
    context.isObservable = true
    venue = try context.existingObject(Venue.self, with: ids[0])
    nights = try context.existingObjects(Night.self, with: ids.dropFirst())
  }

  /// Lists the members when somebody changes them. The context has moved on since the last change, so the pending links are made anew.
  private func listWhenTheyChange() async throws {
    // Safety: the closure runs on this thread, in the setter.
    nonisolated(unsafe) let shown = venue
    withObservationTracking {
      _ = venue.nights
    } onChange: {
      _ = (shown.nights.count, shown.nights.map(\.title))
    }
    try await town.batchUpdate(From<VenueGuest>(), .set(\.name, to: "Eve"))
    try context.refresh()
  }

  @Test func aReferenceThatGoesBackIsListedOnce() async throws {
    nights[0].venue = nil
    try await listWhenTheyChange()
    nights[0].venue = venue
    #expect(venue.nights.map(\.title) == ["Second", "Closing", "Opening"])
    #expect(venue.nights.count == 3)
    context.end()
  }

  @Test func aMemberThatIsTakenOutOrDeletedIsListedNoMore() async throws {
    nights[1].price = 5
    try await listWhenTheyChange()
    context.delete(nights[1])
    #expect(venue.nights.map(\.title) == ["Opening", "Closing"])
    try await listWhenTheyChange()
    venue.nights.removeLast()
    #expect(venue.nights.map(\.title) == ["Opening"])
    try await listWhenTheyChange()
    nights[2].venue = venue
    try await listWhenTheyChange()
    nights[0].venue = nil
    #expect(venue.nights.map(\.title) == ["Closing"])
    try context.save()
    #expect(venue.nights.map(\.title) == ["Closing"] && venue.nightCount == 1)
    context.end()
  }
}
