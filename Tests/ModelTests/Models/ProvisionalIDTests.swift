import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// An object has an ID before it is inserted, and another one from then on.
struct ProvisionalIDTests {
  @Test func aNewObjectTellsItselfFromOthers() {
    let writers = [Writer("A"), Writer("A"), Writer("B")]
    let ids = writers.map(\.objectID)
    #expect(ids.allSatisfy { $0.isProvisional && $0.entityName == "Writer" })
    #expect(Set(ids).count == 3)
    #expect(writers.map(\.objectID) == ids && writers.map(\.id) == ids)
    #expect(writers.allSatisfy { $0.objectReference == nil && !$0.isFault && !$0.hasChanges })
  }

  @Test func noTwoObjectsOfTheProcessShareAnID() async {
    let ids = await withTaskGroup { group in
      for _ in 0..<4 { group.addTask { (0..<1_000).map { Desk($0).objectID } } }
      return await group.reduce(into: Set<ManagedObjectID>()) { $0.formUnion($1) }
    }
    #expect(ids.count == 4_000)
  }

  @Test func aStateHasRoomForEveryNumber() {
    var state = ObjectState()
    state.generation = 3
    state.recordByteCount = 5
    #expect(state.provisionalNumber() == ObjectNumber(rawValue: 3 << 32 | 5))
    state = ObjectState()
    state.generation = 1
    #expect(state.provisionalNumber() == ObjectNumber(rawValue: 1 << 32))
  }

  @Test func theInsertionGivesTheFinalID() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context throws in
      let (writer, publisher) = (Writer("A"), Publisher("P"))
      let book = Book("B", publisher: publisher)
      book.writer = writer
      let objects: [any ManagedObject] = [writer, publisher, book]
      let before = objects.map(\.objectID)
      var known: Set = [book]
      // The insertion also inserts the other objects, through the relationships.
      context.insert(book)
      let inserted = objects.map(\.objectID)
      #expect(inserted.allSatisfy { !$0.isProvisional && $0.storeID == library.storeID })
      #expect(Set(before).isDisjoint(with: inserted))
      #expect(known.contains(book) && known.remove(book) === book)
      #expect(try context.existingObject(Book.self, with: book.objectID) === book)
      try context.save()
      #expect(objects.map(\.objectID) == inserted)
      context.insert(book)
      #expect(book.objectID == inserted[2])
      #expect(book.title == "B" && book.writer === writer)
    }
    // The references that a context decodes from the saved object have no provisional numbers.
    try await library.performBackgroundTask { context throws in
      let book = try #require(try context.fetchOne(From<Book>()))
      #expect(book.title == "B" && book.pages == 100 && !book.objectID.isProvisional)
    }
  }

  @Test func anObjectWhoseInsertionIsUndoneIsNewAgain() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context throws in
      let desk = Desk(1)
      var ids = [desk.objectID]
      context.insert(desk)
      ids.append(desk.objectID)
      context.rollback()
      ids.append(desk.objectID)
      #expect(desk.objectID == ids[2] && desk.number == 1)
      context.insert(desk)
      ids.append(desk.objectID)
      context.delete(desk)
      ids.append(desk.objectID)
      #expect(ids.map(\.isProvisional) == [true, false, true, false, true])
      #expect(Set(ids).count == 5)
      context.insert(desk)
      try context.save()
      #expect(try context.fetchIDs(From<Desk>()) == [desk.objectID])
    }
  }

  @Test func anObjectThatIsGoneKeepsItsLastID() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context throws in
      let (saved, unsaved) = (Desk(1), Desk(2))
      context.insert(saved)
      try context.save()
      context.insert(unsaved)
      let ids = [saved, unsaved].map(\.objectID)
      context.delete(saved)
      #expect(saved.objectID == ids[0])
      context.reset()
      #expect([saved, unsaved].allSatisfy { $0.isDeleted })
      #expect([saved, unsaved].map(\.objectID) == ids && ids.allSatisfy { !$0.isProvisional })
    }
  }

  @Test func noObjectIsFoundByIt() async throws {
    let library = try await Library.open()
    let records = try await PersistentContainer("Records", schema: Schema(entities: []), at: .inMemory)
    try await library.performBackgroundTask { context throws in
      let desk = Desk(1)
      let id = desk.objectID
      for isInserted in [false, true] {
        if isInserted { context.insert(desk) }
        for context in [context, context.makeChild()] {
          for query in [
            { _ = try context.object(Desk.self, with: id) },
            { _ = try context.existingObject(Desk.self, with: id) },
            { _ = try context.object(ManagedRecord.self, with: id) },
            { _ = try context.existingObject(ManagedRecord.self, with: id) },
          ] {
            let error = #expect(throws: ContextError.self) { try query() }
            #expect(error?.code == .provisionalID && error?.context.objectID == id)
            #expect(error?.message.contains("after its insertion") == true)
          }
          #expect(context.registeredObject(Desk.self, with: id) == nil)
        }
      }
      #expect(try context.existingObject(Desk.self, with: desk.objectID) === desk)
    }
    try await records.performBackgroundTask { context throws in
      let error = #expect(throws: ContextError.self) {
        try context.object(ManagedRecord.self, with: Desk(1).objectID)
      }
      #expect(error?.code == .provisionalID)
    }
  }

  @Test func aConditionWithItIsAMistake() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context throws in
      let writer = Writer("A")
      let id = writer.objectID
      for isInserted in [false, true] {
        if isInserted { context.insert(writer) }
        let requests = [
          From<Book>().where { $0.writer == id }, From<Book>().where(\.writer == id),
          From<Book>().where(format: "writer == %@", id), From<Book>().where(["writer": id]),
          From<Book>().where(format: "writer IN %@", [id]),
        ]
        for request in requests {
          let mistake = expectMistake { try context.count(request) }
          #expect(mistake?.code == .arguments && mistake?.message.contains("provisional") == true)
        }
        let mistake = #expect(throws: QueryError.self) { try [Book]().filter(matching: \.writer == id) }
        #expect(mistake?.code == .arguments)
      }
      #expect(try context.count(From<Book>().where { $0.writer == writer.objectID }) == 0)
    }
  }

  @Test func itStaysInTheProcess() throws {
    let id = Desk(1).objectID
    #expect(id.uriRepresentation == "cambium://provisional/Desk/\(id.number)")
    #expect(ManagedObjectID(uriRepresentation: id.uriRepresentation) == nil)
    let zeros = "cambium://00000000-0000-0000-0000-000000000000/Desk/1"
    #expect(ManagedObjectID(uriRepresentation: zeros) == nil)
    let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode(["id": id]) }
    guard case .invalidValue(let value, let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(value as? ManagedObjectID == id)
    #expect(context.codingPath.map(\.stringValue) == ["id"])
    #expect(context.debugDescription.contains("after its insertion"))
  }
}
