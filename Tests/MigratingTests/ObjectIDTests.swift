import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// IDs follow the numbers of entities, not their names.
struct ObjectIDTests {
  private let store: ChangingStore
  private let name = attribute("name", .string)

  init() throws { store = try ChangingStore() }

  /// A store with songs and albums, whose first song is Carey; its ID.
  private func fill() async throws -> ManagedObjectID {
    try await store.open(entity("Song", [name]), entity("Album", [name])) { context throws in
      try context.make("Song", ["name": .string("Carey")])
      try context.make("Album", ["name": .string("Blue")])
      return try context.fetch(DynamicQuery("Song"))[0].objectID
    }
  }

  private func coded(_ id: ManagedObjectID) throws -> ManagedObjectID {
    try JSONDecoder().decode([ManagedObjectID].self, from: JSONEncoder().encode([id]))[0]
  }

  @Test func anIDIsAsSmallAsItsParts() {
    #expect(MemoryLayout<ManagedObjectID>.stride == 40)
  }

  @Test func theURIShowsTheNameAndTheNumber() async throws {
    let id = try await fill()
    let store = id.storeID.uuidString.lowercased()
    let number = try #require(id.entity.number?.rawValue)
    #expect(id.uriRepresentation == "cambium://\(store)/Song.\(number)/1")
    let otherName = try #require(ManagedObjectID(uriRepresentation: "cambium://\(store)/Étude.\(number)/1"))
    #expect(otherName == id && otherName.hashValue == id.hashValue)
    #expect(otherName.entityName == "Étude")
    #expect(otherName.uriRepresentation.contains("/Étude."))
    let otherNumber = try #require(ManagedObjectID(uriRepresentation: "cambium://\(store)/Song.999/1"))
    #expect(otherNumber != id)
  }

  @Test func anIDFindsItsObjectAfterARename() async throws {
    let id = try await fill()
    let ids = [id, try coded(id), try #require(ManagedObjectID(uriRepresentation: id.uriRepresentation))]
    try await store.open(entity("Track", was: "Song", [name]), entity("Album", [name])) { context throws in
      for id in ids {
        #expect(try context.existingObject(ManagedRecord.self, with: id)["name"] == .string("Carey"))
        #expect(try context.object(ManagedRecord.self, with: id).objectID == id)
        #expect(try context.numbers("Track", id) == [1])
      }
      #expect(try context.fetch(DynamicQuery("Track"))[0].objectID.uriRepresentation.contains("/Track."))
    }
  }

  @Test func anIDNeverFindsAnObjectOfAnotherEntityWithTheName() async throws {
    let id = try await fill()
    try await store.open(entity("Track", was: "Song", [name]), entity("Song", was: "Album", [name])) {
      context throws in
      #expect(try context.existingObject(ManagedRecord.self, with: id).entity.name == "Track")
    }
    try await store.open(entity("Song", [name])) { _ in }
    try await store.open(entity("Song", [name]), entity("Track", [name])) { context throws in
      try context.make("Track", ["name": .string("River")])
      try context.save()
      let error = #expect(throws: ContextError.self) {
        try context.existingObject(ManagedRecord.self, with: id)
      }
      #expect(error?.code == .unknownEntity)
      #expect(error?.context.objectID == id)
      expectMistake { try context.numbers("Track", id) }
    }
  }

  @Test func anIDWithoutANumberFindsByTheName() async throws {
    let id = try await fill()
    let text = "cambium://\(id.storeID.uuidString.lowercased())/Song/1"
    let named = try #require(ManagedObjectID(uriRepresentation: text))
    #expect(named.uriRepresentation == text)
    #expect(named != id)
    try await store.open(entity("Song", [name]), entity("Album", [name])) { context throws in
      #expect(try context.existingObject(ManagedRecord.self, with: named).objectID == id)
      #expect(try context.numbers("Song", named) == [1])
    }
    try await store.open(entity("Track", was: "Song", [name]), entity("Album", [name])) { context throws in
      #expect(throws: ContextError.self) { try context.existingObject(ManagedRecord.self, with: named) }
    }
  }

  @Test func anObjectThatIsGoneKeepsItsID() async throws {
    let id = try await fill()
    let gone = try await store.open(entity("Song", [name]), entity("Album", [name])) { context throws in
      let record = try context.fetch(DynamicQuery("Song"))[0]
      context.reset()
      #expect(record.isDeleted)
      #expect(record.objectID == id)
      return record.objectID
    }
    #expect(gone == id)
  }
}

extension ManagedObjectContext {
  /// The numbers of the objects that a condition with an object's ID finds.
  fileprivate func numbers(_ entity: String, _ id: ManagedObjectID) throws -> [UInt64] {
    let condition = try PredicateTree(format: "SELF == %@", arguments: [id])
    return try fetch(DynamicQuery(entity, where: condition)).map(\.objectID.number.rawValue)
  }
}
