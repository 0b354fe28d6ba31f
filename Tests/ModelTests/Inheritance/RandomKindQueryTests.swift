import Cambium
import Foundation
import GraphTestSupport
import Predicates
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Random conditions on properties of every kind, in a hierarchy, against plain values: of saved objects, beside unsaved changes, in memory and by records.
struct RandomKindQueryTests {
  @Test func conditionsMeanWhatPlainValuesSay() async throws {
    var random = SeededGenerator()
    let coverage = Mutex(KindCoverage())
    for _ in 0..<TestEffort.times(2) {
      let container = try await Media.open()
      let seed = random.next()
      try container.inContext { (context: ManagedObjectContext) throws -> Void in
        var world = KindWorld(SeededGenerator(seed: seed), coverage.withLock(\.self))
        for round in 0..<4 {
          try world.change(context, round == 0 ? 120 : 30)
          let isSaved = round % 2 == 0
          if isSaved { try context.save() }
          for _ in 0..<60 { try world.check(context, isSaved ? try DynamicStore(container.store) : nil) }
        }
        let found = world.coverage
        coverage.withLock { $0 = found }
      }
      #expect(try await container.verify().map(\.description) == [])
    }
    let found = coverage.withLock(\.self)
    #expect(found.missing == [], "\(found.table)")
  }
}

/// The items of a store as plain values.
private struct KindWorld {
  private static let shelfNames = ["A", "B", "C"]

  private var random: SeededGenerator
  private var plain = PlainShelves()
  private(set) var coverage: KindCoverage

  init(_ random: SeededGenerator, _ coverage: KindCoverage) {
    (self.random, self.coverage) = (random, coverage)
  }

  // MARK: Changes

  /// Inserts, changes and deletes items.
  mutating func change(_ context: ManagedObjectContext, _ count: Int) throws {
    if plain.shelves.isEmpty {
      for name in Self.shelfNames {
        context.insert(Media.Shelf(name))
        plain.shelves[name] = []
      }
    }
    for _ in 0..<count {
      let known = plain.items.keys.sorted()
      switch random.number(in: 0...9) {
      case 0 where known.count > 20:
        let code = random.pick(known)
        context.delete(try item(code, context))
        plain.remove(code)
      case 1...3 where known.count > 20: try put(random.pick(known), context)
      default:
        let code = (known.last ?? 0) + 1
        let item = PlainMedium(random.pick(PlainMedium.Kind.allCases), code)
        context.insert(item.makeObject())
        plain.items[code] = item
        try put(code, context)
      }
    }
  }

  private func item(_ code: Int, _ context: ManagedObjectContext) throws -> Media.Item {
    try #require(try context.fetchOne(From<Media.Item>().where { $0.code == code }))
  }

  private func shelf(_ name: String, _ context: ManagedObjectContext) throws -> Media.Shelf {
    try #require(try context.fetchOne(From<Media.Shelf>().where { $0.name == name }))
  }

  /// Sets the properties of an item anew.
  private mutating func put(_ code: Int, _ context: ManagedObjectContext) throws {
    guard var values = plain.items[code] else { return }
    let object = try item(code, context)
    values.title = random.pick(["", "x", "X", "xy", "Z"])
    values.year = number()
    values.tags = list()
    values.cover = random.pick([nil, Data([1])])
    values.size = random.chance(1, in: 3) ? nil : size()
    object.title = values.title
    object.year = values.year
    object.tags = values.tags
    object.cover = values.cover
    object.size = values.size
    if let book = object as? Media.Book { try put(&values, book, context) }
    if let atlas = object as? Media.Atlas {
      values.scale = number()
      atlas.scale = values.scale
    }
    if let disc = object as? Media.Disc { put(&values, disc, context) }
    plain.items[code] = values
    plain.takeOut(code)
    guard random.chance(3, in: 4) else { return object.shelf = nil }
    let name = random.pick(Self.shelfNames)
    object.shelf = nil
    try shelf(name, context).items.append(object)
    plain.shelves[name]?.append(code)
  }

  private mutating func put(
    _ values: inout PlainMedium,
    _ book: Media.Book,
    _ context: ManagedObjectContext
  ) throws {
    values.pages = number()
    values.words = list()
    values.motto = random.pick([nil] + KindCondition.words.map(Optional.some))
    values.spine = size()
    values.text = random.pick([nil, "text"])
    values.isbn = random.chance(1, in: 2) ? nil : values.code
    values.notes = list()
    values.fans = Set(Self.shelfNames.filter { _ in random.chance(1, in: 3) })
    book.pages = values.pages
    book.words = values.words
    book.motto = values.motto
    book.spine = values.spine
    book.text = values.text
    book.isbn = values.isbn
    for note in Array(book.notes) { context.delete(note) }
    book.notes = values.notes.map(PlainMedium.note)
    book.fans = try values.fans.map { try shelf($0, context) }
  }

  private mutating func put(
    _ values: inout PlainMedium,
    _ disc: Media.Disc,
    _ context: ManagedObjectContext
  ) {
    values.minutes = number()
    values.slot = random.chance(1, in: 2) ? nil : size()
    values.mark = random.pick(KindCondition.words)
    values.tracks = (0..<random.number(in: 0...3)).map { _ in number() }.sorted()
    disc.minutes = values.minutes
    disc.slot = values.slot
    disc.mark = values.mark
    for tune in Array(disc.tracks) { context.delete(tune) }
    for seconds in values.tracks { context.insert(Media.Tune(seconds, on: disc)) }
  }

