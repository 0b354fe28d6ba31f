import Cambium
import Testing

@testable import GraphContext

/// Unsaved changes beside deletions that another context has saved and taken back by an undo.
struct RevivedObjectTests {
  private let library: PersistentContainer
  private let mine: ManagedObjectContext
  private let other: ManagedObjectContext
  private let writer = Writer("A", rank: 10)
  private let second = Writer("B")

  init() async throws {
    library = try await Library.open()
    mine = try library.context()
    other = try library.context()
    other.undoManager = ContextUndoManager()
    mine.insert(writer)
    mine.insert(second)
    try mine.save()
    try other.refresh()
  }

  /// The times at which the context moves on: once the object is deleted, and once it is back.
  private static let moves = [[false, false], [true, false], [false, true], [true, true]]

  /// Deletes the first writer elsewhere, and brings it back.
  private func deleteAndReturn(_ moves: [Bool], whileDeleted: () throws -> Void = {}) throws {
    try other.refresh()
    other.delete(try other.existingObject(Writer.self, with: writer.objectID))
    try other.save()
    if moves[0] { try mine.refresh() }
    try whileDeleted()
    #expect(other.undo())
    try other.save()
    if moves[1] { try mine.refresh() }
  }

  private func check() throws {
    #expect(!mine.hasChanges)
    #expect(try library.verify().map(\.description) == [])
  }

  @Test(arguments: moves, [MergePolicy.error, .mergeByPropertyStoreTrump])
  func whatWasMovedAwayStaysThere(_ moves: [Bool], _ policy: MergePolicy) throws {
    mine.mergePolicy = policy
    let (desk, publisher) = (Desk(1), Publisher("P"))
    let book = Book("b", publisher: publisher)
    mine.insert(book)
    mine.insert(desk)
    (desk.writer, book.writer) = (writer, writer)
    try mine.save()
    (desk.writer, book.writer) = (second, second)
    try deleteAndReturn(moves)
    try mine.save()
    #expect(desk.writer === second && second.desk === desk && writer.desk == nil)
    #expect(book.writer === second && book.title == "b" && writer.books.isEmpty)
    try check()
  }

  @Test(arguments: moves) func aDeletionOfAnObjectWithMembersCounts(_ moves: [Bool]) throws {
    let desk = Desk(1)
    mine.insert(desk)
    desk.writer = writer
    writer.fans = [Reader("r")]
    try mine.save()
    mine.delete(writer)
    try deleteAndReturn(moves)
    try mine.save()
    #expect(writer.isDeleted && desk.writer == nil)
    #expect(try mine.fetch(From<Writer>()) == [second])
    try check()
  }

  @Test(arguments: moves) func aLinkThatWasRemovedStaysRemoved(_ moves: [Bool]) throws {
    let reader = Reader("r")
    writer.fans = [reader]
    try mine.save()
    writer.fans = []
    try deleteAndReturn(moves)
    second.rank = 11
    try mine.save()
    #expect(reader.idols.isEmpty && second.rank == 11)
    try check()
    mine.reset()
    #expect(try mine.fetch(From<Reader>()).map(\.idols.count) == [0])
  }

  /// The other's removal makes the own one no difference; a save that has nothing else to do ends that.
  @Test func aLinkThatBothHaveRemovedIsForgottenByASave() throws {
    let reader = Reader("r")
    writer.fans = [reader]
    try mine.save()
    try other.refresh()
    writer.fans = []
    let copy = try other.existingObject(Writer.self, with: writer.objectID)
    copy.fans = []
    try other.save()
    try mine.refresh()
    #expect(!mine.hasChanges)
    try mine.save()
    #expect(other.undo())
    try other.save()
    try mine.refresh()
    #expect(writer.fans == [reader] && !mine.hasChanges)
  }

  @Test(arguments: [false, true], [MergePolicy.error, .mergeByPropertyStoreTrump, .rollback])
  func whatIsChangedMeanwhileIsNoConflict(_ moves: Bool, _ policy: MergePolicy) throws {
    mine.mergePolicy = policy
    writer.rank = 12
    try deleteAndReturn([true, moves]) { writer.name = "C" }
    try mine.save()
    #expect(writer.rank == 12 && writer.name == "C")
    try check()
    mine.reset()
    #expect(try mine.fetch(From<Writer>().orderBy(.descending(\.rank))).first?.name == "C")
  }

  @Test func aRollbackPolicyKeepsWhatNobodyElseHasChanged() throws {
    mine.mergePolicy = .rollback
    writer.rank = 12
    try deleteAndReturn([false, false])
    try mine.save()
    #expect(writer.rank == 12)
    try check()
  }

  /// The parent has nothing of the object that the child has deleted.
  @Test func aChildsDeletionOfWhatIsGoneLeavesNoConflict() throws {
    let child = mine.makeChild()
    child.delete(try child.existingObject(Writer.self, with: writer.objectID))
    try deleteAndReturn([true, true]) { try child.save() }
    let back = try mine.existingObject(Writer.self, with: writer.objectID)
    back.name = "C"
    try mine.save()
    #expect(back.name == "C")
    try check()
  }
}
