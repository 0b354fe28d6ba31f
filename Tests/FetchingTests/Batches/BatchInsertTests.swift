import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Insertion of many objects without objects.
struct BatchInsertTests {
  private struct Row: Sendable {
    var title: String
    var pages: Int
    var shelf: String?
    var place: Int?
    var writer: ManagedObjectID?
  }

  private let library: PersistentContainer

  init() async throws { library = try await Library.open() }

  private func prepare(
    _ library: PersistentContainer
  ) async throws -> (publisher: ManagedObjectID, [ManagedObjectID]) {
    try await library.write { context in
      let publisher = Publisher("Ace")
      let writers = (0..<5).map { Writer("w\($0)") }
      context.insert(publisher)
      for writer in writers { context.insert(writer) }
      return (publisher.objectID, writers.map(\.objectID))
    }
  }

  private func insert(
    _ rows: [Row],
    _ library: PersistentContainer,
    publisher: ManagedObjectID,
    chunkSize: Int? = nil
  ) async throws(ContextError) -> [ManagedObjectID] {
    try await library.batchInsert(
      Book.self,
      from: rows,
      .set(\.title) { $0.title },
      .set(\.pages) { $0.pages },
      .set(\.shelf) { $0.shelf },
      .set(\.place) { $0.place },
      .set(\.writer) { $0.writer },
      .set(\.publisher) { _ in publisher },
      chunkSize: chunkSize
    )
  }

  @Test(arguments: [nil, 1, 7, 1_000])
  func insertionByBatchEqualsInsertionOfObjects(_ chunkSize: Int?) async throws {
    var random = SeededGenerator()
    let other = try await Library.open()
    let (publisher, writers) = try await prepare(library)
    let (_, others) = try await prepare(other)
    let watcher = try library.context()
    defer { watcher.end() }
    var rows: [Row] = []
    for number in 0..<300 {
      let writer = random.chance(1, in: 3) ? nil : random.number(in: 0...4)
      rows.append(
        Row(
          title: "b\(random.number(in: 0...40))",
          pages: random.number(in: 0...9),
          shelf: random.chance(1, in: 2) ? "s" : nil,
          place: number,
          writer: writer.map { writers[$0] }
        )
      )
    }
    let ids = try await insert(rows, library, publisher: publisher, chunkSize: chunkSize)
    let single = try other.context()
    defer { single.end() }
    let ace = try #require(try single.fetchOne(From<Publisher>()))
    for row in rows {
      let book = Book(row.title, pages: row.pages, publisher: ace)
      (book.shelf, book.place) = (row.shelf, row.place)
      single.insert(book)
      let place = row.writer.flatMap { writers.firstIndex(of: $0) }
      book.writer = try place.map { try single.existingObject(Writer.self, with: others[$0]) }
    }
    try single.save()
    try watcher.refresh()
    #expect(try LibraryDump(watcher) == LibraryDump(single))
    #expect(try ids.map { try watcher.existingObject(Book.self, with: $0).title } == rows.map(\.title))
    #expect(try await library.verify() == [])
  }

  @Test func failuresAreListedAndChangeNothing() async throws {
    let (publisher, _) = try await prepare(library)
    let twins = [0, 0, 1, 1].map { Row(title: "b", pages: 1, shelf: "s", place: $0) }
    var failure: ContextError?
    do throws(ContextError) { _ = try await insert(twins, library, publisher: publisher) } catch {
      failure = error
    }
    #expect(failure?.code == .notUnique)
    do throws(ContextError) {
      try await library.batchInsert(Book.self, from: 0..<3, .set(\.title) { "\($0)" }, .set(\.pages) { $0 })
    } catch { failure = error }
    #expect(failure?.code == .missingValue)
    #expect(failure?.failures.count == 3, "no book has a publisher")
    let lost = try await insert([Row(title: "b", pages: 1)], library, publisher: publisher)
    try await library.batchDelete(From<Book>())
    do throws(ContextError) {
      try await library.batchInsert(
        Reader.self,
        from: 0..<1,
        .set(\.name) { "\($0)" },
        .set(\.favourite) { _ in lost[0] }
      )
    } catch { failure = error }
    #expect(failure?.code == .missingDestination)
    #expect(try library.context().count(From<Reader>()) == 0)
    #expect(try await library.verify() == [])
  }

  @Test func aResetStoreIsEmptyAndUsesNoIDAgain() async throws {
    let (publisher, writers) = try await prepare(library)
    let book = try await insert(
      [Row(title: "b", pages: 1, writer: writers[0])],
      library,
      publisher: publisher
    )
    let watcher = try library.context()
    defer { watcher.end() }
    let known = try watcher.existingObject(Writer.self, with: writers[0])
    try await library.resetStore()
    try watcher.refresh()
    #expect(known.isDeleted)
    #expect(try watcher.count(From<Publisher>()) == 0 && watcher.count(From<Book>()) == 0)
    #expect(try await library.verify() == [])
    let (again, _) = try await prepare(library)
    #expect(again.number > publisher.number)
    #expect(try await insert([Row(title: "b", pages: 1)], library, publisher: again) != book)
    try await library.resetStore()
    try await library.resetStore()
  }

  @Test func chunksBeforeAFailureStay() async throws {
    let (publisher, _) = try await prepare(library)
    let rows = [0, 1, 2, 2, 3, 4].map { Row(title: "b", pages: 1, shelf: "s", place: $0) }
    await #expect(throws: ContextError.self) {
      try await insert(rows, library, publisher: publisher, chunkSize: 2)
    }
    #expect(try library.context().count(From<Book>()) == 2)
  }

  @Test func whatABatchCantSetIsRefused() async throws {
    let (publisher, writers) = try await prepare(library)
    var failure: ContextError?
    do throws(ContextError) {
      try await library.batchInsert(
        Desk.self,
        from: 0..<1,
        .set(\.number) { $0 },
        .set(\.writer) { _ in writers[0] }
      )
    } catch { failure = error }
    #expect(failure?.code == .invalidQuery)
    #expect(failure?.message.contains("one to one") == true)
    do throws(ContextError) {
      try await library.batchInsert(Book.self, from: 0..<1, .set(\.writer) { _ in publisher })
    } catch { failure = error }
    #expect(failure?.code == .unknownEntity)
    #expect(try await library.batchInsert(Desk.self, from: 0..<0, .set(\.number) { $0 }) == [])
  }
}