  private mutating func number() -> Int { random.number(in: 0...KindCondition.top) }

  private mutating func list() -> [String] {
    (0..<random.number(in: 0...3)).map { _ in random.pick(KindCondition.words) }
  }

  private mutating func size() -> Media.Size {
    let note = random.pick([nil] + KindCondition.words.map(Optional.some))
    return Media.Size(width: number(), depth: number(), note: note)
  }

  // MARK: Queries

  private var subjects: [KindSubject] {
    let shelves = plain.shelves.map { name, codes in (name, codes.compactMap { plain.items[$0] }) }
    let places = Dictionary(
      uniqueKeysWithValues: shelves.flatMap { shelf in shelf.1.map { ($0.code, shelf) } }
    )
    return plain.items.values.map { item in
      KindSubject(item: item, shelf: places[item.code].map { (name: $0.0, items: $0.1) })
    }
  }

  /// Runs one random query of a random class in words and in Swift, and compares the results.
  ///
  /// - Parameter store: the store without its classes; nil if something is unsaved.
  mutating func check(_ context: ManagedObjectContext, _ store: DynamicStore?) throws {
    let condition = KindCondition.any(depth: random.number(in: 0...2), isSaved: store != nil, &random)
    let name = random.pick(condition.roots)
    let codes = Set(
      subjects.filter { $0.item.kind.names.contains(name) && condition.holds($0) }.map(\.item.code)
    )
    coverage.note(
      condition.text,
      found: codes.count,
      of: subjects.count { $0.item.kind.names.contains(name) }
    )
    let comment = "\(name): \(condition.text) \(condition.arguments.map { "\($0 as Any)" })"
    let question = KindQuestion(
      tree: try PredicateTree(format: condition.text, arguments: condition.arguments),
      order: random.pick(KindOrder.allCases),
      offset: random.number(in: 0...5),
      limit: random.number(in: 0...20)
    )
    let answer = try question.ask(of: name, context)
    let found = answer.found
    try #require(Set(found.map(\.code)) == codes && found.count == codes.count, "\(comment)")
    for (a, b) in zip(found, found.dropFirst()) {
      try #require(question.order.allows(a, before: b), "\(comment) in order")
    }
    let window = found.dropFirst(question.offset).prefix(question.limit)
    try #require(answer.window.map(\.objectID) == window.map(\.objectID), "\(comment), \(question)")
    try #require(answer.count == codes.count, "\(comment)")
    try #require(answer.ids == found.map(\.objectID), "\(comment)")
    try #require(Set(answer.inMemory.map(\.code)) == codes, "\(comment) in memory")
    guard let store else { return }
    var query = DynamicQuery(name, where: question.tree)
    query.select = ["code"]
    let rows = try store.rows(of: query).map { $0.values[0] }
    try #require(Set(rows) == Set(codes.map { .int(Int64($0)) }), "\(comment) by records")
  }
}

/// A sort key, and whether one object may stand before another by it. Nil comes before every value.
private enum KindOrder: CaseIterable {
  case code, year, titleDescending, width, shelf

  func key<Root: Media.Item>(_ type: Root.Type) -> OrderBy<Root> {
    switch self {
    case .code: .ascending(\.code)
    case .year: .ascending(\.year)
    case .titleDescending: .descending(\.title)
    case .width: .ascending(\.size?.width)
    case .shelf: .ascending(\.shelf?.name)
    }
  }

  func allows(_ a: Media.Item, before b: Media.Item) -> Bool {
    switch self {
    case .code: a.code < b.code
    case .year: a.year <= b.year
    case .titleDescending: a.title >= b.title
    case .width: (a.size?.width ?? -1) <= (b.size?.width ?? -1)
    case .shelf: (a.shelf?.name ?? "") <= (b.shelf?.name ?? "")
    }
  }
}

/// One condition, asked in every way.
private struct KindQuestion {
  var tree: PredicateTree
  var order: KindOrder
  var offset: Int
  var limit: Int

  struct Answer {
    var found: [Media.Item]
    var window: [Media.Item]
    var ids: [ManagedObjectID]
    var count: Int
    /// The objects that match when the condition is tested in memory.
    var inMemory: [Media.Item]
  }

  func ask(of name: String, _ context: ManagedObjectContext) throws -> Answer {
    switch name {
    case "Book": try ask(Media.Book.self, context)
    case "Atlas": try ask(Media.Atlas.self, context)
    case "Disc": try ask(Media.Disc.self, context)
    default: try ask(Media.Item.self, context)
    }
  }

  private func ask<Root: Media.Item>(_ type: Root.Type, _ context: ManagedObjectContext) throws -> Answer {
    let request = From<Root>().where(Where(tree)).orderBy(order.key(type))
    return Answer(
      found: try context.fetch(request),
      window: try context.fetch(request.offset(offset).limit(limit)),
      ids: try context.fetchIDs(request),
      count: try context.count(request),
      inMemory: try context.fetch(From<Root>()).filter(matching: Where(tree))
    )
  }
}
