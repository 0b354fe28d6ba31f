import Cambium
import Testing

@testable import GraphContext

/// The lifetime of observed objects, and the ends of sequences.
struct ObserverEndTests {
  @Test func aSubscriptionToAPropertyKeepsItsObject() async throws {
    let container = try await Airport.open(count: 3_000)
    let (context, other) = (try container.context(), try container.context())
    var cities: [String] = []
    weak var observed: Departure?
    func subscribe() throws -> ContextSubscription {
      let flight = try #require(try context.fetchOne(From<Departure>().where { $0.minute == 7 }))
      observed = flight
      return try flight.observe(\.city) { cities.append("\($0) \($1)") }
    }
    let subscription = try subscribe()
    for _ in 0..<3 { #expect(try context.fetch(From<Departure>().where { $0.minute > 7 }).count == 2_993) }
    try #require(try other.fetchOne(From<Departure>().where { $0.minute == 7 })).city = "Oslo"
    try other.save()
    try context.refresh()
    #expect(cities == ["x7 Oslo"])
    #expect(observed != nil)
    subscription.cancel()
    context.processPendingChanges()
    for _ in 0..<3 { #expect(try context.fetch(From<Departure>().where { $0.minute > 7 }).count == 2_993) }
    #expect(observed == nil)
  }

  @Test func sequencesEndWithTheContext() async throws {
    let container = try await Airport.open(count: 3)
    var context: ManagedObjectContext? = try container.context()
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context!)
    let counter = try CountObserver(From<Departure>(), in: context!)
    let observer = try ObjectObserver(list[0])
    let (changes, snapshots) = (list.changes(), try list.snapshots())
    let (counts, states) = (counter.counts(), observer.changes())
    context!.insert(Departure(9, "new"))
    context!.processPendingChanges()
    context = nil
    var told: [String] = []
    for await change in changes { told.append("\(change.changes.count) changed") }
    for await snapshot in snapshots { told.append("\(snapshot.count) objects") }
    for await count in counts { told.append("\(count) counted") }
    for await state in states { told.append("\(state)") }
    #expect(told == ["1 changed", "4 objects", "4 counted", "initial"])
    withExtendedLifetime((list, counter, observer)) {}
  }

  @Test(.timeLimit(.minutes(60))) func aSequenceOfAGoneContextEnds() async throws {
    let container = try await Airport.open()
    var context: ManagedObjectContext? = try container.context()
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context!)
    context = nil
    for await _ in list.changes() {}
    withExtendedLifetime(list) {}
  }

  @Test(.timeLimit(.minutes(60))) func closingTheStoreEndsWhatFollowsIt() async throws {
    let container = try await Airport.open()
    let updates = container.follow(From<Departure>().orderBy(\.minute))
    let reading = Task { for try await _ in updates { try await container.close() } }
    await #expect(throws: ContextError.self) { try await reading.value }
  }
}
