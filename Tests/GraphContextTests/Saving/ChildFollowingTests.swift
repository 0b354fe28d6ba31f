import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// A child shows and saves objects that its parent has changed, saved, deleted or rolled back.
struct ChildFollowingTests {
  private let library: PersistentContainer
  private let root: ManagedObjectContext
  private let child: ManagedObjectContext
  private let writer = Writer("A", rank: 5)
  private let reader = Reader("R")
  private let book: Book

  init() async throws {
    library = try await Library.open()
    root = try library.context()
    book = Book("stored", pages: 10, publisher: Publisher("Ace"))
    for object in [writer, reader, book] as [any ManagedObject] { root.insert(object) }
    book.writer = writer
    try root.save()
    child = root.makeChild()
  }

  private func inChild<Object: ManagedObject>(_ object: Object) throws -> Object {
    try child.existingObject(Object.self, with: object.objectID)
  }

  /// Changes the writer in a context of its own.
  private func saveElsewhere(rank: Int) throws {
    let other = try library.context()
    try other.existingObject(Writer.self, with: writer.objectID).rank = rank
    try other.save()
  }

  @Test func aFaultAskedForByIDBecomesTheSavedObject() throws {
    let added = Writer("new", rank: 1)
    child.insert(added)
    let early = try root.object(Writer.self, with: added.objectID)
    try child.save()
    #expect(try root.fetch(From<Writer>().where { $0.name == "new" }).first === early)
    #expect(early.name == "new" && early.rank == 1)
    #expect(root.insertedObjects.count == 1)
    root.rollback()
    #expect(try root.count(From<Writer>()) == 1)
  }

  @Test func aConflictPassesThroughAChildAlsoWithAnEqualValue() throws {
    try inChild(writer).rank += 1
    try saveElsewhere(rank: 6)
    try root.refresh()
    try child.save()
    let error = #expect(throws: ContextError.self) { try root.save() }
    #expect(error?.code == .conflict)
    root.rollback()
    try root.refresh()
    writer.rank = 7
    try root.save()
  }

  @Test func anEqualReferenceIsNoConflictAlsoThroughAChild() throws {
    try inChild(book).writer = nil
    let other = try library.context()
    try other.existingObject(Book.self, with: book.objectID).writer = nil
    try other.save()
    try root.refresh()
    try child.save()
    try root.save()
    #expect(book.writer == nil)
  }

  @Test func anObjectThatTheChildDeletedIsReadAnewAfterItsRollback() throws {
    let same = try inChild(writer)
    #expect(same.name == "A")
    child.delete(same)
    writer.name = "B"
    child.rollback()
    #expect(same.name == "B")
    same.name = "A"
    try child.save()
    #expect(writer.name == "A")
  }

  @Test(arguments: [true, false])
  func aLinkOfBothOutlivesTheRollbackOfTheParent(_ isAdded: Bool) throws {
    if !isAdded {
      writer.fans = [reader]
      try root.save()
    }
    let (same, fan) = (try inChild(writer), try inChild(reader))
    same.fans = isAdded ? [fan] : []
    writer.fans = isAdded ? [reader] : []
    #expect(!child.hasChanges && same.fans.count == (isAdded ? 1 : 0))
    root.rollback()
    #expect(child.hasChanges && same.fans.count == (isAdded ? 1 : 0))
    #expect(fan.idols.count == same.fans.count)
    try child.save()
    try root.save()
    let other = try library.context()
    let stored = try other.existingObject(Writer.self, with: writer.objectID)
    #expect(stored.fans.count == (isAdded ? 1 : 0))
  }

  @Test func aLinkThatTheChildTookBackStaysAway() throws {
    let (same, fan) = (try inChild(writer), try inChild(reader))
    same.fans = [fan]
    writer.fans = [reader]
    same.fans = []
    root.rollback()
    #expect(same.fans.isEmpty && !child.hasChanges)
  }

  @Test func aLinkOfBothThatTheChildHasSavedGoesWithTheParents() throws {
    let same = try inChild(writer)
    same.fans = [try inChild(reader)]
    writer.fans = [reader]
    try child.save()
    root.rollback()
    #expect(same.fans.isEmpty && !child.hasChanges)
  }

  @Test func aLinkOfBothIsTheChildsAgainAfterAnotherContextHasRemovedIt() throws {
    let same = try inChild(writer)
    same.fans = [try inChild(reader)]
    writer.fans = [reader]
    try root.save()
    let other = try library.context()
    try other.existingObject(Writer.self, with: writer.objectID).fans = []
    try other.save()
    try root.refresh()
    #expect(writer.fans.isEmpty)
    #expect(same.fans.count == 1 && child.hasChanges)
  }

  @Test func whatTheParentMayNotDeleteCanBeReadAboutInTheChild() throws {
    root.delete(book.publisher)
    _ = try inChild(book).publisher.name
    root.rollback()
    try inChild(book).pages = 11
    try child.save()
    #expect(book.pages == 11)
  }

  @Test func whatTheParentRollsBackKeepsItsValuesInAChildThatChangedIt() throws {
    let added = Writer("new", rank: 3)
    root.insert(added)
    let same = try inChild(added)
    same.name = "other"
    root.rollback()
    #expect(same.rank == 3 && same.name == "other")
    let error = #expect(throws: ContextError.self) { try child.save() }
    #expect(error?.code == .conflict)
  }

  @Test func whatARuleOfTheParentDeletesKeepsItsID() throws {
    book.writer = nil
    try root.save()
    let same = try inChild(book)
    let id = same.objectID
    same.pages = 10
    child.delete(try inChild(writer))
    let other = try library.context()
    let stored = try other.existingObject(Book.self, with: book.objectID)
    stored.writer = try other.existingObject(Writer.self, with: writer.objectID)
    try other.save()
    try root.refresh()
    try child.save()
    #expect(same.isDeleted && same.objectID == id)
    #expect(try child.count(From<Book>()) == 0)
  }

  @Test func batchesAreUnifiedAlsoWhereOtherObjectsAreUnsaved() throws {
    for number in 0..<40 {
      let added = Book("\(number)", publisher: book.publisher)
      root.insert(added)
      added.writer = writer
    }
    try root.save()
    writer.name = "X"
    var count = 0
    try root.forEach(From<Book>().where { $0.writer.name == "X" }, inBatchesOf: 10) { _ in
      count += 1
      writer.name = "Z"
      _ = try root.count(From<Writer>().where { $0.name == "Z" })
    }
    #expect(count == 41)
  }
}
