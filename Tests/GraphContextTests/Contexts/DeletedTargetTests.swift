import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// A deleted object whose to-one relationship led to a new object that was deleted as well, before any save.
struct DeletedTargetTests {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let book = Book("Waves", publisher: Publisher("P"))
  private let writer = Writer("Woolf")

  init() async throws {
    library = try await Library.open()
    context = try library.context()
    context.insert(book)
    try context.save()
  }

  /// Returns the ID that the writer had in the context.
  @discardableResult
  private func delete(undoneBy manager: ContextUndoManager?) -> ManagedObjectID {
    context.undoManager = manager
    book.writer = writer
    context.processPendingChanges()
    let id = writer.objectID
    context.delete(book)
    context.delete(writer)
    return id
  }

  private func expectSaved() throws {
    context.processPendingChanges()
    #expect(try context.count(From<Writer>()) == 0)
    try context.save()
    #expect(try context.fetch(From<Book>()).isEmpty)
  }

  @Test(arguments: [false, true])
  func itLeadsNowhere(isUndoable: Bool) throws {
    delete(undoneBy: isUndoable ? ContextUndoManager() : nil)
    #expect(book.writer == nil)
    #expect(try book.value(forKeyPath: "writer.name") == .null)
    try expectSaved()
  }

  @Test func aFaultOfItsIDIsNoPartOfAnUndo() throws {
    let id = delete(undoneBy: ContextUndoManager())
    let fault = try context.object(Writer.self, with: id)
    try expectSaved()
    withExtendedLifetime(fault) {}
  }

  @Test func undoingBringsBothBack() throws {
    delete(undoneBy: ContextUndoManager())
    #expect(book.writer == nil)
    context.processPendingChanges()
    #expect(context.undo())
    #expect(book.writer?.name == "Woolf" && !book.isDeleted)
    try context.save()
    #expect(try context.fetch(From<Writer>()).map(\.name) == ["Woolf"])
  }
}
