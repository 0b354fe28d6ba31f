import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Stores that are destroyed, replaced by a backup, or made smaller.
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

  /// Begins a compaction, with the variant that blocks its thread, and ends it at its first report. Returns the number
  /// of reports.
  private func reportsOfAnEndedCompaction(_ library: PersistentContainer) throws -> Int {
    var count = 0
    _ = try library.compact { _ in
      count += 1
      return false
    }
    return count
  }

  @Test func compactingMakesTheFileOfAnOpenStoreShorter() async throws {
    let library = try await Library.open(at: url.path)
    try await library.write { context in
      context.insert(Writer("kept"))
      for number in 1...20_000 { context.insert(Writer("the writer of number \(number)", rank: number)) }
    }
    _ = try await library.batchDelete(From<Writer>().where { $0.rank > 0 })
    let before = try library.spaceLedger().totalBytes
    #expect(try reportsOfAnEndedCompaction(library) == 1)
    let end = try await library.compact()
    #expect(end.currentBytes < before / 2, "\(end.currentBytes) after \(before)")
    #expect(try library.spaceLedger().totalBytes < before / 2)
    #expect(try await library.query { try $0.fetch(From<Writer>()).map(\.name) } == ["kept"])
    #expect(try await library.verify() == [])
    try await library.close()
    await #expect(throws: ContextError.self) { try await library.compact() }
  }
}
