import Foundation
import Testing

@testable import GraphContext

/// A class in a document of a schema may leave out a value that is the one of a new description.
struct DocumentClassTests {
  @Test func aClassMayLeaveOutWhatANewDescriptionHas() throws {
    let json = """
      {"entities": [{
        "name": "Animal", "properties": [{"name": "age", "kind": "int64"}],
        "classes": [{"name": "Animal", "properties": ["age"]}, {"name": "Dog", "parent": "Animal"}]
      }]}
      """
    let schema = try JSONDecoder().decode(SchemaDocument.self, from: Data(json.utf8)).schema()
    #expect(schema.entity(named: "Animal")?.classes.map(\.name) == ["Animal", "Dog"])
  }
}
