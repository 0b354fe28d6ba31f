import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// The state of its parent that a child shows, and the effect of the child's saves on the parent.
struct ChildContextTests {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let publisher: Publisher
  private let writer: Writer
  private let book: Book

  init() async throws {
    library = try await Library.open()
    context = try library.context()
    publisher = Publisher("Ace")
    writer = Writer("A", rank: 1)
    book = Book("stored", pages: 10, publisher: publisher)
    context.insert(writer)
    context.insert(book)
    book.writer = writer
    try context.save()
  }

  private func titles(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(From<Book>().orderBy(\.title)).map(\.title)
  }

  // MARK: Reading

  @Test func itShowsTheParentsUnsavedChanges() throws {
    context.insert(Book("new", pages: 20, publisher: publisher))
    book.title = "changed"
    let child = context.makeChild()
    #expect(try titles(child) == ["changed", "new"])
    #expect(try child.count(From<Book>().where { $0.pages > 15 }) == 1)
    #expect(try child.fetch(From<Book>().where { $0.title == "stored" }).isEmpty)
    #expect(try child.fetch(From<Book>().orderBy(\.title).select(\.title, \.pages)).map(\.1) == [10, 20])
    #expect(try child.sum(of: \.pages, in: From<Book>()) == 30)
    #expect(try child.existingObject(Publisher.self, with: publisher.objectID).books.count == 2)
    context.delete(book)
    #expect(try titles(child) == ["new"])
    #expect(throws: ContextError.self) { try child.existingObject(Book.self, with: book.objectID) }
  }

  @Test func itFollowsItsParentAtEveryMoment() throws {
    let child = context.makeChild()
    let same = try child.existingObject(Book.self, with: book.objectID)
    let author = try child.existingObject(Writer.self, with: writer.objectID)
    for round in 0..<4 {
      book.pages = 100 + round
      #expect(same.pages == 100 + round)
      let added = Book("added \(round)", publisher: publisher)
      context.insert(added)
      #expect(author.books.count == round + 1)
      added.writer = writer
      #expect(author.books.count == round + 2)
      #expect(author.books.map(\.title).last == "added \(round)")
      added.title = "renamed \(round)"
      #expect(author.books.map(\.title).last == "renamed \(round)")
    }
    book.writer = nil
    #expect(same.writer == nil && author.books.count == 4)
  }

  @Test func whatItChangedKeepsItsValue() throws {
    let child = context.makeChild()
    let same = try child.existingObject(Book.self, with: book.objectID)
    same.title = "mine"
    book.title = "theirs"
    book.pages = 11
    #expect(same.title == "mine" && same.pages == 11)
    #expect(try titles(child) == ["mine"])
    #expect(try titles(context) == ["theirs"])
    try child.save()
    #expect(book.title == "mine" && book.pages == 11)
  }

  @Test func pairsOfBothAreShown() throws {
    let reader = Reader("R")
    context.insert(reader)
    let child = context.makeChild()
    let fan = try child.existingObject(Reader.self, with: reader.objectID)
    let idol = try child.existingObject(Writer.self, with: writer.objectID)
    idol.fans.append(fan)
    #expect(fan.idols == [idol] && reader.idols.isEmpty)
    // The parent links the same two objects. The child then has no link to add, and can remove the link.
    reader.idols = [writer]
    #expect(fan.idols == [idol] && idol.fans.count == 1)
    fan.idols = []
    #expect(idol.fans.isEmpty && writer.fans.count == 1)
    try child.save()
    #expect(writer.fans.isEmpty && reader.idols.isEmpty)
    try context.save()
    #expect(try library.verify().map(\.description) == [])
  }

  // MARK: Saving

