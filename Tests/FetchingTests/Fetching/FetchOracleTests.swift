import Foundation
import GraphContext
import GraphTestSupport
import Predicates
import TestSupport
import Testing

/// Fetches over a store, with and without unsaved changes, against plain arrays and closures.
struct FetchOracleTests {
  @Test func fetchesAnswerAsPlainArraysDo() async throws {
    var random = SeededGenerator()
    for _ in 0..<TestEffort.times(2) {
      let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
      let seed = random.next()
      try await container.performBackgroundTask { context in
        var random = SeededGenerator(seed: seed)
        var world = FetchWorld()
        for round in 0..<4 {
          try world.change(context, round == 0 ? 400 : 60, &random)
          // Every second time the changes are still unsaved when the queries run.
          if round % 2 == 0 { try context.save() }
          // Each query sees the setters, insertions and deletions since the previous one.
          let changeCount = random.pick([0, 1, 5])
          for _ in 0..<25 {
            if changeCount > 0, random.chance(1, in: 2) { try world.change(context, changeCount, &random) }
            try world.check(context, &random)
          }
        }
        context.rollback()
        #expect(try context.count(From<Item>()) == world.savedCount)
      }
    }
  }

  @Test func aStoreWithoutItsClassesAnswersTheSame() async throws {
    let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
    let seed = SeededGenerator().seed
    let expected = try await container.performBackgroundTask { context in
      var random = SeededGenerator(seed: seed)
      var world = FetchWorld()
      try world.change(context, 300, &random)
      try context.save()
      let request = From<Item>().where(format: "n > 2 AND shelf.height != nil").orderBy(.descending(\.t))
        .limit(40)
      return try context.fetch(request).map { [$0.t._attributeValue, ($0.shelf?.code)._attributeValue] }
    }
    #expect(!expected.isEmpty)
    let store = try DynamicStore(container.store)
    var query = DynamicQuery("Item", where: try PredicateTree(format: "n > 2 AND shelf.height != nil"))
    query.sort = [.init("t", ascending: false)]
    query.select = ["t", "shelf.code"]
    query.limit = 40
    #expect(try store.rows(of: query).map(\.values) == expected)
    #expect(try store.count(query) == expected.count)
    #expect(try store.columns(of: query) == ["t", "shelf.code"])
    #expect(try store.explain(query).limit == 40)
    query.select = ["t", "shelves"]
    expectMistake { try store.rows(of: query) }
    expectMistake { try store.count(DynamicQuery("Book")) }
  }
}

/// The objects of a context, and how they are tested and sorted by plain Swift.
struct FetchWorld {
  private(set) var items: [Item] = []
  private(set) var shelves: [Shelf] = []
  private(set) var savedCount = 0

  typealias Condition = (text: String, arguments: [(any PredicateArgument)?], holds: (Item) -> Bool)

  /// Inserts, changes and deletes.
  mutating func change(_ context: ManagedObjectContext, _ count: Int, _ random: inout SeededGenerator) throws
  {
    if !context.hasChanges { savedCount = items.count }
    for _ in 0..<max(2, count / 20) {
      if let shelf = shelves.randomElement(using: &random), random.chance(1, in: 2) {
        shelf.code = Self.text(&random) ?? ""
        shelf.height = random.chance(1, in: 4) ? nil : random.number(in: 0...5)
      } else {
        let shelf = Shelf(
          code: Self.text(&random) ?? "",
          height: random.number(in: 0...5),
          next: shelves.randomElement(using: &random)
        )
        context.insert(shelf)
        shelves.append(shelf)
      }
    }
    for _ in 0..<count {
      switch random.number(in: 0...9) {
      case 0 where !items.isEmpty:
        let place = random.number(in: 0...items.count - 1)
        context.delete(items.remove(at: place))
      case 1, 2, 3:
        guard let item = items.randomElement(using: &random) else { continue }
        item.n = random.chance(1, in: 4) ? nil : random.number(in: -3...9)
        item.t = Self.text(&random)
        item.shelf = shelves.randomElement(using: &random)
      default:
        let item = Item(
          n: random.chance(1, in: 5) ? nil : random.number(in: -3...9),
          m: random.chance(1, in: 5) ? nil : random.pick([.min, -1, 0, 1, 2, .max] as [Int16]),
          t: Self.text(&random),
          d: random.pick([nil, 0, -0.0, .nan, .infinity, -1.5, 2, 1e300]),
          w: random.chance(1, in: 3)
            ? nil : Date(timeIntervalSinceReferenceDate: Double(random.number(in: 0...9))),
          u: random.pick([nil, 0, 1, 1 << 63, .max]),
          flag: random.chance(1, in: 2),
          shelf: random.chance(1, in: 4) ? nil : shelves.randomElement(using: &random)
        )
        context.insert(item)
        items.append(item)
      }
    }
    items.sort { $0.objectID.number < $1.objectID.number }
    if !context.hasChanges { savedCount = items.count }
  }

