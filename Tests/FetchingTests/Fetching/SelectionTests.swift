import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Values without objects, against plain arrays.
struct SelectionTests {
  @Test func selectionsAnswerAsPlainArraysDo() async throws {
    var random = SeededGenerator()
    for _ in 0..<TestEffort.times(2) {
      let container = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
      let seed = random.next()
      try await container.performBackgroundTask { context throws in
        var random = SeededGenerator(seed: seed)
        var world = FetchWorld()
        for round in 0..<4 {
          try world.change(context, round == 0 ? 400 : 60, &random)
          // Every second time the changes are still unsaved when the queries run.
          if round % 2 == 0 { try context.save() }
          for _ in 0..<12 { try world.checkSelections(context, &random) }
        }
      }
    }
  }

  @Test func whatAnIndexHasIsReadFromItAlone() async throws {
    let container = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      var random = SeededGenerator(seed: 1)
      var world = FetchWorld()
      try world.change(context, 300, &random)
      try context.save()
      func isCovering<each Value>(_ selection: Selection<Item, repeat each Value>) throws -> Bool {
        try context.explain(selection).isCovering
      }
      #expect(try isCovering(From<Item>().orderBy(.ascending(\.n)).select(\.n)))
      #expect(try isCovering(From<Item>().where(\.m == 1).select(\.t, \.m)))
      #expect(try isCovering(From<Item>().where(\.m == 1 && (\Item.t).contains("a")).select(\.m)))
      #expect(try isCovering(From<Item>().orderBy(.descending(\.d)).select(\.d)))
      #expect(try isCovering(From<Item>().where(\.n == 4 && \.shelf == nil).select(\.n)))
      #expect(try !isCovering(From<Item>().where(\.m == 1).select(\.n)))
      #expect(try !isCovering(From<Item>().where(\.m == 1).orderBy(.ascending(\.n)).select(\.m)))
      #expect(try !isCovering(From<Item>().where(\.m == 1 && \.flag == true).select(\.t)))
      var plan = try context.explain(From<Item>().where(\.m == 1).select(\.t).distinct())
      plan.usesTemplate = false
      #expect(
        plan.description.split(separator: "\n").dropFirst().map(String.init)
          == [
            "  index m,t, m == 1: \(plan.rowCount) rows (exact)", "  covering: no record of Item is read",
            "  order: sorted by object ID", "  distinct",
          ]
      )
    }
  }

  @Test func existingAndCountingReadNoMoreThanTheyNeed() async throws {
    let container = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      for n in 0..<1_000 {
        context.insert(
          Item(n: n, m: 1, t: "\(n % 10)", d: nil, w: nil, u: nil, flag: true, shelf: nil)
        )
      }
      try context.save()
      func reads(_ body: () throws -> Bool) rethrows -> [Int] {
        let before = context.view.counters
        #expect(try body())
        let after = context.view.counters
        return [
          after.rowsRead - before.rowsRead, after.entriesWalked - before.entriesWalked,
          after.recordsLookedUp - before.recordsLookedUp,
        ]
      }
      #expect(try reads { try context.exists(From<Item>().where(\.n > 3)) } == [0, 0, 0])
      #expect(try reads { try context.exists(From<Item>().orderBy(.ascending(\.u))) } == [0, 0, 0])
      #expect(try reads { try context.exists(From<Item>().where(\.flag).offset(2)) } == [3, 0, 0])
      #expect(try reads { try context.count(From<Item>().where(\.flag == true).limit(7)) == 7 } == [7, 0, 0])
      // The index's entries are enough to test.
      let condition: Where<Item> = \.m == 1 && (\Item.t).hasSuffix("3")
      #expect(try reads { try context.count(From<Item>().where(condition)) == 100 } == [1_000, 1_000, 0])
      // By rank, from either end.
      for keys in [OrderBy<Item>.ascending(\.n), .descending(\.n)] {
        let last = From<Item>().orderBy(keys).offset(998).limit(1)
        #expect(try reads { try context.fetch(last).count == 1 } == [0, 1, 1])
      }
    }
  }

  @Test func aMissingObjectIsNilOrAMistake() async throws {
    let container = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      context.insert(Item(n: 1, m: nil, t: nil, d: nil, w: nil, u: nil, flag: true, shelf: nil))
      let codes: [String?] = try context.fetch(From<Item>().select(\.shelf?.code))
      #expect(codes == [nil])
      let error = #expect(throws: ContextError.self) {
        try context.fetch(From<Item>().select(\.shelf!.code))
      }
      #expect(error?.message.contains("shelf.code") == true)
      expectMistake { try context.fetch(From<Item>().select(\.t?.count)) }
      #expect(throws: ContextError.self) { try context.fetch(From<Item>().select(\.shelf!.objectID)) }
      expectMistake { try context.fetch(From<Item>().where(format: "n ==").select(\.n)) }
    }
  }
}

