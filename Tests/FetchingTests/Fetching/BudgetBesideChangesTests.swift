import GraphContext
import Predicates
import Testing

/// A scan in order that finds too little gives way to the other plan, also if the context has unsaved objects.
struct BudgetBesideChangesTests {
  @Test func theScanReadsNoMoreThanItsBudget() async throws {
    let container = try await PersistentContainer("budget", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      func insert(_ n: Int, _ d: Double) {
        context.insert(Item(n: n, m: nil, t: nil, d: d, w: nil, u: nil, flag: true, shelf: nil))
      }
      // The items that match are the last ones in order.
      for n in 0..<4_000 { insert(n, Double(4_000 - n)) }
      try context.save()
      let request = From<Item>().where(\.n < 400).orderBy(.ascending(\.d)).limit(1)
      try #require(try context.explain(request).fallback != nil)
      let first = try #require(try context.fetchOne(From<Item>().where(\.n == 399)))
      first.n = 5_000
      insert(1, 0.5)
      #expect(try context.fetch(request).map(\.d) == [0.5])
      #expect(try context.fetch(request.offset(1)).map(\.d) == [3_602])
      #expect(try context.fetch(request.offset(1).limit(2).select(\.d)) == [3_602, 3_603])
      for request in [request, request.offset(1)] {
        let plan = try context.explain(request, analyze: true)
        #expect(try #require(plan.measurement).rowsRead < 1_000, "\(plan)")
      }
    }
  }
}