  private static func text(_ random: inout SeededGenerator) -> String? {
    random.pick([nil, "", "a", "A", "ab", "abc", "b", "é", "e\u{301}", "😀", "a\u{0}", "z"])
  }

  /// Runs one random query in words and in Swift, and compares the results.
  mutating func check(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
    if !context.hasChanges { savedCount = items.count }
    let condition = condition(depth: random.number(in: 0...2), &random)
    let (keys, precedes) = order(&random)
    let limit = random.chance(1, in: 2) ? random.number(in: 0...15) : nil
    let offset = random.chance(1, in: 3) ? random.number(in: 0...25) : 0
    let tree = try PredicateTree(format: condition.text, arguments: condition.arguments)
    var request = From<Item>().where(Where(tree)).orderBy(keys).offset(offset)
    if let limit { request = request.limit(limit) }

    let matches = items.filter(condition.holds)
    var expected = Array(matches.sorted(by: precedes).dropFirst(offset))
    if let limit { expected = Array(expected.prefix(limit)) }
    let plan = try context.explain(request)
    let found = try context.fetch(request)
    try #require(found.map(\.objectID) == expected.map(\.objectID), "\(request)\n\(plan)")
    #expect(zip(found, expected).allSatisfy { $0 === $1 }, "one object for each ID")
    #expect(try context.fetchIDs(request) == expected.map(\.objectID))
    #expect(try items.filter(matching: Where(tree)) == matches, "\(request)")
    #expect(try context.count(request) == expected.count)
    #expect(try context.count(From<Item>().where(Where(tree))) == matches.count, "\(request)\n\(plan)")
    #expect(try context.exists(request) == !expected.isEmpty)
    #expect(try context.fetchOne(request) === expected.first)
  }

  // MARK: Conditions

  func condition(depth: Int, _ random: inout SeededGenerator) -> Condition {
    if depth > 0 {
      let (a, b) = (condition(depth: depth - 1, &random), condition(depth: depth - 1, &random))
      switch random.number(in: 0...2) {
      case 0: return ("NOT (\(a.text))", a.arguments, { !a.holds($0) })
      case 1:
        return ("(\(a.text)) AND (\(b.text))", a.arguments + b.arguments, { a.holds($0) && b.holds($0) })
      default:
        return ("(\(a.text)) OR (\(b.text))", a.arguments + b.arguments, { a.holds($0) || b.holds($0) })
      }
    }
    let number = random.number(in: -3...9)
    let text = Self.text(&random) ?? "a"
    let bytes = Array(text.utf8)
    switch random.number(in: 0...15) {
    case _ where random.chance(1, in: 4): return folded(text, &random)
    case 0: return ("n == %d", [number], { $0.n == number })
    case 1: return ("n < %d", [number], { $0.n.map { $0 < number } ?? false })
    case 2: return ("n != %d", [number], { $0.n != number })
    case 3: return ("n IN {%d, nil, 7}", [number], { $0.n == number || $0.n == nil || $0.n == 7 })
    case 4:
      return ("m >= 0 AND t == %@", [text], { ($0.m ?? -1) >= 0 && $0.t.map { Array($0.utf8) } == bytes })
    case 5:
      return (
        "m == 1 AND t BEGINSWITH %@", [text], { $0.m == 1 && ($0.t?.utf8.starts(with: bytes) ?? false) }
      )
    case 6: return ("d >= 0", [], { ($0.d ?? .nan) >= 0 })
    case 7: return ("NOT d < 2", [], { !(($0.d ?? .nan) < 2) })
    case 8: return ("u > 1", [], { ($0.u ?? 0) > 1 })
    case 9: return ("flag", [], { $0.flag })
    case 10: return ("shelf.code == %@", [text], { ($0.shelf?.code).map { Array($0.utf8) } == bytes })
    case 11:
      return (
        "shelf.height > 2 AND n > %d", [number], { ($0.shelf?.height ?? 0) > 2 && ($0.n ?? .min) > number }
      )
    case 12: return ("shelf.next.height == nil", [], { $0.shelf?.next?.height == nil })
    case 13:
      guard let shelf = shelves.randomElement(using: &random) else {
        return ("shelf == nil", [], { $0.shelf == nil })
      }
      return ("shelf == %@", [shelf], { $0.shelf === shelf })
    case 14:
      let some = (0..<3).compactMap { _ in items.randomElement(using: &random) }
      return ("SELF IN %@", [some.map(\.objectID)], { item in some.contains { $0 === item } })
    default:
      let date = Date(timeIntervalSinceReferenceDate: Double(number))
      return (
        "w BETWEEN {%@, %@}", [date, date + 3], { $0.w.map { (date...date + 3).contains($0) } ?? false }
      )
    }
  }

