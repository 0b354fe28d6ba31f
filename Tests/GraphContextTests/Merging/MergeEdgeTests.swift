import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Merges that meet deletions, required references and changes that are none.
struct MergeEdgeTests {
  static let merging: [MergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  /// Two contexts that see the same objects.
  private struct Pair {
    let library: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init(_ models: [any ManagedObject.Type], _ objects: [any ManagedObject]) async throws {
      library = try await PersistentContainer("Pair", models: models, at: .inMemory)
      mine = try ManagedObjectContext(coordinator: library.coordinator)
      theirs = try ManagedObjectContext(coordinator: library.coordinator)
      for object in objects { mine.insert(object) }
      try mine.save()
      try theirs.refresh()
    }

    func same<Object: ManagedObject>(_ object: Object) throws -> Object {
      try theirs.existingObject(Object.self, with: object.objectID)
    }

    func failure() -> ContextError.Code? {
      do throws(ContextError) { try mine.save() } catch { return error.code }
      return nil
    }

    func end() throws {
      #expect(try library.verify().map(\.description) == [])
      for context in [mine, theirs] { context.end() }
    }
  }

  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite, .keepMine])
  func aValueThatTheStoreHasIsNoChangeToOthers(_ policy: MergePolicy) async throws {
    let writer = Writer("a", rank: 1)
    let pair = try await Pair(Library.models, [writer])
    try pair.same(writer).rank = 2
    try pair.theirs.save()
    let third = try pair.library.context()
    third.mergePolicy = .mergeByPropertyStoreTrump
    let copy = try third.existingObject(Writer.self, with: writer.objectID)
    copy.rank = 5
    // Both contexts have set 2. This is a conflict, after which the store has its previous value.
    pair.mine.mergePolicy = policy
    (writer.rank, writer.name) = (2, "b")
    try pair.mine.save()
    #expect(writer.rank == 2 && writer.name == "b")
    try third.save()
    #expect(copy.rank == 5 && copy.name == "b")
    third.end()
    try pair.end()
  }

  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite, .keepMine])
  func aSaveThatAgreesAltogetherMovesOn(_ policy: MergePolicy) async throws {
    let writer = Writer("a", rank: 1)
    let pair = try await Pair(Library.models, [writer])
    let same = try pair.same(writer)
    (same.rank, same.name) = (2, "b")
    try pair.theirs.save()
    let child = pair.mine.makeChild()
    let copy = try child.existingObject(Writer.self, with: writer.objectID)
    pair.mine.mergePolicy = policy
    writer.rank = 2
    #expect(copy.rank == 2)
    try pair.mine.save()
    #expect(try pair.mine.count(From<Writer>().where { $0.rank == 2 }) == 1)
    #expect(policy == .overwrite || writer.name == "b")
    #expect(copy.rank == 2)
    pair.mine.refresh(writer, mergeChanges: false)
    #expect(writer.rank == 2)
    pair.mine.mergePolicy = .error
    writer.rank = 3
    try pair.mine.save()
    child.end()
    try pair.end()
  }

  @Test func aRequiredReferenceIsNotLeftWithoutAnObject() async throws {
    let holder = Holder("h")
    let pair = try await Pair([Holder.self, Permit.self], [holder])
    pair.mine.mergePolicy = .rollback
    pair.mine.insert(Permit(holder))
    try pair.same(holder).name = "x"
    try pair.theirs.save()
    #expect(pair.failure() == .conflict)
    #expect(pair.mine.insertedObjects.count == 1)
    try pair.end()
  }

  @Test(arguments: merging)
  func aPartnerThatWasDeletedIsMissing(_ policy: MergePolicy) async throws {
    let holder = Holder("h")
    let pair = try await Pair([Holder.self, Permit.self], [holder])
    pair.mine.mergePolicy = policy
    pair.mine.insert(Permit(holder))
    pair.theirs.delete(try pair.same(holder))
    try pair.theirs.save()
    #expect(pair.failure() == .missingDestination)
    try pair.end()
  }

  @Test func whatWasMovedAwayIsNotDeletedWithItsOldOwner() async throws {
    let (first, second) = (Writer("1"), Writer("2"))
    let book = Book("B", publisher: Publisher("P"))
    book.writer = first
    let pair = try await Pair(Library.models, [first, second, book])
    pair.mine.mergePolicy = .rollback
    book.writer = second
    pair.mine.delete(first)
    try pair.same(book).title = "x"
    try pair.theirs.save()
    #expect(pair.failure() == .conflict)
    pair.mine.mergePolicy = .mergeByPropertyStoreTrump
    try pair.mine.save()
    #expect(book.title == "x" && book.writer === second)
    try pair.end()
  }

  @Test(arguments: [true, false])
  func aValueThatIsSetToWhatItWasIsNoChange(_ moves: Bool) async throws {
    let writer = Writer("A", rank: 5)
    let pair = try await Pair(Library.models, [writer])
    (writer.rank, writer.name) = (5, "B")
    try pair.same(writer).rank = 7
    try pair.theirs.save()
    if moves { try pair.mine.refresh() }
    try pair.mine.save()
    #expect(writer.rank == 7 && writer.name == "B")
    try pair.end()
  }

  /// The context has moved to a state whose value equals its own, and then to a state with another value.
  @Test func aConflictStaysOneWhateverTheStoreHasLater() async throws {
    let writer = Writer("A", rank: 5)
    let pair = try await Pair(Library.models, [writer])
    writer.rank += 1
    for _ in 0..<2 {
      try pair.same(writer).rank += 1
      try pair.theirs.save()
      try pair.mine.refresh()
      #expect(writer.rank == 6)
    }
    #expect(pair.failure() == .conflict)
    try pair.end()
  }

  @Test(arguments: [true, false], [MergePolicy.error] + merging)
  func anObjectWithPartnersIsDeletedInBoth(_ moves: Bool, _ policy: MergePolicy) async throws {
    let (writer, desk, reader) = (Writer("A"), Desk(1), Reader("R"))
    let book = Book("B", publisher: Publisher("P"))
    (writer.desk, reader.favourite, book.writer) = (desk, book, writer)
    let pair = try await Pair(Library.models, [writer, reader, book])
    pair.mine.mergePolicy = policy
    pair.mine.delete(writer)
    pair.theirs.delete(try pair.same(writer))
    try pair.theirs.save()
    if moves { try pair.mine.refresh() }
    try pair.mine.save()
    #expect(desk.writer == nil && reader.favourite == nil && !pair.mine.hasChanges)
    try pair.end()
  }

  @Test func anOverwrittenObjectChangesOnlyWhatDiffers() async throws {
    let writer = Writer("A", rank: 5)
    let pair = try await Pair(Library.models, [writer])
    let third = try pair.library.context()
    try third.existingObject(Writer.self, with: writer.objectID).email = "third"
    writer.rank = 6
    try pair.same(writer).rank = 7
    try pair.theirs.save()
    pair.mine.mergePolicy = .overwrite
    try pair.mine.save()
    try third.save()
    try pair.mine.refresh()
    #expect(writer.rank == 6 && writer.email == "third")
    third.end()
    try pair.end()
  }

  /// A reference that both have set to the same object is no conflict, and a change of the object all the same.
  @Test func anAgreedReferenceOverwritesTheAttributes() async throws {
    let (writer, book) = (Writer("A"), Book("1", pages: 1, publisher: Publisher("Ace")))
    let pair = try await Pair(Library.models, [writer, book])
    book.writer = writer
    let theirs = try pair.same(book)
    theirs.writer = try pair.same(writer)
    theirs.pages = 2
    try pair.theirs.save()
    pair.mine.mergePolicy = .overwrite
    try pair.mine.save()
    #expect(book.pages == 1 && book.writer === writer)
    try pair.theirs.refresh()
    #expect(theirs.pages == 1)
    try pair.end()
  }

  @Test func whatIsDroppedOfAnObjectIsNoConflictLater() async throws {
    let writer = Writer("A", rank: 5)
    let pair = try await Pair(Library.models, [writer])
    writer.rank = 6
    try pair.same(writer).rank = 7
    try pair.theirs.save()
    try pair.mine.refresh()
    pair.mine.refresh(writer, mergeChanges: false)
    #expect(writer.rank == 7)
    writer.rank = 9
    try pair.mine.save()
    #expect(writer.rank == 9)
    // An object that the other context has deleted leaves this context when its changes are dropped.
    writer.rank = 10
    try pair.theirs.refresh()
    pair.theirs.delete(try pair.same(writer))
    try pair.theirs.save()
    try pair.mine.refresh()
    pair.mine.refresh(writer)
    pair.mine.refreshAllObjects()
    #expect(writer.rank == 10 && writer.name == "A")
    pair.mine.refresh(writer, mergeChanges: false)
    #expect(writer.isDeleted && !pair.mine.hasChanges)
    try pair.mine.save()
    try pair.end()
  }

  @Test func aDroppedTheftGivesThePartnerBack() async throws {
    let (first, second, desk) = (Writer("1"), Writer("2"), Desk(1))
    let pair = try await Pair(Library.models, [first, second, desk])
    pair.mine.mergePolicy = .mergeByPropertyObjectTrump
    first.desk = desk
    try pair.same(second).desk = pair.same(desk)
    try pair.theirs.save()
    try pair.mine.refresh()
    pair.mine.refresh(first, mergeChanges: false)
    #expect(first.desk == nil && second.desk === desk && desk.writer === second)
    try pair.mine.save()
    #expect(second.desk === desk && desk.writer === second)
    try pair.end()
  }

  @Test func aChildMayDeleteWhatIsDeletedBelow() async throws {
    let writer = Writer("A")
    let pair = try await Pair(Library.models, [writer])
    let child = pair.mine.makeChild()
    child.delete(try child.existingObject(Writer.self, with: writer.objectID))
    pair.theirs.delete(try pair.same(writer))
    try pair.theirs.save()
    try pair.mine.refresh()
    try child.save()
    try pair.mine.save()
    #expect(!pair.mine.hasChanges && writer.isDeleted)
    try pair.end()
  }

  /// The save makes no commit, because no change is left.
  @Test func linksThatOthersHaveRemovedAsWellAreNoSave() async throws {
    let (writer, reader) = (Writer("w"), Reader("r"))
    reader.idols = [writer]
    let pair = try await Pair(Library.models, [writer, reader])
    let commit = try pair.mine.coordinator.engine.newestSource().commit
    reader.idols = []
    try pair.same(reader).idols = []
    try pair.theirs.save()
    var saves: [ObjectChanges] = []
    let subscription = pair.mine.onDidSave { saves.append($0) }
    defer { subscription.cancel() }
    try pair.mine.save()
    #expect(saves.isEmpty && !pair.mine.hasChanges && writer.fans.isEmpty)
    #expect(try pair.mine.coordinator.engine.newestSource().commit == commit + 1)
    try pair.end()
  }
}
