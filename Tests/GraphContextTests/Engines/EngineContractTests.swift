import Cambium
import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

/// The individual guarantees of ``StoreEngine`` and ``ObjectSource``, for every source and engine.
struct EngineContractTests {
  private static func fill(_ library: LibraryUnderTest) throws {
    let context = try library.context()
    let writers = (0..<5).map { Writer("w\($0)", rank: $0) }
    let publisher = Publisher("Ace")
    context.insert(publisher)
    for writer in writers { context.insert(writer) }
    for number in 0..<30 {
      let book = Book("t\(number % 7)", pages: number, publisher: publisher)
      context.insert(book)
      book.writer = writers[number % 5]
    }
    try library.save(context)
  }

  // MARK: Reading

  @Test(arguments: SourceUnderTest.allCases) func aBodyEndsTheRows(_ source: SourceUnderTest) throws {
    let library = try source.library()
    try Self.fill(library)
    let context = try library.context()
    let selection = try context.resolved(From<Book>().orderBy(\.pages).select(\.pages))
    var pages: [AttributeValue] = []
    try context.source.forEachRow(of: selection, over: nil) { _, reader, fields in
      pages.append(try reader.value(of: fields[0]))
      return pages.count < 3
    }
    #expect(pages == [.int(0), .int(1), .int(2)])
    struct Stop: Error {}
    #expect(throws: ContextError.self) {
      try context.source.forEachRow(of: selection, over: nil) { _, _, _ in throw Stop() }
    }
  }

  @Test(arguments: SourceUnderTest.allCases) func distinctRowsHaveAWindow(_ source: SourceUnderTest) throws {
    let library = try source.library()
    try Self.fill(library)
    let context = try library.context()
    let titles = From<Book>().orderBy(\.title).offset(2).limit(3).select(\.title).distinct()
    #expect(try context.fetch(titles) == ["t2", "t3", "t4"])
    try #require(try context.fetchOne(From<Book>().where { $0.title == "t3" })).title = "s"
    #expect(try context.fetch(titles) == ["t1", "t2", "t3"])
  }

  /// Records in batches, also for objects that don't exist.
  @Test(arguments: SourceUnderTest.allCases) func recordsComeByNumber(_ source: SourceUnderTest) throws {
    let library = try source.library()
    try Self.fill(library)
    let writing = try library.context()
    let ids = try writing.fetchIDs(From<Book>())
    for id in ids.prefix(3) { writing.delete(try writing.existingObject(Book.self, with: id)) }
    try library.save(writing)
    let context = try library.context()
    let books = try context.existingObjects(Book.self, with: ids.reversed())
    #expect(books.map(\.objectID) == ids.dropFirst(3).reversed())
    #expect(books.map(\.pages) == (3..<30).reversed())
  }

  @Test(arguments: SourceUnderTest.allCases) func aggregatesAreExact(_ source: SourceUnderTest) throws {
    let library = try source.library(
      of: [DerivedModels.Album.self, DerivedModels.Song.self, DerivedModels.Tag.self]
    )
    let context = try library.context()
    let prices = (0..<9).map { Decimal($0 * $0 * 9) / 100 }
    for (number, price) in prices.enumerated() {
      let seconds: Int16? = number % 4 == 0 ? nil : Int16(30_000 + number)
      context.insert(
        DerivedModels.Song("s\(number)", seconds: seconds, rating: Double(number) / 8, price: price)
      )
    }
    for isSaved in [false, true] {
      if isSaved { try library.save(context) }
      let sum = try context.sum(of: \DerivedModels.Song.price)
      let average = try context.average(of: \DerivedModels.Song.price)
      let median = try context.median(of: \DerivedModels.Song.price)
      #expect(sum == prices.reduce(0, +) && average == prices.reduce(0, +) / 9 && median == prices[4])
      // The sum is beyond the range of Int16, the type of each value.
      let seconds = (0..<9).filter { $0 % 4 != 0 }.map { 30_000 + $0 }
      #expect(try context.sum(of: \DerivedModels.Song.seconds) == seconds.reduce(0, +))
      #expect(try context.median(of: \DerivedModels.Song.seconds) == Double(seconds[2] + seconds[3]) / 2)
      #expect(try context.average(of: \DerivedModels.Song.rating) == 0.5)
    }
  }

  // MARK: Writing

  @Test(arguments: [SourceUnderTest.pageStore, .dictionary]) func noNumberIsGivenTwice(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library()
    let engine = library.coordinator.engine
    let book = try library.context().entity(of: Book.self)
    var numbers: [ObjectNumber] = []
    for _ in 0..<3_000 { numbers.append(try engine.takeNumber(of: book, timeout: nil)) }
    #expect(Set(numbers).count == 3_000 && numbers == numbers.sorted() && !numbers[0].isNone)
  }

  @Test(arguments: [SourceUnderTest.pageStore, .dictionary]) func changeSetsAreThoseBetweenTwoSources(
    _ source: SourceUnderTest
  ) throws {
    let library = try source.library()
    try Self.fill(library)
    let engine = library.coordinator.engine
    let context = try library.context()
    let writer = try #require(try context.fetchOne(From<Writer>().where { $0.name == "w0" }))
    var sources = [try engine.newestSource()]
    for rank in 10..<14 {
      writer.rank = rank
      try library.save(context)
      sources.append(try engine.newestSource())
    }
    for (old, first) in sources.enumerated() {
      for (new, last) in sources.enumerated() {
        let commits = engine.changeSets(from: first, to: last).map(\.commit)
        let between = sources[min(old, new)...max(old, new)].dropFirst().map(\.commit)
        #expect(commits == (old <= new ? between : between.reversed()))
      }
    }
  }

  /// A save that gets its turn without waiting, and a merge policy that has to run on the main actor.
  @Test(arguments: SourceUnderTest.allCases) func savesWithoutBlockingAreCarriedOut(
    _ source: SourceUnderTest
  ) async throws {
    let library = try source.library()
    try Self.fill(library)
    let (mine, theirs) = (try library.context(), try library.context())
    let policy = MergePolicy.custom { conflict in
      conflict.resolve(\Writer.rank) { base, mine, theirs in mine + theirs - (base ?? 0) }
    }
    for context in [mine, mine.parent].compactMap(\.self) { context.mergePolicy = policy }
    try #require(try theirs.fetchOne(From<Writer>().where { $0.name == "w1" })).rank += 10
    try #require(try mine.fetchOne(From<Writer>().where { $0.name == "w1" })).rank += 100
    try library.save(theirs)
    try await mine.saveWithoutBlocking()
    try await mine.parent?.saveWithoutBlocking()
    let reader = try library.context()
    #expect(try #require(try reader.fetchOne(From<Writer>().where { $0.name == "w1" })).rank == 111)
  }
}
