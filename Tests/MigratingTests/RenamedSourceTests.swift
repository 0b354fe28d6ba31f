import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Renaming the source of a derived attribute computes nothing.
struct RenamedSourceTests {
  private static let before = entity(
    "Song",
    [attribute("title", .string), .attribute("folded", String.self, derived: "title[cd]")]
  )
  private static let after = entity(
    "Song",
    [attribute("name", .string, was: "title"), .attribute("folded", String.self, derived: "name[cd]")]
  )

  @Test func aStoreThatIsReadOnlyIsReadWithTheNewName() async throws {
    let store = try ChangingStore()
    try await store.open(Self.before) { context in try context.make("Song", ["title": .string("É")]) }
    var options = StoreOptions()
    options.isReadOnly = true
    let container = try await PersistentContainer(
      "Songs",
      schema: Schema(entities: [Self.after]),
      at: store.url,
      options: options
    )
    let context = try container.context()
    #expect(try context.values("Song", "folded") == [.string("e")])
    context.end()
    try await container.close()
  }

  @Test func noRecordIsWritten() async throws {
    let store = try ChangingStore()
    try await store.open(Self.before) { context in try context.make("Song", ["title": .string("É")]) }
    let forecast = try MigrationForecast(at: store.url, to: Schema(entities: [Self.after]))
    #expect(forecast.builtTrees.isEmpty, "\(forecast)")
  }
}
