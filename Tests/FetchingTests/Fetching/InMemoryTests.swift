import Cambium
import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Conditions on objects in memory have the same meaning as in a query.
struct InMemoryTests {
  /// Conditions on items; `%d` is a small number, `%@` a short text.
  private static let formats = [
    "n == %d", "n != %d", "n < %d", "n BETWEEN {%d, 5}", "n IN {%d, nil, 7}", "NOT n > %d", "m >= %d",
    "u > %d", "d < %d",
    "d == n", "n >= m", "m != u", "d == nil", "w < \"2001-01-01T00:00:05Z\"", "flag", "NOT flag OR n == %d",
    "t == %@", "t != %@", "t < %@", "t BEGINSWITH %@", "t CONTAINS[c] %@", "t ENDSWITH %@",
    "t IN[c] {%@, \"z\"}",
    "shelf == nil", "shelf.code == %@", "shelf.code != %@", "shelf.height > %d", "NOT shelf.height > %d",
    "shelf.next.height == %d", "shelf.next.code BEGINSWITH[c] %@", "shelf.next == shelf",
    "shelf.next != shelf",
    "shelf.objectID == shelf.next.objectID", "shelf.next.next == nil AND n > %d",
    "shelf.code == t OR n == %d",
    "shelf.height == n", "SELF.shelf.next != nil AND (t == %@ OR m == 0)",
  ]

  private static func condition(_ random: inout SeededGenerator) throws -> Where<Item> {
    let format = random.pick(formats)
    let arguments: [(any PredicateArgument)?] = format.split(separator: "%").dropFirst().map {
      $0.hasPrefix("d") ? random.number(in: -3...9) : random.pick(["", "a", "A", "ab", "é", "E\u{301}", "z"])
    }
    return try Where(format: format, arguments: arguments)
  }

  private static func objects(_ random: inout SeededGenerator) -> (items: [Item], shelves: [Shelf]) {
    var shelves: [Shelf] = []
    for _ in 0..<12 {
      let next = random.chance(2, in: 3) ? shelves.randomElement(using: &random) : nil
      let code = random.pick(["a", "A", "b", "é"])
      shelves.append(Shelf(code: code, height: random.pick([nil, 0, 1, 5]), next: next))
    }
    shelves[0].next = shelves[0]
    let items = (0..<150).map { _ in
      Item(
        n: random.pick([nil, -3, 0, 1, 2, 5, 7]),
        m: random.pick([nil, .min, -1, 0, 1, .max]),
        t: random.pick([nil, "", "a", "A", "ab", "é", "e\u{301}", "z"]),
        d: random.pick([nil, 0, -0.0, .nan, .infinity, -1.5, 2]),
        w: random.pick([
          nil, Date(timeIntervalSinceReferenceDate: 4), Date(timeIntervalSinceReferenceDate: 6),
        ]),
        u: random.pick([nil, 0, 1, 1 << 63, .max]),
        flag: random.chance(1, in: 2),
        shelf: random.chance(1, in: 4) ? nil : random.pick(shelves)
      )
    }
    return (items, shelves)
  }

