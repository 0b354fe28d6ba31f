import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Values that come in chunks.
struct BlobWritingTests {
  typealias Album = ExternalAttributeTests.Album

  let folder: TemporaryFolder
  let container: PersistentContainer
  let id: ManagedObjectID

  init() async throws {
    folder = try TemporaryFolder()
    container = try await ExternalAttributeTests.open(folder)
    id = try await container.performBackgroundTask { context in
      let album = Album("A", cover: Self.bytes(70_000, 1))
      context.insert(album)
      try context.save()
      return album.objectID
    }
  }

  private static func bytes(_ count: Int, _ seed: Int) -> Data { ExternalAttributeTests.bytes(count, seed) }

  private struct Stop: Error {}

  /// A value in chunks of a given size. The sequence throws an error after a given number of them.
  private struct Chunks: AsyncSequence, Sendable {
    let value: Data
    let size: Int
    var failsAfter = Int.max
    var meanwhile: (@Sendable () async throws -> Void)?

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }

    struct Iterator: AsyncIteratorProtocol {
      let chunks: Chunks
      var count = 0

      mutating func next() async throws -> Data? {
        let start = count * chunks.size
        if count == chunks.failsAfter { throw Stop() }
        guard start < chunks.value.count else {
          try await chunks.meanwhile?()
          return nil
        }
        count += 1
        return chunks.value.dropFirst(start).prefix(chunks.size)
      }
    }
  }

  private func cover() async throws -> Data? {
    try await container.performBackgroundTask { [id] context in
      try context.existingObject(Album.self, with: id).cover
    }
  }

  private func partCount() throws -> Int {
    let snapshot = try container.store.snapshot()
    return try snapshot.treeNames.filter { $0.hasPrefix("b/") }.reduce(0) { try $0 + snapshot.tree($1).count }
  }

  @Test(arguments: [0, 1, 512, 513, 1_047_551, 1_047_552, 1_047_553, 3_000_000], [1_000_000, 4_001])
  func chunksBecomeTheValue(count: Int, size: Int) async throws {
    let value = Self.bytes(count, 2)
    try await container.setBlob(\Album.cover, of: id, from: Chunks(value: value, size: size))
    #expect(try await cover() == value)
    #expect(try partCount() == (count <= 512 ? 0 : (count + 65_471) / 65_472))
    let blob = try await container.performBackgroundTask { [id] context in
      try context.existingObject(Album.self, with: id).blob(\.cover)
    }
    #expect(blob?.hash == value.withUnsafeBytes { BlobHash.hash($0) })
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test(arguments: [0, 1, 262_144, 3_000_001])
  func aFileBecomesTheValueAndTheValueAFile(count: Int) async throws {
    let (file, copy) = (
      URL(fileURLWithPath: folder.file("cover.png")), URL(fileURLWithPath: folder.file("copy.png"))
    )
    let value = Self.bytes(count, 7)
    try value.write(to: file)
    try Self.bytes(4_000_000, 8).write(to: copy)
    try await container.setBlob(\Album.cover, of: id, contentsOf: file)
    #expect(try await cover() == value)
    try await container.performBackgroundTask { [id] context in
      try context.existingObject(Album.self, with: id).blob(\.cover)
    }?.write(to: copy)
    #expect(try Data(contentsOf: copy) == value)
    await #expect(throws: CocoaError.self) {
      try await container.setBlob(
        \Album.cover,
        of: id,
        contentsOf: URL(fileURLWithPath: folder.file("none.png"))
      )
    }
    #expect(try await cover() == value)
    #expect(try await container.verify().map(\.description) == [])
  }

  private func notes() async throws -> String {
    try await container.performBackgroundTask { [id] context in
      try context.existingObject(Album.self, with: id).notes
    }
  }

  /// Characters of one to four bytes lie across the ends of chunks.
  @Test(arguments: [0, 9, 3_000, 300_000]) func aTextComesInChunks(length: Int) async throws {
    let text = String(repeating: "aé漢🌲", count: length)
    for size in [1, 7, 4_099] where length < 10_000 || size > 1_000 {
      try await container.setBlob(\Album.notes, of: id, from: Chunks(value: Data(text.utf8), size: size))
      #expect(try await notes() == text)
      try await container.setBlob(\Album.notes, of: id, from: Chunks(value: Data("x".utf8), size: 1))
    }
    let file = URL(fileURLWithPath: folder.file("notes.txt"))
    try Data(text.utf8).write(to: file)
    try await container.setBlob(\Album.notes, of: id, contentsOf: file)
    #expect(try await notes() == text)
    #expect(try await container.verify().map(\.description) == [])
  }

  /// Cut characters, bytes that begin no character, overlong encodings, surrogates, and values above the last character.
  @Test(
    arguments: [
      [0xE6, 0xBC], [0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
      [0xF0, 0x9F, 0x41], [0xC3],
    ] as [[UInt8]]
  ) func bytesThatAreNoTextAreRefused(bytes: [UInt8]) async throws {
    try await container.setBlob(\Album.notes, of: id, from: Chunks(value: Data("old".utf8), size: 2))
    let parts = try partCount()
    for length in [0, 1_500_000] {
      for size in [1, 1 << 20] where length == 0 || size > 1 {
        let value = Data(repeating: 0x61, count: length) + Data(bytes)
        let error = await #expect(throws: ContextError.self) {
          try await container.setBlob(\Album.notes, of: id, from: Chunks(value: value, size: size))
        }
        #expect(error?.code == .wrongValue && error?.context.properties == ["notes"])
      }
    }
    #expect(try await notes() == "old" && partCount() == parts)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func aContextLearnsOfTheValue() async throws {
    let context = try container.context()
    defer { context.end() }
    let album = try context.existingObject(Album.self, with: id)
    #expect(album.cover == Self.bytes(70_000, 1))
    let value = Self.bytes(2_000_000, 3)
    try await container.setBlob(\Album.cover, of: id, from: Chunks(value: value, size: 100_000))
    context.refreshAllObjects()
    #expect(album.cover == Self.bytes(70_000, 1))
    try context.save()
    try context.mergeAutomatically()
    #expect(album.cover == value)
  }

  @Test func chunksThatFailLeaveNothing() async throws {
    let value = Self.bytes(4_000_000, 4)
    await #expect(throws: Stop.self) {
      try await container.setBlob(
        \Album.cover,
        of: id,
        from: Chunks(value: value, size: 500_000, failsAfter: 7)
      )
    }
    #expect(try await cover() == Self.bytes(70_000, 1))
    #expect(try partCount() == 2)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func anObjectThatIsDeletedMeanwhileLeavesNothing() async throws {
    let chunks = Chunks(value: Self.bytes(4_000_000, 5), size: 500_000) { [container, id] in
      #expect(try await container.verify().map(\.description) == [])
      try await container.performBackgroundTask { context in
        context.delete(try context.existingObject(Album.self, with: id))
        try context.save()
      }
    }
    let error = await #expect(throws: ContextError.self) {
      try await container.setBlob(\Album.cover, of: id, from: chunks)
    }
    #expect(error?.code == .objectNotFound)
    #expect(try partCount() == 0)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func whatAProcessHasLeftIsRemoved() async throws {
    let entity = try #require(container.coordinator.schema.entity(named: "Album"))
    var writer = BlobWriter(container.handle.engine, entity, slot: 1)
    try writer.append(Self.bytes(2_000_000, 6))
    try writer.storeParts()
    #expect(try partCount() == 2 + 30)
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
    let again = try await ExternalAttributeTests.open(folder)
    let snapshot = try again.store.snapshot()
    #expect(try snapshot.tree(entity.blobTreeName(at: 1)).count == 2)
    #expect(try await again.verify().map(\.description) == [])
  }

  @Test func aValueBeyondTheLimitIsRefused() async throws {
    let entity = try #require(container.coordinator.schema.entity(named: "Album"))
    var writer = BlobWriter(container.handle.engine, entity, slot: 1, limit: 100_000)
    try writer.append(Self.bytes(70_000, 6))
    try writer.storeParts()
    let error = #expect(throws: ContextError.self) { try writer.append(Self.bytes(30_001, 6)) }
    #expect(error?.code == .wrongValue)
    #expect(error?.context.entity == "Album" && error?.context.properties == ["cover"])
    // A refused chunk is no part of the value.
    try writer.append(Self.bytes(30_000, 6))
    try writer.storeParts()
    guard case .reference(let reference) = try writer.finish() else {
      Issue.record("it is no staged value")
      return
    }
    #expect(reference.byteCount == 100_000)
    try writer.discard()
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func onlyWhatIsStagedCanBeReferredTo() async throws {
    let entity = try #require(container.coordinator.schema.entity(named: "Album"))
    var writer = BlobWriter(container.handle.engine, entity, slot: 1)
    try writer.append(Self.bytes(100_000, 6))
    try writer.storeParts()
    let content = try writer.finish()
    try writer.discard()
    let error = #expect(throws: ContextError.self) {
      try StoreBatch(container.coordinator, nil, author: nil)
        .set(content, at: 1, of: id.number, entity)
    }
    #expect(error?.code == .corrupt)
  }

  /// The stream ends early and without an error.
  @Test(arguments: [10, 2_000_000]) func chunksOfACancelledTaskAreNoValue(count: Int) async throws {
    let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
    continuation.yield(Self.bytes(count, 9))
    let task = Task { [container, id] in
      try await container.setBlob(\Album.cover, of: id, from: chunks)
    }
    task.cancel()
    let error = await #expect(throws: ContextError.self) { try await task.value }
    #expect(error?.code == .cancelled && error?.context.properties == ["cover"])
    #expect(try await cover() == Self.bytes(70_000, 1))
    #expect(try partCount() == 2)
    #expect(try await container.verify().map(\.description) == [])
  }

  /// Chunks that keep coming although the task is cancelled, as those of a file do.
  private struct SteadyChunks: AsyncSequence, Sendable {
    func makeAsyncIterator() -> Iterator { Iterator() }

    struct Iterator: AsyncIteratorProtocol {
      var left = 100

      mutating func next() async throws -> Data? {
        if left == 0 {
          Issue.record("all chunks were asked for")
          return nil
        }
        left -= 1
        withUnsafeCurrentTask { $0?.cancel() }
        return Data(repeating: 1, count: 1_000)
      }
    }
  }

  @Test func aCancelledTaskAsksForNoMoreChunks() async throws {
    let task = Task { [container, id] in
      try await container.setBlob(\Album.cover, of: id, from: SteadyChunks())
    }
    let error = await #expect(throws: ContextError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(try await cover() == Self.bytes(70_000, 1))
  }

  @Test func aLongChunkIsStoredInSeveralCommits() async throws {
    let value = Self.bytes(5_000_000, 2)
    let before = try container.store.snapshot().commit
    try await container.setBlob(\Album.cover, of: id, from: Chunks(value: value, size: value.count))
    // Four with whole parts, one with the rest, one that sets the value.
    #expect(try container.store.snapshot().commit >= before + 6)
    #expect(try await cover() == value)
    #expect(try await container.verify().map(\.description) == [])
  }

  /// Lengths of values that are in the record, in one commit and in several.
  @Test(arguments: [0, 100, 70_000, 3_000_000]) func anEqualValueIsNoChange(count: Int) async throws {
    let chunks = Chunks(value: Self.bytes(count, 2), size: 500_000)
    try await container.setBlob(\Album.cover, of: id, from: chunks)
    try await container.keepHistory()
    let parts = try partCount()
    try await container.setBlob(\Album.cover, of: id, from: chunks)
    #expect(try await container.history().isEmpty)
    #expect(try await cover() == chunks.value && partCount() == parts)
    #expect(try await container.verify().map(\.description) == [])
    let others = Chunks(value: Self.bytes(count + 1, 3), size: 500_000)
    try await container.setBlob(\Album.cover, of: id, from: others)
    let changes = try await container.history().map { $0.changes.map(\.properties) }
    #expect(changes == [[["cover"]]])
  }

  @Test func otherAttributesAreRefused() async throws {
    let chunks = Chunks(value: Data(), size: 1)
    let missing = ManagedObjectID(
      entity: id.entity,
      number: ObjectNumber(rawValue: 99 << 14),
      storeID: id.storeID
    )
    var error = await #expect(throws: ContextError.self) {
      try await container.setBlob(\Album.cover, of: missing, from: chunks)
    }
    #expect(error?.code == .objectNotFound)
    error = await #expect(throws: ContextError.self) {
      try await container.setBlob(\ExternalAttributeTests.Page.album?.cover, of: id, from: chunks)
    }
    #expect(error?.code == .invalidQuery)
  }
}
