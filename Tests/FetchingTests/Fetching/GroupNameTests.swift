import Cambium
import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

/// A model with an attribute that has the name of an aggregate.
@Model
final class Bag {
  var count: Int
  var sum: Int

  init(count: Int, sum: Int) {
    self.count = count
    self.sum = sum
  }
}

struct GroupNameTests {
  private func withBags(_ body: @Sendable @escaping (ManagedObjectContext) throws -> Void) async throws {
    let container = try await PersistentContainer("bags", models: Bag.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      for count in 1...4 {
        for sum in 0..<count * 2 { context.insert(Bag(count: 10 - count, sum: sum)) }
      }
      try body(context)
      try context.save()
      try body(context)
    }
  }

  @Test func anAttributeCalledCountIsNotHowManyThereAre() async throws {
    try await withBags { context in
      let groups = From<Bag>().groupBy(\.count).aggregate(.count)
      func rows(_ query: GroupedQuery<Bag, (Int, Int)>) throws -> [[Int]] {
        try context.fetch(query).map { [$0.0, $0.1] }
      }
      #expect(try rows(groups) == [[6, 8], [7, 6], [8, 4], [9, 2]])
      #expect(try rows(groups.having { $0.count > 4 }) == [[6, 8], [7, 6]])
      #expect(try rows(groups.having { $0.key(\.count) > 7 }) == [[8, 4], [9, 2]])
      #expect(try rows(groups.having { $0.count < 8 && $0.key(\.count) < 9 }) == [[7, 6], [8, 4]])
      #expect(try rows(groups.having { $0.sum(\.sum) == 28 }) == [[6, 8]])
      #expect(try rows(groups.orderBy(.ascending(.count))) == [[9, 2], [8, 4], [7, 6], [6, 8]])
      #expect(try rows(groups.orderBy(.descending(\.count)).limit(1)) == [[9, 2]])
      let plan = try context.explain(groups.having { $0.count > 4 && $0.key(\.count) < 9 })
      #expect(plan.grouping?.aggregates.map(\.name) == ["count()"])
      #expect(plan.grouping?.condition == "`count()` > 4 AND count < 9")
    }
  }

  @Test func textThatCouldMeanEitherIsRefused() async throws {
    let container = try await PersistentContainer("bags", models: Bag.self, at: .inMemory)
    let store = try DynamicStore(container.store)
    var query = DynamicQuery("Bag")
    query.groupBy = ["count"]
    query.aggregates = [.init(.count)]
    #expect(try store.groups(of: query).isEmpty)
    query.having = try PredicateTree(format: "count > 4")
    expectMistake { try store.groups(of: query) }
    query.aggregates = [.init(.count, named: "bags")]
    #expect(try store.groups(of: query).isEmpty)
  }
}
