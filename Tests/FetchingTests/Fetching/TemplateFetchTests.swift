import Foundation
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Queries of a few shapes with ever new values: the answers of templates, of a resolver that keeps none, and of plain Swift.
struct TemplateFetchTests {
  private typealias Question = (condition: Where<Item>, holds: (Item) -> Bool)

  @Test func queriesOfOneShapeAnswerAsPlainArraysDo() async throws {
    let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
    let seed = SeededGenerator().seed
    try await container.performBackgroundTask { context throws in
      var random = SeededGenerator(seed: seed)
      var world = FetchWorld()
      var templateCount = 0
      let caseCount = TestEffort.times(900)
      for round in 0..<caseCount {
        if round % 150 == 0 {
          try world.change(context, round == 0 ? 250 : 40, &random)
          if round % 300 == 0 { try context.save() }
        }
        let (condition, holds) = Self.question(world, &random)
        let (keys, precedes) = world.order(&random)
        let limit = random.chance(1, in: 2) ? random.number(in: 0...15) : Int.max
        let request = From<Item>().where(condition).orderBy(keys).limit(limit)
        let expected = world.items.filter(holds).sorted(by: precedes).prefix(limit).map(\.objectID)
        let found = try context.fetch(request).map(\.objectID)
        let plan = try context.explain(request)
        try #require(found == expected, "\(request)\n\(plan)")
        let fresh: [Item] = try context.fetch(
          Self.withoutTemplates(condition, keys, limit, context),
          context.entity(of: Item.self)
        )
        #expect(fresh.map(\.objectID) == expected, "\(request)")
        #expect(try context.count(From<Item>().where(condition)) == world.items.count(where: holds))
        if plan.usesTemplate { templateCount += 1 }
      }
      print("\(templateCount) of \(caseCount) queries used a template")
      #expect(templateCount * 2 > caseCount)
    }
  }

  private static func withoutTemplates(
    _ condition: Where<Item>,
    _ keys: [OrderBy<Item>],
    _ limit: Int,
    _ context: ManagedObjectContext
  ) throws -> ResolvedQuery {
    let sort = try keys.map { NamedSort(try $0.key.names.get(), ascending: $0.key.isAscending) }
    return try NamedQuery(predicate: condition.tree, sort: sort, limit: limit).resolved(
      for: context.entity(of: Item.self).schema,
      in: context.coordinator.schema.schema,
      store: context.storeID
    )
  }

