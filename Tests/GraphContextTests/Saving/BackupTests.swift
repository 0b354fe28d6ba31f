import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Copies of a container's store.
struct BackupTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func insertWriters(
    _ count: Int,
    from first: Int,
    in library: PersistentContainer
  ) async throws
    -> [ManagedObjectID]
  {
    try await library.performBackgroundTask { context in
      let writers = (0..<count).map { Writer("w", email: "\(first + $0)", rank: first + $0) }
      for writer in writers { context.insert(writer) }
      try context.save()
      return writers.map(\.objectID)
    }
  }

  @Test func aBackupTakesTheStoresPlace() async throws {
    let path = folder.file("library.cambium")
    let library = try await Library.open(at: path)
    let ids = try await insertWriters(300, from: 0, in: library)
    try await library.copy(to: URL(fileURLWithPath: folder.file("backup")))
    _ = try await insertWriters(5, from: 300, in: library)
    try await library.close()

    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: folder.file("backup"), toPath: path)
    let restored = try await Library.open(at: path)
    #expect(try await restored.verify().isEmpty)
    let ranks = try await restored.performBackgroundTask { context in
      try ids.map { try context.existingObject(Writer.self, with: $0).rank }
    }
    #expect(ranks == Array(0..<300))
    #expect(try await restored.performBackgroundTask { try $0.count(From<Writer>()) } == 300)
    let more = try await insertWriters(1, from: 900, in: restored)
    #expect(Set(ids).isDisjoint(with: more))
  }

  @Test func aCopyCanBeAStoreOfItsOwn() async throws {
    let library = try await Library.open(at: folder.file("library.cambium"))
    let id = try #require(try await insertWriters(1, from: 0, in: library).first)
    let url = URL(fileURLWithPath: folder.file("copy"))
    try await library.copy(to: url, keepsObjectIDs: false)
    let copy = try await Library.open(at: url.path)
    #expect(copy.storeID != library.storeID)
    await #expect(throws: ContextError.self) {
      try await copy.performBackgroundTask { _ = try $0.existingObject(Writer.self, with: id) }
    }
    do {
      try await library.copy(to: url)
      Issue.record("a file was replaced")
    } catch {
      #expect(error.storeError?.code == .inputOutput)
    }
  }
}
