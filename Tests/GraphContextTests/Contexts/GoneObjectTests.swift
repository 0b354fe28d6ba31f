import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Objects that other contexts delete while this program still holds references to them.
struct GoneObjectTests {
  /// A context with the saved objects that `make` inserts into it.
  private static func context(
    _ make: (ManagedObjectContext) -> Void
  ) async throws -> (library: PersistentContainer, context: ManagedObjectContext) {
    let library = try await Library.open()
    let context = try library.context()
    make(context)
    try context.save()
    return (library, context)
  }

  private static func deleteElsewhere(_ object: some ManagedObject, in library: PersistentContainer) throws {
    func delete<Object: ManagedObject>(_ object: Object) throws {
      let other = try library.context()
      other.delete(try other.existingObject(Object.self, with: object.objectID))
      try other.save()
      other.end()
    }
    try delete(object)
  }

  @Test func anObjectKeepsItsIDWhenAnotherContextDeletesIt() async throws {
    let writer = Writer("A")
    let (library, context) = try await Self.context { $0.insert(writer) }
    let id = writer.objectID
    try Self.deleteElsewhere(writer, in: library)
    try context.refresh()
    #expect(writer.isDeleted)
    #expect(writer.objectID == id && writer.id == id)
    context.end()
  }

  @Test func anObjectKeepsItsIDAfterItsDeletionIsSavedAndAfterAReset() async throws {
    let (first, second) = (Writer("A"), Writer("B"))
    let (_, context) = try await Self.context { context in
      context.insert(first)
      context.insert(second)
    }
    let ids = [first.objectID, second.objectID]
    context.delete(first)
    try context.save()
    context.reset()
    #expect([first.objectID, second.objectID] == ids)
    context.end()
  }

  @Test func savingAChangeOfAnObjectThatWasDeletedElsewhereIsAConflictAfterARefreshToo() async throws {
    let (library, context) = try await Self.context { $0.insert(Writer("A", rank: 1)) }
    context.reset()
    let writer = try #require(try context.fetchOne(From<Writer>()))
    writer.rank = 5
    try Self.deleteElsewhere(writer, in: library)
    try context.refresh()
    // An object with changes in this context keeps all its values, also those that were not read before. The context
    // stays usable.
    #expect(writer.name == "A")
    #expect(writer.rank == 5)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .conflict)
    #expect(error?.context.objectID == writer.objectID)
    context.rollback()
    #expect(writer.isDeleted)
    #expect(writer.rank == 0)
    #expect(try context.count(From<Writer>()) == 0)
    try context.save()
    context.end()
  }

  @Test func aChangedObjectThatWasDeletedElsewhereLeadsOnlyToWhatItWasGiven() async throws {
    let (first, second) = (Writer("A"), Writer("B"))
    let book = Book("T", publisher: Publisher("P"))
    book.writer = first
    let (library, context) = try await Self.context { context in
      context.insert(book)
      context.insert(second)
    }
    #expect(book.writer === first && first.books.count == 1)
    book.pages = 7
    try Self.deleteElsewhere(first, in: library)
    try context.refresh()
    // The deletion of the writer has deleted the book, too.
    #expect(first.isDeleted)
    #expect(book.writer == nil)
    #expect(book.title == "T" && book.pages == 7)
    book.writer = second
    #expect(second.books.map(\.title) == ["T"])
    #expect(throws: ContextError.self) { try context.save() }
    context.rollback()
    #expect(book.isDeleted && second.books.isEmpty)
    try context.save()
    context.end()
  }

  @Test func aNewReferenceToAnObjectThatWasDeletedElsewhereCanBeMended() async throws {
    let (writer, reader) = (Writer("A"), Reader("R"))
    let publisher = Publisher("P")
    let book = Book("B", publisher: publisher)
    let (library, context) = try await Self.context { context in
      context.insert(writer)
      context.insert(reader)
      context.insert(book)
    }
    book.writer = writer
    reader.idols = [writer]
    try Self.deleteElsewhere(writer, in: library)
    try context.refresh()
    #expect(book.writer?.name == "")
    #expect(reader.idols.map(\.name) == [""])
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .missingDestination)
    book.writer = nil
    reader.idols = []
    try context.save()
    #expect(try await library.verify().isEmpty)
    context.end()
  }

  @Test func anObjectTakenBackBeforeItWasSavedBelongsToItsNewContextAlone() async throws {
    let (first, second) = (try await Library.open(), try await Library.open())
    let (old, new) = (try first.context(), try second.context())
    let (kept, moved) = (Writer("kept"), Writer("moved"))
    old.insert(kept)
    old.insert(moved)
    old.delete(moved)
    new.insert(moved)
    #expect(old.insertedObjects.map(ObjectIdentifier.init) == [ObjectIdentifier(kept)])
    try old.save()
    #expect(try old.fetch(From<Writer>()).map(\.name) == ["kept"])
    #expect(moved.isInserted)
    try new.save()
    #expect(try new.fetch(From<Writer>()).map(\.name) == ["moved"])
    old.end()
    new.end()
  }

  @Test func nothingDeniesAnObjectThatWasNeverSavedItsLeave() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let (first, second) = (Publisher("P"), Publisher("Q"))
    let book = Book("B", publisher: first)
    context.insert(book)
    context.insert(second)
    context.delete(first)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .missingValue)
    #expect(error?.context.properties == ["publisher"])
    book.publisher = second
    try context.save()
    #expect(second.books == [book])
    #expect(try await library.verify().isEmpty)
    context.end()
  }

  @Test func closingWaitsForBlocksThatWrite() async throws {
    let folder = try TemporaryFolder()
    let library = try await Library.open(at: folder.file("library"))
    let other = try await Library.open(at: folder.file("library"))
    let (started, begin) = AsyncStream<Void>.makeStream()
    let mayGoOn = DispatchSemaphore(value: 0)
    async let written: Void = library.write { context in
      begin.yield()
      mayGoOn.wait()
      context.insert(Writer("A"))
    }
    for await _ in started { break }
    async let closed: Void = library.close()
    // The close is in the queue before the block continues.
    try await Task.sleep(for: .milliseconds(50))
    // This write is accepted while the container is open, and refused when its turn comes.
    async let late: Void = library.write { $0.insert(Writer("late")) }
    try await Task.sleep(for: .milliseconds(50))
    mayGoOn.signal()
    try await written
    try await closed
    do {
      try await late
      Issue.record("a closed container has written")
    } catch {
      #expect((error as? ContextError)?.code == .closed)
    }
    let error = await #expect(throws: ContextError.self) { try await library.write { _ in } }
    #expect(error?.code == .closed)
    #expect(try await other.query { try $0.count(From<Writer>()) } == 1)
    try await other.close()
  }

  @Test func aClosedContainerSaysSo() async throws {
    let (library, context) = try await Self.context { $0.insert(Writer("A")) }
    try await library.close()
    let error = #expect(throws: ContextError.self) { try context.count(From<Writer>()) }
    #expect(error?.code == .closed)
    context.end()
  }
}
