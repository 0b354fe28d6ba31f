import Cambium
import Testing

@testable import GraphContext

@Model final class WaterLevel {
  var metres: Double

  init(_ metres: Double) { self.metres = metres }
}

/// Observers of objects of other contexts, order and registration of listeners, and access to lists by sections.
struct ObserverDetailTests {
  private func airport(minutes: [Int]) async throws -> PersistentContainer {
    let container = try await Airport.open()
    try await container.write { context in
      for minute in minutes { context.insert(Departure(minute, "Basel")) }
    }
    return container
  }

  @Test func anObserverCanBeOfAnotherContextThanItsObject() async throws {
    let container = try await airport(minutes: [600])
    let (first, second) = (try container.context(), try container.context())
    let flight = try #require(try first.fetch(From<Departure>()).first)
    let observer = try ObjectObserver<Departure>(flight.objectID, in: second)
    #expect(observer.object !== flight)
    #expect(observer.object?.objectID == flight.objectID)
    var cities: [String?] = []
    let subscription = observer.onChange { _ in cities.append(observer.object?.city) }
    flight.city = "Rome"
    try first.save()
    #expect(cities.isEmpty)
    try second.refresh()
    #expect(cities == ["Rome"])
    withExtendedLifetime(subscription) {}
  }

  @Test func anErrorThatTheContextHasNotedIsNoDeletion() async throws {
    let container = try await airport(minutes: [600])
    let (first, second) = (try container.context(), try container.context())
    let flight = try #require(try first.fetch(From<Departure>()).first)
    first.delete(try second.object(Departure.self, with: flight.objectID))
    let error = #expect(throws: ContextError.self) { _ = try ObjectObserver(flight) }
    #expect(error?.code == .otherContext)
    first.rollback()
    let observer = try ObjectObserver(flight)
    #expect(!observer.isDeleted && observer.object === flight)
  }

  /// Two NaNs count as equal values.
  @Test func anObserverOfANumberThatIsNoneHearsOfOthersAlone() async throws {
    let container = try await PersistentContainer("Levels", models: [WaterLevel.self], at: .inMemory)
    let context = try container.context()
    let (level, other) = (WaterLevel(.nan), WaterLevel(1))
    context.insert(level)
    context.insert(other)
    try context.save()
    var told: [Double] = []
    let subscription = try level.observe(\.metres) { told.append($1) }
    for metres in [2.0, 3] {
      other.metres = metres
      context.processPendingChanges()
    }
    #expect(told.isEmpty)
    level.metres = 4
    context.processPendingChanges()
    #expect(told == [4])
    withExtendedLifetime(subscription) {}
  }

  @Test func anOwnerCanBeToldByTwoObservers() async throws {
    final class Owner { var cities: [String] = [] }
    let container = try await airport(minutes: [600, 700])
    let context = try container.context()
    let flights = try context.fetch(From<Departure>().orderBy(.ascending(\.minute)))
    let owner = Owner()
    let observers = try flights.map { try ObjectObserver($0) }
    for observer in observers {
      observer.addObserver(owner) { [unowned observer] owner, _ in
        owner.cities.append(observer.object?.city ?? "")
      }
    }
    flights[0].city = "Rome"
    context.processPendingChanges()
    flights[1].city = "Oslo"
    context.processPendingChanges()
    #expect(owner.cities == ["Rome", "Oslo"])
  }

  @Test func listenersAreToldInTheOrderInWhichTheyCame() async throws {
    let container = try await airport(minutes: [600])
    let context = try container.context()
    let flight = try #require(try context.fetch(From<Departure>()).first)
    let observer = try ObjectObserver(flight)
    var told: [Int] = []
    let subscriptions = (0..<8).map { number in observer.onChange { _ in told.append(number) } }
    flight.city = "Rome"
    context.processPendingChanges()
    #expect(told == Array(0..<8))
    withExtendedLifetime(subscriptions) {}
  }

  @Test func aListIsReadBySectionAndItem() async throws {
    let container = try await airport(minutes: [600, 610, 620, 660, 670, 680])
    let context = try container.context()
    let list = try FetchedResults(
      From<Departure>().orderBy(.ascending(\.hour), .ascending(\.minute)),
      sectionedBy: SectionedBy(\.hour),
      in: context
    )
    #expect(list[section: 1, item: 2] === list[ListPath(section: 1, item: 2)])
    #expect(list[section: 1, item: 2].minute == 680)
    #expect(list[safe: ListPath(section: 1, item: 3)] == nil)
    #expect(list[safe: ListPath(section: 2, item: 0)] == nil)
    #expect(list[safe: ListPath(section: 0, item: 1)]?.minute == 610)
  }

  @Test func aSliceOfASnapshotIsThatPart() async throws {
    let container = try await airport(minutes: [600, 610, 620, 660])
    let context = try container.context()
    let list = try FetchedResults(From<Departure>().orderBy(.ascending(\.minute)), in: context)
    let snapshot = try list.snapshot()
    let all = Array(snapshot)
    #expect(Array(snapshot[1..<3]) == Array(all[1..<3]))
    #expect(snapshot[1..<3].indices == 1..<3)
    #expect(Array(snapshot.dropFirst(2).prefix(1)) == [all[2]])
  }

  @Test func aListMadeInTheParentsTurnForgetsWhatGoesInIt() async throws {
    let context = try await Airport.open().context()
    let child = context.makeChild()
    let listening = context.onObjectsDidChange { _ in }
    let flight = Departure(1, "x")
    context.insert(flight)
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: child)
    let counter = try CountObserver(From<Departure>(), in: child)
    context.delete(flight)
    context.processPendingChanges()
    #expect(try child.fetchIDs(From<Departure>()) == [])
    #expect(list.isEmpty)
    #expect(counter.count == 0)
    withExtendedLifetime(listening) {}
  }

  @Test func aListThatFollowsShowsUnsavedChanges() async throws {
    let context = try await Airport.open().context()
    let saved = From<Departure>().orderBy(\.minute).includingUnsavedChanges(false)
    let list = #expect(throws: ContextError.self) { try FetchedResults(saved, in: context) }
    #expect(list?.code == .invalidQuery)
    let counter = #expect(throws: ContextError.self) { try CountObserver(saved, in: context) }
    #expect(counter?.code == .invalidQuery)
  }
}
