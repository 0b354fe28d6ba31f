import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// A program that links other objects to an object that another context has deleted.
struct GoneTargetTests {
  /// A context with two writers, one of which is deleted, a book and a reader.
  private struct Scene {
    let library: PersistentContainer
    let context: ManagedObjectContext
    let gone = Writer("gone")
    let writer = Writer("here")
    let book = Book("B", publisher: Publisher("P"))
    let reader = Reader("R")

    init() async throws {
      library = try await Library.open()
      context = try library.context()
      for writer in [gone, writer] { context.insert(writer) }
      context.insert(book)
      context.insert(reader)
      book.writer = writer
      reader.idols = [writer]
      try context.save()
      let other = try library.context()
      other.delete(try other.existingObject(Writer.self, with: gone.objectID))
      try other.save()
      other.end()
      try context.refresh()
      #expect(gone.isDeleted)
    }

    /// The failure is remembered, and a rollback leaves everything as it was.
    func expectFailureAndEnd() throws {
      for _ in 0..<2 {
        let error = #expect(throws: ContextError.self) { try context.save() }
        #expect(error?.code == .objectNotFound)
        #expect(error?.context.objectID == gone.objectID)
      }
      let error = #expect(throws: ContextError.self) { try context.count(From<Book>()) }
      #expect(error?.code == .objectNotFound)
      context.rollback()
      #expect(book.writer === writer && reader.idols == [writer] && Array(writer.books) == [book])
      book.pages += 1
      try context.save()
      #expect(try library.verify().map(\.description) == [])
      context.end()
    }
  }

  @Test func settingAToOneRelationshipToItIsAFailure() async throws {
    let scene = try await Scene()
    scene.book.writer = scene.gone
    #expect(scene.book.writer === scene.writer && !scene.book.hasChanges)
    try scene.expectFailureAndEnd()
  }

  @Test func addingItToAToManyRelationshipIsAFailure() async throws {
    var scene = try await Scene()
    scene.reader.idols.insert(scene.gone)
    #expect(scene.reader.idols == [scene.writer])
    try scene.expectFailureAndEnd()
    scene = try await Scene()
    scene.reader.idols = [scene.gone]
    #expect(scene.reader.idols.isEmpty)
    try scene.expectFailureAndEnd()
  }

  @Test func insertingItIsAFailure() async throws {
    let scene = try await Scene()
    scene.context.insert(scene.gone)
    #expect(!scene.context.hasChanges && scene.gone.isDeleted)
    try scene.expectFailureAndEnd()
  }

  @Test func insertingAnObjectThatLeadsToItIsAFailure() async throws {
    let scene = try await Scene()
    let (desk, book) = (Desk(1), Book("C", publisher: scene.book.publisher))
    desk.writer = scene.gone
    scene.context.insert(desk)
    #expect(desk.isInserted && desk.writer == nil)
    scene.writer.books.append(book)
    book.writer = scene.gone
    #expect(book.writer === scene.writer)
    try scene.expectFailureAndEnd()
  }

  @Test func anObjectThatIsGoneItselfCanBeSetToAnything() async throws {
    let scene = try await Scene()
    scene.gone.name = "changed"
    scene.gone.books.append(scene.book)
    scene.gone.desk = Desk(1)
    scene.gone.fans = [scene.reader]
    scene.context.delete(scene.gone)
    scene.context.refresh(scene.gone)
    #expect(!scene.context.hasChanges)
    #expect(try scene.context.count(From<Writer>()) == 1)
    try scene.context.save()
    scene.context.end()
  }

  @Test func anObjectOfAContextThatWasResetIsAFailureToo() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let writer = Writer("A")
    context.insert(writer)
    try context.save()
    context.reset()
    let desk = Desk(1)
    context.insert(desk)
    desk.writer = writer
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .objectNotFound && error?.context.objectID == writer.objectID)
    context.rollback()
    context.insert(desk)
    desk.writer = try context.existingObject(Writer.self, with: writer.objectID)
    try context.save()
    context.end()
  }
}
