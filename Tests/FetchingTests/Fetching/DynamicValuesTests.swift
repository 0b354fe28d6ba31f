import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Groups, distinct rows and measured plans, asked for in words.
struct DynamicValuesTests {
  private func withStore(_ body: (DynamicStore) throws -> Void) async throws {
    let container = try await PersistentContainer("words", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      let shelves = ["a", "b"].map { Shelf(code: $0, height: nil, next: nil) }
      for place in 0..<40 {
        context.insert(
          Item(
            n: place % 4,
            m: Int16(place),
            t: nil,
            d: Double(place) / 2,
            w: nil,
            u: nil,
            flag: place % 3 == 0,
            shelf: place % 5 == 4 ? nil : shelves[place % 2]
          )
        )
      }
      try context.save()
    }
    try body(DynamicStore(container.store))
  }

  @Test func groupsAreAskedForInWords() async throws {
    try await withStore { store throws in
      var query = DynamicQuery("Item", where: try PredicateTree(format: "m < 18"))
      query.groupBy = ["shelf.code", "flag"]
      query.aggregates = [
        try .init("count"), try .init("avg(d)"), try .init("max(shelf.code) as last"),
      ]
      #expect(try store.columns(of: query) == ["shelf.code", "flag", "count", "avg(d)", "last"])
      #expect(try store.groups(of: query).count == 6)
      query.having = try PredicateTree(format: "shelf.code != nil AND flag AND `avg(d)` > 1 AND last <= 'b'")
      query.sort = [.init("avg(d)", ascending: false)]
      let groups = try store.groups(of: query)
      #expect(groups.map { $0.value(of: "last") } == [.string("b"), .string("a")])
      #expect(groups.first?.value(of: "count") == .int(2))
      #expect(groups.first?.value(of: "avg(d)") == .double(4.5))
      #expect(try store.count(query) == 2)
      query.limit = 1
      query.offset = 1
      #expect(try store.groups(of: query).map { $0.value(of: "shelf.code") } == [.string("a")])
      var plan = try store.explain(query)
      plan.usesTemplate = false
      #expect(
        plan.description.hasSuffix(
          """
            group by shelf.code, flag: count, avg(d), last
            having: \(query.having)
            groups sorted by avg(d) descending
            groups: limit 1, offset 1
          """
        )
      )
      expectMistake { try store.forEach(query) { _ in true } }
    }
  }

  @Test func aggregatesWithoutGroupsAreOneRow() async throws {
    try await withStore { store throws in
      var query = DynamicQuery("Item")
      query.aggregates = [try .init("count"), try .init("sum(m)"), try .init("median(d)")]
      #expect(try store.groups(of: query).map(\.values) == [[.int(40), .int(780), .double(9.75)]])
      query.predicate = .constant(false)
      #expect(try store.groups(of: query).map(\.values) == [[.int(0), .int(0), .null]])
    }
  }

  @Test func rowsAreDistinctByTheirValues() async throws {
    try await withStore { store throws in
      var query = DynamicQuery("Item")
      query.select = ["n"]
      query.isDistinct = true
      query.sort = [.init("n", ascending: false)]
      #expect(try store.rows(of: query).map(\.values) == [3, 2, 1, 0].map { [.int($0)] })
      #expect(try store.count(query) == 4)
      query.offset = 1
      query.limit = 2
      #expect(try store.rows(of: query).map(\.values) == [2, 1].map { [.int($0)] })
      #expect(try store.explain(query).isDistinct)
    }
  }

  @Test func aMistakeIsNamed() async throws {
    for text in ["", "mean(d)", "avg(d", "avg()", "avg(d) late", "avg(d) as", "count(a)(b)"] {
      #expect(throws: QueryError.self, "\(text)") { try DynamicQuery.Aggregate(text) }
    }
    try await withStore { store throws in
      func code(_ change: (inout DynamicQuery) -> Void) -> QueryError.Code? {
        var query = DynamicQuery("Item")
        query.groupBy = ["n"]
        query.aggregates = [.init(.count)]
        change(&query)
        do { _ = try store.groups(of: query) } catch { return error.queryError?.code }
        return nil
      }
      #expect(code { _ in } == nil)
      #expect(code { $0.aggregates = [.init(.sum, "t")] } == .typeMismatch)
      #expect(code { $0.aggregates = [.init(.maximum, "shelf")] } == .typeMismatch)
      #expect(code { $0.aggregates = [.init(.sum)] } == .arguments)
      #expect(code { $0.groupBy = ["shelf.colour"] } == .unknownName)
      #expect(code { $0.sort = [.init("m")] } == .unknownName)
      #expect(code { $0.having = .comparison(.path(["m"]), .equal, .value(.int(1)), []) } == .unknownName)
      #expect(code { $0.select = ["n"] } == .arguments)
      let small = PredicateTree.comparison(.path(["m"]), .less, .value(.int(3)), [])
      for aggregates in [["max(m) as n", "min(m) as n"], ["count as n"]] {
        let columns = try aggregates.map { try DynamicQuery.Aggregate($0) }
        #expect(code { $0.aggregates = columns } == nil)
        #expect(
          code {
            $0.aggregates = columns; $0.sort = [.init("n")]
          } == .arguments
        )
        #expect(
          code {
            $0.aggregates = columns;
            $0.having = PredicateTree.comparison(.path(["n"]), .less, .value(.int(3)), [])
          } == .arguments
        )
      }
      #expect(
        code {
          $0.groupBy = ["n", "n", "m"]; $0.sort = [.init("n")]; $0.having = small
        } == nil
      )
      // A relationship on the way to a group key is no column.
      for text in [
        "shelf == nil", "NOT shelf.objectID == nil", "SELF == SELF", "TERNARY(shelf == nil, 1, 2) == 1",
      ] {
        let having = try PredicateTree(format: text)
        func byCode(_ query: inout DynamicQuery) {
          query.groupBy = ["shelf.code"]
          query.having = having
        }
        #expect(code(byCode) == .unknownName, "\(text)")
      }
      #expect(
        code {
          $0.groupBy = ["shelf", "shelf.code"];
          $0.having = .comparison(.path(["shelf"]), .equal, .value(.null), [])
        } == nil
      )
    }
  }

  @Test func anOffsetOrALimitBelowZeroIsRefused() async throws {
    try await withStore { store throws in
      for isGrouped in [false, true] {
        for (limit, offset) in [(-1, 0), (3, -1), (.min, .min)] {
          var query = DynamicQuery("Item")
          if isGrouped { query.groupBy = ["n"] }
          (query.limit, query.offset) = (limit, offset)
          expectMistake { try store.count(query) }
          expectMistake { try store.explain(query) }
          if isGrouped {
            expectMistake { try store.groups(of: query) }
          } else {
            expectMistake { try store.rows(of: query) }
          }
        }
      }
    }
  }

  @Test func aPlanIsMeasuredWhenItRuns() async throws {
    try await withStore { store throws in
      func measured(_ change: (inout DynamicQuery) throws -> Void) throws -> [Int] {
        var query = DynamicQuery("Item")
        try change(&query)
        #expect(try store.explain(query).measurement == nil)
        let plan = try store.explain(query, analyze: true)
        let found = try #require(plan.measurement)
        #expect(found.nanoseconds > 0)
        #expect(plan.description.contains("\n  measured: rows read \(found.rowsRead), matched "))
        let archived = try JSONDecoder().decode(QueryPlan.self, from: JSONEncoder().encode(plan))
        #expect(archived == plan)
        return [found.rowsRead, found.rowsMatched, found.entriesWalked, found.recordsLookedUp]
      }
      #expect(
        try measured { $0.predicate = try PredicateTree(format: "m < 10 AND flag") } == [10, 4, 10, 10]
      )
      #expect(
        try measured {
          $0.predicate = try PredicateTree(format: "n == 2")
          $0.select = ["n"]
        } == [10, 10, 10, 0]
      )
      #expect(try measured { $0.predicate = try PredicateTree(format: "flag") } == [40, 14, 0, 0])
      #expect(try measured { $0.aggregates = [.init(.minimum, "n"), .init(.maximum, "d")] } == [2, 1, 2, 0])
      #expect(
        try measured {
          $0.groupBy = ["n"]
          $0.aggregates = [.init(.count)]
        } == [0, 4, 40, 0]
      )
    }
  }
}
