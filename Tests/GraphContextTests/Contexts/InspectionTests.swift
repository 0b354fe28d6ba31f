import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// The questions that a program can ask about unsaved changes.
struct InspectionTests {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let writer = Writer("A", rank: 1)
  private let desk = Desk(1)

  init() async throws {
    library = try await Library.open()
    context = try library.context()
    writer.desk = desk
    context.insert(writer)
    try context.save()
  }

  @Test func anObjectSaysWhatIsUnsavedOfItAndWhatTheStoreHas() throws {
    #expect(writer.context === context)
    #expect(writer.changedValues.isEmpty && !writer.hasPersistentChanges)
    (writer.rank, writer.email) = (2, "a@")
    #expect(writer.changedValues == ["rank": .int(2), "email": .string("a@")])
    #expect(writer.committedValues["rank"] == .int(1) && writer.committedValues["email"] == .null)
    #expect(writer.committedValues["desk"] == .reference(desk.objectID.number))
    #expect(writer.hasPersistentChanges)
    (writer.rank, writer.email) = (1, nil)
    #expect(writer.hasChanges && !writer.hasPersistentChanges)
    writer.desk = nil
    #expect(writer.changedValues["desk"] == .null && desk.changedValues == ["writer": .null])
    try context.save()
    #expect(writer.changedValues.isEmpty && writer.committedValues["desk"] == .null)
  }

  @Test func newAndDeletedObjectsSayWhatTheyHave() throws {
    let new = Writer("new")
    #expect(new.context == nil && new.changedValues.isEmpty && new.committedValues.isEmpty)
    context.insert(new)
    #expect(new.changedValues["name"] == .string("new") && new.changedValues["rank"] == .int(0))
    #expect(new.committedValues.isEmpty && new.hasPersistentChanges)
    context.delete(writer)
    #expect(writer.hasPersistentChanges && writer.committedValues["name"] == .string("A"))
    try context.save()
    #expect(writer.context == nil && writer.changedValues.isEmpty && writer.committedValues.isEmpty)
  }

  @Test func aContextKnowsItsObjects() throws {
    #expect(Set(context.registeredObjects.map(\.objectID)) == [writer.objectID, desk.objectID])
    let other = try library.context()
    defer { other.end() }
    #expect(other.registeredObjects.isEmpty)
    let same = try #require(try other.fetchOne(From<Writer>()))
    #expect(other.registeredObjects.first === same && other.registeredObjects.count == 1)
    other.reset()
    #expect(other.registeredObjects.isEmpty)
  }

  @Test func oneObjectsChangesCanBeDropped() throws {
    let other = Writer("B", rank: 1)
    context.insert(other)
    try context.save()
    (writer.rank, other.rank) = (2, 2)
    other.desk = desk
    #expect(writer.desk == nil && desk.writer === other)
    context.refresh(other, mergeChanges: false)
    #expect(other.rank == 1 && other.desk == nil && !other.hasChanges)
    #expect(desk.writer == nil && writer.rank == 2)
    context.refresh(writer, mergeChanges: false)
    #expect(writer.rank == 1 && writer.desk === desk && desk.writer === writer)
    #expect(!writer.hasPersistentChanges && !desk.hasPersistentChanges)
    try context.save()
    #expect(try library.verify().map(\.description) == [])
  }

  @Test func aDroppedReferenceLeavesItsList() throws {
    let book = Book("Book", publisher: Publisher("P"))
    book.writer = writer
    context.insert(book)
    let other = Writer("B")
    context.insert(other)
    try context.save()
    book.writer = other
    book.pages = 7
    #expect(other.books.count == 1 && writer.books.count == 0)
    context.refresh(book, mergeChanges: false)
    #expect(book.writer === writer && book.pages == 100)
    #expect(other.books.count == 0 && writer.books.map(\.title) == ["Book"])
    #expect(!context.hasChanges)
    // A reference to an object that is deleted here stays nil.
    book.pages = 8
    book.writer = other
    context.delete(writer)
    context.refresh(book, mergeChanges: false)
    #expect(book.pages == 100 && book.writer === other && book.changedValues.keys.sorted() == ["writer"])
    try context.save()
    #expect(try library.verify().map(\.description) == [])
  }

  @Test func aChildSeesWhatItsParentDrops() throws {
    let child = context.makeChild()
    writer.rank = 5
    let same = try child.existingObject(Writer.self, with: writer.objectID)
    #expect(same.rank == 5 && same.committedValues["rank"] == .int(5))
    context.refresh(writer, mergeChanges: false)
    #expect(same.rank == 1 && same.desk?.objectID == desk.objectID)
  }

  @Test func allObjectsAreReadAnew() throws {
    (writer.rank, desk.number) = (2, 2)
    try context.save()
    writer.rank = 3
    context.refreshAllObjects()
    #expect(writer.rank == 3 && desk.isFault && desk.number == 2 && writer.name == "A")
  }
}
