import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Stores whose tree `schema` has a format that this library doesn't read. Whatever reads the schema refuses them, and
/// writes nothing.
struct RefusedFormatTests {
  static let formats: [UInt32] = [0, 1, 2, 11, 77]

  private let folder: TemporaryFolder
  private let url: URL

  init() async throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("music.cambium"))
    try await MusicSchemas.makeStore(at: url)
  }

  private func setFormat(_ format: UInt32, at url: URL? = nil) throws {
    let bytes = SchemaTree.bytes(format)
    let store = try Store.open(at: (url ?? self.url).path)
    try store.write { transaction in
      _ = try transaction.tree(SchemaTree.name).put(SchemaTree.formatKey, bytes)
    }
    try store.close()
  }

  private func message(_ format: UInt32) -> String {
    let writer = format < 3 ? "an earlier" : "a newer"
    return "the store was written by \(writer) library: its format is \(format),"
      + " this one reads formats 3 to 10"
  }

  @Test(arguments: formats) func openingWritesNothing(format: UInt32) async throws {
    try setFormat(format)
    let before = try Data(contentsOf: url)
    for schema in [try MusicSchemas.old(), try MusicSchemas.new()] {
      for options in [StoreOptions(), .readOnly] {
        let error = await #expect(throws: ContextError.self) {
          try await PersistentContainer("Music", schema: schema, at: url, options: options)
        }
        #expect(error?.code == .schemaMismatch && error?.message == message(format))
        #expect(try Data(contentsOf: url) == before)
      }
    }
  }

  @Test(arguments: formats) func readersRefuseTheStore(format: UInt32) throws {
    try setFormat(format)
    let before = try Data(contentsOf: url)
    let metadata = #expect(throws: ContextError.self) { try StoreMetadata(at: url) }
    let forecast = #expect(throws: ContextError.self) {
      try MigrationForecast(at: url, to: MusicSchemas.new())
    }
    let dynamic = #expect(throws: ContextError.self) { try DynamicStore(at: url) }
    for error in [metadata, forecast, dynamic] {
      #expect(error?.code == .schemaMismatch && error?.message == message(format))
    }
    #expect(try Data(contentsOf: url) == before)
  }

  @Test(arguments: formats) func verifyReportsTheFormat(format: UInt32) throws {
    try setFormat(format)
    let store = try Store.openToRead(url)
    let problems = try store.verifyObjects(includingWarnings: false)
    #expect(problems.map(\.message) == [message(format)])
    #expect(problems.map(\.tree) == [SchemaTree.name])
    try store.close()
  }

  /// The newest format is read although the schema needs an older one.
  @Test func theOldestAndTheNewestFormatAreRead() throws {
    for format in [3, 10] as [UInt32] {
      try setFormat(format)
      #expect(try StoreMetadata(at: url).formatVersion == format)
    }
  }

  /// No library writes a format that is older than the schema needs.
  @Test func aFormatThatIsTooOldForTheSchemaIsDamage() async throws {
    let url = URL(fileURLWithPath: folder.file("dials.cambium"))
    // Its list is stored encoded, which needs format 5.
    let dials = try await PersistentContainer("Dials", models: Dial.self, at: url)
    try await dials.close()
    try setFormat(4, at: url)
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Dials", models: Dial.self, at: url)
    }
    #expect(error?.code == .corrupt && error?.message.contains("the schema needs 5, and not 4") == true)
    try setFormat(5, at: url)
    try await PersistentContainer("Dials", models: Dial.self, at: url).close()
  }

  /// The refusal is of the number alone: the objects are what they were.
  @Test func theObjectsStay() async throws {
    try setFormat(2)
    await #expect(throws: ContextError.self) {
      try await PersistentContainer("Music", schema: MusicSchemas.new(), at: url)
    }
    try setFormat(SchemaTree.formatVersion)
    let music = try await PersistentContainer("Music", schema: MusicSchemas.old(), at: url)
    #expect(try await music.verify().map(\.description) == [])
    #expect(try await music.performBackgroundTask { try $0.fetch(DynamicQuery("Song")).count } == 20)
    try await music.close()
  }
}
