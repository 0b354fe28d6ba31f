import Cambium
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Queries that tasks without a context follow.
struct FollowingTests {
  private struct Row: Codable, Sendable, Equatable {
    let minute: Int
    let city: String
  }

  private func insert(_ minutes: [Int], in container: PersistentContainer) async throws {
    try await container.write { context in
      for minute in minutes { context.insert(Departure(minute, "c\(minute)")) }
    }
  }

  /// Contexts that a container has made can be used until the last container on the file is closed, but a closed
  /// container makes no new ones.
  @Test(.timeLimit(.minutes(60)), arguments: [FollowingPlace.store, .viewContext])
  func aClosedContainerFollowsNothing(_ place: FollowingPlace) async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("airport"))
    let (closed, open) = (try await Airport.open(.file(url)), try await Airport.open(.file(url)))
    try await closed.close()
    var iterator = closed.follow(From<Departure>(), in: place) { $0.minute }.makeAsyncIterator()
    let error = await #expect(throws: ContextError.self) { try await iterator.next() }
    #expect(error?.code == .closed)
    try await open.close()
  }

  /// What isn't saved in the view context is followed there, and saves of other contexts are, too.
  @Test(.timeLimit(.minutes(60))) @MainActor func theViewContextIsFollowedWithUnsavedObjects() async throws {
    let container = try await Airport.open()
    let view = container.viewContext
    view.insert(Departure(2, "unsaved"))
    let updates = container.follow(From<Departure>().orderBy(\.minute), in: .viewContext) { $0.minute }
    var iterator = updates.makeAsyncIterator()
    var minutes: [Int] = []
    try await iterator.next()?.apply(to: &minutes)
    #expect(minutes == [2])
    try await insert([1], in: container)
    try await iterator.next()?.apply(to: &minutes)
    #expect(minutes == [1, 2] && view.hasChanges)
    view.insert(Departure(3, "unsaved"))
    try await iterator.next()?.apply(to: &minutes)
    #expect(minutes == [1, 2, 3])
  }

  /// A container has its store from the beginning, so no list is made before its store is there.
  @Test func aListOfAContainerThatWasJustOpenedIsWhole() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("airport"))
    let models: [any ManagedObject.Type] = [Departure.self, Airline.self, Gate.self]
    let first = try await PersistentContainer("Airport", models: models, at: .file(url))
    try await insert([3, 1, 2], in: first)
    try await first.close()
    let again = try await PersistentContainer("Airport", models: models, at: .file(url))
    let context = try again.context()
    let list = try FetchedResults(From<Departure>().orderBy(\.minute), in: context)
    #expect(list.map(\.minute) == [1, 2, 3])
    context.end()
    try await again.close()
  }

  @Test(.timeLimit(.minutes(60))) func savesOfAnyContextArrive() async throws {
    let container = try await Airport.open()
    try await insert([3, 1], in: container)
    let request = From<Departure>().orderBy(\.minute).limit(3)
    let updates = container.follow(request) { Row(minute: $0.minute, city: $0.city) }
    var iterator = updates.makeAsyncIterator()
    guard case .all(let first)? = try await iterator.next() else {
      Issue.record("no values at the beginning")
      return
    }
    var mirror = try JSONSerialization.jsonObject(with: JSONEncoder().encode(first)) as? [NSObject] ?? []
    #expect(first.map(\.minute) == [1, 3])
    var rows: [Row] = []
    ListUpdate.all(first).apply(to: &rows)
    #expect(rows == first)
    let steps: [@Sendable () async throws -> Void] = [
      { try await insert([2, 5], in: container) },
      {
        try await container.batchUpdate(From<Departure>().where { $0.minute == 2 }, .set(\.city, to: "new"))
      },
      { _ = try await container.batchDelete(From<Departure>().where { $0.minute < 3 }) },
    ]
    let expected = [[1, 2, 3], [1, 2, 3], [3, 5]]
    for (step, minutes) in zip(steps, expected) {
      try await step()
      let update = try #require(try await iterator.next())
      try apply(update.jsonPatch(), to: &mirror)
      update.apply(to: &rows)
      #expect(rows.map(\.minute) == minutes)
      #expect(mirror.map { ($0 as? [String: Any])?["minute"] as? Int } == minutes)
    }
    #expect((mirror[0] as? [String: Any])?["city"] as? String == "c3")
    #expect(rows.map(\.city) == ["c3", "c5"])
  }

  /// Carries out a JSON patch on an array.
  private func apply(_ patch: Data, to array: inout [NSObject]) throws {
    let operations = try JSONSerialization.jsonObject(with: patch) as? [[String: Any]] ?? []
    #expect(!operations.isEmpty)
    for operation in operations {
      let index = try #require(Int((operation["path"] as? String ?? "").dropFirst()))
      switch operation["op"] as? String {
      case "remove": array.remove(at: index)
      case "add": array.insert(try #require(operation["value"] as? NSObject), at: index)
      case "replace": array[index] = try #require(operation["value"] as? NSObject)
      default: Issue.record("an unknown operation")
      }
    }
  }

  /// A consumer that doesn't read costs no more than the list: its differences are dropped, and it later gets all values.
  @Test(.timeLimit(.minutes(60))) func aConsumerThatIsBehindIsGivenAllValues() async throws {
    let container = try await Airport.open()
    try await insert([1], in: container)
    let made = Counter()
    let updates = container.follow(From<Departure>().orderBy(\.minute)) { flight in
      made.add()
      return flight.minute
    }
    var iterator = updates.makeAsyncIterator()
    var minutes: [Int] = []
    try await iterator.next()?.apply(to: &minutes)
    #expect(minutes == [1])
    let writer = try container.context()
    for minute in 2...101 { writer.insert(Departure(minute, "x")) }
    try writer.save()
    while made.count < 101 { try await Task.sleep(for: .milliseconds(1)) }
    let flights = try writer.fetch(From<Departure>())
    for turn in 1...20 {
      for flight in flights { flight.minute += 1000 * (turn % 2 == 0 ? -1 : 2) }
      try writer.save()
      try await Task.sleep(for: .milliseconds(5))
    }
    let expected = flights.map(\.minute).sorted()
    while minutes != expected { try await iterator.next()?.apply(to: &minutes) }
    #expect(made.count <= 101 + 2 * expected.count)
  }

  private struct Refusal: Error {}

  /// If a difference can't be made, later differences would belong to a state that the consumer doesn't have. The
  /// consumer gets the error, and nothing after it.
  @Test(.timeLimit(.minutes(60)), arguments: [FollowingPlace.store, .viewContext])
  func aFailedDifferenceIsTheLastOne(_ place: FollowingPlace) async throws {
    let container = try await Airport.open()
    try await insert([1], in: container)
    let made = Counter()
    let updates = container.follow(From<Departure>().orderBy(\.minute), in: place) { flight in
      made.add()
      if flight.minute == 2 { throw Refusal() }
      return flight.minute
    }
    var iterator = updates.makeAsyncIterator()
    var minutes: [Int] = []
    try await iterator.next()?.apply(to: &minutes)
    for (minute, count) in [(5, 2), (2, 3), (3, 3)] {
      try await insert([minute], in: container)
      while made.count < count { try await Task.sleep(for: .milliseconds(1)) }
    }
    try await iterator.next()?.apply(to: &minutes)
    #expect(minutes == [1, 5])
    await #expect(throws: Refusal.self) { try await iterator.next() }
    #expect(try await iterator.next() == nil)
    #expect(made.count == 3)
  }

  private final class Counter: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
  }

  @Test(.timeLimit(.minutes(60)), arguments: [FollowingPlace.store, .viewContext])
  func aMistakeEndsTheSequence(_ place: FollowingPlace) async throws {
    let container = try await Airport.open()
    let updates = container.follow(From<Departure>().limit(-1), in: place)
    await #expect(throws: ContextError.self) { for try await _ in updates {} }
  }

  @Test(.timeLimit(.minutes(60))) func theEndOfATaskEndsTheSequence() async throws {
    let container = try await Airport.open()
    let updates = container.follow(From<Departure>().orderBy(\.minute))
    let task = Task {
      var count = 0
      for try await _ in updates { count += 1 }
      return count
    }
    try await insert([1], in: container)
    task.cancel()
    _ = try? await task.value
    try await insert([2], in: container)
    try await container.close()
  }

  @Test(.timeLimit(.minutes(60)), arguments: [FollowingPlace.store, .viewContext])
  func valuesThatCouldNotBeReadAreNotTold(_ place: FollowingPlace) async throws {
    let container = try await Airport.open(count: 1)
    // The closure fails like a getter that reads a damaged record.
    let updates = container.follow(From<Departure>(), in: place) { flight -> Int in
      (flight._$state.host as? ManagedObjectContext)?.deferred.note(ContextError(.corrupt, "damaged"))
      return flight.minute
    }
    var count = 0
    await #expect(throws: ContextError.self) { for try await _ in updates { count += 1 } }
    #expect(count == 0)
  }
}
