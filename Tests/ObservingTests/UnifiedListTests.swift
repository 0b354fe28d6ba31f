import Cambium
import Testing

@testable import GraphContext

@Model final class UnifiedGauge {
  #Index<UnifiedGauge>([\.level])
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

/// Lists of a context whose save unifies a new object with an existing one that the context doesn't have in memory.
struct UnifiedListTests {
  @Test(arguments: [true, false]) func aListFollowsTheExistingObject(isRanked: Bool) async throws {
    let container = try await PersistentContainer("Gauges", models: [UnifiedGauge.self], at: .inMemory)
    let other = try container.context()
    // A list of fewer objects is fetched again with each change.
    for number in 0..<64 { other.insert(UnifiedGauge("g\(number)", number)) }
    try other.save()
    let context = try container.context()
    let all = From<UnifiedGauge>()
    let request = isRanked ? all.orderBy(\.level) : all.orderBy(\.weight)
    let list = try FetchedResults(request, in: context)
    #expect(list.isRanked == isRanked)
    let mirror = ListMirror(list)
    context.insert(UnifiedGauge("g0", 1_000))
    try context.save(ifExists: .replace)
    let expected = try context.fetchIDs(request)
    #expect(expected.count == 64)
    #expect(mirror.shown == expected, "the list")
    #expect(mirror.ids == expected, "its differences")
  }

  /// The object that comes into a list by the values that the save gives it.
  @Test func anObjectThatMatchesByUnifyingComesIntoTheList() async throws {
    let container = try await PersistentContainer("Gauges", models: [UnifiedGauge.self], at: .inMemory)
    let other = try container.context()
    for number in 0..<64 { other.insert(UnifiedGauge("g\(number)", number)) }
    try other.save()
    let context = try container.context()
    let heavy = From<UnifiedGauge>().where { $0.weight >= 20 }.orderBy(\.weight)
    let list = try FetchedResults(heavy, in: context)
    context.insert(UnifiedGauge("g0", 1_000))
    try context.save(ifExists: .replace)
    #expect(try list.objectIDs(at: 0..<list.count) == context.fetchIDs(heavy))
  }

  /// The event that tells of the unified object's leaving, or another one, has to tell of the existing object's values.
  @Test func anEventTellsOfTheExistingObject() async throws {
    let container = try await PersistentContainer("Gauges", models: [UnifiedGauge.self], at: .inMemory)
    let other = try container.context()
    let existing = UnifiedGauge("g", 1)
    other.insert(existing)
    try other.save()
    let context = try container.context()
    var told: Set<ManagedObjectID> = []
    let subscription = context.onObjectsDidChange { told.formUnion($0.updated + $0.refreshed) }
    context.insert(UnifiedGauge("g", 2))
    try context.save(ifExists: .replace)
    #expect(told.contains(existing.objectID))
    withExtendedLifetime(subscription) {}
  }
}
