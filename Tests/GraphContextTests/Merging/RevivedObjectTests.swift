import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class CoveredAlbum {
  var title: String
  @Attribute(.externalStorage) var cover: Data?

  init(_ title: String, cover: Data?) {
    self.title = title
    self.cover = cover
  }
}

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

  /// Whether the context moves on after the object is deleted, and after it is back.
  private static let moves = [[false, false], [true, false], [false, true], [true, true]]

  /// Deletes the first writer in another context, and brings it back.
  ///
  /// - Parameters:
  ///   - rank: a rank that the writer gets before the deletion and comes back with.
  ///   - whileDeleted: a closure that runs while the writer is deleted.
  private func deleteAndReturn(
    _ moves: [Bool],
    rank: Int? = nil,
    whileDeleted: () throws -> Void = {}
  ) throws {
    try other.refresh()
    let copy = try other.existingObject(Writer.self, with: writer.objectID)
    if let rank { copy.rank = rank }
    other.processPendingChanges()
    other.delete(copy)
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

  @Test(arguments: moves) func aChangeOfWhatIsBackCounts(_ moves: [Bool]) throws {
    writer.rank = 12
    try deleteAndReturn(moves)
    try mine.save()
    #expect(writer.name == "A" && writer.rank == 12 && !writer.isDeleted)
    try check()
  }

  @Test(arguments: moves) func whatComesBackWithAnotherValueIsChanged(_ moves: [Bool]) throws {
    writer.rank = 12
    try deleteAndReturn(moves, rank: 11)
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .conflict && error?.context.properties == ["rank"])
    mine.mergePolicy = .custom { conflict in
      conflict.resolve(\Writer.rank) { base, mine, theirs in mine + theirs - (base ?? 0) }
    }
    try mine.save()
    #expect(writer.name == "A" && writer.rank == 13)
    try check()
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

  /// A context that sees the other context's removal of a link forgets its own.
  @Test(arguments: [[false, false], [false, true]]) func aLinkThatWasRemovedStaysRemoved(
    _ moves: [Bool]
  ) throws {
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

  /// A change without effect doesn't undo a later change of another context.
  @Test func aLinkThatBothHaveRemovedMayComeBack() throws {
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

  /// The parent no longer has the object that the child has deleted.
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

  /// Long values are compared only where they were changed.
  @Test(arguments: moves, [true, false]) func anObjectWithALongValueIsBackAsItWas(
    _ moves: [Bool],
    _ deletes: Bool
  ) async throws {
    let albums = try await PersistentContainer("Albums", models: [CoveredAlbum.self], at: .inMemory)
    let (mine, other) = (try albums.context(), try albums.context())
    mine.mergePolicy = deletes ? .error : .rollback
    other.undoManager = ContextUndoManager()
    let album = CoveredAlbum("A", cover: Data(repeating: 7, count: 100_000))
    mine.insert(album)
    try mine.save()
    try other.refresh()
    if deletes { mine.delete(album) } else { album.title = "B" }
    other.delete(try other.existingObject(CoveredAlbum.self, with: album.objectID))
    try other.save()
    if moves[0] { try mine.refresh() }
    #expect(other.undo())
    try other.save()
    if moves[1] { try mine.refresh() }
    try mine.save()
    let left = try mine.fetch(From<CoveredAlbum>())
    #expect(left.map(\.title) == (deletes ? [] : ["B"]) && left.allSatisfy { $0.cover?.count == 100_000 })
    #expect(try await albums.verify().map(\.description) == [])
  }
}
