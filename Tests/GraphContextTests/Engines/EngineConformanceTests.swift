import Cambium
import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Requirements on every source that a context reads, and on every engine that a context saves to.
struct EngineConformanceTests {
  /// A library with writers, books and readers, whose values follow from their numbers.
  private static func fill(_ library: LibraryUnderTest, _ context: ManagedObjectContext) throws {
    let publishers = ["Ace", "Bix"].map(Publisher.init)
    let writers = (0..<12).map { Writer("w\($0)", email: $0 % 3 == 0 ? nil : "e\($0)", rank: $0 % 5) }
    for object in publishers { context.insert(object) }
    for object in writers { context.insert(object) }
    for number in 0..<40 {
      let book = Book("t\(number % 7)", pages: number * 13 % 50, publisher: publishers[number % 2])
      context.insert(book)
      book.shelf = number % 4 == 0 ? nil : "s\(number % 3)"
      book.place = number
      if number % 5 > 0 { book.writer = writers[number % 12] }
    }
    for number in 0..<6 {
      let reader = Reader("r\(number)")
      context.insert(reader)
      reader.idols = Set(writers.filter { $0.rank < number })
    }
    try library.save(context)
  }

  /// Changes, insertions and deletions that are not saved.
  private static func edit(_ context: ManagedObjectContext) throws {
    let books = try context.fetch(From<Book>())
    for book in books.prefix(9) { book.pages += 100 }
    for book in books.suffix(4) { context.delete(book) }
    let writer = try #require(try context.fetchOne(From<Writer>().where { $0.name == "w3" }))
    writer.rank = 9
    let publisher = try #require(try context.fetchOne(From<Publisher>()))
    for number in 0..<5 {
      let book = Book("new \(number)", pages: 10 + number, publisher: publisher)
      context.insert(book)
      book.writer = writer
    }
    try #require(try context.fetchOne(From<Reader>().where { $0.name == "r5" })).idols = [writer]
  }

  // MARK: Records and links

