import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Testing

@testable import GraphContext

/// Mistakes of a program. Calls that can throw report them, and no call traps.
struct MisuseTests {
  @Model final class Stranger {
    var name: String
    init(_ name: String) { self.name = name }
  }

  /// A type whose initialiser refuses the empty string.
  struct Email: RawRepresentable, AttributeType {
    let rawValue: String
    init?(rawValue: String) {
      guard rawValue.contains("@") else { return nil }
      self.rawValue = rawValue
    }
  }

  /// The same type with a value of its own.
  struct Address: RawRepresentable, AttributeType, Equatable {
    let rawValue: String
    init?(rawValue: String) {
      guard rawValue.contains("@") else { return nil }
      self.rawValue = rawValue
    }
    static var tracerValue: Address? { Address(rawValue: "a@b.c") }
  }

  @Model final class Contact {
    var email: Email?
    init() {}
  }

  @Model final class Subscriber {
    #Index<Subscriber>([\.address])
    var address: Address
    init(_ address: Address) { self.address = address }
  }

  private func code(_ body: () throws -> some Any) -> ContextError.Code? {
    do { _ = try body() } catch { return (error as? ContextError)?.code }
    return nil
  }

  @Test func aModelThatTheContainerLacksIsAnUnknownEntity() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context in
      let strangers = From<Stranger>()
      let desk = Desk(1)
      context.insert(desk)
      let id = desk.objectID
      #expect(code { try context.fetch(strangers) } == .unknownEntity)
      #expect(code { try context.fetchIDs(strangers) } == .unknownEntity)
      #expect(code { try context.fetchOne(strangers) } == .unknownEntity)
      #expect(code { try context.count(strangers) } == .unknownEntity)
      #expect(code { try context.exists(strangers) } == .unknownEntity)
      #expect(code { try context.explain(strangers) } == .unknownEntity)
      #expect(code { try context.aggregate(.count, in: strangers) } == .unknownEntity)
      #expect(code { try context.fetch(strangers.select(\.name)) } == .unknownEntity)
      #expect(code { try context.forEach(strangers) { _ in } } == .unknownEntity)
      #expect(code { try context.object(Stranger.self, with: id) } == .unknownEntity)
      #expect(code { try context.existingObject(Stranger.self, with: id) } == .unknownEntity)
      #expect(context.registeredObject(Stranger.self, with: id) == nil)
      context.insert(Stranger("A"))
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .unknownEntity)
      #expect(error?.message.contains("Stranger") == true)
      context.rollback()
      try context.checkUsable()
    }
  }

  @Test func windowsAndBatchesOfLessThanNothingAreQueryErrors() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context in
      let writers = From<Writer>()
      for request in [writers.limit(-1), writers.offset(-1)] {
        expectMistake { try context.fetch(request) }
        expectMistake { try context.fetchOne(request) }
        expectMistake { try context.count(request) }
        expectMistake { try context.exists(request) }
      }
      let groups = writers.groupBy(\.rank).aggregate(.count)
      expectMistake { try context.fetch(groups.limit(-1)) }
      expectMistake { try context.fetch(groups.offset(-1)) }
      expectMistake { try context.forEach(writers, inBatchesOf: 0) { _ in } }
    }
  }

  /// An empty window is no mistake.
  @Test func aWindowOfNothingHasNoRows() async throws {
    let library = try await Library.open()
    try await library.performBackgroundTask { context in
      for rank in 0..<5 { context.insert(Writer("A", rank: rank)) }
      try context.save()
      let writers = From<Writer>()
      let groups = writers.groupBy(\.rank).aggregate(.count)
      #expect(try context.fetch(writers.limit(0)).isEmpty)
      #expect(try context.count(writers.limit(0)) == 0)
      #expect(try context.fetch(groups.limit(0)).isEmpty)
      #expect(try context.fetch(groups.orderBy(.descending(.count)).limit(0)).isEmpty)
      #expect(try context.fetch(groups.limit(0).offset(1)).isEmpty)
      #expect(try context.fetch(groups.limit(1).offset(.max)).isEmpty)
    }
  }

  @Test @MainActor func batchesOfNoObjectsAreAQueryError() async throws {
    let library = try await Library.open()
    var batches = library.viewContext.fetch(From<Writer>(), inBatchesOf: 0).makeAsyncIterator()
    let mistake: ContextError?
    do {
      _ = try await batches.next()
      mistake = nil
    } catch { mistake = error }
    #expect(mistake?.queryError?.code == .arguments)
  }

  @Test @MainActor func aViewContextThatIsAskedForAfterTheEndSaysSo() async throws {
    let library = try await Library.open()
    try await library.close()
    let context = library.viewContext
    #expect(code { try context.fetch(From<Writer>()) } == .closed)
    context.insert(Writer("A"))
    #expect(code { try context.save() } == .closed)
    context.rollback()
    #expect(code { try context.fetch(From<Writer>()) } == .closed)
    #expect(code { try context.refresh() } == .closed)
    context.reset()
    #expect(code { try context.count(From<Writer>()) } == .closed)
  }

  @Test func anObjectOfAnotherContextIsNeitherInsertedNorLinkedNorDeleted() async throws {
    let library = try await Library.open()
    let other = try ManagedObjectContext(coordinator: library.coordinator)
    let foreign = Writer("A")
    other.insert(foreign)
    try other.save()
    let attempts: [(ManagedObjectContext) -> Void] = [
      { $0.insert(foreign) },
      { $0.delete(foreign) },
      { context in
        let desk = Desk(1)
        context.insert(desk)
        desk.writer = foreign
      },
      { context in
        let reader = Reader("R")
        context.insert(reader)
        reader.idols = [foreign]
      },
    ]
    for attempt in attempts {
      let context = try ManagedObjectContext(coordinator: library.coordinator)
      attempt(context)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .otherContext)
      #expect(error?.context.objectID == foreign.objectID)
      context.rollback()
      try context.save()
    }
    #expect(!foreign.isDeleted && foreign.name == "A")
    #expect(try other.count(From<Writer>()) == 1)
  }

  @Test func anAttributeTypeWithoutAnyValueIsRefused() async throws {
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Contacts", models: Contact.self, at: .inMemory)
    }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.contains("Email") == true && error?.message.contains("tracerValue") == true)
    let mistake = #expect(throws: QueryError.self) { try Contact.predicatePath(of: \Contact.email) }
    #expect(mistake?.code == .keyPath && mistake?.message.contains("Email") == true)
    #expect(throws: QueryError.self) { try Contact.predicatePath(of: \Contact.email?.rawValue) }
  }

  @Test func anAttributeTypeMayNameAValueOfItsOwn() async throws {
    let container = try await PersistentContainer("Subscribers", models: Subscriber.self, at: .inMemory)
    let address = try #require(Address(rawValue: "b@c.d"))
    try await container.performBackgroundTask { context in
      context.insert(Subscriber(address))
      try context.save()
      #expect(
        try context.fetch(From<Subscriber>().where { $0.address == address }).map(\.address) == [address]
      )
    }
  }

  @Test func aURLThatIsNoFilesIsRefused() async throws {
    let url = try #require(URL(string: "https://example.com/store.cambium"))
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Away", models: Stranger.self, at: url)
    }
    #expect(error?.code == .invalidURL && error?.message.contains("example.com") == true)
    let container = try await PersistentContainer("Here", models: Stranger.self, at: .inMemory)
    let refusal = await #expect(throws: ContextError.self) { try await container.copy(to: url) }
    #expect(refusal?.code == .invalidURL)
    let unopened = #expect(throws: ContextError.self) { try DynamicStore(at: url) }
    #expect(unopened?.code == .invalidURL)
  }
}
