import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

struct StoreMetadataTests {
  @Test func aStoreSaysWhatItIsAndNothingIsWritten() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("music.cambium"))
    try await MusicSchemas.makeStore(at: url)
    let before = try FolderState(folder.path)
    let metadata = try StoreMetadata(at: url)
    #expect(try FolderState(folder.path) == before)
    let schema = try MusicSchemas.old()
    #expect(metadata.schema == schema && metadata.stableHash == schema.stableHash)
    #expect(metadata.formatVersion == SchemaTree.formatVersion && metadata.schemaVersion == nil)
    #expect(metadata.entities.map(\.name) == ["Album", "Genre", "Label", "Song"])
    #expect(metadata.entities.map(\.layoutCount) == [1, 1, 1, 1])
    #expect(metadata.entities.map(\.stableHash) == schema.entities.map(\.stableHash))
    let coded = try JSONEncoder().encode(metadata)
    #expect(try JSONDecoder().decode(StoreMetadata.self, from: coded) == metadata)

    let music = try await PersistentContainer("Music", schema: MusicSchemas.new(), at: url)
    #expect(music.storeID == metadata.storeID)
    let used = #expect(throws: ContextError.self) { try StoreMetadata(at: url) }
    #expect(used?.storeError?.code == .storeInUse)
    try await music.close()
    let later = try StoreMetadata(at: url)
    let numbers = Dictionary(uniqueKeysWithValues: metadata.entities.map { ($0.name, $0.number) })
    let laterNumbers = Dictionary(uniqueKeysWithValues: later.entities.map { ($0.name, $0.number) })
    #expect(laterNumbers["Record"] == numbers["Album"] && laterNumbers["Song"] == numbers["Song"])
    #expect(!numbers.values.contains(try #require(laterNumbers["Player"])))
    #expect(later.entities.first { $0.name == "Song" }?.layoutCount == 2)
    #expect(later.stableHash != metadata.stableHash)
  }

  @Test func readersShareTheFile() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("music.cambium"))
    try await MusicSchemas.makeStore(at: url)
    let reader = try Store.openToRead(url)
    #expect(try StoreMetadata(at: url).storeID == UUID(reader.uuid))
    #expect(try MigrationForecast(at: url, to: MusicSchemas.old()).isCurrent)
    try await reader.close()
  }

  @Test func aStoreWithoutModelsHasNoFormat() throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("empty.cambium"))
    #expect(throws: ContextError.self) { try StoreMetadata(at: url) }
    try Store.open(at: url.path).close()
    let metadata = try StoreMetadata(at: url)
    #expect(metadata.formatVersion == nil && metadata.entities.isEmpty && metadata.schema.entities.isEmpty)
    let remote = try #require(URL(string: "https://example.org/music.cambium"))
    #expect(throws: ContextError.self) { try StoreMetadata(at: remote) }
  }

  @Test func hashesDoNotDependOnTheOrderOfDeclaration() throws {
    let schema = try MusicSchemas.old()
    var entities = schema.entities
    for place in entities.indices {
      entities[place].properties.reverse()
      entities[place].indexes.reverse()
    }
    let reversed = try Schema(entities: entities)
    #expect(reversed.stableHash == schema.stableHash && reversed != schema)
    #expect(reversed.entities.map(\.stableHash) == schema.entities.map(\.stableHash))
    #expect(Set(schema.entities.map(\.stableHash)).count == schema.entities.count)
    #expect(EntityDescription(name: "A", properties: []).stableHash == 0x1de3_b1b0_ca24_e1dd)
  }
}
