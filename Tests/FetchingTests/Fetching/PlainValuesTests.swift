import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// Values come out of queries as arrays of plain values and tuples, which the standard library's functions take.
struct PlainValuesTests {
  /// Writers A to D of ranks 3, 1, 3 and 2, each with a book of 100 pages for each rank; D has no email address.
  private func library() async throws -> ManagedObjectContext {
    let context = try await Library.open().context()
    let publisher = Publisher("P")
    for (name, rank) in [("A", 3), ("B", 1), ("C", 3), ("D", 2)] {
      let writer = Writer(name, email: name == "D" ? nil : name.lowercased(), rank: rank)
      context.insert(writer)
      for number in 1...rank {
        writer.books.append(Book("\(name)\(number)", pages: number * 100, publisher: publisher))
      }
    }
    try context.save()
    return context
  }

  @Test func oneColumnIsAnArrayOfItsValues() async throws {
    let context = try await library()
    let all = From<Writer>()
    #expect(Set(try context.fetch(all.select(\.name))) == ["A", "B", "C", "D"])
    #expect(try context.fetch(all.select(\.rank)).max() == 3)
    #expect(try context.fetch(all.select(\.rank)).reduce(0, +) == 9)
    #expect(try context.fetch(all.select(\.name)).map(\.count) == [1, 1, 1, 1])
    #expect(try context.fetch(all.select(\.name)).joined(separator: " ") == "A B C D")
    #expect(try context.fetch(all.select(\.email)).compactMap { $0 } == ["a", "b", "c"])
    #expect(try context.fetch(all.orderBy(.descending(\.rank)).select(\.rank).distinct()).first == 3)
    #expect(try context.fetch(all.select(\.rank)).count == 4)
    let ids: [ManagedObjectID] = try context.fetch(all.select(\.objectID))
    #expect(try context.fetch(all).map(\.objectID) == ids)
  }

  @Test func twoColumnsArePairs() async throws {
    let context = try await library()
    let columns = From<Writer>().select(\.name, \.rank)
    #expect(Dictionary(uniqueKeysWithValues: try context.fetch(columns)) == ["A": 3, "B": 1, "C": 3, "D": 2])
    #expect(try context.fetch(columns).map { name, rank in "\(name)\(rank)" } == ["A3", "B1", "C3", "D2"])
    #expect(try context.fetch(columns).map(\.1).max() == 3)
    #expect(try context.fetch(columns).count == 4)
    let rows: [(String, Int, String?)] = try context.fetch(From<Writer>().select(\.name, \.rank, \.email))
    #expect(rows.map { name, rank, email in "\(name)\(rank)\(email ?? "")" } == ["A3a", "B1b", "C3c", "D2"])
  }

  @Test func groupsArePairs() async throws {
    let context = try await library()
    let groups = From<Writer>().groupBy(\.rank).aggregate(.count).orderBy(\.rank)
    #expect(try context.fetch(groups).map { rank, count in rank * 10 + count } == [11, 21, 32])
    #expect(Dictionary(uniqueKeysWithValues: try context.fetch(groups)) == [1: 1, 2: 1, 3: 2])
    #expect(try context.fetch(groups).count == 3)
    let named = From<Writer>().groupBy(\.rank).aggregate(.count, .max(\.name))
    #expect(try context.fetch(named).map { rank, _, last in "\(rank)\(last ?? "?")" } == ["1B", "2D", "3C"])
  }

  @Test func oneAggregateIsAValue() async throws {
    let context = try await library()
    #expect(try context.aggregate(.max(\.rank), in: From<Writer>()) ?? 0 == 3)
    #expect(try context.aggregate(.count, in: From<Writer>().where(\.rank > 2)) + 1 == 3)
    #expect(try context.aggregate(.max(\.rank), in: From<Writer>().where(\.rank > 7)) == nil)
  }

  @Test func rowsOfOneColumnComeOneByOne() async throws {
    let context = try await library()
    var characters = 0
    try context.forEach(From<Book>().select(\.title)) { title in characters += title.count }
    #expect(characters == 18)
    var pages: [String] = []
    try context.forEach(From<Book>().where(\.pages == 300).select(\.title, \.pages)) { title, count in
      pages.append("\(title) \(count)")
    }
    #expect(pages == ["A3 300", "C3 300"])
  }

  @Test func aMistakeOfOneColumnIsThrown() async throws {
    let context = try await library()
    expectMistake { try context.fetch(From<Writer>().select(\.name.count)) }
    expectMistake { try context.forEach(From<Writer>().select(\.name.count)) { _ in } }
    expectMistake { try context.aggregate(.max(\.name.count), in: From<Writer>()) }
  }

  @Test func queriesAreSpelledAsTheStandardLibraryWould() async throws {
    let context = try await library()
    let all = From(Writer.self)
    #expect("\(all)" == "\(From<Writer>())")
    #expect(
      "\(all.orderBy(\.rank))" == "\(all.orderBy(.ascending(\.rank)))"
        && "\(all.orderBy(\.email, \.desk?.number))"
          == "\(all.orderBy(.ascending(\.email), .ascending(\.desk?.number)))"
    )
    #expect(
      try context.fetch(all.orderBy(\.rank).orderBy(.descending(\.name))).map(\.name) == ["B", "D", "C", "A"]
    )
    #expect(try context.fetch(all.orderBy(\.rank, \.name)).map(\.name) == ["B", "D", "A", "C"])
    let long = all.where { $0.books.contains { $0.pages > 200 } }
    #expect(try context.fetch(long.select(\.name)) == ["A", "C"])
    #expect("\(long)" == "\(all.where { $0.books.any { $0.pages > 200 } })")
    let short = all.where {
      $0.books.allSatisfy { $0.pages < 200 } && $0.books.contains(where: { $0.title == "B1" })
    }
    #expect(try context.fetch(short.select(\.name)) == ["B"])
  }
}
