import Cambium
import Testing

@testable import GraphContext

@Model final class Ride {
  var name: String
  @Relationship var line: RideLine?

  init(_ name: String) { self.name = name }
}

@Model final class RideLine {
  var number: Int
  @Relationship(inverse: \Ride.line) var rides: [Ride] = []
  @Relationship(inverse: .hidden) var tags: [RideTag] = []

  init(_ number: Int) { self.number = number }
}

@Model final class RideTag {
  var name: String

  init(_ name: String) { self.name = name }
}

/// Changes of objects that others lead to, by several paths at once or without an inverse.
struct ListDependencyTests {
  @Test func aConditionOnManyLeavesTheOtherPathsAlone() async throws {
    let context = try await Airport.open().context()
    let airline = Airline("AA")
    let gates = [Gate("1"), Gate("2")]
    let flight = Departure(60, "Basel")
    context.insert(flight)
    flight.airline = airline
    flight.gates = [gates[0]]
    context.insert(gates[1])
    try context.save()
    let list = try FetchedResults(
      From<Departure>().where { $0.gates.any { $0.name == "1" } }.orderBy(\.airline?.name, \.minute),
      sectionedBy: SectionedBy(\.airline?.name),
      in: context
    )
    let mirror = ListMirror(list)
    #expect(list.sections.map(\.name) == ["AA"])
    airline.name = "BB"
    gates[1].name = "3"
    context.processPendingChanges()
    #expect(list.sections.map(\.name) == ["BB"])
    #expect(mirror.changes.flatMap(\.changes).map(\.objectID) == [flight.objectID])
  }

  @Test func linksWithoutAnInverseAreNoticed() async throws {
    let container = try await PersistentContainer(
      "Rides",
      models: Ride.self,
      RideLine.self,
      RideTag.self,
      at: .inMemory
    )
    let context = try container.context()
    let (ride, line, tag) = (Ride("a"), RideLine(1), RideTag("x"))
    context.insert(ride)
    context.insert(tag)
    ride.line = line
    try context.save()
    let tagged = From<Ride>().where { $0.line.tags.any { $0.name == "x" } }
    let counter = try CountObserver(tagged, in: context)
    let list = try FetchedResults(tagged.orderBy(\.name), in: context)
    #expect(counter.count == 0 && list.isEmpty)
    line.tags = [tag]
    context.processPendingChanges()
    #expect(counter.count == 1)
    #expect(list.count == 1)
    try context.save()
    let other = try container.context()
    let same = try other.existingObject(RideLine.self, with: line.objectID)
    same.tags = []
    try other.save()
    try context.refresh()
    #expect(counter.count == 0)
    #expect(list.isEmpty)
  }

  /// A save under the policy `rollback` takes a name back, and shows what another context has stored of the same object.
  @Test func whatASaveTakesBackMovesTheObjectsThatLeadToIt() async throws {
    let container = try await Airport.open()
    let context = try container.context()
    context.mergePolicy = .rollback
    let airlines = [Airline("A"), Airline("B")]
    for (minute, airline) in airlines.enumerated() {
      let flight = Departure(minute, "x")
      context.insert(flight)
      flight.airline = airline
    }
    try context.save()
    let byAirline = From<Departure>().orderBy(\.airline?.name, \.minute)
    let list = try FollowedList(
      byAirline,
      SectionedBy(\.airline?.name),
      section: { $0.airline?.name ?? "" },
      in: context
    )
    airlines[0].name = "Z"
    context.processPendingChanges()
    try list.check()
    let other = try container.context()
    try other.existingObject(Airline.self, with: airlines[0].objectID).rank = 9
    try other.save()
    try context.save()
    #expect(airlines[0].name == "A" && airlines[0].rank == 9)
    try list.check()
  }

  /// As above, with a listener that rolls back.
  @Test func aListenerThatRollsBackLeavesListsRight() async throws {
    let context = try await Airport.open().context()
    let airlines = [Airline("A"), Airline("B")]
    for (minute, airline) in airlines.enumerated() {
      let flight = Departure(minute, "x")
      context.insert(flight)
      flight.airline = airline
    }
    try context.save()
    let first = airlines[0].objectID
    let subscription = context.onObjectsDidChange { [unowned context] changes in
      if changes.changedProperties[first] == ["rank"] { context.rollback() }
    }
    let list = try FollowedList(From<Departure>().orderBy(\.airline?.name, \.minute), in: context)
    airlines[0].name = "Z"
    context.processPendingChanges()
    airlines[0].rank = 1
    context.processPendingChanges()
    try list.check()
    withExtendedLifetime(subscription) {}
  }
}
