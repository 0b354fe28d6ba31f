import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

private enum Before {
  @Model final class Book {
    var title: String
    init(_ title: String) { self.title = title }
  }
}

private enum After {
  @Model final class Book {
    @Attribute(originalName: "title") var name: String
    var pages: Int = 100
    init(_ name: String) { self.name = name }
  }
}

/// A store that is open for reading only is read by models that differ, and stays as it is.
struct ReadOnlyChangeTests {
  @Test func aChangeThatNeedsNoWorkIsReadAndNotWritten() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("books.cambium"))
    let before = try await PersistentContainer("Books", models: Before.Book.self, at: url)
    try await before.performBackgroundTask { context in
      context.insert(Before.Book("Emma"))
      try context.save()
    }
    try await before.close()
    let bytes = try Data(contentsOf: url)
    var options = StoreOptions()
    options.isReadOnly = true
    let after = try await PersistentContainer("Books", models: After.Book.self, at: url, options: options)
    try await after.performBackgroundTask { context in
      let book = try #require(try context.fetchOne(From<After.Book>().where(\.name == "Emma")))
      #expect(book.pages == 100)
      #expect(try context.count(From<After.Book>().where(\.pages == 100)) == 1)
    }
    #expect(try await after.verify().map(\.description) == [])
    try await after.close()
    #expect(try Data(contentsOf: url) == bytes)
    let again = try await PersistentContainer("Books", models: Before.Book.self, at: url)
    #expect(
      try await again.performBackgroundTask { try $0.fetch(From<Before.Book>()).map(\.title) } == ["Emma"]
    )
    try await again.close()
  }

  private func open(_ song: EntityDescription, in store: ChangingStore) async throws -> PersistentContainer {
    var options = StoreOptions()
    options.isReadOnly = true
    return try await PersistentContainer(
      "Songs",
      schema: Schema(entities: [song]),
      at: store.url,
      options: options
    )
  }

  @Test func everyChangeWithoutWorkIsReadAndAnIndexIsRefused() async throws {
    let store = try ChangingStore()
    let title = attribute("title", .string)
    try await store.open(entity("Song", [title, attribute("seconds", .int16)])) { context in
      try context.make("Song", ["title": .string("Carey"), "seconds": .int(180)])
    }
    let bytes = try Data(contentsOf: store.url)
    let name = attribute("name", .string, was: "title")
    let later = [name, attribute("seconds", .double), attribute("plays", .int64, default: .int(7))]
    let container = try await open(entity("Song", later), in: store)
    let context = try container.context()
    #expect(
      try ["name", "seconds", "plays"].map { try context.values("Song", $0)[0] }
        == [.string("Carey"), .double(180), .int(7)]
    )
    #expect(try context.numbers("Song", "plays == 7") == [1])
    #expect(try await container.verify().map(\.description) == [])
    context.end()
    try await container.close()
    let indexed = entity("Song", later, indexes: [IndexDescription(["plays"])])
    let error = await #expect(throws: ContextError.self) { try await open(indexed, in: store) }
    #expect(error?.code == .schemaMismatch)
    #expect(try Data(contentsOf: store.url) == bytes)
  }

  /// A missing tree of links that a change needs is reported by its relationship. Without objects, no tree is missing.
  @Test func linksAreBuiltOnlyWhereThereAreSome() async throws {
    let name = attribute("name", .string)
    func schema(_ cardinality: RelationshipDescription.Cardinality) throws -> Schema {
      try Schema(entities: [
        entity("Song", [name, link("album", to: "Album", cardinality, inverse: "songs")]),
        entity("Album", [name, link("songs", to: "Song", .many, inverse: "album")]),
      ])
    }
    let store = try ChangingStore()
    try await store.open(schema(.optional)) { try $0.make("Album", ["name": .string("Blue")]) }
    var options = StoreOptions()
    options.isReadOnly = true
    let container = try await PersistentContainer(
      "Songs",
      schema: schema(.many),
      at: store.url,
      options: options
    )
    let context = try container.context()
    #expect(try context.linked("Album", "songs", "name") == [[]])
    context.end()
    try await container.close()
    try await store.open(schema(.optional)) { context throws in
      let song = try context.make("Song", ["name": .string("Carey")])
      try song.setObject("album", to: context.fetch(DynamicQuery("Album"))[0])
    }
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Songs", schema: schema(.many), at: store.url, options: options)
    }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.contains("the links of Song.album") == true)
  }
}
