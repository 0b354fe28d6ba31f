import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// A child's save refuses a reference to an object that its parent has deleted, as it refuses a many-to-many link, and
/// the parent gets nothing.
struct ChildGoneTargetTests {
  @Test(arguments: [true, false]) func aReferenceToWhatTheParentHasDeletedIsRefused(
    isStored: Bool
  ) async throws {
    let library = try await Library.open()
    let context = try library.context()
    defer { context.end() }
    let (book, writer) = (Book("B", publisher: Publisher("P")), Writer("W"))
    context.insert(book)
    if isStored { context.insert(writer) }
    try context.save()
    if !isStored { context.insert(writer) }
    let child = context.makeChild()
    let same = try child.existingObject(Book.self, with: book.objectID)
    same.writer = try child.existingObject(Writer.self, with: writer.objectID)
    context.delete(writer)
    let error = #expect(throws: ContextError.self) { try child.save() }
    #expect(error?.code == .missingDestination)
    #expect(!book.hasChanges && book.writer == nil)
    #expect(throws: Never.self) { try context.save() }
  }
}
