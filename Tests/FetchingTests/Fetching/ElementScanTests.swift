import Cambium
import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Conditions on elements that no index answers: by one pass over the elements where that pays, else row by row; against plain closures over
/// objects.
struct ElementScanTests {
  private struct Row: Sendable {
    let text: String
    let isScanned: Bool
    let holds: @Sendable (Writer) -> Bool

    init(_ text: String, isScanned: Bool, _ holds: @escaping @Sendable (Writer) -> Bool) {
      self.text = text
      self.isScanned = isScanned
      self.holds = holds
    }
  }

  private static let rows: [Row] = [
    Row("ANY books.place == 7", isScanned: true) { $0.books.contains { $0.place == 7 } },
    Row("NONE books.place == 7", isScanned: true) { !$0.books.contains { $0.place == 7 } },
    Row("ALL books.place > 3", isScanned: true) { $0.books.allSatisfy { ($0.place ?? 0) > 3 } },
    Row("ANY books.place == -1", isScanned: true) { _ in false },
    Row("ANY fans.name == 'r3'", isScanned: true) { $0.fans.contains { $0.name == "r3" } },
    Row("ANY books.publisher.name ENDSWITH '3'", isScanned: true) {
      $0.books.contains { $0.publisher.name.hasSuffix("3") }
    },
    Row("ANY fans.favourite.place == 7", isScanned: true) { $0.fans.contains { $0.favourite?.place == 7 } },
    Row("ANY desk.writer.books.place == 7", isScanned: true) {
      $0.desk?.writer?.books.contains { $0.place == 7 } ?? false
    },
    Row("ANY books.place == 7 OR name == 'w5'", isScanned: true) {
      $0.name == "w5" || $0.books.contains { $0.place == 7 }
    },
    // Nearly every element meets it.
    Row("ANY books.place >= 0", isScanned: false) { $0.books.contains { ($0.place ?? -1) >= 0 } },
    // The condition is about the writer as well.
    Row("SUBQUERY(books, $b, $b.place == rank).@count > 0", isScanned: false) { writer in
      writer.books.contains { $0.place == writer.rank }
    },
    // The second part of the condition is evaluated for few writers.
    Row("name == 'w5' AND ANY books.place == 7", isScanned: false) {
      $0.name == "w5" && $0.books.contains { $0.place == 7 }
    },
  ]

  private func library(_ random: inout SeededGenerator) async throws -> ManagedObjectContext {
    let context = try await Library.open().context()
    let publishers = (0..<12).map { Publisher("p\($0)") }
    let writers = (0..<600).map { Writer("w\($0)", rank: random.number(in: 0...20)) }
    let readers = (0..<200).map { Reader("r\($0 % 40)") }
    for object in publishers as [any ManagedObject] + writers + readers { context.insert(object) }
    for number in 0..<1_300 {
      let book = Book("t\(number)", publisher: random.pick(publishers))
      context.insert(book)
      book.place = random.chance(1, in: 30) ? nil : random.number(in: 0...60)
      book.writer = random.chance(1, in: 20) ? nil : random.pick(writers)
      if number < readers.count { readers[number].favourite = book }
    }
    for reader in readers { for _ in 0..<3 { reader.idols.insert(random.pick(writers)) } }
    for number in 0..<80 {
      let desk = Desk(number)
      context.insert(desk)
      desk.writer = writers[number * 7]
    }
    try context.save()
    return context
  }

  private func check(_ context: ManagedObjectContext, mayScan: Bool) throws {
    let writers = try context.fetch(From<Writer>())
    for row in Self.rows {
      let expected = writers.filter(row.holds).map(\.objectID)
      let request = From<Writer>().where(format: row.text)
      let plan = try context.explain(request)
      #expect(plan.lookups.contains { $0.index == nil } == (row.isScanned && mayScan), "\(plan)")
      #expect(try context.fetchIDs(request) == expected, "\(row.text)")
      #expect(try context.fetch(request).map(\.objectID) == expected, "\(row.text)")
      #expect(try context.count(request) == expected.count, "\(row.text)")
      let page = request.offset(1).limit(2)
      #expect(try context.fetchIDs(page) == Array(expected.dropFirst(1).prefix(2)), "\(row.text)")
      #expect(try context.explain(page).lookups.isEmpty, "\(row.text)")
      let sorted = request.orderBy(.descending(\.name)).limit(3)
      let names = writers.filter(row.holds).map(\.name).sorted(by: >).prefix(3)
      #expect(try context.fetch(sorted).map(\.name) == Array(names), "\(row.text)")
    }
  }

  @Test func aPassOverTheElementsFindsTheirOwners() async throws {
    var random = SeededGenerator()
    let context = try await library(&random)
    try check(context, mayScan: true)
  }

  @Test func unsavedChangesAreNotPassedBy() async throws {
    var random = SeededGenerator()
    let context = try await library(&random)
    let books = try context.fetch(From<Book>())
    for _ in 0..<40 {
      random.pick(books).place = random.number(in: 0...60)
      random.pick(books).writer = try context.fetchOne(From<Writer>().where { $0.rank == 3 })
    }
    let reader = try #require(try context.fetchOne(From<Reader>()))
    reader.name = "r3"
    random.pick(books).publisher.name = "p33"
    try check(context, mayScan: false)
  }

  @Test func thePlanSaysWhatWasPassedOver() async throws {
    var random = SeededGenerator(seed: 1)
    let context = try await library(&random)
    let plan = try context.explain(From<Writer>().where(format: "ANY books.place == 7"))
    #expect(plan.access == .objectIDs)
    #expect(plan.description.contains("  first Book by a full scan, "), "\(plan)")
  }

  /// Each aggregate that an index can answer has a plan of its own. One pass over the elements serves the other
  /// aggregates.
  @Test func severalAggregatesTakeOnePass() async throws {
    var random = SeededGenerator()
    let context = try await library(&random)
    let request = From<Writer>().where(format: "ANY books.place == 7")
    let ranks = try context.fetch(From<Writer>()).filter { $0.books.contains { $0.place == 7 } }.map(\.rank)
    let (count, least, sum) = try context.aggregate(.count, .min(\.rank), .sum(\.rank), in: request)
    #expect(count == ranks.count && least == ranks.min() && sum == ranks.reduce(0, +))
    let plan = try context.explain(.count, .min(\.rank), .sum(\.rank), in: request, analyze: true)
    #expect(try #require(plan.measurement).rowsRead < 2 * 1_300, "\(plan)")
  }

  /// The search for an owner's elements begins at the position of the previous elements. It finds them for any order
  /// of the owners.
  @Test func elementsAreFoundInAnyOrder() async throws {
    var random = SeededGenerator()
    let context = try await library(&random)
    let view = context.view
    for name in ["books", "fans"] {
      let entity = try #require(view.schema.entity(named: "Writer"))
      let toMany = try #require(entity.toManys.first { $0.name == name })
      let elements = StoredElements(toMany.links, in: view, nil)
      for _ in 0..<3_000 {
        let owner = ObjectNumber(rawValue: UInt64(random.number(in: 0...620)))
        #expect(try elements.numbers(of: owner) == view.elements(of: owner, in: toMany.links))
      }
    }
  }
}
