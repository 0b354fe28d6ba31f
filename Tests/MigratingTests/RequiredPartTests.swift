import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Whether a part of an embedded value that may be nil is required, in schemas that are read and compared.
struct RequiredPartTests {
  private static func item(isRequired: Bool) -> EntityDescription {
    var part = AttributeDescription(name: "home.city", kind: .string, isOptional: true)
    part.isRequiredPart = isRequired
    return entity("Item", [attribute("home", .bool, optional: true), .attribute(part)])
  }

  /// As `cambium migrate strict.cambium --to loose.cambium` does it.
  @Test func aStoreFollowsAnotherOneWhosePartIsOptional() async throws {
    let (strict, loose) = try (ChangingStore(), ChangingStore())
    try await strict.open(Self.item(isRequired: true)) { _ in }
    try await loose.open(Self.item(isRequired: false)) { context in
      try context.make("Item", ["home": .bool(true)])
    }
    let schema = try StoreMetadata(at: loose.url).schema
    #expect(schema.entity(named: "Item")?.attribute(named: "home.city")?.isRequiredPart == false)
    try await strict.open(schema) { context in try context.make("Item", ["home": .bool(true)]) }
  }

  @Test func aPartThatIsRequiredFromNowOnMakesAnotherSchema() throws {
    let loose = try Schema(entities: [Self.item(isRequired: false)])
    let strict = try Schema(entities: [Self.item(isRequired: true)])
    #expect(loose.stableHash != strict.stableHash)
    #expect(loose.description != strict.description)
    #expect(!SchemaDifference(from: loose, to: strict).isEmpty)
  }

  /// An object whose embedded value is nil gets no default.
  @Test func theDefaultOfANewPartIsForetold() async throws {
    let store = try ChangingStore()
    try await store.open(entity("Item", Self.home)) { context in
      for isThere in [true, false, true] {
        let item = try context.insert(entity: "Item")
        if isThere { try item.set("home", to: true) }
      }
    }
    var part = AttributeDescription(name: "home.floor", kind: .int64, isOptional: true)
    (part.isRequiredPart, part.partDefault) = (true, .int(1))
    let schema = try Schema(entities: [entity("Item", Self.home + [.attribute(part)])])
    let forecast = try MigrationForecast(at: store.url, to: schema)
    #expect(forecast.fillings.map(\.description) == ["Item.home.floor 1: 2 objects"])
  }

  private static let home: [PropertyDescription] = [
    attribute("home", .bool, optional: true), attribute("home.city", .string, optional: true),
  ]
}
