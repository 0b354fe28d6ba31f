import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import Testing

@testable import GraphContext

/// `verify` reports a derived value that disagrees with the values that it is derived from.
struct DerivedVerifyTests {
  @Test(arguments: ["songCount", "seconds", "longest", "canonicalTitle", "weight"])
  func aWrongValueIsReported(name: String) async throws {
    let container = try await DerivedModels.open()
    try await container.performBackgroundTask { context in
      let album = DerivedModels.Album("A")
      context.insert(album)
      context.insert(DerivedModels.Song("x", seconds: 5, in: album))
      try context.save()
    }
    #expect(try await container.verify() == [])
    let schema = container.coordinator.schema
    try await container.store.write { transaction in
      let entity = try #require(schema.entity(named: "Album"))
      let property = try #require(entity.schema.storedProperty(named: name))
      let tree = try transaction.tree(entity.treeName)
      let key = KeyCoder.key(of: 1)
      var encoder = RecordEncoder(layout: entity.layout)
      let bytes = try #require(try tree.value(for: key)).withUnsafeBytes { stored in
        let record = RecordView(validated: stored, layout: entity.layout)
        let wrong: AttributeValue = property.kind == .string ? .string("b") : .int(99)
        return [UInt8](encoder.encode(record, replacing: property.slot, with: wrong))
      }
      _ = try tree.put(key, bytes)
    }
    let tree = try #require(schema.entity(named: "Album")).treeName
    #expect(
      try await container.verify().contains {
        $0.message == "the derived \(name) of Album 1 is not what its rule gives" && $0.tree == tree
      }
    )
  }
}
