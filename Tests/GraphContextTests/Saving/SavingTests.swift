import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

struct SavingTests {
  @Test func valuesStayOutOfErrorsWhereTheyMust() async throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(URL(fileURLWithPath: folder.file("library.cambium")))
    let shown = try await Library.open(at: folder.file("library.cambium"))
    let duplicate: @Sendable (ManagedObjectContext) throws -> String = { context in
      for _ in 0..<2 { context.insert(Writer("W", email: "SECRET")) }
      do throws(ContextError) { try context.save() } catch {
        #expect(error.code == .notUnique && !error.context.properties.isEmpty)
        return "\(error) \(error.context.values)"
      }
      return "saved"
    }
    #expect(try await shown.performBackgroundTask(duplicate).contains("SECRET"))
    let hidden = try await PersistentContainer(
      "Library",
      models: Library.models,
      at: location,
      showsValuesInErrors: false
    )
    // The libraries share the store, and therefore the setting that decides which values errors show.
    for library in [shown, hidden] {
      let text = try await library.performBackgroundTask(duplicate)
      #expect(!text.contains("SECRET") && text.contains("the same email"), "\(text)")
      #expect(text.hasSuffix(" []"))
      try await library.close()
    }
  }

  /// A library with a publisher, two contexts, and the publisher as each of them sees it.
  private struct Pair {
    let library: PersistentContainer
    let first: ManagedObjectContext
    let second: ManagedObjectContext

    init() async throws {
      library = try await Library.open()
      (first, second) = (try library.context(), try library.context())
    }

    /// The objects that the first context has saved, as the second sees them.
    func inSecond<Object: ManagedObject>(_ object: Object) throws -> Object {
      try second.refresh()
      return try second.existingObject(Object.self, with: object.objectID)
    }

    /// A writer of the second context with an unsaved rank of 9, whose deletion the first has saved.
    func changedInSecondAndDeletedInFirst() throws -> Writer {
      let writer = Writer("A", email: "a@")
      first.insert(writer)
      try first.save()
      let same = try inSecond(writer)
      same.rank = 9
      first.delete(writer)
      try first.save()
      return same
    }

    func end() throws {
      #expect(try library.verify().map(\.description) == [])
      first.end()
      second.end()
    }
  }

  private func code(_ body: () throws -> Void) -> ContextError.Code? {
    do { try body() } catch { return (error as? ContextError)?.code }
    return nil
  }

  // MARK: One commit

  @Test func aSaveIsOneCommit() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let publisher = Publisher("Ace")
    for number in 0..<100 { context.insert(Book("b\(number)", publisher: publisher)) }
    let before = library.store.lastCommit
    try context.save()
    #expect(library.store.lastCommit == before + 1)
    try context.save()
    #expect(library.store.lastCommit == before + 1)
    publisher.name = "Ace"
    #expect(context.hasChanges)
    try context.save()
    #expect(!context.hasChanges)
    #expect(library.store.lastCommit == before + 1)
    context.end()
  }

  @Test func aFailedSaveChangesNothing() async throws {
    let pair = try await Pair()
    let context = pair.first
    let writer = Writer("A", email: "same")
    context.insert(writer)
    try context.save()
    let commit = pair.library.store.lastCommit
    let twin = Writer("B", email: "same")
    context.insert(twin)
    writer.rank = 5
    #expect(code { try context.save() } == .notUnique)
    #expect(pair.library.store.lastCommit == commit)
    #expect(twin.isInserted && writer.hasChanges && writer.rank == 5)
    twin.email = "other"
    try context.save()
    #expect(try pair.inSecond(writer).rank == 5)
    #expect(try pair.inSecond(twin).email == "other")
    try pair.end()
  }

  // MARK: Validation

  @Test func aRequiredRelationshipIsNamedWhenItIsMissing() async throws {
    let pair = try await Pair()
    let publisher = Publisher("Ace")
    let book = Book("T", publisher: publisher)
    pair.first.insert(book)
    try pair.first.save()
    publisher.books = []
    let error = #expect(throws: ContextError.self) { try pair.first.save() }
    #expect(error?.code == .missingValue)
    #expect(error?.context.properties == ["publisher"])
    #expect(error?.context.objectID == book.objectID)
    #expect(error?.message.contains("Book.publisher") == true)
    pair.first.rollback()
    #expect(book.publisher === publisher)
    try pair.end()
  }

  @Test func anIndexedValueTooLongForAKeyIsNamed() async throws {
    let pair = try await Pair()
    let book = Book(String(repeating: "x", count: 5_000), publisher: Publisher("Ace"))
    pair.first.insert(book)
    let error = #expect(throws: ContextError.self) { try pair.first.save() }
    #expect(error?.code == .indexedValueTooLong)
    #expect(error?.context.properties == ["title"])
    book.title = "short"
    book.cover = Data(repeating: 7, count: 300_000)
    try pair.first.save()
    #expect(try pair.inSecond(book).cover == Data(repeating: 7, count: 300_000))
    try pair.end()
  }

  // MARK: Uniqueness

  @Test func aUniquenessErrorNamesTheAttributesAndTheValues() async throws {
    let pair = try await Pair()
    let publisher = Publisher("Ace")
    let first = Book("A", publisher: publisher)
    (first.shelf, first.place) = ("SF", 12)
    pair.first.insert(first)
    try pair.first.save()
    let second = Book("B", publisher: publisher)
    (second.shelf, second.place) = ("SF", 12)
    pair.first.insert(second)
    let error = #expect(throws: ContextError.self) { try pair.first.save() }
    #expect(error?.code == .notUnique)
    #expect(error?.context.properties == ["shelf", "place"])
    #expect(error?.context.values == [.string("SF"), .int(12)])
    #expect(error?.context.objectID == second.objectID)
    #expect(error?.context.otherID == first.objectID)
    #expect(error?.message == "Book is unique by shelf,place, and two objects have shelf \"SF\", place 12")
    second.place = nil
    try pair.first.save()
    try pair.end()
  }

  @Test func aTupleWithNilIsNotConstrained() async throws {
    let pair = try await Pair()
    for _ in 0..<100 { pair.first.insert(Writer("nobody")) }
    try pair.first.save()
    for _ in 0..<3 { pair.first.insert(Writer("nobody")) }
    try pair.first.save()
    try pair.end()
  }

  @Test func uniqueValuesCanBeSwapped() async throws {
    let pair = try await Pair()
    let writers = (0..<40).map { Writer("w\($0)", email: "e\($0)") }
    for writer in writers { pair.first.insert(writer) }
    try pair.first.save()
    (writers[0].email, writers[1].email) = (writers[1].email, writers[0].email)
    try pair.first.save()
    let emails = writers.map(\.email)
    for (writer, email) in zip(writers, emails.dropFirst() + emails.prefix(1)) { writer.email = email }
    try pair.first.save()
    #expect(try pair.inSecond(writers[0]).email == "e0")
    try pair.end()
  }

  @Test func aValueFreedByADeletionCanBeTaken() async throws {
    let pair = try await Pair()
    let old = Writer("old", email: "e")
    pair.first.insert(old)
    try pair.first.save()
    pair.first.delete(old)
    pair.first.insert(Writer("new", email: "e"))
    try pair.first.save()
    try pair.end()
  }

  @Test func twoContextsCannotBothTakeAUniqueValue() async throws {
    let pair = try await Pair()
    pair.first.insert(Writer("A", email: "e"))
    pair.second.insert(Writer("B", email: "e"))
    try pair.first.save()
    #expect(code { try pair.second.save() } == .notUnique)
    try pair.end()
  }

  @Test(arguments: [1, 10, 1_000])
  func uniquenessIsCheckedWhetherTheBatchIsSmallOrLarge(_ count: Int) async throws {
    let pair = try await Pair()
    for number in 0..<2_000 { pair.first.insert(Writer("w", email: "e\(number)")) }
    try pair.first.save()
    for number in 0..<count { pair.first.insert(Writer("w", email: "f\(number)")) }
    try pair.first.save()
    for number in 0..<count { pair.first.insert(Writer("w", email: "g\(number)")) }
    pair.first.insert(Writer("w", email: "e77"))
    #expect(code { try pair.first.save() } == .notUnique)
    try pair.end()
  }

  // MARK: Conflicts

  @Test func aChangeOfAPropertyThatAnotherContextChangedIsAConflict() async throws {
    let pair = try await Pair()
    let writer = Writer("A", rank: 1)
    pair.first.insert(writer)
    try pair.first.save()
    let same = try pair.inSecond(writer)
    (writer.rank, writer.name) = (2, "first")
    same.name = "B"
    try pair.first.save()
    let error = #expect(throws: ContextError.self) { try pair.second.save() }
    #expect(error?.code == .conflict)
    #expect(error?.context.objectID == same.objectID)
    #expect(same.name == "B" && same.hasChanges)
    pair.second.rollback()
    try pair.second.refresh()
    #expect(same.rank == 2 && same.name == "first")
    same.name = "C"
    try pair.second.save()
    try pair.end()
  }

  @Test func aChangeOfAnObjectThatAnotherContextDeletedIsAConflict() async throws {
    let pair = try await Pair()
    let same = try pair.changedInSecondAndDeletedInFirst()
    #expect(code { try pair.second.save() } == .conflict)
    pair.second.rollback()
    try pair.second.refresh()
    #expect(same.isDeleted)
    try pair.end()
  }

  @Test func whatIsChangedHereAndDeletedElsewhereKeepsItsValues() async throws {
    let pair = try await Pair()
    let same = try pair.changedInSecondAndDeletedInFirst()
    try pair.second.refresh()
    #expect(try pair.second.fetch(From<Writer>().select(\.name)) == ["A"])
    #expect((same.name, same.email, same.rank) == ("A", "a@", 9))
    #expect(code { try pair.second.save() } == .conflict)
    pair.second.rollback()
    try pair.end()
  }

  @Test func aReferenceToAnObjectThatARuleOfTheSaveDeletesIsNullified() async throws {
    let pair = try await Pair()
    let (writer, reader) = (Writer("A"), Reader("R"))
    let book = Book("B", publisher: Publisher("P"))
    for object in [writer, reader, book] as [any ManagedObject] { pair.first.insert(object) }
    try pair.first.save()
    let sameReader = try pair.inSecond(reader)
    sameReader.favourite = try pair.inSecond(book)
    pair.second.delete(try pair.inSecond(writer))
    book.writer = writer
    try pair.first.save()
    try pair.second.save()
    #expect(sameReader.favourite == nil)
    #expect(try pair.second.count(From<Book>()) == 0)
    try pair.end()
  }

  @Test func changesOfDifferentPropertiesOfAnObjectAreMerged() async throws {
    let pair = try await Pair()
    let writer = Writer("A", rank: 1)
    pair.first.insert(writer)
    try pair.first.save()
    let same = try pair.inSecond(writer)
    writer.rank = 2
    same.name = "B"
    try pair.first.save()
    try pair.second.save()
    #expect(same.rank == 2 && same.name == "B" && !pair.second.hasChanges)
    try pair.first.refresh()
    #expect(writer.rank == 2 && writer.name == "B")
    try pair.end()
  }

  @Test func changesOfDifferentObjectsDoNotConflict() async throws {
    let pair = try await Pair()
    let (first, second) = (Writer("A", rank: 1), Writer("B", rank: 1))
    pair.first.insert(first)
    pair.first.insert(second)
    try pair.first.save()
    let same = try pair.inSecond(second)
    first.rank = 2
    same.rank = 3
    try pair.first.save()
    try pair.second.save()
    #expect(same.rank == 3)
    try pair.first.refresh()
    #expect(second.rank == 3)
    try pair.end()
  }

  // MARK: Delete rules

  @Test func cascadeDeletesAndNullifyLetsGo() async throws {
    let pair = try await Pair()
    let publisher = Publisher("Ace")
    let writer = Writer("A")
    let books = (0..<5).map { Book("b\($0)", publisher: publisher) }
    writer.books.append(contentsOf: books)
    writer.desk = Desk(1)
    let reader = Reader("R")
    reader.idols = [writer]
    reader.favourite = books[2]
    pair.first.insert(writer)
    pair.first.insert(reader)
    try pair.first.save()
    let desk = writer.desk
    pair.first.delete(writer)
    #expect(books.allSatisfy { $0.isDeleted })
    #expect(desk?.writer == nil && reader.favourite == nil)
    #expect(reader.idols.isEmpty && publisher.books.isEmpty)
    try pair.first.save()
    #expect(pair.first.deletedObjects.isEmpty)
    #expect(try pair.inSecond(publisher).books.isEmpty)
    #expect(try pair.inSecond(reader).idols.isEmpty)
    try pair.end()
  }

  @Test func denyKeepsAnObjectThatOthersNeed() async throws {
    let pair = try await Pair()
    let publisher = Publisher("Ace")
    let book = Book("T", publisher: publisher)
    pair.first.insert(book)
    try pair.first.save()
    pair.first.delete(publisher)
    let error = #expect(throws: ContextError.self) { try pair.first.save() }
    #expect(error?.code == .deletionDenied)
    #expect(error?.context.objectID == publisher.objectID)
    #expect(error?.context.otherID == book.objectID)
    pair.first.delete(book)
    try pair.first.save()
    try pair.end()
  }

  @Test func rulesMeetWhatAnotherContextSavedInTheMeantime() async throws {
    let pair = try await Pair()
    let publisher = Publisher("Ace")
    let (writer, other) = (Writer("A"), Writer("B"))
    let reader = Reader("R")
    for object in [writer, other] { pair.first.insert(object) }
    pair.first.insert(publisher)
    pair.first.insert(reader)
    try pair.first.save()
    // The other context ties a book, a desk and a reader to the writer, and the book to a reader.
    let (theirs, theirReader) = (try pair.inSecond(writer), try pair.inSecond(reader))
    let book = Book("T", publisher: try pair.inSecond(publisher))
    pair.second.insert(book)
    book.writer = theirs
    theirReader.favourite = book
    theirReader.idols = [theirs]
    try pair.second.save()
    // The first context has not seen these changes, and deletes the writer.
    pair.first.delete(writer)
    try pair.first.save()
    try pair.second.refresh()
    #expect(book.isDeleted)
    #expect(theirReader.favourite == nil && theirReader.idols.isEmpty)
    // Then it deletes the publisher, whose book was deleted with the writer.
    pair.first.delete(publisher)
    try pair.first.save()
    try pair.end()
  }

  @Test func denyMeetsWhatAnotherContextSavedInTheMeantime() async throws {
    let pair = try await Pair()
    let publisher = Publisher("Ace")
    pair.first.insert(publisher)
    try pair.first.save()
    pair.second.insert(Book("T", publisher: try pair.inSecond(publisher)))
    try pair.second.save()
    pair.first.delete(publisher)
    #expect(code { try pair.first.save() } == .deletionDenied)
    try pair.end()
  }

  @Test func aReferenceToAnObjectThatAnotherContextDeletedIsRefused() async throws {
    let pair = try await Pair()
    let publisher = Publisher("Ace")
    let writer = Writer("A")
    pair.first.insert(publisher)
    pair.first.insert(writer)
    try pair.first.save()
    let theirs = try pair.inSecond(writer)
    let book = Book("T", publisher: try pair.inSecond(publisher))
    pair.second.insert(book)
    book.writer = theirs
    pair.first.delete(writer)
    try pair.first.save()
    let error = #expect(throws: ContextError.self) { try pair.second.save() }
    #expect(error?.code == .missingDestination)
    #expect(error?.context.properties == ["writer"])
    #expect(error?.context.otherID?.number == 1)
    try pair.end()
  }

  @Test func aPairWithAnObjectThatAnotherContextDeletedIsRefused() async throws {
    let pair = try await Pair()
    let (reader, writer) = (Reader("R"), Writer("A"))
    pair.first.insert(reader)
    pair.first.insert(writer)
    try pair.first.save()
    let (theirReader, theirWriter) = (try pair.inSecond(reader), try pair.inSecond(writer))
    theirReader.idols.insert(theirWriter)
    pair.first.delete(writer)
    try pair.first.save()
    #expect(code { try pair.second.save() } == .missingDestination)
    try pair.end()
  }

  @Test func anObjectThatWasNeverSavedLeavesWithoutATrace() async throws {
    let pair = try await Pair()
    let publisher = Publisher("Ace")
    pair.first.insert(publisher)
    try pair.first.save()
    let commit = pair.library.store.lastCommit
    let book = Book("T", publisher: publisher)
    pair.first.insert(book)
    #expect(publisher.books.count == 1)
    pair.first.delete(book)
    #expect(publisher.books.isEmpty)
    #expect(!pair.first.hasChanges)
    try pair.first.save()
    #expect(pair.library.store.lastCommit == commit)
    try pair.end()
  }

  // MARK: One to one

  @Test func aOneToOneRelationshipIsStolenFromItsOwner() async throws {
    let pair = try await Pair()
    let (first, second) = (Writer("A"), Writer("B"))
    let (one, two) = (Desk(1), Desk(2))
    first.desk = one
    second.desk = two
    pair.first.insert(first)
    pair.first.insert(second)
    try pair.first.save()
    second.desk = one
    #expect(first.desk == nil && two.writer == nil && one.writer === second)
    try pair.first.save()
    #expect(try pair.inSecond(first).desk == nil)
    #expect(try pair.inSecond(two).writer == nil)
    #expect(try pair.inSecond(one).writer?.name == "B")
    try pair.end()
  }
}
