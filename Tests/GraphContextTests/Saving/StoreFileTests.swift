import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Stores that are destroyed, or replaced by a backup.
struct StoreFileTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("library.cambium")) }
  private var backup: URL { URL(fileURLWithPath: folder.file("backup.cambium")) }

  init() throws { folder = try TemporaryFolder() }

  private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
    do { try await body() } catch { return (error as? ContextError)?.storeError?.code }
    return nil
  }

  @Test func aBackupReplacesTheStoreAndItsIDsFindTheirObjects() async throws {
    let library = try await Library.open(at: url.path)
    let id = try await library.write { context in
      let writer = Writer("Austen")
      context.insert(writer)
      return writer.objectID
    }
    try await library.copy(to: backup)
    try await library.write { try $0.existingObject(Writer.self, with: id).name = "changed since" }
    #expect(
      await code { try await PersistentContainer.replaceStore(at: url, byCopyOf: backup) } == .storeInUse
    )
    try await library.close()

    try await PersistentContainer.replaceStore(at: url, byCopyOf: backup)
    let restored = try await Library.open(at: url.path)
    let name = try await restored.query { try $0.existingObject(Writer.self, with: id).name }
    #expect(name == "Austen")
    #expect(try await restored.verify() == [])
    #expect(
      await code { try await PersistentContainer.replaceStore(at: backup, byCopyOf: url) } == .storeInUse
    )
    try await restored.close()
  }

  @Test func aStoreIsDestroyedWhenItIsClosed() async throws {
    let library = try await Library.open(at: url.path)
    let oldID = library.storeID
    #expect(await code { try await PersistentContainer.destroyStore(at: url) } == .storeInUse)
    try await library.write { $0.insert(Writer("Austen")) }
    try await library.close()
    try await PersistentContainer.destroyStore(at: url)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    #expect(await code { try await PersistentContainer.destroyStore(at: url) } == .inputOutput)
    let again = try await Library.open(at: url.path)
    #expect(again.storeID != oldID)
    #expect(try await again.query { try $0.count(From<Writer>()) } == 0)
    let web = try #require(URL(string: "https://example.org/store"))
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer.destroyStore(at: web)
    }
    #expect(error?.code == .invalidURL)
  }
}
