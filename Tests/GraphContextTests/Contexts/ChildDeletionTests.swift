import Cambium
import GraphTestSupport
import Observation
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
    #expect(try await library.verify().map(\.description) == [])
  }

  /// A change in the outermost context reaches a child only through the contexts between them.
  @Test func aChildKeepsTheValuesOfAnObjectThatIsDeletedBetween() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let writer = Writer("Woolf", rank: 5)
    context.insert(writer)
    try context.save()
    let middle = context.makeChild()
    let child = middle.makeChild()
    let lowest = child.makeChild()
    let below = try child.existingObject(Writer.self, with: writer.objectID)
    below.email = "woolf"
    middle.delete(try middle.existingObject(Writer.self, with: writer.objectID))
    writer.name = "V. Woolf"
    #expect(below.rank == 5 && below.name == "Woolf")
    #expect(try lowest.existingObject(Writer.self, with: writer.objectID).rank == 5)
    #expect(try lowest.fetch(From<Writer>()).map(\.email) == ["woolf"])
    middle.rollback()
    #expect(below.rank == 5 && below.name == "V. Woolf" && below.email == "woolf")
  }

  /// Deleting many objects updates the observers of a child's relationships once, not once for each object.
  @Test func deletingManyListsAnObservedRelationshipOnce() async throws {
    let library = try await Library.open()
    let context = try library.context()
    defer { context.end() }
    let (publisher, writer) = (Publisher("Ace"), Writer("Woolf"))
    context.insert(publisher)
    context.insert(writer)
    var listed: [Int] = []
    for count in [20, 40] {
      for number in 0..<count {
        let book = Book("\(number)", pages: 1, publisher: publisher)
        context.insert(book)
        book.writer = writer
      }
      try context.save()
      let child = context.makeChild()
      withObservationTracking {
        _ = writer.books.count
      } onChange: {
      }
      let books = Array(writer.books)
      let before = context.view.counters.membersListed
      context.delete(contentsOf: books)
      listed.append(context.view.counters.membersListed - before)
      #expect(writer.books.isEmpty)
      try context.save()
      withExtendedLifetime(child) {}
    }
    #expect(listed[1] < 3 * listed[0] + 20)
  }

  /// A child and its parent both take back a deletion that the child has saved, in either order: the object is there once.
  @Test(arguments: [false, true], [false, true])
  func aDeletionThatBothTakeBackLeavesOneObject(usesUndo: Bool, childIsFirst: Bool) async throws {
    let library = try await Library.open()
    let context = try library.context()
    defer { context.end() }
    let writer = Writer("Woolf", rank: 1)
    context.insert(writer)
    try context.save()
    context.undoManager = ContextUndoManager()
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    child.delete(try child.existingObject(Writer.self, with: writer.objectID))
    try child.save()
    if childIsFirst { child.undo() } else if usesUndo { context.undo() } else { context.rollback() }
    var events: [ObjectChanges] = []
    let subscription = child.onObjectsDidChange { events.append($0) }
    if !childIsFirst { child.undo() } else if usesUndo { context.undo() } else { context.rollback() }
    withExtendedLifetime(subscription) {}
    #expect(events.flatMap(\.inserted).isEmpty, "it was there before")
    let all = From<Writer>()
    #expect(try child.count(all) == 1)
    #expect(try child.fetch(all).map(\.objectID) == [writer.objectID])
    #expect(child.insertedObjects.isEmpty)
    try child.existingObject(Writer.self, with: writer.objectID).rank = 2
    try child.save()
    #expect(context.insertedObjects.isEmpty && writer.rank == 2)
    try context.save()
    #expect(try context.count(all) == 1)
    #expect(try await library.verify().map(\.description) == [])
  }
}
