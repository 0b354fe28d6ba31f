import Cambium
import Foundation
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Bytes of ordered many-to-many relationships that no version of the library writes. `verify` reports them, reading
/// them throws `corrupt`, and nothing traps.
struct ForgedAnthologyTests {
  private let container: PersistentContainer
  private let book: ManagedObjectID

  init() async throws {
    container = try await PersistentContainer("Books", models: Anthology.self, Poem.self, at: .inMemory)
    book = try await container.performBackgroundTask { context in
      let book = Anthology("A")
      context.insert(book)
      book.poems.append(contentsOf: ["a", "b", "c"].map(Poem.init))
      book.poems.move(from: 2, to: 0)
      try context.save()
      return book.objectID
    }
    #expect(try await container.verify() == [])
  }

  private var places: (table: ListTable, places: PairPlaces) {
    get throws {
      let entity = try #require(container.coordinator.schema.entity(named: "Anthology"))
      let list = try #require(entity.toManys.first { $0.name == "poems" }?.list)
      guard case .pairs(let places) = list.origin else { throw TestFailure() }
      return (list, places)
    }
  }

  private struct TestFailure: Error {}

  /// Changes one tree of the store.
  private func change(_ name: String, _ body: @escaping @Sendable (WriteTree) throws -> Void) async throws {
    try await container.store.write { try body($0.tree(name)) }
  }

  private static let wrong: [[UInt8]] = [
    [0x20, 0], [0x21], [0x28, 1], [0xFF, 1, 2], [0x20, 1, 2, 0], [UInt8](repeating: 0x20, count: 40),
  ]

  @Test(arguments: wrong) func aLinkWithAValueThatIsNoPlace(_ bytes: [UInt8]) async throws {
    let (_, places) = try places
    let key = KeyCoder.pair(book.number, ObjectNumber(rawValue: 3))
    try await change(places.linkTreeName) { _ = try $0.put(key, bytes) }
    #expect(try await container.verify().contains { $0.message.contains("not a place") })
    await #expect(throws: ContextError.self) {
      try await container.performBackgroundTask { context in
        let book = try context.object(Anthology.self, with: self.book)
        book.poems.remove(at: 0)
        try context.save()
      }
    }
  }

  @Test(arguments: wrong) func anOrderWithAPlaceThatIsNone(_ bytes: [UInt8]) async throws {
    let (table, _) = try places
    var key = KeyCoder.listPrefix(of: book.number)
    KeyCoder.append(.data(Data(bytes)), to: &key)
    KeyCoder.append(number: ObjectNumber(rawValue: 1), to: &key)
    let forged = key
    try await change(table.treeName) { _ = try $0.put(forged, []) }
    #expect(try await container.verify().contains { $0.message.contains("4 entries for 3 links") })
    await #expect(throws: ContextError.self) {
      try await container.performBackgroundTask { context in
        let book = try context.object(Anthology.self, with: self.book)
        #expect(book.poems.first { _ in true } == nil)
        book.poems.insert(Poem("new"), at: 0)
        try context.save()
      }
    }
  }

  @Test func aLinkThatTheOrderLacks() async throws {
    let (table, _) = try places
    let key = KeyCoder.listKey(book.number, ListEntry(place: nil, number: ObjectNumber(rawValue: 2)))
    try await change(table.treeName) { _ = try $0.remove(key) }
    let found = try await container.verify().map(\.message)
    #expect(found.contains { $0.contains("is not in the order") }, "\(found)")
    try await container.performBackgroundTask { context in
      let book = try context.object(Anthology.self, with: self.book)
      _ = book.poems[0..<3]
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
    }
  }

  @Test func aPlaceThatTheOrderHasNot() async throws {
    let (_, places) = try places
    let key = KeyCoder.pair(book.number, ObjectNumber(rawValue: 1))
    try await change(places.linkTreeName) { _ = try $0.put(key, ListPlace(7, fraction: [128]).bytes) }
    #expect(try await container.verify().contains { $0.message.contains("is not in the order") })
    let titles = try await container.performBackgroundTask { context in
      try context.object(Anthology.self, with: self.book).titles
    }
    #expect(Set(titles) == ["a", "b", "c"])
  }

  @Test func aCatalogueWithAnOrderOfNoPairs() async throws {
    var catalogue = container.coordinator.schema.catalogue
    let entity = try #require(catalogue.entities.firstIndex { $0.name == "Anthology" })
    #expect(catalogue.unsoundness == nil)
    for property in catalogue.entities[entity].properties.indices {
      guard var relationship = catalogue.entities[entity].properties[property].relationship else { continue }
      relationship.cardinality = .optional
      catalogue.entities[entity].properties[property].content = .relationship(relationship)
    }
    #expect(catalogue.unsoundness != nil)
  }
}
