import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Conditions that two indexes answer together, against a plain array: stored, and with unsaved changes.
struct IntersectionTests {
  /// What an item of the test holds.
  private struct Row {
    var number: ObjectNumber
    var n: Int?
    var d: Double?
    var isFlagged: Bool

    init(_ item: Item) {
      number = item.objectID.number
      n = item.n
      d = item.d
      isFlagged = item.flag
    }

    static func isBefore(_ a: Row, _ b: Row) -> Bool { (a.n ?? -1, a.number) < (b.n ?? -1, b.number) }
  }

  private static func insert(
    _ count: Int,
    into context: ManagedObjectContext,
    _ random: inout SeededGenerator
  )
    -> [Item]
  {
    (0..<count).map { _ in
      let n = Int.random(in: -1..<8, using: &random)
      let item = Item(
        n: n < 0 ? nil : n,
        m: nil,
        t: nil,
        d: Double(Int.random(in: 0..<100, using: &random)),
        w: nil,
        u: nil,
        flag: Bool.random(using: &random),
        shelf: nil
      )
      context.insert(item)
      return item
    }
  }

  @Test func theAnswerIsThatOfAnArray() async throws {
    let container = try await PersistentContainer("ranges", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      var random = SeededGenerator()
      var items = Self.insert(8_000, into: context, &random)
      try context.save()
      for round in 0..<2 {
        if round == 1 {
          // Unsaved: some go, some change, some come.
          for place in stride(from: 7_900, to: 0, by: -100) { context.delete(items.remove(at: place)) }
          for place in stride(from: 0, to: 7_000, by: 70) { items[place].n = place % 8 }
          items += Self.insert(50, into: context, &random)
        }
        let rows = items.map(Row.init).sorted { $0.number < $1.number }
        var intersectionCount = 0
        for _ in 0..<20 { intersectionCount += try Self.check(rows, context, &random) ? 1 : 0 }
        #expect(intersectionCount >= 10)
      }
    }
  }

  /// Whether the query was answered by an intersection.
  private static func check(
    _ rows: [Row],
    _ context: ManagedObjectContext,
    _ random: inout SeededGenerator
  ) throws -> Bool {
    let n = Int.random(in: 0..<8, using: &random)
    let d = Double.random(in: 6..<26, using: &random)
    let isFiltered = Bool.random(using: &random)
    let isSorted = Bool.random(using: &random)
    var request = From<Item>().where { $0.n == n && $0.d < d }
    var expected = rows.filter { $0.n == n && ($0.d ?? .infinity) < d }
    if isFiltered {
      request = request.where { $0.flag }
      expected.removeAll { !$0.isFlagged }
    }
    if isSorted {
      request = request.orderBy(.ascending(\.n))
      expected.sort(by: Row.isBefore)
    }
    #expect(try context.count(request) == expected.count)
    #expect(try context.fetchIDs(request).map(\.number) == expected.map(\.number))
    #expect(try context.fetch(request.select(\.d)) == expected.map(\.d))
    let offset = Int.random(in: 0..<20, using: &random)
    let page = expected.dropFirst(offset).prefix(10)
    #expect(try context.fetch(request.offset(offset).limit(10)).map(\.objectID.number) == page.map(\.number))
    let plan = try context.explain(request)
    if plan.access == .indexIntersection {
      #expect(plan.estimate?.sampleCount == 32)
      #expect(plan.description.contains("  matching: about "))
    }
    return plan.access == .indexIntersection
  }
}