  @Test(arguments: SourceUnderTest.allCases) func recordsAreFoundByNumber(_ source: SourceUnderTest) throws {
    let library = try source.library()
    let context = try library.context()
    try Self.fill(library, context)
    let ids = try context.fetchIDs(From<Book>())
    let other = try library.context()
    let books = try ids.map { try other.existingObject(Book.self, with: $0) }
    for (number, book) in books.enumerated() {
      let shelf: String? = number % 4 == 0 ? nil : "s\(number % 3)"
      let publisher = number % 2 == 0 ? "Ace" : "Bix"
      #expect(book.pages == number * 13 % 50)
      #expect(book.shelf == shelf)
      #expect(book.publisher.name == publisher)
    }
    other.delete(books[3])
    try library.save(other)
    let error = #expect(throws: ContextError.self) {
      try library.context().existingObject(Book.self, with: ids[3])
    }
    #expect(error?.code == .objectNotFound)
    try context.refresh()
    #expect(try context.count(From<Book>()) == 39)
    #expect(context.registeredObject(Book.self, with: ids[3]) == nil)
  }

  @Test(arguments: SourceUnderTest.allCases) func bothEndsOfLinksAgree(_ source: SourceUnderTest) throws {
    let library = try source.library()
    let context = try library.context()
    try Self.fill(library, context)
    try Self.check(links: context)
    try Self.edit(context)
    try Self.check(links: context)
    try library.save(context)
    try Self.check(links: library.context())
  }

  private static func check(links context: ManagedObjectContext) throws {
    let (books, readers) = (try context.fetch(From<Book>()), try context.fetch(From<Reader>()))
    for writer in try context.fetch(From<Writer>()) {
      let own = books.filter { $0.writer === writer }
      #expect(Array(writer.books) == own && writer.books.count == own.count)
      #expect(writer.fans == readers.filter { $0.idols.contains(writer) })
    }
  }

  // MARK: Queries

  @Test(arguments: SourceUnderTest.allCases) func queriesFindWhatConditionsSay(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library()
    let context = try library.context()
    try Self.fill(library, context)
    try Self.check(queries: context)
    try Self.edit(context)
    try Self.check(queries: context)
    try library.save(context)
    try Self.check(queries: context)
  }

  private static func check(queries context: ManagedObjectContext) throws {
    let all = From<Book>()
    try check(all, context) { _ in true }
    try check(all.where { $0.pages > 20 }, context) { $0.pages > 20 }
    try check(all.where { $0.title == "t3" && $0.pages < 40 }, context) { $0.title == "t3" && $0.pages < 40 }
    try check(all.where { $0.shelf == nil }, context) { $0.shelf == nil }
    try check(all.where { $0.shelf != "s1" }, context) { $0.shelf != "s1" }
    try check(all.where { $0.writer.rank == 2 }, context) { $0.writer?.rank == 2 }
    try check(all.where(format: "NOT (pages BETWEEN {10, 30})"), context) { $0.pages < 10 || $0.pages > 30 }
    try check(all.where(format: "title IN {'t1', 't5', 'new 2'}"), context) { book in
      ["t1", "t5", "new 2"].contains(book.title)
    }
    try check(all.where(format: "title BEGINSWITH[c] 'T1' OR place == 4"), context) { book in
      book.title.hasPrefix("t1") || book.place == 4
    }
    try check(all.where(format: "writer.email == nil"), context) { $0.writer?.email == nil }
    try check(all.where(format: "ANY writer.fans.name == 'r4'"), context) { book in
      book.writer?.fans.contains { $0.name == "r4" } ?? false
    }
    try check(all.where(format: "pages %% 3 == 1"), context) { $0.pages % 3 == 1 }
  }

  private static func check(
    _ request: From<Book>,
    _ context: ManagedObjectContext,
    _ condition: (Book) -> Bool
  ) throws {
    let expected = try context.fetch(From<Book>()).filter(condition)
    let found = try context.fetch(request)
    #expect(found == expected, "\(request)")
    let count = try context.count(request)
    #expect(count == expected.count, "\(request)")
    let (exists, ids) = (try context.exists(request), try context.fetchIDs(request))
    #expect(exists == !expected.isEmpty && ids == expected.map(\.objectID))
    let sorted = request.orderBy(.descending(\.pages), .ascending(\.title)).offset(2).limit(5)
    let inOrder = expected.sorted(by: Self.precedes)
    let part = try context.fetch(sorted)
    #expect(part == Array(inOrder.dropFirst(2).prefix(5)), "\(sorted)")
    let partCount = try context.count(sorted)
    #expect(partCount == part.count)
  }

  /// Most pages first, then by title, then by number.
  private static func precedes(_ a: Book, _ b: Book) -> Bool {
    if a.pages != b.pages { return a.pages > b.pages }
    if a.title != b.title { return a.title < b.title }
    return a.objectID.number < b.objectID.number
  }

  @Test(arguments: SourceUnderTest.allCases) func valuesAndGroupsAreThoseOfTheObjects(
    _ source: SourceUnderTest
  ) async throws {
    let library = try source.library()
    let context = try library.context()
    try Self.fill(library, context)
    try Self.edit(context)
    let books = try context.fetch(From<Book>())
    let values = try context.fetch(From<Book>().select(\.title, \.writer?.name))
    for (value, book) in zip(values, books) {
      #expect(value.0 == book.title)
      #expect(value.1 == book.writer?.name)
    }
    #expect(values.count == books.count)
    let names: [String?] = [nil, "s0", "s1", "s2"]
    let shelves: [String?] = try context.fetch(From<Book>().orderBy(\.shelf).select(\.shelf).distinct())
    #expect(shelves == names)
    let groups = try context.fetch(
      From<Book>().groupBy(\.shelf).aggregate(.count, .sum(\.pages), .max(\.title)).having { $0.count > 1 }
    )
    for (shelf, count, sum, title) in groups {
      let members: [Book] = books.filter { $0.shelf == shelf }
      var pages = 0
      for member in members { pages += member.pages }
      #expect(count == members.count)
      #expect(sum == pages)
      #expect(title == members.map(\.title).max())
    }
    let keys: [String?] = groups.map { $0.0 }
    #expect(keys == names)
    let pages: [Int] = books.map(\.pages).sorted()
    var total = 0
    for count in pages { total += count }
    #expect(try context.min(of: \Book.pages) == pages.first)
    #expect(try context.max(of: \Book.pages) == pages.last)
    let average = try context.average(of: \Book.pages)
    #expect(average == Double(total) / Double(pages.count))
    var streamed: [Book] = []
    for try await batch in context.fetch(From<Book>().where { $0.pages > 20 }, inBatchesOf: 7) {
      streamed += batch
    }
    #expect(streamed == books.filter { $0.pages > 20 })
  }

  /// The page store counts ranges and answers from an index alone, also below a parent. Positions of lists are counted
  /// only where no parent's changes lie in between.
  @Test(arguments: SourceUnderTest.allCases) func plansAndListsShowWhatASourceCanDo(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library()
    let context = try library.context()
    try Self.fill(library, context)
    let plan = try context.explain(From<Book>().where { $0.title == "t3" }, analyze: true)
    #expect(plan.measurement?.rowsMatched == 6)
    let hasIndexes = source == .pageStore || source == .pageStoreBelowParent
    #expect(plan.rowCount == (hasIndexes ? 6 : 40))
    let titles = try context.explain(From<Book>().where { $0.title > "t2" }.select(\.title))
    #expect(titles.isCovering == hasIndexes)
    let byTitle = try context.resolved(From<Book>().orderBy(.ascending(\.title))).query
    let list = try LiveList(byTitle, section: nil, in: context)
    #expect(list.isRanked == (source == .pageStore) && list.count == 40)
  }

  // MARK: Saves

  @Test(arguments: SourceUnderTest.allCases) func savesThatBreakARuleAreRefused(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library()
    let context = try library.context()
    try Self.fill(library, context)
    func refused(_ edit: (ManagedObjectContext) throws -> Void) throws -> ContextError.Code? {
      let mine = try library.context()
      try edit(mine)
      return library.failure(ofSaving: mine)
    }
    let twin = try refused { $0.insert(Writer("twin", email: "e1")) }
    #expect(twin == .notUnique)
    let denied = try refused { $0.delete(try #require(try $0.fetchOne(From<Publisher>()))) }
    #expect(denied == .deletionDenied)
    let changed = try refused { mine in
      let book = try #require(try mine.fetchOne(From<Book>()))
      try #require(try context.fetchOne(From<Book>())).pages = 77
      try library.save(context)
      book.pages = 78
    }
    #expect(changed == .conflict)
    let deleted = try refused { mine in
      let book = try #require(try mine.fetchOne(From<Book>()))
      context.delete(try #require(try context.fetchOne(From<Book>())))
      try library.save(context)
      book.pages = 79
    }
    #expect(deleted == .conflict)
    let dangling = try refused { mine in
      let book = try #require(try mine.fetchOne(From<Book>()))
      context.delete(try #require(try context.fetchOne(From<Book>())))
      try library.save(context)
      let reader = Reader("late")
      mine.insert(reader)
      reader.favourite = book
    }
    #expect(dangling == .missingDestination)
    try Self.check(links: library.context())
  }

  /// Delete rules meet what another context has saved.
  @Test(arguments: SourceUnderTest.allCases) func rulesReachWhatOthersHaveSaved(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library()
    let context = try library.context()
    try Self.fill(library, context)
    let writer = try #require(try context.fetchOne(From<Writer>()))
    let other = try library.context()
    let same = try other.existingObject(Writer.self, with: writer.objectID)
    let book = Book("late", publisher: try #require(try other.fetchOne(From<Publisher>())))
    other.insert(book)
    book.writer = same
    let reader = Reader("late")
    other.insert(reader)
    reader.favourite = book
    try library.save(other)
    let id = reader.objectID
    context.delete(writer)
    try library.save(context)
    #expect(try context.fetch(From<Book>().where { $0.title == "late" }).isEmpty)
    #expect(try context.existingObject(Reader.self, with: id).favourite == nil)
    try other.refresh()
    #expect(book.isDeleted && same.isDeleted && reader.favourite == nil)
  }

  @Test(arguments: [SourceUnderTest.pageStore, .dictionary]) func changeSetsNameWhatHasChanged(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library()
    let context = try library.context()
    try Self.fill(library, context)
    let engine = library.coordinator.engine
    let before = try engine.newestSource()
    let book = try #require(try context.fetchOne(From<Book>()))
    book.pages = -1
    let added = Writer("added")
    context.insert(added)
    try #require(try context.fetchOne(From<Reader>())).idols.insert(added)
    try library.save(context)
    let changes = try #require(engine.changeSets(from: before, to: try engine.newestSource()).first)
    let (books, writers) = (context.entity(of: Book.self), context.entity(of: Writer.self))
    let slot = try #require(books.schema.storedProperty(named: "pages")?.slot)
    #expect(
      changes.objects[books.number]?.updated == [
        .init(number: book.objectID.number, slots: SlotSet(slot))
      ]
    )
    #expect(changes.objects[writers.number]?.inserted.contains(added.objectID.number) == true)
    #expect(changes.objects.count == 2 && !changes.links.isEmpty)
  }
}
