import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Taking back the changes of one object.
struct DiscardTests {
  private let library: PersistentContainer

  init() async throws {
    library = try await Library.open()
    try await library.write { context in
      let publisher = Publisher("P")
      context.insert(publisher)
      let readers = (0..<6).map { Reader("r\($0)") }
      for reader in readers { context.insert(reader) }
      for number in 0..<4 {
        let writer = Writer("w\(number)", email: "\(number)", rank: number)
        context.insert(writer)
        for place in 0..<3 { writer.books.append(Book("b\(number)\(place)", publisher: publisher)) }
        writer.desk = Desk(number)
        writer.fans = Array(readers.prefix(number + 1))
        readers[number].favourite = Array(writer.books).first
      }
      context.insert(Desk(9))
    }
  }

  /// Whether a save would store anything.
  private func hasAnythingToSave(_ context: ManagedObjectContext) throws -> Bool {
    let commit = try library.store.snapshot().commit
    try context.save()
    return try library.store.snapshot().commit != commit
  }

  @Test func aNewObjectLeaves() throws {
    let context = try library.context()
    defer { context.end() }
    let dump = try LibraryDump(context)
    let writer = try context.fetch(From<Writer>())[0]
    let book = Book("new", publisher: try context.fetch(From<Publisher>())[0])
    context.insert(book)
    writer.books.append(book)
    context.discardChanges(of: book)
    #expect(book.context == nil)
    #expect(try LibraryDump(context) == dump)
    #expect(try !hasAnythingToSave(context))
  }

  /// Delete rules of a discarded new object reach no stored object. New objects that it owns are removed with it.
  @Test(arguments: [false, true]) func whatLedToANewObjectLeadsToWhatTheSnapshotHas(undoes: Bool) throws {
    let context = try library.context()
    defer { context.end() }
    context.undoManager = ContextUndoManager()
    let dump = try LibraryDump(context)
    let writers = try context.fetch(From<Writer>().orderBy(\.name))
    let new = Writer("new", email: "n", rank: 9)
    context.insert(new)
    let (book, desk) = (try #require(Array(writers[0].books).first), writers[1].desk)
    book.writer = new
    new.desk = desk
    new.books.append(Book("draft", publisher: book.publisher))
    new.fans = try context.fetch(From<Reader>())
    let changed = try LibraryDump(context)
    context.undoManager?.beginUndoGrouping()
    context.discardChanges(of: new)
    context.undoManager?.endUndoGrouping()
    #expect(new.context == nil && !book.isDeleted && book.writer === writers[0] && writers[1].desk === desk)
    #expect(try LibraryDump(context) == dump)
    if undoes {
      #expect(context.undo())
      #expect(try LibraryDump(context) == changed)
    } else {
      #expect(try !hasAnythingToSave(context))
    }
  }

  @Test func aReferenceThatNothingLeadsBackFromIsTakenBackToo() throws {
    let context = try library.context()
    defer { context.end() }
    let reader = try #require(try context.fetch(From<Reader>().orderBy(\.name)).first)
    let old = try #require(reader.favourite)
    let book = Book("new", publisher: old.publisher)
    context.insert(book)
    reader.favourite = book
    context.discardChanges(of: book)
    #expect(reader.favourite === old && !reader.hasChanges && book.context == nil)
  }

  @Test func membersOfANewListHaveNoChangesLeft() async throws {
    let lists = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let context = try lists.context()
    defer { context.end() }
    let tracks = (0..<3).map { Track("\($0)") }
    for track in tracks { context.insert(track) }
    try context.save()
    let list = Playlist("new")
    context.insert(list)
    list.tracks = [tracks[2], tracks[0]]
    context.discardChanges(of: list)
    #expect(!context.hasChanges && tracks.allSatisfy { !$0.hasChanges })
  }

  @Test func aLongListIsGivenBackInItsOrder() async throws {
    let lists = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let context = try lists.context()
    defer { context.end() }
    let list = Playlist("L")
    context.insert(list)
    list.tracks = (0..<3_000).map { Track(String($0)) }
    try context.save()
    let new = Playlist("new")
    context.insert(new)
    new.tracks = Array(list.tracks)
    #expect(list.tracks.isEmpty)
    context.discardChanges(of: new)
    #expect(!context.hasChanges && list.tracks.map(\.title) == (0..<3_000).map(String.init))
  }

  @Test func membersComeBackToTheirPlaces() async throws {
    let lists = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: .inMemory)
    let context = try lists.context()
    defer { context.end() }
    let list = Playlist("L")
    context.insert(list)
    list.tracks = ["a", "b", "c"].map(Track.init)
    try context.save()
    let new = Playlist("new")
    context.insert(new)
    new.tracks = [list.tracks[0]]
    context.discardChanges(of: new)
    #expect(!context.hasChanges && list.tracks.map(\.title) == ["a", "b", "c"])
    list.tracks.swapAt(0, 2)
    try context.save()
    let reader = try lists.context()
    defer { reader.end() }
    #expect(try reader.fetch(From<Playlist>())[0].tracks.map(\.title) == ["c", "b", "a"])
  }

  @Test func aLinkToADeletedObjectGoesWithTheNewOne() throws {
    let context = try library.context()
    defer { context.end() }
    let writer = try context.fetch(From<Writer>().orderBy(\.name))[0]
    let desk = try #require(writer.desk)
    context.delete(desk)
    let new = Writer("new", email: "n")
    context.insert(new)
    new.desk = desk
    context.discardChanges(of: new)
    #expect(writer.desk == nil)
    try context.save()
  }

