import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Changes that other contexts make while a group is open are no changes of the group.
struct UndoBesideOthersTests {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let writer: Writer
  private let id: ManagedObjectID

  init() async throws {
    library = try await Library.open()
    context = try library.context()
    context.undoManager = ContextUndoManager()
    writer = Writer("a", rank: 1)
    context.insert(writer)
    try context.save()
    id = writer.objectID
  }

  private func other(_ body: (Writer, ManagedObjectContext) throws -> Void) throws {
    let other = try library.context()
    defer { other.end() }
    try body(other.existingObject(Writer.self, with: id), other)
    try other.save()
  }

  /// The second save conflicts whether its context has seen the first or not, and a rollback shows the object.
  @Test(arguments: [false, true]) func twoContextsBringOneObjectBack(isRefreshed: Bool) throws {
    defer { context.end() }
    let other = try library.context()
    defer { other.end() }
    other.undoManager = ContextUndoManager()
    for context in [context, other] {
      context.delete(try context.existingObject(Writer.self, with: id))
      context.processPendingChanges()
    }
    try context.save()
    try other.save()
    for context in [context, other] { #expect(context.undo()) }
    try context.save()
    if isRefreshed { try other.refresh() }
    let error = #expect(throws: ContextError.self) { try other.save() }
    #expect(error?.code == .conflict && error?.context.objectID == id)
    other.rollback()
    try other.refresh()
    #expect(try other.existingObject(Writer.self, with: id).name == "a")
    try other.save()
    #expect(try library.verify().map(\.description) == [])
  }

  @Test(arguments: [false, true]) func whatOthersSaveStays(isSavedLater: Bool) throws {
    defer { context.end() }
    writer.rank = 2
    try other { same, _ in same.email = "a@" }
    try context.refresh()
    if isSavedLater { try context.save() }
    context.undo()
    #expect(writer.rank == 1 && writer.email == "a@")
    try context.save()
    try other { same, _ in #expect(same.rank == 1 && same.email == "a@") }
    context.redo()
    #expect(writer.rank == 2 && writer.email == "a@")
  }

  /// The writer with a desk, another one without, and an empty desk.
  private func desks() throws -> (first: Desk, second: Desk, other: Writer) {
    let (first, second, other) = (Desk(1), Desk(2), Writer("b", rank: 2))
    for desk in [first, second] { context.insert(desk) }
    context.insert(other)
    writer.desk = first
    try context.save()
    context.undoManager?.removeAllActions()
    return (first, second, other)
  }

  /// An undo that gives an object its partner back takes the partner from the object that has got it since.
  @Test(arguments: ["move", "deletion", "insertion", "own"]) func aPartnerHasOneObject(of kind: String) throws
  {
    defer { context.end() }
    let (first, second, other) = try desks()
    switch kind {
    case "deletion": context.delete(writer)
    case "insertion":
      let thief = Writer("c")
      context.insert(thief)
      thief.desk = first
    default: writer.desk = second
    }
    if kind == "own" {
      context.undoManager?.isRegistrationEnabled = false
      other.desk = first
      context.processPendingChanges()
      context.undoManager?.isRegistrationEnabled = true
    } else {
      try context.save()
      let (taken, rival) = (first.objectID, other.objectID)
      let beside = try library.context()
      try beside.existingObject(Writer.self, with: rival).desk = beside.existingObject(Desk.self, with: taken)
      try beside.save()
      beside.end()
      try context.refresh()
    }
    #expect(other.desk === first)
    context.undo()
    let owner = try #require(first.writer)
    #expect(owner.objectID == id && owner.desk === first && other.desk == nil && second.writer == nil)
    try context.save()
    #expect(try library.verify() == [])
    if kind == "move" {
      context.redo()
      #expect(writer.desk === second && second.writer === writer)
      #expect(first.writer.map { $0 === other } ?? (other.desk == nil))
      try context.save()
      #expect(try library.verify() == [])
    }
  }

  /// An object announces the first change of a turn alone, and a switch of the manager may come after it.
  @Test(arguments: ["registration", "removal", "manager"])
  func aChangeAfterASwitchIsTakenBack(of kind: String) throws {
    defer { context.end() }
    context.undoManager?.isRegistrationEnabled = kind != "registration"
    writer.name = "imported"
    switch kind {
    case "registration": context.undoManager?.isRegistrationEnabled = true
    case "removal": context.undoManager?.removeAllActions()
    default: context.undoManager = ContextUndoManager()
    }
    writer.name = "typed"
    context.undo()
    #expect(writer.name == "imported")
  }

  @Test func anObjectThatIsGoneIsNotLedTo() throws {
    defer { context.end() }
    let (first, second, _) = try desks()
    writer.desk = second
    try context.save()
    let gone = first.objectID
    let beside = try library.context()
    beside.delete(try beside.existingObject(Desk.self, with: gone))
    try beside.save()
    beside.end()
    try context.refresh()
    context.undo()
    #expect(writer.desk == nil && second.writer == nil)
    try context.save()
    #expect(try library.verify() == [])
  }

  @Test func whatOthersSaveInAGroupOfSeveralTurnsStays() throws {
    defer { context.end() }
    context.undoManager?.beginUndoGrouping()
    writer.rank = 2
    try context.save()
    try other { same, _ in same.email = "a@" }
    try context.refresh()
    writer.name = "b"
    try context.save()
    context.undoManager?.endUndoGrouping()
    context.undo()
    #expect(writer.rank == 1 && writer.name == "a" && writer.email == "a@")
  }

  @Test func whatOthersHaveDeletedStaysDeleted() throws {
    defer { context.end() }
    context.undoManager?.beginUndoGrouping()
    writer.rank = 2
    try context.save()
    try other { same, context in context.delete(same) }
    try context.refresh()
    context.undoManager?.endUndoGrouping()
    context.undo()
    try context.save()
    let all = From<Writer>()
    #expect(try context.count(all) == 0)
  }

  @Test func anUnsavedInsertionAndADeletionInOneGroupComeBack() throws {
    defer { context.end() }
    let new = Writer("new", rank: 4)
    context.insert(new)
    context.processPendingChanges()
    context.undoManager?.beginUndoGrouping()
    context.delete(new)
    context.delete(writer)
    try context.save()
    context.undoManager?.endUndoGrouping()
    context.undo()
    let all = From<Writer>().orderBy(\.name)
    #expect(try context.fetch(all).map(\.name) == ["a", "new"])
  }

  @Test func aChildTakesBackNothingOfItsParent() throws {
    defer { context.end() }
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let same = try child.existingObject(Writer.self, with: id)
    same.rank = 2
    writer.email = "a@"
    #expect(same.email == "a@")
    child.undo()
    #expect(same.rank == 1 && same.email == "a@")
    try child.save()
    #expect(writer.rank == 1 && writer.email == "a@")
  }

  /// The store deletes the book by the delete rule of the writer's deletion, which belongs to the group.
  @Test func whatTheRuleOfAnOwnDeletionTakesComesBack() throws {
    defer { context.end() }
    let book = Book("B", publisher: Publisher("P"))
    context.insert(book)
    try context.save()
    let bookID = book.objectID
    context.undoManager?.beginUndoGrouping()
    book.title = "C"
    context.delete(writer)
    try other { same, other in try other.existingObject(Book.self, with: bookID).writer = same }
    try context.save()
    context.undoManager?.endUndoGrouping()
    context.undo()
    let (writers, books) = (From<Writer>(), From<Book>())
    #expect(try context.count(writers) == 1)
    #expect(try context.fetch(books).map(\.title) == ["B"])
  }

  @Test func thereIsNothingToRedoOfWhatOthersHaveDeleted() throws {
    defer { context.end() }
    writer.rank = 2
    try other { same, context in context.delete(same) }
    try context.refresh()
    #expect(context.undo())
    let all = From<Writer>()
    #expect(try context.count(all) == 0)
    #expect(context.undoManager?.canRedo == false && !context.redo())
  }
}
