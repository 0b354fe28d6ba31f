import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Relationships that are read together with the objects of a query.
struct PrefetchTests {
  private let library: PersistentContainer

  init() async throws {
    library = try await Library.open()
    try await library.write { context in
      let publishers = (0..<5).map { Publisher("p\($0)") }
      let readers = (0..<10).map { Reader("r\($0)") }
      for reader in readers { context.insert(reader) }
      for number in 0..<200 {
        let writer = Writer("w\(number)", rank: number)
        context.insert(writer)
        for place in 0..<number % 4 {
          let book = Book("b\(place)", publisher: publishers[(number + place) % 5])
          writer.books.append(book)
          if place == 0 { readers[number % 10].favourite = book }
        }
        if number % 3 == 0 { writer.fans = [readers[number % 10], readers[number % 7]] }
        if number % 2 == 0 { writer.desk = Desk(number) }
      }
      try context.save()
    }
  }

  /// The records and lists that were read one at a time while `body` ran.
  private func reads(_ context: ManagedObjectContext, _ body: () throws -> Void) rethrows -> Int {
    let before = context.source.counters.singleReads
    try body()
    return context.source.counters.singleReads - before
  }

  private func touch(_ books: [Book]) {
    for book in books {
      #expect(book.publisher.name.hasPrefix("p"))
      #expect(book.writer?.name.hasPrefix("w") == true)
      if let desk = book.writer?.desk { #expect(desk.number % 2 == 0) }
    }
  }

  @Test func whatWasPrefetchedIsReadWithoutTheStore() throws {
    let context = try library.context()
    defer { context.end() }
    let plain = try context.fetch(From<Book>())
    #expect(reads(context) { touch(plain) } > 200)
    context.reset()
    let request = From<Book>().prefetching(\.publisher, \.writer?.desk)
    #expect(request.description.hasSuffix("prefetching publisher, writer.desk"))
    var books: [Book] = []
    let fetching = try reads(context) { books = try context.fetch(request) }
    #expect(fetching == 0, "the fetch reads in passes")
    #expect(books.count == 300)
    #expect(reads(context) { touch(books) } == 0)
    // Records that were read already are not looked up again.
    let lookedUp = context.source.counters.recordsLookedUp
    _ = try context.fetch(request)
    #expect(context.source.counters.recordsLookedUp == lookedUp)
  }

  @Test func membersAreListedInOnePass() throws {
    let context = try library.context()
    defer { context.end() }
    let writers = try context.fetch(From<Writer>().prefetching(\.books, \.fans))
    var (bookCount, fanCount) = (0, 0)
    let count = reads(context) {
      for writer in writers {
        for book in writer.books { bookCount += book.pages > 0 ? 1 : 0 }
        fanCount += writer.fans.filter { $0.name.hasPrefix("r") }.count
        #expect(writer.books.count == writer.rank % 4)
      }
    }
    #expect(count == 0)
    #expect(bookCount == 300 && fanCount > 67)
  }

  @Test func unsavedChangesAreSeenAndTheNextCommitToo() async throws {
    let context = try library.context()
    defer { context.end() }
    let request = From<Writer>().where { $0.rank == 3 }.prefetching(\.books)
    let writer = try #require(try context.fetchOne(request))
    let first = try #require(Array(writer.books).first)
    let number = first.objectID
    writer.books.remove(first)
    let added = Writer("new", rank: 3)
    context.insert(added)
    added.books.append(first)
    let both = try context.fetch(request)
    #expect(both.map(\.books.count) == [2, 1])
    context.rollback()
    #expect(try context.fetch(request).map(\.books.count) == [3])

    try await library.write { $0.delete(try $0.existingObject(Book.self, with: number)) }
    #expect(writer.books.count == 3, "the context is where it was")
    try context.refresh()
    #expect(writer.books.count == 2)
    #expect(Array(writer.books).count == 2)
  }

  @Test func childrenAndBatchesPrefetchToo() async throws {
    let context = try library.context()
    defer { context.end() }
    let request = From<Book>().prefetching(\.writer, \.publisher)
    let child = context.makeChild()
    let book = try #require(try context.fetchOne(From<Book>()))
    book.writer?.name = "unsaved"
    let books = try child.fetch(request)
    #expect(reads(child) { for book in books { _ = (book.writer?.name, book.publisher.name) } } == 0)
    #expect(books.first?.writer?.name == "unsaved")
    child.end()
    context.rollback()
    var total = 0
    for try await batch in context.fetch(request, inBatchesOf: 50) {
      let count = reads(context) { for book in batch { _ = (book.writer?.name, book.publisher.name) } }
      #expect(count == 0)
      total += batch.count
    }
    #expect(total == 300)
  }

  @Test func recordsOfADynamicQueryPrefetch() async throws {
    let schema = library.schema
    let store = try await PersistentContainer("Records", schema: schema, at: .inMemory)
    try await store.write { context in
      let publisher = try context.insert(entity: "Publisher")
      try publisher.set("name", to: .string("p"))
      for number in 0..<20 {
        let book = try context.insert(entity: "Book")
        try book.set("title", to: .string("\(number)"))
        try book.set("pages", to: .int(1))
        try book.setObject("publisher", to: publisher)
      }
    }
    let context = try store.context()
    defer { context.end() }
    var query = DynamicQuery("Book")
    query.prefetchedPaths = ["publisher"]
    let books = try context.fetch(query)
    let count = try reads(context) {
      for book in books {
        let publisher: ManagedRecord? = try book.object("publisher")
        let name: String? = try publisher?.value("name")
        #expect(name == "p")
      }
    }
    #expect(books.count == 20 && count == 0)
    query.prefetchedPaths = ["title"]
    let error = #expect(throws: ContextError.self) { try context.fetch(query) }
    #expect(error?.code == .invalidQuery)
  }

  @Test func whatIsNoRelationshipIsAMistake() throws {
    let context = try library.context()
    defer { context.end() }
    for request in [From<Book>().prefetching(\.title), From<Book>().prefetching(\.publisher.name)] {
      let error = #expect(throws: ContextError.self) { try context.fetch(request) }
      #expect(error?.code == .invalidQuery)
    }
    let error = #expect(throws: ContextError.self) {
      try context.fetch(From<Book>().prefetching(\.publisher.books.count))
    }
    #expect(error?.code == .invalidQuery)
  }
}
