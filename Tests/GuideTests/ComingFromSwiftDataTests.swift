import Cambium
import Foundation
import TestSupport
import Testing

private enum Apple {
  // Quoted in Docs/ComingFromSwiftData.md
  @Model final class Trip {
    #Index<Trip>([\.start])
    @Attribute(.unique(ifExists: .replace), .preserveValueOnDeletion) var name: String
    var start: Date = .now
    var rating: Int?
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

    init(name: String) { self.name = name }
  }

  @Model final class Stop {
    var place: String
    @Relationship var trip: Trip?

    init(_ place: String) { self.place = place }
  }
  // End of quotation
}

private typealias Trip = Apple.Trip
private typealias Stop = Apple.Stop

struct ComingFromSwiftDataTests {
  @Test @MainActor func theGuideDoesWhatItSays() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("trips.cambium"))
    // Quoted in Docs/ComingFromSwiftData.md
    let trips = try await PersistentContainer("Trips", models: Trip.self, Stop.self, at: url)
    let context = trips.viewContext
    // End of quotation
    try await trips.keepHistory()
    let token = try trips.newestHistoryToken()
    // Quoted in Docs/ComingFromSwiftData.md
    let trip = Trip(name: "Iceland")
    context.insert(trip)
    trip.stops = [Stop("Vík"), Stop("Höfn")]
    try context.save()
    let count = try context.deleteAll(From<Trip>().where { $0.rating < 2 })  // Stored by the next save.
    // End of quotation
    #expect(count == 0)
    try fetch(context)
    // Quoted in Docs/ComingFromSwiftData.md
    let importer = try trips.newBackgroundContext(name: "import")
    try await importer.perform { context in
      for name in ["Norway", "Peru"] { context.insert(Trip(name: name)) }
      try context.save()
    }
    let all = try await trips.query { try $0.count(From<Trip>()) }  // A context that only reads.
    // End of quotation
    #expect(all == 3)
    try trips.waitForViewContext()
    try edit(context, trip)
    #expect(
      try await trips.query { try $0.fetch(From<Trip>().orderBy(\.name)).map(\.name) }
        == ["Chile", "Iceland", "Norway", "Peru"]
    )
    // Quoted in Docs/ComingFromSwiftData.md
    try await trips.keepHistory()
    for transaction in try await trips.history(HistoryQuery(after: token, entities: [Trip.entityName])) {
      for change in transaction.changes { print(change.kind, change.properties, change.tombstone) }
    }
    // End of quotation
    #expect(try await trips.history(HistoryQuery(after: token)).count == 3)
    try await trips.close()
  }

  @MainActor private func fetch(_ context: ManagedObjectContext) throws {
    // Quoted in Docs/ComingFromSwiftData.md
    let request = From<Trip>().where { $0.stops.any { $0.place == "Vík" } }.limit(10)
    let found = try context.fetch(request.orderBy(\.start))
    let predicate = #Predicate<Trip> { $0.stops.contains { $0.place == "Vík" } }
    let same = try context.fetch(From<Trip>().where(predicate).orderBy([SortDescriptor(\.start)]))
    let places = try context.fetch(From<Stop>().select(\.place).distinct())
    // End of quotation
    #expect(found.count == 1 && same.map(\.objectID) == found.map(\.objectID) && places.count == 2)
  }

  @MainActor private func edit(_ context: ManagedObjectContext, _ trip: Trip) throws {
    // Quoted in Docs/ComingFromSwiftData.md
    trip.rating = 5
    context.processPendingChanges()
    context.undo()
    // A form that can be cancelled: nothing of it is in the context before it saves.
    let draft = context.makeChild()
    draft.insert(Trip(name: "Chile"))
    try draft.save()
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    // End of quotation
    #expect(trip.rating == nil)
  }
}
