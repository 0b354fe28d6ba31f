import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

struct ContextTests {
  @Test func aSavedObjectIsFoundByItsIDInAnotherContext() async throws {
    let library = try await Library.open()
    let id = try await library.performBackgroundTask { context in
      let writer = Writer("Ursula", email: "u@example.org", rank: 3)
      context.insert(writer)
      try context.save()
      return writer.objectID
    }
    let context = try library.context()
    let writer = try context.existingObject(Writer.self, with: id)
    #expect(writer.isFault)
    #expect(writer.name == "Ursula")
    #expect(writer.email == "u@example.org")
    #expect(writer.rank == 3)
    #expect(writer.desk == nil)
    context.end()
  }

  @Test func anIDIsFinalAtInsertion() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let writer = Writer("Ursula")
    context.insert(writer)
    let id = writer.objectID
    try context.save()
    #expect(writer.objectID == id)
    #expect(ManagedObjectID(uriRepresentation: id.uriRepresentation) == id)
    context.end()
  }

  @Test func thereIsOneObjectForEachID() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let publisher = Publisher("Ace")
    let book = Book("Rocannon's World", publisher: publisher)
    context.insert(book)
    #expect(try context.object(Publisher.self, with: publisher.objectID) === publisher)
    try context.save()
    #expect(book.publisher === publisher)
    #expect(try context.existingObject(Book.self, with: book.objectID) === book)
    #expect(publisher.books.first === book)
    let other = try library.context()
    #expect(try other.object(Book.self, with: book.objectID) !== book)
    context.end()
    other.end()
  }

  @Test func insertingAnObjectBringsWhatItLeadsTo() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let writer = Writer("Ursula")
    let book = Book("The Dispossessed", publisher: Publisher("Harper"))
    writer.books.append(book)
    writer.desk = Desk(7)
    writer.fans = [Reader("Ann"), Reader("Bob")]
    context.insert(writer)
    #expect(book.isInserted && book.publisher.isInserted)
    #expect(book.writer === writer)
    #expect(writer.desk?.writer === writer)
    #expect(writer.fans.allSatisfy { $0.idols == [writer] })
    #expect(context.insertedObjects.count == 6)
    try context.save()
    #expect(try await library.verify().isEmpty)
    context.end()
  }

  @Test func aLongChainOfNewObjectsIsInsertedWithoutRecursion() async throws {
    let library = try await Library.open()
    let context = try library.context()
    var writers: [Writer] = []
    var last: Reader?
    for number in 0..<20_000 {
      let writer = Writer("w\(number)")
      let reader = Reader("r\(number)")
      reader.idols = [writer]
      if let last { writer.fans = [last] }
      last = reader
      writers.append(writer)
    }
    if let last { context.insert(last) }
    #expect(context.insertedObjects.count == 40_000)
    try context.save()
    context.end()
  }

  @Test func aContextKeepsItsSnapshotUntilItIsRefreshed() async throws {
    let library = try await Library.open()
    let (writing, reading) = (try library.context(), try library.context())
    let writer = Writer("Ursula", rank: 1)
    writing.insert(writer)
    try writing.save()
    try reading.refresh()
    let id = writer.objectID
    let same = try reading.existingObject(Writer.self, with: id)
    #expect(same.rank == 1)
    writer.rank = 2
    try writing.save()
    #expect(same.rank == 1)
    try reading.refresh()
    #expect(same.rank == 2)
    writing.delete(writer)
    try writing.save()
    #expect(same.rank == 2)
    try reading.refresh()
    #expect(same.isDeleted)
    #expect(throws: ContextError.self) { try reading.existingObject(Writer.self, with: id) }
    writing.end()
    reading.end()
  }

  @Test func aContextWhoseCommitsWereForgottenLooksAtEverything() async throws {
    let library = try await Library.open()
    let (writing, reading) = (try library.context(), try library.context())
    let writers = (0..<100).map { Writer("w\($0)", rank: $0) }
    for writer in writers { writing.insert(writer) }
    try writing.save()
    try reading.refresh()
    let same = try writers.map { try reading.existingObject(Writer.self, with: $0.objectID) }
    #expect(same.map(\.rank) == Array(0..<100))
    writers[3].rank = -3
    // A transaction that the log of commits doesn't know.
    try writing.save()
    try await library.store.write { _ = try $0.tree("elsewhere").put([1], [2]) }
    try reading.refresh()
    #expect(same[3].rank == -3)
    #expect(same[4].rank == 4)
    writing.end()
    reading.end()
  }

  @Test func rollbackRestoresObjects() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let publisher = Publisher("Ace")
    let (first, second) = (Writer("A", rank: 1), Writer("B", rank: 2))
    let book = Book("T", pages: 10, publisher: publisher)
    first.books.append(book)
    first.desk = Desk(1)
    context.insert(first)
    context.insert(second)
    try context.save()

    book.pages = 11
    book.writer = second
    second.desk = first.desk
    second.fans.append(Reader("New"))
    let new = Writer("C")
    context.insert(new)
    context.delete(first)
    #expect(context.hasChanges)
    context.rollback()

    #expect(!context.hasChanges)
    #expect(
      context.insertedObjects.isEmpty && context.updatedObjects.isEmpty && context.deletedObjects.isEmpty
    )
    #expect(book.pages == 10)
    #expect(book.writer === first)
    #expect(Array(first.books).map(\.title) == ["T"])
    #expect(first.desk?.number == 1)
    #expect(first.desk?.writer === first)
    #expect(second.desk == nil)
    #expect(second.fans.isEmpty)
    #expect(!first.isDeleted)
    #expect(new.name == "C")
    context.insert(new)
    try context.save()
    #expect(try await library.verify().isEmpty)
    context.end()
  }

  @Test func resetLetsGoOfEveryObject() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let writer = Writer("A", rank: 1)
    context.insert(writer)
    try context.save()
    let id = writer.objectID
    writer.rank = 2
    context.reset()
    #expect(!context.hasChanges)
    #expect(writer.isDeleted)
    #expect(writer.rank == 2)
    #expect(context.registeredObject(Writer.self, with: id) == nil)
    #expect(try context.existingObject(Writer.self, with: id).rank == 1)
    context.end()
  }

  @Test func objectsGoWhenNobodyHoldsThem() async throws {
    let library = try await Library.open()
    weak var context: ManagedObjectContext?
    weak var writer: Writer?
    do {
      let own = try library.context()
      let new = Writer("A")
      own.insert(new)
      try own.save()
      context = own
      writer = new
      own.end()
    }
    #expect(context == nil)
    #expect(writer == nil)
  }

  @Test func batchesStayFlat() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let publisher = Publisher("Ace")
    context.insert(publisher)
    for batch in 0..<20 {
      for number in 0..<1_000 { context.insert(Book("b\(batch)-\(number)", publisher: publisher)) }
      try context.save()
    }
    let ordinal = context.entity(of: Book.self).ordinal
    #expect(context.entities[ordinal].known.count <= 4_096)
    #expect(publisher.books.count == 20_000)
    context.end()
  }

  @Test func aValueThatCannotBeReadIsSaidAtTheNextCall() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let missing = ManagedObjectID(entityName: "Writer", number: 99, storeID: library.storeID)
    let writer = try context.object(Writer.self, with: missing)
    #expect(writer.name == "")
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .objectNotFound)
    #expect(error?.context.objectID == writer.objectID)
    #expect(writer.objectID.number == missing.number)
    context.rollback()
    try context.save()
    context.end()
  }

  @Test func anIDOfAnotherStoreIsRefused() async throws {
    let (library, other) = (try await Library.open(), try await Library.open())
    let context = try library.context()
    let id = ManagedObjectID(entityName: "Writer", number: 1, storeID: other.storeID)
    #expect(throws: ContextError.self) { try context.object(Writer.self, with: id) }
    let wrong = ManagedObjectID(entityName: "Book", number: 1, storeID: library.storeID)
    #expect(throws: ContextError.self) { try context.object(Writer.self, with: wrong) }
    context.end()
  }
}
