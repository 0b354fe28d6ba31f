import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

struct UndoTests {
  /// A context with an undo manager, on a library of its own.
  private func context() async throws -> (ManagedObjectContext, ContextUndoManager) {
    let context = try await Library.open().context()
    let manager = ContextUndoManager()
    context.undoManager = manager
    return (context, manager)
  }

  @Test func anAttributeIsWhatItWasAndThenAgainWhatItBecame() async throws {
    let (context, _) = try await context()
    let writer = Writer("Woolf", rank: 1)
    context.insert(writer)
    try context.save()
    writer.rank = 2
    context.processPendingChanges()
    writer.rank = 3
    #expect(context.undo())
    #expect(writer.rank == 2)
    #expect(context.undo())
    #expect(writer.rank == 1)
    #expect(!context.hasChanges, "the value is the store's, so there is nothing to save")
    #expect(context.redo())
    #expect(context.redo())
    #expect(writer.rank == 3)
    #expect(!context.redo())
    try context.save()
    #expect(try await rank(of: writer) == 3)
  }

  private func rank(of writer: Writer) async throws -> Int? {
    let id = writer.objectID
    let other = try ManagedObjectContext(coordinator: try #require(writer.context).coordinator)
    defer { other.end() }
    return try other.existingObject(Writer.self, with: id).rank
  }

  @Test func changesAreTakenBackAfterTheirSave() async throws {
    let (context, _) = try await context()
    let writer = Writer("Woolf", rank: 1)
    context.insert(writer)
    try context.save()
    writer.rank = 2
    try context.save()
    #expect(context.undo())
    #expect(writer.rank == 1)
    #expect(context.updatedObjects.count == 1)
    try context.save()
    #expect(try await rank(of: writer) == 1)
    #expect(context.undo(), "the insertion")
    #expect(writer.isDeleted)
    try context.save()
    #expect(try context.count(From<Writer>()) == 0)
    #expect(context.redo())
    #expect(!writer.isDeleted)
    #expect(writer.context === context)
    try context.save()
    #expect(try await rank(of: writer) == 1)
  }

  @Test func aDeletionComesBackWithAllThatWentAlong() async throws {
    let (context, _) = try await context()
    let writer = Writer("Woolf")
    let book = Book("Orlando", publisher: Publisher("Hogarth"))
    let reader = Reader("Vita")
    context.insert(writer)
    context.insert(reader)
    writer.books = [book]
    writer.desk = Desk(1)
    reader.idols = [writer]
    reader.favourite = book
    try context.save()
    let ids = (writer.objectID, book.objectID)
    context.delete(writer)
    try context.save()
    #expect(writer.isDeleted && book.isDeleted)
    #expect(context.undo())
    #expect((writer.objectID, book.objectID) == ids)
    #expect(Array(writer.books) == [book])
    #expect(writer.desk?.number == 1)
    #expect(reader.idols == [writer])
    #expect(reader.favourite === book)
    try context.save()
    #expect(try context.count(From<Book>().where { $0.writer.name == "Woolf" }) == 1)
  }

  @Test func aStolenPartnerGoesBack() async throws {
    let (context, _) = try await context()
    let (first, second, desk) = (Writer("a"), Writer("b"), Desk(1))
    context.insert(first)
    context.insert(second)
    first.desk = desk
    try context.save()
    second.desk = desk
    #expect(first.desk == nil)
    context.undo()
    #expect(first.desk === desk)
    #expect(second.desk == nil)
    #expect(desk.writer === first)
    context.redo()
    #expect(desk.writer === second)
  }

  @Test func groupsHaveNamesAndEndWhereTheProgramSays() async throws {
    let (context, manager) = try await context()
    let writer = Writer("a")
    context.insert(writer)
    context.processPendingChanges()
    manager.beginUndoGrouping()
    writer.rank = 1
    context.processPendingChanges()
    manager.beginUndoGrouping()
    writer.rank = 2
    manager.endUndoGrouping()
    writer.rank = 3
    manager.setActionName("promotion")
    manager.endUndoGrouping()
    writer.rank = 4
    #expect(manager.undoActionName == nil)
    context.undo()
    #expect(writer.rank == 3)
    #expect(manager.undoActionName == "promotion")
    context.undo()
    #expect(writer.rank == 0)
    #expect(manager.redoActionName == "promotion")
    context.redo()
    #expect(writer.rank == 3)
    writer.rank = 9
    #expect(!manager.canRedo, "another change ends what can be redone")
    context.processPendingChanges()
    #expect(!context.redo())
  }

  @Test func levelsAndBytesAreLimited() async throws {
    let (context, manager) = try await context()
    let writer = Writer("a")
    context.insert(writer)
    context.processPendingChanges()
    manager.levelsOfUndo = 2
    for rank in 1...5 {
      writer.rank = rank
      context.processPendingChanges()
    }
    var count = 0
    while context.undo() { count += 1 }
    #expect(count == 2)
    #expect(writer.rank == 3)
    manager.removeAllActions()
    manager.byteLimit = 1_000
    writer.name = String(repeating: "x", count: 10_000)
    context.processPendingChanges()
    writer.name = "b"
    context.processPendingChanges()
    #expect(!context.undo(), "the image of the long name is over the limit")
    writer.name = "c"
    #expect(context.undo())
    #expect(writer.name == "b")
  }

  @Test func whatOthersHaveChangedStays() async throws {
    let library = try await Library.open()
    let context = try library.context()
    context.undoManager = ContextUndoManager()
    let writer = Writer("a", rank: 1)
    context.insert(writer)
    try context.save()
    writer.rank = 2
    try context.save()
    let id = writer.objectID
    try await library.write { try $0.existingObject(Writer.self, with: id).email = "a@" }
    try context.refresh()
    context.undo()
    #expect(writer.rank == 1)
    #expect(writer.email == "a@")
    try context.save()
    #expect(writer.email == "a@")
  }

  @Test func aChildsSaveIsOneGroup() async throws {
    let (context, _) = try await context()
    let publisher = Publisher("Hogarth")
    context.insert(publisher)
    context.processPendingChanges()
    let child = context.makeChild()
    let own = try child.existingObject(Publisher.self, with: publisher.objectID)
    own.name = "Faber"
    child.insert(Book("Ariel", publisher: own))
    try child.save()
    context.undo()
    #expect(publisher.name == "Hogarth")
    #expect(try context.count(From<Book>()) == 0)
    #expect(own.name == "Hogarth")
    #expect(try child.count(From<Book>()) == 0)
    context.redo()
    #expect(own.name == "Faber")
    #expect(publisher.books.count == 1)
  }

  @Test func rollbackAndResetForgetWhatCouldBeTakenBack() async throws {
    let (context, manager) = try await context()
    context.insert(Writer("a"))
    context.rollback()
    #expect(!manager.canUndo && !context.undo())
    context.insert(Writer("b"))
    context.reset()
    #expect(!manager.canUndo && !context.undo())
  }

  @MainActor @Test func theViewContextTakesChangesOfOneTurnBack() async throws {
    let library = try await Library.open()
    let view = library.viewContext
    let writer = Writer("a")
    view.insert(writer)
    try view.save()
    writer.rank = 1
    writer.email = "a@"
    while view.undoManager?.undoCount == 1 { await Task.yield() }
    writer.rank = 2
    view.undo()
    #expect(writer.rank == 1)
    view.undo()
    #expect((writer.rank, writer.email) == (0, nil))
    let background = try library.newBackgroundContext()
    #expect(try await background.perform { $0.undoManager == nil })
  }
}