  @Test func savingHandsTheChangesToTheParent() throws {
    let child = context.makeChild(name: "form")
    let press = try child.existingObject(Publisher.self, with: publisher.objectID)
    let added = Book("added", pages: 7, publisher: press)
    child.insert(added)
    added.writer = try child.existingObject(Writer.self, with: writer.objectID)
    child.delete(try child.existingObject(Book.self, with: book.objectID))
    #expect(try titles(context) == ["stored"] && !context.hasChanges)
    let id = added.objectID
    try child.save()
    #expect(!child.hasChanges && context.hasChanges && child.parent === context)
    let mine = try context.existingObject(Book.self, with: id)
    #expect(mine !== added && mine.isInserted && mine.writer === writer)
    #expect(Array(writer.books) == [mine] && book.isDeleted)
    #expect(added.objectID == id && !added.isInserted && added.title == "added")
    let before = try library.newestView().commit
    try context.save()
    #expect(try library.newestView().commit == before + 1)
    #expect(try titles(child) == ["added"])
    let fresh = try library.context()
    #expect(try fresh.existingObject(Book.self, with: id).pages == 7)
    #expect(try library.verify().map(\.description) == [])
  }

  @Test func whatIsNotSavedChangesNothing() throws {
    var child: ManagedObjectContext? = context.makeChild()
    let same = try #require(try child?.existingObject(Book.self, with: book.objectID))
    same.title = "draft"
    child?.insert(Writer("draft"))
    child?.rollback()
    #expect(same.title == "stored" && child?.hasChanges == false)
    same.title = "draft"
    weak let gone = child
    child = nil
    #expect(gone == nil && same.isDeleted)
    #expect(book.title == "stored" && !context.hasChanges)
    book.title = "later"
    try context.save()
  }

  @Test func stepsOfManyLevels() throws {
    var levels = [context]
    for _ in 0..<5 { levels.append(levels[levels.count - 1].makeChild()) }
    let deepest = levels[5]
    let press = try deepest.existingObject(Publisher.self, with: publisher.objectID)
    for number in 0..<3 { deepest.insert(Book("deep \(number)", publisher: press)) }
    try deepest.existingObject(Book.self, with: book.objectID).pages = 99
    for level in levels.reversed().dropLast() {
      try level.save()
      #expect(try titles(level).count == 4)
    }
    #expect(context.insertedObjects.count == 3 && book.pages == 99)
    try context.save()
    for level in levels { #expect(try level.sum(of: \.pages, in: From<Book>()) == 399) }
  }

  @Test func anObjectDeletedInTheParentIsAConflict() throws {
    let child = context.makeChild()
    try child.existingObject(Book.self, with: book.objectID).pages = 5
    child.insert(Writer("new"))
    context.delete(book)
    let error = #expect(throws: ContextError.self) { try child.save() }
    #expect(error?.code == .conflict && error?.context.objectID == book.objectID)
    #expect(child.hasChanges && context.insertedObjects.isEmpty)
    child.rollback()
    #expect(try child.count(From<Book>()) == 0)
    context.rollback()
    #expect(try titles(child) == ["stored"])
    try child.existingObject(Book.self, with: book.objectID).pages = 6
    try child.save()
    #expect(book.pages == 6)
  }

  @Test func aDeletionThatTheParentRollsBackIsNoConflict() throws {
    let child = context.makeChild()
    let same = try child.existingObject(Book.self, with: book.objectID)
    same.pages = 11
    context.delete(book)
    context.rollback()
    try child.save()
    try context.save()
    let other = try library.context()
    #expect(try other.fetchOne(From<Book>())?.pages == 11)
  }

  @Test func whatTheParentDeletesKeepsItsValuesInAChildThatChangedIt() throws {
    let child = context.makeChild()
    let same = try child.existingObject(Book.self, with: book.objectID)
    same.pages = 11
    context.delete(book)
    #expect(try child.fetch(From<Book>().select(\.title, \.pages)).map(\.0) == ["stored"])
    #expect((same.title, same.pages) == ("stored", 11))
    child.rollback()
    #expect(try child.fetch(From<Book>()).isEmpty)
    try child.save()
  }

  @Test func aCascadeInTheParentReachesEveryObjectOfAChild() throws {
    for number in 0..<20 {
      let added = Book("\(number)", publisher: publisher)
      context.insert(added)
      added.writer = writer
    }
    try context.save()
    let child = context.makeChild()
    let books = try child.fetch(From<Book>())
    books[3].pages = 99
    context.delete(writer)
    #expect(try titles(child) == [books[3].title])
    #expect(books.filter(\.isDeleted).count == 20)
    context.rollback()
    #expect(try child.count(From<Book>()) == 21)
    #expect(books[3].pages == 99)
  }

  @Test func rulesOfTheParentReachWhatTheChildSaves() throws {
    let other = try library.context()
    let child = context.makeChild()
    let reader = Reader("R")
    child.insert(reader)
    book.writer = nil
    try context.save()
    child.delete(try child.existingObject(Writer.self, with: writer.objectID))
    try other.refresh()
    let same = try other.existingObject(Book.self, with: book.objectID)
    same.writer = try other.existingObject(Writer.self, with: writer.objectID)
    try other.save()
    try child.refresh()
    reader.favourite = try child.existingObject(Book.self, with: book.objectID)
    try child.save()
    #expect(reader.favourite == nil)
    #expect(try child.count(From<Book>()) == 0)
    try context.save()
    #expect(reader.favourite == nil)
  }

  @Test func requiredValuesAreCheckedByTheChild() throws {
    let child = context.makeChild()
    let press = try child.existingObject(Publisher.self, with: publisher.objectID)
    child.insert(Book("without", publisher: press))
    press.books = []
    let error = #expect(throws: ContextError.self) { try child.save() }
    #expect(error?.code == .missingValue)
    #expect(!context.hasChanges)
  }

  @Test func whatNeedsTheStoreIsCheckedThere() throws {
    let child = context.makeChild()
    for _ in 0..<2 { child.insert(Writer("twin", email: "a@b")) }
    try child.save()
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .notUnique)
    #expect(context.insertedObjects.count == 2)
  }

