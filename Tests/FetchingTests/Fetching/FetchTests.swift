import Foundation
import GraphContext
import GraphTestSupport
import Predicates
import Testing

struct FetchTests {
  private func withShelves<R: Sendable>(
    _ count: Int,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> R
  ) async throws -> R {
    let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
    return try await container.performBackgroundTask { context in
      for place in 0..<count {
        let shelf = Shelf(code: String(format: "%05d", place), height: place % 10, next: nil)
        shelf.notes = String(repeating: "\(place % 7)", count: place % 5 == 0 ? 20_000 : 12)
        context.insert(shelf)
      }
      try context.save()
      context.reset()
      return try body(context)
    }
  }

  @Test func recordsThatOverflowTheirPagesAreFoundByEveryPath() async throws {
    try await withShelves(300) { context throws in
      let all = try context.fetch(From<Shelf>())
      #expect(all.map { $0.notes?.utf8.count } == (0..<300).map { $0 % 5 == 0 ? 20_000 : 12 })
      let some = try context.fetch(
        From<Shelf>().where(format: "code BEGINSWITH '000' AND notes CONTAINS '6666'")
      )
      #expect(some.map(\.code) == (0..<100).filter { $0 % 7 == 6 }.map { String(format: "%05d", $0) })
      let sorted = try context.fetch(From<Shelf>().orderBy(.descending(\.notes)).limit(2))
      #expect(sorted.map(\.notes) == Array(repeating: String(repeating: "6", count: 20_000), count: 2))
    }
  }

  @Test func aFormatTakesItsArgumentsInAnArray() async throws {
    try await withShelves(20) { context throws in
      let format = "height == %d AND code > %@"
      let found = try context.fetch(From<Shelf>().where(format: format, arguments: [3, "00005"]))
      #expect(found.map(\.code) == ["00013"])
      let both = From<Shelf>().where(format: format, 3, "00000").where(
        format: "code < %@",
        arguments: ["00010"]
      )
      #expect(try context.fetch(both).map(\.code) == ["00003"])
      let mistake = expectMistake {
        try context.fetch(From<Shelf>().where(format: format, arguments: [3]))
      }
      #expect(mistake?.code == .arguments)
    }
  }

