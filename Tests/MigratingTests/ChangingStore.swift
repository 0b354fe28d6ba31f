import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// A store in a file that is opened with one schema after the other, without classes.
struct ChangingStore {
  private let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("changing.cambium"))
  }

  /// Opens the store with these entities, verifies it, runs the body, and verifies it again.
  @discardableResult
  func open<Result>(
    _ entities: EntityDescription...,
    body: (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await open(Schema(entities: entities), body: body)
  }

  @discardableResult
  func open<Result>(
    _ schema: Schema,
    chunkByteCount: Int? = nil,
    body: (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let container = try await PersistentContainer(
      "Changing",
      stagedModels(schema),
      at: .file(url),
      ContainerOpening(monitor: MigrationMonitor(chunkByteCount: chunkByteCount))
    )
    #expect(try await container.verify().map(\.description) == [])
    let context = try container.context()
    let result = try body(context)
    try context.save()
    context.end()
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
    return result
  }

  /// The error of a schema that is refused. The file is the same afterwards.
  func refusal(
    of entities: EntityDescription...,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws -> ContextError {
    try await refusal(of: entities, sourceLocation: sourceLocation)
  }

  func refusal(
    of entities: [EntityDescription],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws -> ContextError {
    let before = try Data(contentsOf: url)
    let schema = try Schema(entities: entities)
    let error = await #expect(throws: ContextError.self, sourceLocation: sourceLocation) {
      try await PersistentContainer("Changing", schema: schema, at: url)
    }
    #expect(try Data(contentsOf: url) == before, sourceLocation: sourceLocation)
    return try #require(error, sourceLocation: sourceLocation)
  }
}