  @Test func aChangedObjectIsAsItWasAndOthersAreNot() throws {
    let context = try library.context()
    defer { context.end() }
    let dump = try LibraryDump(context)
    let writers = try context.fetch(From<Writer>().orderBy(\.name))
    let readers = try context.fetch(From<Reader>().orderBy(\.name))
    writers[0].name = "changed"
    writers[0].fans = [readers[5]]
    writers[0].desk = writers[1].desk
    writers[3].rank = 77
    context.discardChanges(of: writers[0])
    #expect(writers[0].name == "w0" && writers[0].fans.map(\.name) == ["r0"])
    // That the other writer lost the desk is a change of that writer.
    #expect(writers[0].desk?.number == 0 && writers[1].desk == nil)
    context.discardChanges(of: writers[1])
    #expect(writers[1].desk?.number == 1)
    #expect(writers[3].rank == 77)
    context.discardChanges(of: writers[3])
    #expect(try LibraryDump(context) == dump)
    #expect(try !hasAnythingToSave(context))
  }

  /// After random objects are deleted and their deletions discarded, one after the other, the graph is unchanged.
  @Test func deletionsAreTakenBack() throws {
    var random = SeededGenerator()
    let context = try library.context()
    defer { context.end() }
    let dump = try LibraryDump(context)
    for round in 0..<60 {
      var objects: [any ManagedObject] = []
      objects += try context.fetch(From<Writer>())
      objects += try context.fetch(From<Book>())
      objects += try context.fetch(From<Desk>())
      objects += try context.fetch(From<Reader>())
      for _ in 0..<random.number(in: 1...4) { context.delete(random.pick(objects), callsHooks: false) }
      var deleted = context.deletedObjects
      deleted.shuffle(using: &random)
      for object in deleted { discard(object, in: context) }
      #expect(context.deletedObjects.isEmpty)
      #expect(try LibraryDump(context) == dump, "seed \(random.seed), round \(round)")
      guard try LibraryDump(context) == dump else { return }
      #expect(try !hasAnythingToSave(context), "seed \(random.seed), round \(round)")
    }
    #expect(try library.verify() == [])
  }

  private func discard(_ object: some ManagedObject, in context: ManagedObjectContext) {
    context.discardChanges(of: object)
  }

  @Test func aPartnerThatWasGivenAwayMeanwhileStaysAway() throws {
    let context = try library.context()
    defer { context.end() }
    let writers = try context.fetch(From<Writer>().orderBy(\.name))
    let desk = try #require(writers[0].desk)
    context.delete(writers[0])
    writers[1].desk = desk
    context.discardChanges(of: writers[0])
    #expect(writers[0].desk == nil && writers[1].desk === desk && desk.writer === writers[1])
    #expect(writers[0].books.isEmpty)
    try context.save()
    #expect(try library.verify() == [])
    let fresh = try library.context()
    defer { fresh.end() }
    #expect(try LibraryDump(fresh) == LibraryDump(context))
    #expect(try fresh.fetch(From<Writer>().orderBy(\.name))[0].desk == nil)
  }

  @Test func aChildSeesWhatItsParentDiscards() throws {
    let context = try library.context()
    defer { context.end() }
    let child = context.makeChild()
    let dump = try LibraryDump(child)
    let writer = try context.fetch(From<Writer>())[0]
    writer.name = "x"
    context.discardChanges(of: writer)
    #expect(try LibraryDump(child) == dump)
    let reader = try context.fetch(From<Reader>())[0]
    context.delete(reader)
    #expect(try child.count(From<Reader>()) == 5)
    context.discardChanges(of: reader)
    #expect(try LibraryDump(child) == dump)
    // In a child, the values that its parent shows come back.
    let own = try child.fetch(From<Reader>())[0]
    child.delete(own)
    child.discardChanges(of: own)
    #expect(try LibraryDump(child) == dump && child.deletedObjects.isEmpty)
  }

  @Test func aDeletionThatAnotherContextHasMadeTooStays() async throws {
    let context = try library.context()
    defer { context.end() }
    let reader = try #require(try context.fetch(From<Reader>().where { $0.name == "r5" }).first)
    context.delete(reader)
    try await library.batchDelete(From<Reader>().where { $0.name == "r5" })
    try context.refresh()
    context.discardChanges(of: reader)
    #expect(try context.count(From<Reader>()) == 5)
    try context.save()
    #expect(try await library.verify() == [])
  }

  @Test func insertingADeletedObjectIsAFailureThatNamesTheWayBack() throws {
    let context = try library.context()
    defer { context.end() }
    let dump = try LibraryDump(context)
    let desk = try #require(try context.fetch(From<Desk>().where { $0.number == 9 }).first)
    context.delete(desk)
    context.insert(desk)
    #expect(desk.isDeleted)
    for _ in 0..<2 {
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .objectNotFound && error?.context.objectID == desk.objectID)
      #expect(error?.message.contains("discardChanges(of:)") == true)
    }
    let error = #expect(throws: ContextError.self) { try context.count(From<Desk>()) }
    #expect(error?.code == .objectNotFound)
    context.discardChanges(of: desk)
    #expect(throws: ContextError.self) { try context.save() }
    context.rollback()
    #expect(!desk.isDeleted)
    context.delete(desk)
    context.discardChanges(of: desk)
    context.insert(desk)
    #expect(!desk.isDeleted)
    #expect(try !hasAnythingToSave(context))
    #expect(try LibraryDump(context) == dump)
  }

  @Test func everyObjectOfAModelIsDeleted() async throws {
    #expect(try await library.deleteAll(Writer.self) == 4)
    #expect(try await library.query { try $0.count(From<Book>()) } == 0)
    #expect(try await library.deleteAll(Writer.self) == 0)
    #expect(try await library.verify() == [])
  }
}
