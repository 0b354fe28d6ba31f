import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Aggregates of all objects and of groups, against plain arrays.
struct AggregateTests {
  @Test func aggregatesAnswerAsPlainArraysDo() async throws {
    var random = SeededGenerator()
    for _ in 0..<TestEffort.times(2) {
      let container = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
      let seed = random.next()
      try await container.performBackgroundTask { context throws in
        var random = SeededGenerator(seed: seed)
        var world = FetchWorld()
        #expect(try context.sum(of: \Item.n) == 0)
        for round in 0..<4 {
          try world.change(context, round == 0 ? 400 : 60, &random)
          // Every second time the changes are still unsaved when the queries run.
          if round % 2 == 0 { try context.save() }
          for _ in 0..<12 {
            try world.checkAggregates(context, &random)
            try world.checkGroups(context, &random)
          }
        }
      }
    }
  }

  @Test func whatAnIndexTellsIsReadThere() async throws {
    let container = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      for place in 0..<100 {
        let d = [nil, .nan, -0.0, Double(place)][place % 4]
        context.insert(
          Item(
            n: place % 10,
            m: Int16(place % 2),
            t: "\(place % 5)",
            d: d,
            w: nil,
            u: nil,
            flag: true,
            shelf: nil
          )
        )
      }
      try context.save()
      #expect(
        try context.explain(.count, .min(\.n), .max(\.d), .sum(\.n), in: From<Item>()).description
          == """
          Item: ordered scan, 100 rows
            index n, every row: 100 rows (exact)
            covering: no record of Item is read
            count: told by the number of objects
            min(n): told by index n
            max(d): told by index d
            sum(n): of the rows
          """
      )
      let (least, greatest, middle) = try context.aggregate(
        .min(\.d),
        .max(\.d),
        .median(\.d),
        in: From<Item>()
      )
      #expect(least == 0 && least?.sign == .plus)
      #expect(greatest == 99)
      #expect(middle == 1.5)
      #expect(try context.max(of: \.t, in: From<Item>().where(\.m == 1)) == "4")
      #expect(
        try context.explain(.max(\.t), in: From<Item>().where(\.m == 1)).grouping?.aggregates[0].source
          == "index m,t"
      )
      let groups = From<Item>().groupBy(\.m).aggregate(.count)
      #expect(
        try context.explain(groups).description == """
          Item: ordered scan, 100 rows
            index m,t, every row: 100 rows (exact)
            covering: no record of Item is read
            group by m: count, told by index m,t
          """
      )
      #expect(try context.fetch(groups).map { "\($0.0 ?? -1): \($0.1)" } == ["0: 50", "1: 50"])
    }
  }

  @Test func aSumThatDoesNotFitIsNil() async throws {
    let container = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      for n in [Int.max, 1, -1] {
        context.insert(
          Item(n: n, m: nil, t: nil, d: nil, w: nil, u: UInt64(bitPattern: Int64(n)), flag: true, shelf: nil)
        )
      }
      #expect(try context.sum(of: \Item.n) == Int.max)
      #expect(try context.sum(of: \.n, in: From<Item>().where(\.n > 0)) == nil)
      #expect(try context.average(of: \.n, in: From<Item>().where(\.n > 0)) == 0x1p62)
      #expect(try context.sum(of: \Item.u) == nil)
      #expect(try context.sum(of: \.u, in: From<Item>().where(\.n < 0)) == .max)
      #expect(try context.sum(of: \Item.m) == 0)
      #expect(try context.average(of: \Item.m) == nil)
    }
  }

  @Test func mistakesAreThrownWhenTheQueryIsUsed() async throws {
    let container = try await PersistentContainer("values", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      let groups = From<Item>().groupBy(\.t).aggregate(.count)
      let key = expectMistake {
        try context.fetch(groups.having { $0.key(\.n) > 1 })
      }
      #expect(key?.message.contains("A group of Item") == true)
      let order = expectMistake { try context.fetch(groups.orderBy(.ascending(\.n))) }
      #expect(order?.keyPath == "n")
      expectMistake {
        try context.fetch(From<Item>().groupBy(\.t?.count).aggregate(.count))
      }
      expectMistake { try context.sum(of: \.t?.count, in: From<Item>()) }
    }
  }
}