  @Test(arguments: [false, true])
  func tiesAreInTheDirectionOfTheLastKey(_ isSaved: Bool) async throws {
    try await withShelves(30) { context throws in
      for shelf in try context.fetch(From<Shelf>()) { shelf.notes = "equal" }
      if isSaved { try context.save() }
      func codes(_ order: [OrderBy<Shelf>]) throws -> [String] {
        try context.fetch(From<Shelf>().orderBy(order)).prefix(6).map(\.code)
      }
      #expect(try codes([]) == ["00000", "00001", "00002", "00003", "00004", "00005"])
      #expect(
        try codes([.ascending(\.height)]) == ["00000", "00010", "00020", "00001", "00011", "00021"]
      )
      #expect(
        try codes([.descending(\.height)]) == ["00029", "00019", "00009", "00028", "00018", "00008"]
      )
      #expect(
        try codes([.ascending(\.height), .descending(\.notes)])
          == ["00020", "00010", "00000", "00021", "00011", "00001"]
      )
    }
  }

  @Test func aDeepOffsetIsFoundByRank() async throws {
    try await withShelves(2_000) { context throws in
      let request = From<Shelf>().orderBy(.descending(\.code)).limit(3).offset(1_500)
      #expect(try context.fetch(request).map(\.code) == ["00499", "00498", "00497"])
      #expect(
        try context.explain(request).description == """
          Shelf: ordered scan, 2000 rows
            index code, every row: 2000 rows (exact)
            order: in index order, reversed
            limit 3, offset 1500
          """
      )
      #expect(try context.fetch(request.offset(5_000)).isEmpty)
      #expect(try context.count(request) == 3)
      #expect(try context.count(request.offset(1_999)) == 1)
    }
  }

  @Test(arguments: [Int.max, .max - 1, .max / 2 + 1])
  func aLimitMayBeAnyNumber(_ limit: Int) async throws {
    try await withShelves(40) { context throws in
      let orders: [[OrderBy<Shelf>]] = [
        [], [.descending(\.code)], [.ascending(\.height)], [.descending(\.notes)],
      ]
      for isUnsaved in [false, true] {
        if isUnsaved { context.insert(Shelf(code: "new", height: 3, next: nil)) }
        let count = isUnsaved ? 41 : 40
        for order in orders {
          let request = From<Shelf>().orderBy(order).limit(limit)
          #expect(
            try context.fetch(request.offset(2))
              == Array(context.fetch(From<Shelf>().orderBy(order)).dropFirst(2))
          )
          #expect(try context.fetchIDs(request).count == count)
          #expect(try context.count(request.offset(2)) == count - 2)
          #expect(try context.exists(request))
          #expect(try context.fetch(request.select(\.code).distinct()).count == count)
          #expect(try context.sum(of: \.height, in: request) == context.sum(of: \Shelf.height))
          #expect(try context.fetch(request.offset(.max)).isEmpty)
          var seen = 0
          try context.forEach(request) { _ in seen += 1 }
          #expect(seen == count)
        }
      }
    }
  }

  @Test func aScanInOrderThatFindsTooLittleGivesWay() async throws {
    try await withShelves(2_000) { context throws in
      // Half of the shelves match, but none of those that come first in order.
      for shelf in try context.fetch(From<Shelf>()) { shelf.notes = shelf.code < "01000" ? "low" : "high" }
      try context.save()
      let request = From<Shelf>().where(\.notes == "low").orderBy(.descending(\.code)).limit(2)
      #expect(
        try context.explain(request).description == """
          Shelf: ordered scan, 2000 rows
            index code, every row: 2000 rows (exact)
            filter: notes == "low"
            order: in index order, reversed
            limit 2
            after 404 rows instead: full scan, 2000 rows
          """
      )
      #expect(try context.fetch(request).map(\.code) == ["00999", "00998"])
      #expect(try context.fetch(request.offset(998)).map(\.code) == ["00001", "00000"])
    }
  }

  @Test func aFetchedObjectIsAFaultUntilItIsRead() async throws {
    try await withShelves(10) { context throws in
      let shelf = try #require(try context.fetchOne(From<Shelf>().where { $0.code == "00003" }))
      #expect(shelf.isFault)
      #expect(shelf.height == 3)
      #expect(!shelf.isFault)
      #expect(try context.fetch(From<Shelf>().where(\.height == 3)).first === shelf)
    }
  }

  @Test func conditionsAddUp() async throws {
    try await withShelves(100) { context throws in
      let request = From<Shelf>().where { $0.height > 3 }.where(\.height < 6).where(
        format: "code < %@",
        "00050"
      )
      #expect(try context.count(request) == 10)
    }
  }

  @Test func ordersAddUpAndBoundsReplace() async throws {
    try await withShelves(30) { context throws in
      let ordered = From<Shelf>().where { $0.height != nil }.orderBy(.descending(\.height)).orderBy(\.code)
      let all = try context.fetch(From<Shelf>().where { $0.height != nil })
      let sorted = all.sorted {
        ($1.height ?? 0, $0.code) < ($0.height ?? 0, $1.code)
      }
      #expect(try context.fetch(ordered).map(\.code) == sorted.map(\.code))
      let page = ordered.limit(20).offset(1).limit(3).offset(2)
      #expect(try context.fetch(page).map(\.code) == sorted[2..<5].map(\.code))
    }
  }

  @Test func aMistakeIsThrownWhenTheQueryIsUsed() async throws {
    try await withShelves(1) { context throws in
      let syntax = From<Shelf>().where(format: "code == ").where { $0.height > 3 }
      expectMistake { try context.fetch(syntax) }
      expectMistake { try context.count(From<Shelf>().where(format: "colour == 1")) }
      expectMistake {
        try context.explain(From<Shelf>().where(format: "height == 'tall'"))
      }
      #expect(try context.count(From<Shelf>()) == 1)
    }
  }

  @Test func anObjectOfAnotherStoreIsAMistake() async throws {
    let (library, other) = (try await Library.open(), try await Library.open())
    let (context, elsewhere) = (try library.context(), try other.context())
    let (mine, theirs) = (Writer("mine"), Writer("theirs"))
    context.insert(mine)
    elsewhere.insert(theirs)
    #expect(mine.objectID.number == theirs.objectID.number)
    #expect(try context.count(From<Writer>().where { $0 == mine }) == 1)
    for request in [
      From<Writer>().where { $0 == theirs }, From<Writer>().where { [mine, theirs].contains($0) },
      From<Writer>().where(format: "SELF == %@", theirs.objectID),
    ] {
      let error = expectMistake { try context.count(request) }
      #expect(error?.message.contains("another store") == true)
    }
    expectMistake { try context.fetch(From<Book>().where(\.writer == theirs)) }
    context.end()
    elsewhere.end()
  }

  @Test func aNameThatAToolGetsWrongIsNamed() async throws {
    let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
    let store = try DynamicStore(container.store)
    var query = DynamicQuery("Shelf")
    query.select = ["code", "next.hight"]
    let error = expectMistake { try store.rows(of: query) }
    #expect(error?.code == .unknownName)
    #expect(error?.message.contains("hight") == true)
    query.select = []
    #expect(try store.columns(of: query) == ["code", "height", "notes", "next"])
    #expect(try store.rows(of: query).isEmpty)
    #expect(try store.count(of: "Shelf") == 0)
    #expect(try store.count(of: "Book") == nil)
  }

  @Test func foundationsPredicatesAndSortDescriptorsAreTaken() async throws {
    let container = try await PersistentContainer("fetch", models: Item.self, Shelf.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      for number in 0..<20 {
        let text = "t\(number % 3)"
        context.insert(Item(n: number, m: nil, t: text, d: nil, w: nil, u: nil, flag: false, shelf: nil))
      }
      let least = 5
      let request = From<Item>().where(#Predicate { ($0.n ?? 0) > least && $0.t == "t1" })
        .orderBy([SortDescriptor(\.n, order: .reverse)])
      #expect(try context.fetch(request).map(\.n) == [19, 16, 13, 10, 7])
      try context.save()
      #expect(try context.fetch(request).map(\.n) == [19, 16, 13, 10, 7])
    }
  }
}
