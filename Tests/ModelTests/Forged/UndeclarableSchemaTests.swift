import GraphTestSupport
import PageStore
import Predicates
import Testing

@testable import GraphContext

/// A store whose schema can be read, but that no models can have, isn't sound: its objects can't be verified.
struct UndeclarableSchemaTests {
  @Test func verifyReportsTheSchema() async throws {
    let title = attribute("title", .string)
    let schema = try Schema(entities: [entity("Song", [title], indexes: [IndexDescription(["title"])])])
    let container = try await PersistentContainer("Songs", schema: schema, at: .inMemory)
    let store = container.store
    #expect(try store.verifyObjects(includingWarnings: false).map(\.description) == [])
    let catalogue = try #require(try SchemaTree.schema(in: store.snapshot()))
    var changed = catalogue
    changed.entities[0].indexes[0].properties += catalogue.entities[0].indexes[0].properties
    let forged = changed
    #expect(forged.unsoundness == nil)
    try await store.write { try SchemaTree.store(forged, replacing: catalogue, in: &$0) }
    let found = try store.verifyObjects(includingWarnings: false)
    #expect(found.contains { $0.tree == SchemaTree.name && $0.message.contains("twice") }, "\(found)")
  }
}