extension FetchWorld {
  /// Asks for the same values by key paths and in plain Swift.
  func checkSelections(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
    let condition = condition(depth: random.number(in: 0...1), &random)
    let (keys, precedes) = order(&random)
    let limit = random.chance(1, in: 2) ? random.number(in: 0...15) : nil
    let offset = random.chance(1, in: 3) ? random.number(in: 0...25) : 0
    var request = From<Item>().where(
      Where(try PredicateTree(format: condition.text, arguments: condition.arguments))
    )
    .orderBy(keys).offset(offset)
    if let limit { request = request.limit(limit) }
    let rows = items.filter(condition.holds).sorted(by: precedes)
    let window = offset..<min(limit.map { offset + $0 } ?? .max, Int.max)

    func check<each Value: AttributeType>(
      _ selection: Selection<Item, repeat each Value>,
      _ plain: (Item) -> [AttributeValue]
    ) throws {
      let expected = rows.map { plain($0) }
      let plan = try context.explain(selection)
      let found = try context.fetch(selection).map { row in
        var values: [AttributeValue] = []
        for value in repeat each row { values.append(value._attributeValue) }
        return values
      }
      #expect(
        found.map(Self.bits) == expected.slice(window).map(Self.bits),
        "\(request)\n\(plan)"
      )
      var seen: Set<[AttributeValue]> = []
      let distinct = expected.filter { seen.insert($0).inserted }
      #expect(
        try context.fetch(selection.distinct()).count == distinct.slice(window).count,
        "distinct \(request)\n\(plan)"
      )
    }
    try check(request.select(\.n)) { [$0.n._attributeValue] }
    try check(request.select(\.d)) { [$0.d._attributeValue] }
    try check(request.select(\.t, \.m)) { [$0.t._attributeValue, $0.m._attributeValue] }
    try check(request.select(\.w, \.u, \.flag)) {
      [$0.w._attributeValue, $0.u._attributeValue, $0.flag._attributeValue]
    }
    try check(request.select(\.shelf?.code, \.n)) {
      [($0.shelf?.code)._attributeValue, $0.n._attributeValue]
    }
    try check(request.select(\.shelf?.next?.height)) { [($0.shelf?.next?.height)._attributeValue] }
    let ids = request.select(\.objectID, \.shelf?.objectID, \.shelf?.next?.objectID)
    #expect(
      try context.fetch(ids).map { [$0, $1, $2] }
        == rows.map { [$0.objectID, $0.shelf?.objectID, $0.shelf?.next?.objectID] }.slice(window),
      "\(request)"
    )
    let shelves = try context.fetch(request.select(\.shelf?.objectID).distinct())
    var seen: Set<ManagedObjectID?> = []
    #expect(shelves == rows.map(\.shelf?.objectID).filter { seen.insert($0).inserted }.slice(window))
  }

  /// Returns texts that distinguish each value from all others, also zeros of different sign.
  private static func bits(_ row: [AttributeValue]) -> [String] {
    row.map { value in
      if case .double(let value) = value { return "double \(value.bitPattern)" }
      if case .string(let value) = value { return "string \(Array(value.utf8))" }
      return "\(value)"
    }
  }
}

extension Array {
  /// Returns the elements that a limit and an offset select.
  func slice(_ window: Range<Int>) -> [Element] {
    Array(self[Swift.min(window.lowerBound, count)..<Swift.min(window.upperBound, count)])
  }
}
