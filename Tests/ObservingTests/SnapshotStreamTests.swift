import Cambium
import Testing

@testable import GraphContext

/// States of objects, lists and sections as values, and sequences of them.
@Suite(.timeLimit(.minutes(60))) struct SnapshotStreamTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() async throws {
    container = try await Airport.open()
    context = try container.context()
    for minute in [60, 61, 120, 180] { context.insert(Departure(minute, "c\(minute)")) }
    try context.save()
  }

  private func flight(_ minute: Int) throws -> Departure {
    try #require(try context.fetchOne(From<Departure>().where { $0.minute == minute }))
  }

  private func byHour() throws -> FetchedResults<Departure> {
    let request = From<Departure>().orderBy(\.hour, \.minute)
    return try FetchedResults(request, sectionedBy: SectionedBy(\.hour), in: context)
  }

  @Test func aSnapshotIsReadByPathsAndIDs() throws {
    let snapshot = try byHour().snapshot()
    let ids = try [60, 61, 120, 180].map { try flight($0).objectID }
    #expect(snapshot[section: 0, item: 1] == ids[1])
    #expect(snapshot[ListPath(section: 2, item: 0)] == ids[3])
    #expect(snapshot[safe: 3] == ids[3] && snapshot[safe: 4] == nil && snapshot[safe: -1] == nil)
    #expect(snapshot[safe: ListPath(section: 1, item: 0)] == ids[2])
    for path in [(-1, 0), (3, 0), (0, 2), (0, -1)] {
      #expect(snapshot[safe: ListPath(section: path.0, item: path.1)] == nil)
    }
    #expect(snapshot.position(of: ids[2]) == 2)
    #expect(snapshot.path(of: ids[3]) == ListPath(section: 2, item: 0))
    #expect(Array(snapshot.snapshot(ofSection: 0)) == Array(ids[0...1]))
    #expect(snapshot.snapshot(ofSection: 1).sectionNames == [])
    let foreign = Airline("x")
    context.insert(foreign)
    #expect(snapshot.position(of: foreign.objectID) == nil)
  }

  /// Each turn that concerns the section yields a state; other turns yield none.
  @Test func aSectionTellsOfItself() async throws {
    let list = try byHour()
    let states = try list.snapshots(ofSectionNamed: "1")
    let collected = Task {
      var counts: [Int] = []
      for await state in states {
        counts.append(state.count)
        if state.count == 9 { break }
      }
      return counts
    }
    var told = 0
    let subscription = list.onChange { _ in told += 1 }
    // Elsewhere, which concerns other sections.
    try flight(180).city = "y"
    context.processPendingChanges()
    // A change of values, a new object, an object that moves to another section, the end of the section, and its return.
    try flight(61).city = "y"
    context.processPendingChanges()
    #expect(try list.snapshot(ofSectionNamed: "1").count == 2)
    context.insert(Departure(62, "z"))
    context.processPendingChanges()
    #expect(try list.snapshot(ofSectionNamed: "1").count == 3)
    for minute in [60, 61, 62] { try flight(minute).hour = 5 }
    context.processPendingChanges()
    #expect(try list.snapshot(ofSectionNamed: "1").isEmpty)
    for minute in 63..<72 { context.insert(Departure(minute, "z")) }
    context.processPendingChanges()
    let counts = await collected.value
    // A slow consumer may miss states.
    #expect(counts.last == 9)
    #expect(told == 5)
    withExtendedLifetime(subscription) {}
  }

  @Test func whatConcernsOtherSectionsIsNotTold() async throws {
    let list = try byHour()
    let states = try list.snapshots(ofSectionNamed: "2")
    var (section, concerned) = (SectionOfName("2", number: 1), [Bool]())
    let subscription = list.onChange { concerned.append(section.follow($0)) }
    var iterator = states.makeAsyncIterator()
    #expect(await iterator.next()?.count == 1)
    try flight(60).city = "y"
    context.processPendingChanges()
    try flight(180).hour = 1
    context.processPendingChanges()
    let same = try list.snapshot(ofSectionNamed: "2")
    try flight(120).city = "y"
    context.processPendingChanges()
    #expect(await iterator.next() == same)
    context.delete(try flight(120))
    context.processPendingChanges()
    #expect(await iterator.next()?.isEmpty == true)
    #expect(concerned == [false, false, true, true])
    withExtendedLifetime(subscription) {}
  }

  /// A state that can't be read is reported once it can be read.
  @Test func aStateThatCouldNotBeReadComesLater() async throws {
    let (flight, other) = (try flight(60), try container.context())
    // A listener that comes before the observer leaves an error.
    var subscription: ContextSubscription? = context.onObjectsDidChange { [unowned context] _ in
      context.deferred.note(ContextError(.store, "a read has failed"))
    }
    let observer = try ObjectObserver(flight)
    var states = try observer.snapshots().makeAsyncIterator()
    _ = await states.next()
    try other.existingObject(Departure.self, with: flight.objectID).city = "Bern"
    try other.save()
    try? context.refresh()
    subscription?.cancel()
    subscription = nil
    context.rollback()
    context.insert(Departure(600, "z"))
    context.processPendingChanges()
    #expect(await states.next()??.city == "Bern")
  }

  @Test func anObjectIsTheValuesOfItsStates() async throws {
    let flight = try flight(60)
    var observer: ObjectObserver? = try ObjectObserver(flight)
    #expect(try observer?.snapshot()?.city == "c60")
    var iterator = try #require(try observer?.snapshots()).makeAsyncIterator()
    #expect(await iterator.next()??.city == "c60")
    flight.city = "Bern"
    context.processPendingChanges()
    #expect(await iterator.next()??.city == "Bern")
    observer?.pause()
    flight.city = "Genf"
    context.processPendingChanges()
    observer?.resume()
    #expect(await iterator.next()??.city == "Genf")
    context.delete(flight)
    // The snapshot also reflects a deletion that no event has reported yet.
    #expect(try observer?.snapshot() == nil)
    context.processPendingChanges()
    let gone = await iterator.next()
    #expect(gone != nil && gone! == nil)
    #expect(try observer?.snapshot() == nil)
    observer = nil
    #expect(await iterator.next() == nil)
  }

  @Test func aSnapshotOfAnObjectHasItsMembers() async throws {
    let (flight, airline) = (try flight(60), Airline("Swiss"))
    let gates = [Gate("B1"), Gate("B2")]
    context.insert(airline)
    flight.airline = airline
    airline.departures.append(try self.flight(61))
    flight.gates = gates
    let old = try ObjectSnapshot(airline)
    #expect(old.name == "Swiss" && old.objectID == airline.objectID)
    #expect(old.departures == [flight.objectID, try self.flight(61).objectID])
    let ofFlight = try ObjectSnapshot(flight)
    #expect(ofFlight.gates == gates.map(\.objectID) && ofFlight.airline == airline.objectID)
    try context.save()
    #expect(try ObjectSnapshot(flight) == ofFlight)
    // A copy can be changed without effect on anything else.
    var copy = ofFlight
    copy.city = "Bern"
    copy.gates.removeLast()
    #expect(copy != ofFlight && copy.gates == [gates[0].objectID] && flight.city == "c60")
    context.delete(gates[1])
    context.processPendingChanges()
    #expect(try ObjectSnapshot(flight).gates == [gates[0].objectID])
    #expect(ofFlight.gates.count == 2)
    for object in [flight, Departure(1, "new")] {
      context.delete(object)
      #expect(throws: ContextError.self) { try ObjectSnapshot(object) }
    }
  }

  /// Adding or removing a member gives the owner a new state, although the owner's values stay the same.
  @Test func membersThatComeAndGoAreStates() async throws {
    let airline = Airline("Swiss")
    context.insert(airline)
    try context.save()
    let observer = try ObjectObserver(airline)
    var states = try observer.snapshots().makeAsyncIterator()
    var values = try observer.values().makeAsyncIterator()
    #expect(await states.next()??.departures == [])
    #expect(await values.next()??.name == "Swiss")
    let (first, second) = (try flight(60), try flight(61))
    for members in [[first], [first, second], [second], []] {
      airline.departures = members
      context.processPendingChanges()
      // This change gives the airline no new state.
      first.city += "x"
      context.processPendingChanges()
      #expect(await states.next()??.departures == members.map(\.objectID))
    }
    second.airline = airline
    observer.pause()
    context.delete(second)
    context.processPendingChanges()
    first.airline = airline
    context.processPendingChanges()
    observer.resume()
    #expect(await states.next()??.departures == [first.objectID])
    airline.name = "Crossair"
    context.processPendingChanges()
    #expect(await states.next()??.name == "Crossair")
    #expect(await values.next()??.name == "Crossair")
  }

  @Test func membersOfManyToManyAreStates() async throws {
    let gates = [Gate("B1"), Gate("B2")]
    let flight = try flight(60)
    flight.gates = [gates[0]]
    try context.save()
    let observer = try ObjectObserver(flight)
    var states = try observer.snapshots().makeAsyncIterator()
    #expect(await states.next()??.gates == [gates[0].objectID])
    flight.gates.append(gates[1])
    context.processPendingChanges()
    #expect(await states.next()??.gates == gates.map(\.objectID))
    context.delete(gates[0])
    context.processPendingChanges()
    #expect(await states.next()??.gates == [gates[1].objectID])
  }

  /// An order is a part of the state, whether it belongs to members or to links.
  @Test func ordersAreStates() async throws {
    let container = try await PersistentContainer("Reels", models: Reel.self, Shot.self, at: .inMemory)
    let context = try container.context()
    let (reel, shots) = (Reel("a"), (1...3).map { Shot("s\($0)") })
    context.insert(reel)
    (reel.shots, reel.extras) = (shots, shots)
    try context.save()
    let ids = shots.map(\.objectID)
    let observer = try ObjectObserver(reel)
    var states = try observer.snapshots().makeAsyncIterator()
    #expect(await states.next()??.shots == ids)
    reel.shots = shots.reversed()
    context.processPendingChanges()
    #expect(await states.next()??.shots == ids.reversed())
    reel.extras = [shots[1], shots[2], shots[0]]
    context.processPendingChanges()
    #expect(await states.next()??.extras == [ids[1], ids[2], ids[0]])
  }
}

@Model private final class Reel {
  var name: String
  @Relationship(.ordered) var shots: [Shot] = []
  @Relationship(.ordered, inverse: \Shot.reels) var extras: [Shot] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Shot {
  var name: String
  @Relationship(.ordered, inverse: \Reel.shots) var reel: Reel?
  @Relationship var reels: [Reel] = []

  init(_ name: String) { self.name = name }
}