  /// A condition on folded strings, or on parts of strings.
  private func folded(_ text: String, _ random: inout SeededGenerator) -> Condition {
    func both(_ text: String) -> String { Self.caseless(text).replacing("é", with: "e") }
    let number = random.number(in: -3...9)
    switch random.number(in: 0...11) {
    case 0: return ("t ==[cd] %@", [text], { $0.t.map { both($0) == both(text) } ?? false })
    case 1:
      return ("t BEGINSWITH[cd] %@", [text], { $0.t.map { Self.begins(both($0), both(text)) } ?? false })
    case 2:
      return ("t LIKE[dc] %@", [text + "*"], { $0.t.map { Self.begins(both($0), both(text)) } ?? false })
    case 3: return ("t LIKE %@", ["?" + text], { $0.t.map { Self.ends($0, text, extra: 1) } ?? false })
    case 4:
      return (
        "t ==[c] %@ AND n > %d", [text, number],
        { ($0.n ?? .min) > number && $0.t.map { Self.caseless($0) == Self.caseless(text) } ?? false }
      )
    case 5:
      return (
        "t IN[cd] {%@, 'Z', nil}", [text],
        { $0.t.map { both($0) == both(text) || $0 == "z" } ?? true }
      )
    case 6:
      return (
        "NOT t <[cd] 'B'", [], { !($0.t.map { both($0).utf8.lexicographicallyPrecedes("b".utf8) } ?? false) }
      )
    case 7:
      return (
        "shelf.code ==[c] %@", [text],
        { ($0.shelf?.code).map { Self.caseless($0) == Self.caseless(text) } ?? false }
      )
    case 9: return ("lowercase(t) LIKE '*?b*'", [], { ["ab", "abc"].contains($0.t?.lowercased() ?? "") })
    case 10:
      return ("NOT uppercase(t) MATCHES[n] 'A|É'", [], { !["A", "É"].contains($0.t?.uppercased() ?? "") })
    case 8: return ("t MATCHES 'a.?'", [], { ["a", "ab", "a\u{0}"].contains($0.t ?? "") })
    default: return ("t ==[d] 'e'", [], { ["é", "e\u{301}"].contains($0.t ?? "") })
    }
  }

  /// The texts of these tests have one letter with an accent, which Swift compares by canonical equivalence.
  private static func caseless(_ text: String) -> String {
    text.lowercased().replacing("e\u{301}", with: "é")
  }

  private static func begins(_ text: String, _ prefix: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

  /// Returns true if the text consists of `extra` scalars followed by the suffix.
  private static func ends(_ text: String, _ suffix: String, extra: Int) -> Bool {
    let (text, suffix) = (Array(text.unicodeScalars), Array(suffix.unicodeScalars))
    return text.count == suffix.count + extra && Array(text.dropFirst(extra)) == suffix
  }

  // MARK: Order

  func order(_ random: inout SeededGenerator) -> ([OrderBy<Item>], (Item, Item) -> Bool) {
    let isAscending = random.chance(1, in: 2)
    func byID(_ a: Item, _ b: Item, _ isAscending: Bool) -> Bool {
      isAscending == (a.objectID.number < b.objectID.number) && a !== b
    }
    func by<Value>(
      _ value: @escaping (Item) -> Value?,
      _ precedes: @escaping (Value, Value) -> Bool
    ) -> (Item, Item) -> Bool {
      { a, b in
        let (first, second) = isAscending ? (a, b) : (b, a)
        switch (value(first), value(second)) {
        case (nil, nil): return byID(a, b, isAscending)
        case (nil, _): return true
        case (_, nil): return false
        case (let x?, let y?): return precedes(x, y) || (!precedes(y, x) && byID(a, b, isAscending))
        }
      }
    }
    func key(_ keyPath: KeyPath<Item, some AttributeType>) -> OrderBy<Item> {
      isAscending ? .ascending(keyPath) : .descending(keyPath)
    }
    switch random.number(in: 0...5) {
    case 0: return ([key(\.n)], by({ $0.n }, <))
    case 1: return ([key(\.t)], by({ $0.t }) { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    case 2: return ([key(\.d)], by({ $0.d }) { $1.isNaN ? !$0.isNaN : $0 < $1 })
    case 3: return ([key(\.shelf?.height)], by({ $0.shelf?.height }, <))
    case 4: return ([key(\.u)], by({ $0.u }, <))
    default: return ([], { byID($0, $1, true) })
    }
  }
}