  @Test func aSaveWithoutBlockingGoesToTheParent() async throws {
    let child = context.makeChild()
    child.insert(Writer("B"))
    try await child.saveWithoutBlocking()
    #expect(context.insertedObjects.count == 1)
  }

  // MARK: The store below

  @Test func itMovesWithItsParent() throws {
    let child = context.makeChild()
    let same = try child.existingObject(Book.self, with: book.objectID)
    #expect(same.pages == 10)
    same.title = "mine"
    let other = try library.context()
    let third = try other.existingObject(Book.self, with: book.objectID)
    (third.pages, third.title) = (12, "theirs")
    other.insert(Writer("elsewhere"))
    try other.save()
    #expect(same.pages == 10)
    try child.refresh()
    #expect(same.pages == 12 && same.title == "mine" && book.pages == 12)
    #expect(try child.count(From<Writer>()) == 2)
    // Another context has changed the title, so the child's change of the title conflicts when the parent saves to
    // the store.
    try child.save()
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .conflict)
    context.rollback()
    #expect(same.title == "theirs")
  }

  @Test func aResetOfTheParentResetsIt() throws {
    let child = context.makeChild()
    let same = try child.existingObject(Book.self, with: book.objectID)
    same.pages = 3
    context.reset()
    #expect(same.isDeleted && !child.hasChanges)
    #expect(try titles(child) == ["stored"])
  }

  @Test func streamsShowWhatTheChildShows() async throws {
    for number in 0..<50 { context.insert(Book("b\(number)", publisher: publisher)) }
    let child = context.makeChild()
    var seen = 0
    for try await batch in child.fetch(From<Book>(), inBatchesOf: 7) {
      seen += batch.count
      batch[0].pages = -1
    }
    #expect(seen == 51)
    #expect(try child.count(From<Book>().where { $0.pages == -1 }) == 8)
    #expect(try context.count(From<Book>().where { $0.pages == -1 }) == 0)
  }
}
