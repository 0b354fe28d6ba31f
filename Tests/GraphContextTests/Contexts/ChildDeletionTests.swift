import Cambium
import Testing

@testable import GraphContext

/// Objects that a context and its child have both deleted, while others change them.
struct ChildDeletionTests {
  @Test(arguments: [false, true])
  func whatTheParentHasDeletedIsNotGoneFromTheStore(_ usesGrandchild: Bool) async throws {
    let library = try await Library.open()
    let (context, other) = (try library.context(), try library.context())
    defer { [context, other].forEach { $0.end() } }
    context.mergePolicy = .mergeByPropertyStoreTrump
    let writer = Writer("Woolf")
    context.insert(writer)
    try context.save()
    let id = writer.objectID
    let child = context.makeChild()
    let lowest = usesGrandchild ? child.makeChild() : child
    lowest.delete(try lowest.existingObject(Writer.self, with: id))
    context.delete(writer)
    // The child hears of this change of an object that neither it nor its parent shows.
    try other.refresh()
    try other.existingObject(Writer.self, with: id).rank = 7
    try other.save()
    try context.refresh()
    context.rollback()
    #expect(!writer.isDeleted)
    if usesGrandchild { try lowest.save() }
    try child.save()
    #expect(writer.isDeleted)
    try context.save()
    try other.refresh()
    #expect(try other.count(From<Writer>()) == 0, "the deletion was saved")
    #expect(try library.verify().map(\.description) == [])
  }
}
