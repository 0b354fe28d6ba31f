import Cambium
import Testing

@testable import GraphContext

/// Observers follow a turn that a cancelled task makes.
struct CancelledTurnTests {
  /// The state of a list and a count after a turn in a task that was cancelled before.
  private struct Outcome: Sendable {
    var failures: [String] = []
    var cities: [String] = []
    var expected: [String] = []
    var counts: [Int] = []
  }

  private static func follow(_ container: PersistentContainer) throws -> Outcome {
    let context = try container.context()
    let list = try FetchedResults(From<Departure>().orderBy(\.city).limit(10), in: context)
    let sections = try FetchedResults(
      From<Departure>().orderBy(\.city),
      sectionedBy: .firstLetter(of: \.city),
      in: context
    )
    let counter = try CountObserver(From<Departure>().where { $0.city.contains("1") }, in: context)
    withUnsafeCurrentTask { $0?.cancel() }
    for city in ["a1", "b1", "z1"] { context.insert(Departure(1, city)) }
    context.processPendingChanges()
    var outcome = Outcome()
    outcome.failures = [list.failure, sections.failure].compactMap { $0.map { "\($0)" } }
    do { try context.save() } catch { outcome.failures.append("\(error)") }
    outcome.counts = [counter.count, sections.count]
    outcome.cities = list.map(\.city)
    outcome.expected = sections.prefix(10).map(\.city)
    return outcome
  }

  @Test func aTurnOfACancelledTaskIsFollowed() async throws {
    let container = try await Airport.open(count: 5_000)
    let with1 = (1...5_000).filter { "\($0)".contains("1") }.count
    let outcome = try await Task.detached { try Self.follow(container) }.value
    #expect(outcome.failures == [])
    #expect(outcome.counts == [with1 + 3, 5_003])
    #expect(outcome.cities.prefix(2) == ["a1", "b1"])
    #expect(outcome.cities == outcome.expected)
  }

  @Test func aCancelledTasksOwnQueryEnds() async throws {
    let container = try await Airport.open(count: 5_000)
    let error = await #expect(throws: ContextError.self) {
      try await Task.detached { try Self.fetchCancelled(container) }.value
    }
    #expect(error?.code == .cancelled)
  }

  private static func fetchCancelled(_ container: PersistentContainer) throws -> Int {
    let context = try container.context()
    withUnsafeCurrentTask { $0?.cancel() }
    return try context.fetch(From<Departure>().orderBy(\.city)).count
  }
}
