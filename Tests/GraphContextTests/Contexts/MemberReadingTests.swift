import Cambium
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Members of relationships whose records are read together.
struct MemberReadingTests {
  @Test func membersInOrderAreReadInGrowingBatches() {
    var reading = MemberReading()
    let members = Self.numbers(1...1_000)
    reading.follow(members, of: 3)
    var batches: [Int] = []
    for number in members where reading.record(number, of: 3) == nil {
      let batch = reading.batch(from: number, of: 3)
      batches.append(batch?.count ?? 1)
      #expect(batch == nil || batch?.first == number)
      if let batch { reading.keep(batch.map { _ in Self.record }) }
    }
    #expect(batches == [1, 4, 16, 64, 256, 256, 256, 147])
  }

  @Test func otherOrdersAndOtherEntitiesAreReadOneByOne() {
    var reading = MemberReading()
    let members = Self.numbers(1...1_000)
    reading.follow(members, of: 3)
    for number in members.reversed() { #expect(reading.batch(from: number, of: 3) == nil) }
    #expect(reading.batch(from: members[0], of: 2) == nil)
    #expect(reading.batch(from: ObjectNumber(rawValue: 5_000), of: 3) == nil)
    reading.follow(Self.numbers(1...2), of: 3)
    for number in Self.numbers(1...2) { #expect(reading.batch(from: number, of: 3) == nil) }
  }

  @Test func whatWasReadIsForgotten() {
    var reading = MemberReading()
    let members = Self.numbers(1...100)
    reading.follow(members, of: 0)
    #expect(reading.batch(from: members[0], of: 0) == nil)
    #expect(reading.batch(from: members[1], of: 0)?.count == 4)
    reading.keep([Self.record, nil, Self.record])
    #expect(reading.record(members[1], of: 0) != nil)
    #expect(reading.record(members[2], of: 0) == nil)
    #expect(reading.record(members[3], of: 0) != nil)
    #expect(reading.record(members[4], of: 0) == nil)
    reading.forgetRecords()
    #expect(reading.record(members[3], of: 0) == nil)
  }

  /// Random readers of relationships between changes, saves, refreshes and releases of memory. Every value is equal
  /// to the one that a fresh context has.
  @Test func membersHaveTheirValuesWhateverHappensInBetween() async throws {
    var generator = SeededGenerator()
    let library = try await Library.open()
    let writers = try await library.performBackgroundTask { context in
      let publisher = Publisher("Ace")
      let writers = (0..<4).map { Writer("Writer \($0)") }
      for writer in writers { context.insert(writer) }
      for number in 0..<800 {
        let book = Book("Book \(number)", pages: number, publisher: publisher)
        context.insert(book)
        book.writer = writers[number * number % 4 == 0 ? number / 2 % 4 : 3]
      }
      try context.save()
      return writers.map(\.objectID)
    }
    let context = try library.context()
    for _ in 0..<60 {
      let fresh = try library.context()
      let id = generator.pick(writers)
      let expected = try Self.pages(of: fresh.existingObject(Writer.self, with: id))
      fresh.end()
      try context.refresh()
      let writer = try context.existingObject(Writer.self, with: id)
      var books = Array(writer.books)
      if generator.chance(1, in: 4) { books.shuffle(using: &generator) }
      var found: [ManagedObjectID: Int] = [:]
      for book in books.prefix(generator.pick([3, 40, 1_000])) {
        if generator.chance(1, in: 50) { context.releaseKept() }
        if generator.chance(1, in: 50) { _ = generator.pick(books).title }
        found[book.objectID] = book.pages
      }
      for (book, pages) in found { #expect(expected[book] == pages) }
      #expect(try Self.pages(of: writer) == expected)
      try await change(library, writers, &generator)
    }
    context.end()
  }

  private static func pages(of writer: Writer) throws -> [ManagedObjectID: Int] {
    Dictionary(uniqueKeysWithValues: writer.books.map { ($0.objectID, $0.pages) })
  }

  /// Another context changes, moves and deletes some books.
  private func change(
    _ library: PersistentContainer,
    _ writers: [ManagedObjectID],
    _ generator: inout SeededGenerator
  ) async throws {
    let other = try library.context()
    let books = try other.fetch(From<Book>())
    for _ in 0..<20 {
      let book = generator.pick(books)
      if book.isDeleted { continue }
      switch generator.number(in: 0...5) {
      case 0: other.delete(book)
      case 1: book.writer = try other.existingObject(Writer.self, with: generator.pick(writers))
      default: book.pages += 1_000
      }
    }
    try other.save()
    other.end()
  }

  /// A record that no test reads.
  private static var record: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  private static func numbers(_ range: ClosedRange<UInt64>) -> [ObjectNumber] {
    range.map { ObjectNumber(rawValue: 3 * $0) }
  }
}