extension FetchWorld {
  private func request(
    _ random: inout SeededGenerator
  ) throws -> (From<Item>, [Item]) {
    let condition = condition(depth: random.number(in: 0...1), &random)
    let tree = try PredicateTree(format: condition.text, arguments: condition.arguments)
    var request = From<Item>()
    var rows = items
    if random.chance(3, in: 4) {
      request = request.where(Where(tree))
      rows = items.filter(condition.holds)
    }
    guard random.chance(1, in: 3) else { return (request, rows) }
    let (keys, precedes) = order(&random)
    let (limit, offset) = (random.number(in: 0...40), random.number(in: 0...9))
    return (
      request.orderBy(keys).limit(limit).offset(offset),
      Array(rows.sorted(by: precedes).dropFirst(offset).prefix(limit))
    )
  }

  func checkAggregates(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
    let (request, rows) = try request(&random)
    let plan = "\(request)\n\(try context.explain(request))"
    let whole = rows.compactMap(\.n)
    let real = rows.compactMap(\.d)
    let (count, sum, average, median) = try context.aggregate(
      .count,
      .sum(\.n),
      .average(\.n),
      .median(\.n),
      in: request
    )
    #expect(count == rows.count, "\(plan)")
    #expect(sum == whole.reduce(0, +), "\(plan)")
    #expect(average == (whole.isEmpty ? nil : Double(whole.reduce(0, +)) / Double(whole.count)), "\(plan)")
    #expect(median == Self.median(whole.map(Double.init)), "\(plan)")
    #expect(try context.min(of: \.n, in: request) == whole.min(), "\(plan)")
    #expect(try context.max(of: \.n, in: request) == whole.max(), "\(plan)")
    let numbers = real.filter { !$0.isNaN }
    #expect(try context.min(of: \.d, in: request) == numbers.min(), "\(plan)")
    #expect(try context.max(of: \.d, in: request) == numbers.max(), "\(plan)")
    #expect(Self.isSame(try context.median(of: \.d, in: request), Self.median(numbers)), "\(plan)")
    #expect(Self.isSame(try context.sum(of: \.d, in: request), numbers.reduce(0, +)), "\(plan)")
    let texts = rows.compactMap(\.t)
    let least = Self.least(texts)
    let greatest = texts.max { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    let (first, last, textCount) = try context.aggregate(.min(\.t), .max(\.t), .count(\.t), in: request)
    #expect(
      first._attributeValue == least._attributeValue && last._attributeValue == greatest._attributeValue,
      "\(plan)"
    )
    #expect(textCount == texts.count, "\(plan)")
    #expect(
      try context.max(of: \.shelf?.height, in: request) == rows.compactMap { $0.shelf?.height }.max(),
      "\(plan)"
    )
    #expect(try context.min(of: \.w, in: request) == rows.compactMap(\.w).min(), "\(plan)")
    let (total, overflow) = rows.compactMap(\.u).reduce((UInt64(0), false)) {
      let (sum, overflow) = $0.0.addingReportingOverflow($1)
      return (sum, $0.1 || overflow)
    }
    #expect(try context.sum(of: \.u, in: request) == (overflow ? nil : UInt(total)), "\(plan)")
  }

  func checkGroups(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
    let (request, rows) = try request(&random)
    let most = random.number(in: 0...8)
    try check(context, request.groupBy(\.n).aggregate(.count), rows, { [$0.n._attributeValue] }) {
      [$0.count._attributeValue]
    }
    try check(context, request.groupBy(\.m).aggregate(.count, .count), rows, { [$0.m._attributeValue] }) {
      [$0.count._attributeValue, $0.count._attributeValue]
    }
    let pairs = request.groupBy(\.t, \.m).aggregate(.count)
    try check(context, pairs, rows, { [$0.t._attributeValue, $0.m._attributeValue] }) {
      [$0.count._attributeValue]
    }
    let grouped = request.groupBy(\.t).aggregate(.sum(\.n), .max(\Item.shelf?.height))
    let large = grouped.having { $0.count > most }
    try check(context, large, rows, { [$0.t._attributeValue] }) { group in
      if group.count <= most { return nil }
      let sum = group.compactMap(\.n).reduce(0, +)
      return [sum._attributeValue, group.compactMap { $0.shelf?.height }.max()._attributeValue]
    }
    let flagged = request.groupBy(\.flag).aggregate(.count).having { $0.key(\.flag) && $0.count > most }
    try check(context, flagged, rows, { [$0.flag._attributeValue] }) { group in
      group[0].flag && group.count > most ? [group.count._attributeValue] : nil
    }
    let medians = request.groupBy(\.shelf?.code, \.flag).aggregate(.median(\.n))
    try check(context, medians, rows, { [($0.shelf?.code)._attributeValue, $0.flag._attributeValue] }) {
      [Self.median($0.compactMap { $0.n.map(Double.init) })._attributeValue]
    }
    try check(context, request.groupBy(\.d).aggregate(.min(\.t)), rows, { [$0.d._attributeValue] }) {
      [Self.least($0.compactMap(\.t))._attributeValue]
    }
    try checkGroupsOfObjects(context, request, rows)
    let ordered = request.groupBy(\.n).aggregate(.count).having { $0.key(\.n) != 4 }
      .orderBy(.descending(.count(\.t))).offset(1).limit(3)
    let groups = Dictionary(grouping: rows, by: \.n).filter { $0.key != 4 }
      .map { (n: $0.key ?? .min, count: $0.value.count, texts: $0.value.compactMap(\.t).count) }
      .sorted { ($1.texts, $0.n) < ($0.texts, $1.n) }
    #expect(
      try context.fetch(ordered).map { [$0.0 ?? .min, $0.1] }
        == groups.dropFirst().prefix(3).map { [$0.n, $0.count] }
    )
  }

  /// Groups by the object that a relationship leads to.
  private func checkGroupsOfObjects(
    _ context: ManagedObjectContext,
    _ request: From<Item>,
    _ rows: [Item]
  ) throws {
    let groups = Dictionary(grouping: rows, by: \.shelf?.objectID)
    let found = try context.fetch(request.groupBy(\.shelf?.objectID).aggregate(.count, .max(\.n)))
    #expect(found.map(\.0) == groups.keys.sorted { ($0?.number ?? 0) < ($1?.number ?? 0) }, "\(request)")
    for (shelf, count, greatest) in found {
      #expect(count == groups[shelf]?.count && greatest == groups[shelf]?.compactMap(\.n).max(), "\(request)")
    }
    let named = try context.fetch(request.groupBy(\.shelf?.objectID, \.shelf?.code, \.flag).aggregate(.count))
    let counts = Dictionary(grouping: rows) { [AnyHashable($0.shelf?.objectID), $0.shelf?.code, $0.flag] }
    #expect(named.count == counts.count, "\(request)")
    for (shelf, code, flag, count) in named {
      #expect(counts[[AnyHashable(shelf), code, flag]]?.count == count, "\(request)")
    }
  }

  private func check<each Column: AttributeType>(
    _ context: ManagedObjectContext,
    _ query: GroupedQuery<Item, (repeat each Column)>,
    _ rows: [Item],
    _ key: (Item) -> [AttributeValue],
    _ values: ([Item]) -> [AttributeValue]?
  ) throws {
    let expected = Dictionary(grouping: rows, by: key)
      .compactMap { key, group in values(group).map { key + $0 } }
      .sorted { a, b in
        for (a, b) in zip(a, b) where ValueComparison.sortOrder(a, b) != 0 {
          return ValueComparison.sortOrder(a, b) < 0
        }
        return false
      }
    let found = try context.fetch(query).map { row in
      var values: [AttributeValue] = []
      for value in repeat each row { values.append(value._attributeValue) }
      return values
    }
    let plan = try context.explain(query)
    #expect(found == expected, "\(query.request)\n\(plan)")
  }

  private static func least(_ texts: [String]) -> String? {
    texts.min { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
  }

  private static func median(_ values: [Double]) -> Double? {
    let sorted = values.sorted()
    if sorted.isEmpty { return nil }
    let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
    return low == high ? low : (low + high) / 2
  }

  /// Returns true if the values are equal, both NaN, or differ only by the rounding that depends on the order of
  /// addition.
  private static func isSame(_ a: Double?, _ b: Double?) -> Bool {
    guard let a, let b else { return a == b }
    return a == b || (a.isNaN && b.isNaN) || abs(a - b) <= 1e-9 * abs(b)
  }
}