  @Test func filteringAnswersAsAFetchDoesBeforeAndAfterInsertionAndSaving() async throws {
    let container = try await PersistentContainer("memory", models: Item.self, Shelf.self, at: .inMemory)
    let seed = SeededGenerator().seed
    try await container.performBackgroundTask { context in
      var random = SeededGenerator(seed: seed)
      let (items, shelves) = Self.objects(&random)
      let conditions = try (0..<120).map { _ in try Self.condition(&random) }
      // The objects are in no context, so the conditions can read only the objects themselves.
      let alone = try conditions.map { try items.filter(matching: $0) }
      for shelf in shelves { context.insert(shelf) }
      for item in items { context.insert(item) }
      func check(_ stage: String) throws {
        for condition in conditions {
          let fetched = try context.fetch(From<Item>().where(condition))
          let all = try context.fetch(From<Item>())
          #expect(
            try all.filter(matching: condition).map(\.objectID) == fetched.map(\.objectID),
            "\(stage): \(condition)"
          )
        }
      }
      for (condition, matches) in zip(conditions, alone) {
        #expect(try context.fetch(From<Item>().where(condition)) == matches, "\(condition)")
      }
      try check("inserted")
      try context.save()
      try check("saved")
      context.reset()
      try check("faults")
      let changed = try context.fetch(From<Item>())
      let places = try context.fetch(From<Shelf>())
      for item in changed where random.chance(1, in: 3) {
        item.n = random.pick([nil, 1, 2])
        item.shelf = random.pick(places)
      }
      for place in places.prefix(3) { context.delete(place) }
      try check("changed")
      let selective = alone.filter { !$0.isEmpty && $0.count < items.count }
      #expect(selective.count * 10 >= alone.count * 4)
      context.rollback()
    }
  }

  @Test func oneObjectIsTestedByItself() throws {
    let next = Shelf(code: "b", height: 2, next: nil)
    let shelf = Shelf(code: "a", height: 1, next: next)
    let item = Item(n: 1, m: nil, t: "Blue", d: 0.5, w: nil, u: 7, flag: true, shelf: shelf)
    #expect(try Where<Item> { $0.n == 1 && $0.shelf.next.code == "b" }.evaluate(item))
    #expect(try Where<Item>(["t": "Blue", "n": 1..<2, "m": nil, "shelf.height": [1, 3]]).evaluate(item))
    #expect(try !Where<Item>(["t": "Blue", "n": 5...6]).or(["n": 2]).evaluate(item))
    #expect(
      try !Where<Item>(format: "shelf == shelf.next").evaluate(item),
      "two objects without a number are two"
    )
    #expect(try Where<Item>(format: "shelf == shelf AND shelf.next != shelf").evaluate(item))
    #expect(try [item].filter(matching: \.shelf?.height == 1) == [item])
  }

  @Test func objectsOfAContextAreKnownByTheirIdentity() async throws {
    let container = try await PersistentContainer("memory", models: Item.self, Shelf.self, at: .inMemory)
    let other = try await PersistentContainer("other", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      let shelves = [Shelf(code: "a", height: 1, next: nil), Shelf(code: "b", height: 2, next: nil)]
      for shelf in shelves { context.insert(shelf) }
      let items = shelves.map { Item(n: 1, m: nil, t: nil, d: nil, w: nil, u: nil, flag: false, shelf: $0) }
      context.insert(items[0])
      try context.save()
      // The second is in no context; its shelf is.
      #expect(try items.filter(matching: \.shelf == shelves[0]) == [items[0]])
      #expect(try items.filter(matching: \.shelf == shelves[1]) == [items[1]])
      #expect(try items.filter(matching: Where { $0 == items[0] }) == [items[0]])
      #expect(try items.filter(matching: ["shelf": shelves]) == items)
      #expect(try context.fetch(From<Item>().where(["shelf": shelves, "n": 0..<2, "t": nil])) == [items[0]])
      context.delete(items[0])
      context.rollback()
    }
    let id = try await other.performBackgroundTask { context in
      let shelf = Shelf(code: "a", height: 1, next: nil)
      context.insert(shelf)
      try context.save()
      return shelf.objectID
    }
    try await container.performBackgroundTask { context in
      let shelf = Shelf(code: "a", height: 1, next: nil)
      context.insert(shelf)
      let item = Item(n: 1, m: nil, t: nil, d: nil, w: nil, u: nil, flag: false, shelf: shelf)
      context.insert(item)
      let error = #expect(throws: QueryError.self) { try [item].filter(matching: \.shelf == id) }
      #expect(error?.message.contains("another store") == true)
      context.rollback()
    }
  }

  @Test func quantifiersAndAggregatesGoThroughTheObjectsThatAreThere() async throws {
    let album = Album(title: "Blue", year: 1971)
    let songs = [("Carey", 183), ("River", 244), ("Blue", 185)].map { title, seconds in
      Song(isrc: title, title: title, track: 1, seconds: seconds)
    }
    album.songs = songs
    for song in songs { song.album = album }
    let conditions: [(Where<Album>, Bool)] = [
      (try Where(format: "ANY songs.seconds > 240"), true),
      (try Where(format: "ALL songs.seconds > 184"), false),
      (try Where(format: "songs.@count == 3 AND songs.@sum.seconds == 612"), true),
      (
        try Where(format: "SUBQUERY(songs, $x, $x.album.year == 1971 AND $x.seconds < 200).@count == 2"), true
      ),
    ]
    for (condition, expected) in conditions {
      #expect(try condition.evaluate(album) == expected, "\(condition)")
    }
    let longest = try Where<Song>(format: "seconds == album.songs.@max.seconds")
    #expect(try songs.filter(matching: longest).map(\.title) == ["River"])
    let container = try await PersistentContainer("memory", models: Album.self, Song.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      let album = Album(title: "Blue", year: 1971)
      context.insert(album)
      for seconds in [183, 244, 185] {
        let song = Song(isrc: "\(seconds)", title: "", track: 1, seconds: seconds)
        album.songs.append(song)
      }
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        for (condition, expected) in conditions {
          #expect(try condition.evaluate(album) == expected, "\(condition)")
          #expect(try context.count(From<Album>().where(condition)) == (expected ? 1 : 0), "\(condition)")
        }
      }
    }
  }

  @Test func mistakesAreThrownEvenWhereThereAreNoObjects() {
    let none: [Item] = []
    for (condition, keyPath) in [
      (Where<Item>(["shelff": 1]), "shelff"), (Where<Item>(["n": "one"]), "n"),
      (Where<Item>(["shelf.nn": 1]), "shelf.nn"),
    ] {
      let error = #expect(throws: QueryError.self) { try none.filter(matching: condition) }
      #expect(error?.keyPath == keyPath)
    }
  }
}
