import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Conditions on to-many relationships and calculated values, as closures and as text, against plain closures over objects.
struct CollectionQueryTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let condition: Where<Writer>
    let holds: @Sendable (Writer) -> Bool
    /// Whether the closure makes the very tree that the text does.
    var isSameTree = true
    var testDescription: String { text }
  }

  private static func isSome<T>(_ value: T?, _ holds: (T) -> Bool) -> Bool { value.map(holds) ?? false }

  static let quantified: [Row] = [
    Row(
      text: "SUBQUERY(books, $e1, $e1.pages > 300).@count > 0",
      condition: Where { $0.books.any { $0.pages > 300 } },
      holds: { $0.books.contains { $0.pages > 300 } }
    ),
    Row(
      text: "ANY books.pages > 300",
      condition: Where { $0.books.any { $0.pages > 300 } },
      holds: { $0.books.contains { $0.pages > 300 } },
      isSameTree: false
    ),
    Row(
      text: "ALL books.pages > 300",
      condition: Where { $0.books.all { $0.pages > 300 } },
      holds: { $0.books.allSatisfy { $0.pages > 300 } },
      isSameTree: false
    ),
    Row(
      text: "NONE books.pages > 300",
      condition: Where { $0.books.none { $0.pages > 300 } },
      holds: { !$0.books.contains { $0.pages > 300 } },
      isSameTree: false
    ),
    Row(
      text: "ANY books.shelf == nil",
      condition: Where { $0.books.any { $0.shelf == nil } },
      holds: { $0.books.contains { $0.shelf == nil } },
      isSameTree: false
    ),
    Row(
      text: "ALL books.place > 2",
      condition: Where { $0.books.all { $0.place > 2 } },
      holds: { $0.books.allSatisfy { isSome($0.place) { $0 > 2 } } },
      isSameTree: false
    ),
    Row(
      text: "ANY books.publisher.name BEGINSWITH 'p1'",
      condition: Where { $0.books.any { $0[dynamicMember: \.publisher.name].hasPrefix("p1") } },
      holds: { $0.books.contains { $0.publisher.name.hasPrefix("p1") } },
      isSameTree: false
    ),
    Row(
      text: "ANY books.title IN {'t1', 't2'}",
      condition: Where { $0.books.any { ["t1", "t2"].contains($0.title) } },
      holds: { $0.books.contains { ["t1", "t2"].contains($0.title) } },
      isSameTree: false
    ),
    Row(
      text: "'t3' IN books.title",
      condition: Where { $0.books.any { $0.title == "t3" } },
      holds: { $0.books.contains { $0.title == "t3" } },
      isSameTree: false
    ),
    Row(
      text: "ANY books.pages BETWEEN {100, 200}",
      condition: Where { $0.books.any { (100...200).contains($0.pages) } },
      holds: { $0.books.contains { (100...200).contains($0.pages) } },
      isSameTree: false
    ),
    Row(
      text: "ANY fans.name == 'r1'",
      condition: Where { $0.fans.any { $0.name == "r1" } },
      holds: { $0.fans.contains { $0.name == "r1" } },
      isSameTree: false
    ),
    Row(
      text: "ANY fans.idols.rank > 5",
      condition: Where { $0.fans.any { $0.idols.any { $0.rank > 5 } } },
      holds: { $0.fans.contains { $0.idols.contains { $0.rank > 5 } } },
      isSameTree: false
    ),
    Row(
      text: "SUBQUERY(fans, $e1, SUBQUERY($e1.idols, $e2, $e2.rank > rank).@count > 0).@count > 0",
      condition: Where { writer in writer.fans.any { $0.idols.any { $0.rank > writer.rank } } },
      holds: { writer in writer.fans.contains { $0.idols.contains { $0.rank > writer.rank } } }
    ),
    Row(
      text: "SUBQUERY(books, $e1, SUBQUERY(books, $e2, $e2.pages > $e1.pages + 200).@count > 0).@count > 0",
      condition: Where { writer in writer.books.any { one in writer.books.any { $0.pages > one.pages + 200 } }
      },
      holds: { writer in writer.books.contains { one in writer.books.contains { $0.pages > one.pages + 200 } }
      }
    ),
    Row(
      text: "SUBQUERY(fans, $e1, $e1.favourite.writer == SELF).@count > 0",
      condition: Where { writer in writer.fans.any { $0.favourite.writer == writer } },
      holds: { writer in writer.fans.contains { $0.favourite?.writer === writer } }
    ),
    Row(
      text: "desk.writer.books.@count == 0",
      condition: Where { $0.desk.writer.books.isEmpty },
      holds: { ($0.desk?.writer?.books.count ?? 0) == 0 }
    ),
  ]

  static let aggregates: [Row] = [
    Row(text: "books.@count > 2", condition: Where { $0.books.count > 2 }, holds: { $0.books.count > 2 }),
    Row(
      text: "fans.@count == rank",
      condition: Where { $0.fans.count == $0.rank },
      holds: { $0.fans.count == $0.rank }
    ),
    Row(
      text: "SUBQUERY(books, $e1, $e1.shelf != nil).@count >= 2",
      condition: Where { $0.books.count { $0.shelf != nil } >= 2 },
      holds: { $0.books.filter { $0.shelf != nil }.count >= 2 }
    ),
    Row(
      text: "books.@sum.pages > 600",
      condition: Where { $0.books.sum(\.pages) > 600 },
      holds: { $0.books.reduce(0) { $0 + $1.pages } > 600 }
    ),
    Row(
      text: "books.@sum.place == 0",
      condition: Where { $0.books.sum(\.place) == 0 },
      holds: { $0.books.reduce(0) { $0 + ($1.place ?? 0) } == 0 }
    ),
    Row(
      text: "books.@avg.pages < 250.5",
      condition: Where { $0.books.average(\.pages) < 250.5 },
      holds: {
        !$0.books.isEmpty && Double($0.books.reduce(0) { $0 + $1.pages }) / Double($0.books.count) < 250.5
      }
    ),
    Row(
      text: "books.@min.place == nil",
      condition: Where { $0.books.min(\.place) == nil },
      holds: { $0.books.compactMap(\.place).min() == nil }
    ),
    Row(
      text: "books.@max.pages > 450",
      condition: Where { $0.books.max(\.pages) > 450 },
      holds: { isSome($0.books.map(\.pages).max()) { $0 > 450 } }
    ),
    Row(
      text: "books.@max.title < books.@min.shelf",
      condition: Where { $0.books.max(\.title) < $0.books.min(\.shelf) },
      holds: { writer in
        isSome(writer.books.map(\.title).max()) { title in
          isSome(writer.books.compactMap(\.shelf).min()) { title < $0 }
        }
      }
    ),
    Row(
      text: "SUBQUERY(books, $e1, $e1.pages > 200).@sum.pages > 500",
      condition: Where { $0.books.filter { $0.pages > 200 }.sum(\.pages) > 500 },
      holds: { $0.books.filter { $0.pages > 200 }.reduce(0) { $0 + $1.pages } > 500 }
    ),
    Row(
      text: "books.@distinctUnionOfObjects.shelf.@count == 2",
      condition: Where(true),
      holds: { Set($0.books.compactMap(\.shelf)).count == 2 },
      isSameTree: false
    ),
    Row(
      text: "books.@unionOfObjects.shelf.@count == 2",
      condition: Where(true),
      holds: { $0.books.compactMap(\.shelf).count == 2 },
      isSameTree: false
    ),
    Row(
      text: "books[FIRST].pages > 250",
      condition: Where(true),
      holds: { isSome($0.books.first { _ in true }) { $0.pages > 250 } },
      isSameTree: false
    ),
    Row(
      text: "books[LAST].pages > 250",
      condition: Where(true),
      holds: { isSome(Array($0.books).last) { $0.pages > 250 } },
      isSameTree: false
    ),
    Row(
      text: "books[1].place == nil",
      condition: Where(true),
      holds: { writer in !isSome(Array(writer.books).dropFirst().first) { $0.place != nil } },
      isSameTree: false
    ),
    Row(
      text: "books.@median.pages >= 250",
      condition: Where(true),
      holds: { writer in
        let pages = writer.books.map(\.pages).sorted()
        if pages.isEmpty { return false }
        let (low, high) = (pages[(pages.count - 1) / 2], pages[pages.count / 2])
        return low + high >= 500
      },
      isSameTree: false
    ),
  ]

  static let calculated: [Row] = [
    Row(text: "rank * 2 + 1 > 9", condition: Where { $0.rank * 2 + 1 > 9 }, holds: { $0.rank * 2 + 1 > 9 }),
    Row(text: "rank / 0 == nil", condition: Where { $0.rank / 0 == nil }, holds: { _ in true }),
    Row(text: "rank / 2 == 3", condition: Where { $0.rank / 2 == 3 }, holds: { $0.rank / 2 == 3 }),
    Row(text: "-rank %% 3 == -2", condition: Where { -$0.rank % 3 == -2 }, holds: { -$0.rank % 3 == -2 }),
    Row(
      text: "CAST(rank, 'Number') / 2.0 == 2.5",
      condition: Where { $0.rank.double / 2 == 2.5 },
      holds: { Double($0.rank) / 2 == 2.5 }
    ),
    Row(
      text: "uppercase(name) == 'W3'",
      condition: Where { $0.name.uppercased() == "W3" },
      holds: { $0.name.uppercased() == "W3" }
    ),
    Row(text: "length(name) > 2", condition: Where { $0.name.count > 2 }, holds: { $0.name.count > 2 }),
    Row(
      text: "name + '!' ENDSWITH '3!'",
      condition: Where { ($0.name + "!").hasSuffix("3!") },
      holds: { $0.name.hasSuffix("3") }
    ),
    Row(
      text: "TERNARY(email == nil, 'none', email) != 'none'",
      condition: Where { ($0.email ?? "none") != "none" },
      holds: { ($0.email ?? "none") != "none" }
    ),
    Row(text: "length(email) == nil", condition: Where { $0.email.count == nil }, holds: { $0.email == nil }),
    Row(
      text: "max(rank, 4) == 4",
      condition: Where(true),
      holds: { max($0.rank, 4) == 4 },
      isSameTree: false
    ),
    Row(
      text: "rank BETWEEN {books.@count, fans.@count + 3}",
      condition: Where(true),
      holds: { $0.books.count <= $0.rank && $0.rank <= $0.fans.count + 3 },
      isSameTree: false
    ),
    Row(
      text: "rank IN {1, books.@count}",
      condition: Where(true),
      holds: { [1, $0.books.count].contains($0.rank) },
      isSameTree: false
    ),
    Row(
      text: "9223372036854775807 + rank > 0",
      condition: Where { $0.rank + .max > 0 },
      holds: { _ in true },
      isSameTree: false
    ),
  ]

  @Test func collectionsAndCalculationsMeanWhatTheySay() async throws {
    let library = try await Library.open()
    let context = try library.context()
    var random = SeededGenerator("collectionsAndCalculationsMeanWhatTheySay")
    var graph = RandomLibrary(context, &random)
    for round in 0..<4 {
      graph.change(&random)
      // Every second time the changes are unsaved when the queries run.
      if round % 2 == 0 { try context.save() }
      let writers = try context.fetch(From<Writer>())
      for row in Self.quantified + Self.aggregates + Self.calculated {
        let expected = writers.filter(row.holds).map(\.objectID)
        let found = try context.fetch(From<Writer>().where(format: row.text))
        #expect(found.map(\.objectID) == expected, "\(row.text)")
        #expect(
          try context.count(From<Writer>().where(format: "NOT (\(row.text))")) == writers.count
            - expected.count
        )
        guard case .constant = try row.condition.tree else {
          #expect(try context.fetchIDs(From<Writer>().where(row.condition)) == expected, "\(row.text)")
          continue
        }
      }
    }
  }

  @Test(arguments: quantified + aggregates + calculated)
  func aClosureMakesTheTreeThatItsTextMakes(_ row: Row) throws {
    let tree = try PredicateTree(format: row.text)
    #expect(try PredicateTree(format: tree.description) == tree)
    if row.isSameTree { #expect(try row.condition.tree == tree) }
  }

  @Test func anIndexOfTheElementsFindsTheirOwners() async throws {
    let context = try await Library.open().context()
    // The seed is fixed, because the plan for a value that no object has reads nothing.
    var random = SeededGenerator(seed: 1)
    var graph = RandomLibrary(context, &random)
    for _ in 0..<4 { graph.change(&random) }
    try context.save()
    let indexed = [
      ("ANY books.title == 't1'", "first Book by index title, title == \"t1\""),
      ("SUBQUERY(books, $b, $b.title == 't1' AND $b.pages > 200).@count > 0", "SOME"),
      ("NONE books.title == 't1'", "first Book"), ("ANY fans.idols.rank > 6", "first Writer by index rank"),
      ("desk.writer.books.title CONTAINS 't1'", "first Book"),
    ]
    for (text, part) in indexed {
      let plan = try context.explain(From<Writer>().where(format: text)).description
      #expect(plan.contains(part), "\(plan)")
    }
    let book = try #require(try context.fetchOne(From<Book>().where { $0.writer != nil }))
    let request = From<Writer>().where { $0.books.contains(book) }
    #expect(try context.explain(request).access == .objectIDs)
    #expect(try context.fetch(request).first === book.writer)
    // No index has unsaved links.
    book.writer = nil
    #expect(try context.explain(request).access == .fullScan)
    #expect(try context.fetch(request).isEmpty)
  }

  @Test func mistakesNameThePathAndTheTypes() async throws {
    let context = try await Library.open().context()
    let mistakes = [
      ("books.pages > 3", "say ANY, ALL or NONE"), ("ANY rank > 3", "is one value"),
      ("books.@sum.title > 3", "each of the values is a string"),
      ("rank + name > 3", "add doesn't go with a number and a string"),
      ("books.@count == 'x'", "can't be compared"), ("$x == 1", "$x has no value"),
      ("SUBQUERY(books, $x, $y.pages > 1).@count > 0", "$y has no value"),
      ("SUBQUERY(books, $x, $x.page > 1).@count > 0", "Did you mean “pages”?"),
      ("SUBQUERY(rank, $x, $x.page > 1).@count > 0", "one value"),
      ("lowercase(rank) == 'x'", "lowercase doesn't go with a number"), ("-name == 1", "negate"),
    ]
    for (text, part) in mistakes {
      let mistake = expectMistake { try context.fetch(From<Writer>().where(format: text)) }
      #expect(mistake?.message.contains(part) == true && mistake?.column != nil, "\(text)")
    }
  }
}