  /// A condition with values at the ends of their types and beyond what can be equal.
  private static func question(_ world: FetchWorld, _ random: inout SeededGenerator) -> Question {
    let (a, b) = (number(&random), number(&random))
    let (s, p) = (text(&random), text(&random))
    let (x, y) = (double(&random), double(&random))
    switch random.number(in: 0...11) {
    case 0: return (Where { $0.n > a && $0.t == s }, { Self.precedes(a, $0.n) && Self.isSame($0.t, s) })
    case 1: return (\.n > a && \.t == s, { Self.precedes(a, $0.n) && Self.isSame($0.t, s) })
    case 2:
      return (
        Where { $0.n >= a && $0.n < b },
        { item in !Self.precedes(item.n, a) && a != nil && Self.precedes(item.n, b) }
      )
    case 3:
      return (
        Where { $0.d < x || $0.d == y }, { Self.precedes($0.d, x) || (y == nil ? $0.d == nil : $0.d == y) }
      )
    case 4: return (Where { !($0.d < x) }, { !Self.precedes($0.d, x) })
    case 5:
      let list = (0..<random.pick([0, 1, 3])).map { _ in number(&random) }
      return (Where { $0.n.in(list) }, { list.contains($0.n) })
    case 6:
      let date = random.pick([nil, .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 4)])
      return (Where { $0.w > date && $0.flag }, { Self.precedes(date, $0.w) && $0.flag })
    case 7:
      let u: UInt64? = random.pick([nil, 0, 1, 1 << 63, .max])
      let m: Int16? = random.pick([nil, .min, 0, .max])
      return (
        Where { $0.u >= u && $0.m != m }, { (u != nil && $0.u != nil && $0.u! >= u!) && $0.m != m }
      )
    case 8:
      return (
        Where { $0.t.equals(s, .caseInsensitive) && $0.n != a },
        { Self.isSame(Self.caseless($0.t), Self.caseless(s)) && $0.n != a }
      )
    case 9:
      return (
        Where { $0.t.hasPrefix(s) || $0.t.contains(p) },
        { item in
          guard let bytes = item.t.map({ Array($0.utf8) }) else { return false }
          return s.map { bytes.starts(with: $0.utf8) } ?? false
            || p.map { Array($0.utf8) }.map { part in
              part.isEmpty || bytes.indices.contains { bytes[$0...].starts(with: part) }
            } ?? false
        }
      )
    case 10:
      let shelf = random.chance(1, in: 4) ? nil : world.shelves.randomElement(using: &random)
      return (Where { $0.shelf == shelf && $0.n == a }, { $0.shelf === shelf && $0.n == a })
    default:
      return (Where { $0.shelf.code == s || !$0.flag }, { Self.isSame($0.shelf?.code, s) || !$0.flag })
    }
  }

  private static func number(_ random: inout SeededGenerator) -> Int? {
    random.pick([nil, .min, .max, -3, 0, 2, 5, 9])
  }

  private static func double(_ random: inout SeededGenerator) -> Double? {
    random.pick([nil, .nan, 0, -0.0, .infinity, -.infinity, -1.5, 2, .greatestFiniteMagnitude])
  }

  /// Returns a string whose lowercase form is that of its canonical equivalents.
  private static func text(_ random: inout SeededGenerator) -> String? {
    random.pick([nil, "", "a", "A", "ab", "b", "é", "É", "😀", "a\u{0}"])
  }

  private static func caseless(_ text: String?) -> String? {
    text?.lowercased().replacing("e\u{301}", with: "é")
  }

  private static func isSame(_ left: String?, _ right: String?) -> Bool {
    left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
  }

  private static func precedes<Value: Comparable>(_ left: Value?, _ right: Value?) -> Bool {
    guard let left, let right else { return false }
    return left < right
  }

  // MARK: Keeping

  @Test func explainSaysThatATemplateWasUsed() async throws {
    let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      func plan(_ n: Int?) throws -> QueryPlan {
        try context.explain(From<Item>().where { $0.n > n && $0.t == "x" }.limit(5))
      }
      let first = try plan(1)
      #expect(!first.usesTemplate && !"\(first)".contains("template"))
      let second = try plan(2)
      #expect(second.usesTemplate && "\(second)".hasSuffix("\n  template: of an earlier query"))
      // Two plans are equal if they do the same work, no matter how they were found.
      var unlike = second
      unlike.usesTemplate = false
      #expect(unlike == second && "\(unlike)" != "\(second)")
      // Nothing is greater than nil: the query is another one.
      #expect(try plan(nil).access == .nothing)
      var dynamic = DynamicQuery("Item", where: try PredicateTree(format: "n > 7 AND t == 'y'"))
      dynamic.limit = 5
      #expect(try DynamicStore(container.store).explain(dynamic).usesTemplate == false)
    }
  }

  @Test func anotherSchemaHasItsOwnTemplates() throws {
    let schema = try Schema([Item.self, Shelf.self])
    #expect(schema.templates === schema.templates)
    #expect(schema.templates !== schema.withoutFoldedIndexes.templates)
    #expect(try schema.templates !== Schema([Item.self, Shelf.self]).templates)
  }

  @Test func contextsOnSeveralThreadsShareTemplates() async throws {
    let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      for place in 0..<200 {
        context.insert(Shelf(code: "\(place % 10)", height: place % 20, next: nil))
      }
      try context.save()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          try await container.performBackgroundTask { context throws in
            for round in 0..<300 {
              let (code, height) = ((round + task) % 12, round % 21)
              let shelves = From<Shelf>().where { $0.code == "\(code)" && $0.height >= height }
              let expected = (0..<200).count { $0 % 10 == code && $0 % 20 >= height }
              #expect(try context.count(shelves) == expected)
              // Shapes that come and go.
              let others = (0..<6).map { round >> $0 & 1 == 1 ? \Shelf.height > 30 : \Shelf.code == "x" }
              #expect(try context.count(From<Shelf>().where(.any(others))) == 0)
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
