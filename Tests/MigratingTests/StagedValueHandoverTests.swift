import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// A container has stored some parts of a long value when another container takes the store over.
struct StagedValueHandoverTests {
  private let store: Store
  private let old: PersistentContainer
  private let album: StoredEntity
  private let slot: Int
  private let number: ObjectNumber

  init() throws {
    store = try Store.inMemory()
    old = try openStaged(store, Self.schema())
    album = try #require(old.coordinator.schema.entity(named: "Album"))
    slot = try #require(album.schema.stored.firstIndex { $0.name == "cover" })
    let context = try old.context()
    let made = try context.make("Album", ["title": .string("x"), "cover": .data(Self.bytes(0..<70_000))])
    try context.save()
    number = made.objectID.number
    context.end()
  }

  private static func bytes(_ range: Range<Int>) -> Data { Data(range.map { UInt8($0 * $0 % 251) }) }

  private static func schema(_ title: AttributeKind = .string, noted: Bool = false) throws -> Schema {
    let note = noted ? [attribute("note", .string, optional: true)] : []
    return try Schema(entities: [
      entity("Album", [attribute("title", title), attribute("cover", .externalData, optional: true)] + note)
    ])
  }

  /// Stores the first parts of a value of 1,000,000 bytes.
  private func begin() throws -> BlobWriter {
    var writer = BlobWriter(old.engine, album, slot: slot)
    try writer.append(Self.bytes(0..<500_000))
    try writer.storeParts()
    return writer
  }

  private func end(_ begun: BlobWriter) throws {
    var writer = begun
    try writer.append(Self.bytes(500_000..<1_000_000))
    try writer.storeParts()
    try StoreBatch(old.coordinator, nil, author: nil).set(writer.finish(), at: slot, of: number, album)
  }

  private func takeOver(_ models: ContainerModels, _ monitor: MigrationMonitor) throws -> PersistentContainer
  {
    try PersistentContainer("x", models, on: store, ContainerOpening(monitor: monitor, takesOver: true))
  }

  private func cover(_ container: PersistentContainer) throws -> AttributeValue? {
    let context = try container.context()
    defer { context.end() }
    return try context.values("Album", "cover").first
  }

  /// The parts in all trees of long values.
  private func partCount() throws -> Int {
    let snapshot = try store.snapshot()
    return try snapshot.treeNames.filter { $0.hasPrefix("b/") }.reduce(0) { try $0 + snapshot.tree($1).count }
  }

  /// A stage that rebuilds the albums.
  private func stage(_ body: @escaping @Sendable () throws -> Void = {}) throws -> ContainerModels {
    let versions = (Schema.Version(1), Schema.Version(2))
    let documents = [
      SchemaDocument(try Self.schema(), version: versions.0),
      SchemaDocument(try Self.schema(noted: true), version: versions.1),
    ]
    let stage = MigrationStage.custom(from: versions.0, to: versions.1, .once { _ in try body() })
    return try ContainerModels(MigrationPlan(documents: documents, stages: [stage]))
  }

  @Test func aRefusedHandoverLeavesThem() throws {
    let writer = try begin()
    let refused = #expect(throws: ContextError.self) {
      _ = try takeOver(stagedModels(Self.schema(.int64)), MigrationMonitor())
    }
    #expect(refused?.code == .schemaMismatch)
    try end(writer)
    #expect(try cover(old) == .data(Self.bytes(0..<1_000_000)))
    #expect(try old.verify().map(\.description) == [])
  }

  @Test(arguments: 1...3) func aCancelledHandoverLeavesThem(limit: Int) throws {
    let writer = try begin()
    let monitor = Reports(chunkByteCount: 50_000).monitor(cancellingAfter: limit)
    let cancelled = #expect(throws: ContextError.self) { _ = try takeOver(stage(), monitor) }
    #expect(cancelled?.code == .cancelled)
    try end(writer)
    #expect(try cover(old) == .data(Self.bytes(0..<1_000_000)))
    #expect(try old.verify().map(\.description) == [])
  }

  /// No object would refer to copied parts, and no commit would remove them.
  @Test(arguments: [false, true]) func aStageCopiesNone(isDiscardedMeanwhile: Bool) throws {
    let writer = try begin()
    let monitor = MigrationMonitor(chunkByteCount: 50_000)
    let new = try takeOver(stage { if isDiscardedMeanwhile { try writer.discard() } }, monitor)
    #expect(try partCount() == 2)
    let late = #expect(throws: ContextError.self) { try end(writer) }
    #expect(late?.code == .schemaChanged)
    try writer.discard()
    #expect(try cover(new) == .data(Self.bytes(0..<70_000)))
    #expect(try new.verify().map(\.description) == [])
    #expect(monitor.progress.fractionCompleted == 1)
  }

  @Test func aHandoverWithoutAStageRemovesThem() throws {
    let writer = try begin()
    #expect(try partCount() > 8)
    let new = try takeOver(stagedModels(Self.schema(noted: true)), MigrationMonitor())
    #expect(try partCount() == 2)
    try writer.discard()
    #expect(try cover(new) == .data(Self.bytes(0..<70_000)))
    #expect(try new.verify().map(\.description) == [])
  }
}

extension StagedValueHandoverTests {
  /// Only a successful opening removes parts that an ended process has left.
  @Test func aRefusedOpeningWritesNothing() throws {
    let store = try Store.inMemory()
    do {
      let container = try openStaged(store, Self.schema())
      let album = try #require(container.coordinator.schema.entity(named: "Album"))
      let context = try container.context()
      try context.make("Album", ["title": .string("x")])
      try context.save()
      context.end()
      var writer = BlobWriter(container.engine, album, slot: slot)
      try writer.append(Self.bytes(0..<500_000))
      try writer.storeParts()
    }
    let commit = try store.snapshot().commit
    #expect(throws: ContextError.self) { _ = try openStaged(store, Self.schema(.int64)) }
    #expect(try store.snapshot().commit == commit)
    let container = try openStaged(store, Self.schema())
    #expect(try store.snapshot().commit > commit)
    #expect(try container.verify().map(\.description) == [])
    let snapshot = try store.snapshot()
    #expect(
      try snapshot.treeNames.filter { $0.hasPrefix("b/") }.allSatisfy { try snapshot.tree($0).count == 0 }
    )
  }
}
