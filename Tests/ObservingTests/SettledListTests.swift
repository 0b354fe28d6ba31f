import Cambium
import Testing

@testable import GraphContext

@Model final class SettledGauge {
  #Index<SettledGauge>([\.level])
  @Attribute(.unique) var code: String
  /// Indexed: a list in this order is by rank.
  var level: Int
  /// Not indexed: a list in this order is by numbers.
  var weight: Int

  init(_ code: String, _ number: Int) {
    self.code = code
    level = number
    weight = number
  }
}

/// Lists of a context whose save settles a new object with an existing one that the context doesn't have in memory.
struct SettledListTests {
  @Test(arguments: [true, false]) func aListFollowsTheExistingObject(isRanked: Bool) async throws {
    let container = try await PersistentContainer("Gauges", models: [SettledGauge.self], at: .inMemory)
    let other = try container.context()
    // A list of fewer objects is fetched again with each change.
    for number in 0..<64 { other.insert(SettledGauge("g\(number)", number)) }
    try other.save()
    let context = try container.context()
    let all = From<SettledGauge>()
    let request = isRanked ? all.orderBy(\.level) : all.orderBy(\.weight)
    let list = try FetchedResults(request, in: context)
    #expect(list.isRanked == isRanked)
    let mirror = ListMirror(list)
    context.insert(SettledGauge("g0", 1_000))
    try context.save(ifExists: .replace)
    let expected = try context.fetchIDs(request)
    #expect(expected.count == 64)
    #expect(mirror.shown == expected, "the list")
    #expect(mirror.ids == expected, "its differences")
  }

  /// The object that comes into a list by the values that the save gives it.
  @Test func anObjectThatMatchesBySettlingComesIntoTheList() async throws {
    let container = try await PersistentContainer("Gauges", models: [SettledGauge.self], at: .inMemory)
    let other = try container.context()
    for number in 0..<64 { other.insert(SettledGauge("g\(number)", number)) }
    try other.save()
    let context = try container.context()
    let heavy = From<SettledGauge>().where { $0.weight >= 20 }.orderBy(\.weight)
    let list = try FetchedResults(heavy, in: context)
    context.insert(SettledGauge("g0", 1_000))
    try context.save(ifExists: .replace)
    #expect(try list.objectIDs(at: 0..<list.count) == context.fetchIDs(heavy))
  }

  /// The event that tells of the settled object's leaving, or another one, has to tell of the existing object's values.
  @Test func anEventTellsOfTheExistingObject() async throws {
    let container = try await PersistentContainer("Gauges", models: [SettledGauge.self], at: .inMemory)
    let other = try container.context()
    let existing = SettledGauge("g", 1)
    other.insert(existing)
    try other.save()
    let context = try container.context()
    var told: Set<ManagedObjectID> = []
    let subscription = context.onObjectsDidChange { told.formUnion($0.updated + $0.refreshed) }
    context.insert(SettledGauge("g", 2))
    try context.save(ifExists: .replace)
    #expect(told.contains(existing.objectID))
    withExtendedLifetime(subscription) {}
  }
}
