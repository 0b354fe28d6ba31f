import Cambium
import Foundation
import Observation
import Testing

@testable import GraphContext

/// The sequence `Observations` over the view context.
@MainActor
struct ObservationsTests {
  @Test func aSequenceFollowsSetsAndMerges() async throws {
    let town = try await Town.open()
    let context = town.viewContext
    let venue = Venue("Cave")
    context.insert(venue)
    try context.save()
    let id = venue.objectID
    // Safety: the closure is the main actor's, as the object is.
    nonisolated(unsafe) let shown = venue
    let names = Observations { "\(shown.name) \(shown.nights.count)" }
    var iterator = names.makeAsyncIterator()
    #expect(await iterator.next() == "Cave 0")
    Task { @MainActor in shown.name = "Attic" }
    #expect(await iterator.next() == "Attic 0")
    Task {
      try await town.performBackgroundTask { context in
        try context.object(Venue.self, with: id).nights.append(Night("Opening"))
        try context.save()
      }
    }
    #expect(await iterator.next() == "Attic 1")
    Task { @MainActor in context.undo() }
    #expect(await iterator.next() == "Cave 1")
    Task { @MainActor in
      shown.name = "Barn"
      shown.name = "Tower"
    }
    #expect(await iterator.next() == "Tower 1")
    Task { @MainActor in context.rollback() }
    #expect(await iterator.next() == "Cave 1")
  }

  /// The properties that a computed property reads are observed; others aren't.
  @Test func aComputedPropertyChangesWithWhatItReads() async throws {
    let town = try await Town.open()
    let venue = Venue("Cave", city: "Bern")
    town.viewContext.insert(venue)
    try town.viewContext.save()
    // Safety: the closure is called on the main actor, where the properties are set.
    nonisolated(unsafe) var seen = 0
    func observe() {
      withObservationTracking {
        _ = venue.label
      } onChange: {
        seen += 1
      }
    }
    observe()
    venue.place.city = "Basel"
    #expect(seen == 0)
    venue.size = 5
    #expect(seen == 1)
    observe()
    venue.label = "Attic 7"
    #expect(seen == 2)
    #expect(venue.name == "Attic" && venue.size == 7)
    observe()
    town.viewContext.rollback()
    #expect(seen == 3)
    #expect(venue.label == "Cave 0")
  }
}