/// Writers, books and readers that change at random.
private struct RandomLibrary {
  let context: ManagedObjectContext
  private var writers: [Writer] = []
  private var books: [Book] = []
  private var readers: [Reader] = []
  /// The number of books that were ever made, deleted ones included.
  private var bookCount = 0
  private let publishers: [Publisher]

  init(_ context: ManagedObjectContext, _ random: inout SeededGenerator) {
    self.context = context
    publishers = (0..<4).map { Publisher("p\($0)") }
    for publisher in publishers { context.insert(publisher) }
    for number in 0..<14 {
      let writer = Writer(
        "w\(number)",
        email: random.chance(1, in: 3) ? nil : "\(number)@x",
        rank: random.number(in: 0...8)
      )
      context.insert(writer)
      writers.append(writer)
    }
    for number in 0..<10 {
      let reader = Reader("r\(number % 6)")
      context.insert(reader)
      readers.append(reader)
    }
  }

  mutating func change(_ random: inout SeededGenerator) {
    for _ in 0..<12 {
      let book = Book(
        "t\(random.number(in: 0...6))",
        pages: 50 * random.number(in: 1...10),
        publisher: random.pick(publishers)
      )
      context.insert(book)
      if random.chance(1, in: 2) { book.shelf = random.pick(["s1", "s2", "u"]) }
      // The pair of shelf and place is unique, also after books were deleted.
      bookCount += 1
      book.place = random.chance(1, in: 3) ? nil : bookCount
      book.writer = random.chance(1, in: 6) ? nil : random.pick(writers)
      books.append(book)
    }
    for _ in 0..<8 {
      random.pick(books).writer = random.chance(1, in: 5) ? nil : random.pick(writers)
      let reader = random.pick(readers)
      reader.favourite = random.chance(1, in: 4) ? nil : random.pick(books)
      let writer = random.pick(writers)
      if reader.idols.contains(writer) { reader.idols.remove(writer) } else { reader.idols.insert(writer) }
      random.pick(writers).rank = random.number(in: 0...8)
    }
    for _ in 0..<3 {
      let book = books.remove(at: random.number(in: 0...books.count - 1))
      for reader in readers where reader.favourite === book { reader.favourite = nil }
      context.delete(book)
    }
  }
}
