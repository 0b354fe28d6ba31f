import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// A store with forged references and parts throws `corrupt`, and never traps.
struct ForgedBlobTests {
  typealias Album = ExternalAttributeTests.Album

  private static let byteCount = 100_000
  private static let cover = ExternalAttributeTests.bytes(byteCount, 1)

  let folder: TemporaryFolder
  let container: PersistentContainer
  private let records: String
  private let parts: String

  init() async throws {
    folder = try TemporaryFolder()
    container = try await ExternalAttributeTests.open(folder)
    try await container.performBackgroundTask { context in
      context.insert(Album("A", cover: Self.cover))
      context.insert(Album("B", cover: Data(Self.cover.reversed())))
      try context.save()
    }
    let entity = try #require(container.coordinator.schema.entity(named: "Album"))
    records = entity.treeName
    parts = entity.blobTreeName(at: 1)
  }

  /// Changes the record of the album A. The closure gets the offset of the reference, which begins with its tag.
  private func forge(_ change: @escaping @Sendable (inout [UInt8], Int) -> Void) async throws {
    let tree = records
    try await container.store.write { transaction in
      let records = try transaction.tree(tree)
      var (key, record) = try #require(try records.entry(at: 0))
      let count = withUnsafeBytes(of: UInt64(Self.byteCount).littleEndian) { Data($0) }
      let place = try #require(Data(record).range(of: count)?.lowerBound)
      change(&record, place - 13)
      _ = try records.put(key, record)
    }
  }

  private func number(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) } }

  /// Expects that the cover of A can't be read in any way, and that everything else works.
  private func expectDamage(ofRanges: Bool = true) async throws {
    #expect(try await !container.verify().isEmpty)
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<Album>().where { $0.title == "A" }).first)
      #expect(album.cover == nil)
      let error = #expect(throws: ContextError.self) { try context.fetch(From<Album>()) }
      #expect(error?.code == .corrupt && error?.context.properties == ["cover"])
      context.rollback()
    }
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<Album>().where { $0.title == "A" }).first)
      if ofRanges {
        let error = #expect(throws: ContextError.self) {
          let blob = try #require(try album.blob(\.cover))
          _ = try blob.read(blob.count - 1..<blob.count)
        }
        #expect(error?.code == .corrupt)
      }
      let error = #expect(throws: ContextError.self) { try context.fetch(From<Album>().select(\.cover)) }
      #expect(error?.code == .corrupt)
      album.title = "C"
      try context.save()
      album.cover = Self.cover
      try context.save()
      #expect(album.cover == Self.cover)
      let other = try #require(try context.fetch(From<Album>().where { $0.title == "B" }).first)
      #expect(other.cover == Data(Self.cover.reversed()))
    }
  }

  @Test(arguments: [
    UInt64(byteCount) - 1, UInt64(byteCount) + 1, UInt64(byteCount) + 65_472, 1 << 47, 1 << 48,
  ])
  func aWrongLengthIsCorrupt(count: UInt64) async throws {
    let bytes = number(count)
    try await forge { record, place in record.replaceSubrange(place + 13..<place + 21, with: bytes) }
    try await expectDamage()
  }

  @Test(arguments: [UInt64(0), 1 << 48 + 1, .max, 1 << 63])
  func aLengthThatNoValueHasIsCorrupt(count: UInt64) async throws {
    let bytes = number(count)
    try await forge { record, place in record.replaceSubrange(place + 13..<place + 21, with: bytes) }
    try await expectDamage()
  }

  @Test func aWrongHashIsCorrupt() async throws {
    try await forge { record, place in record[place + 21] ^= 1 }
    try await expectDamage(ofRanges: false)
  }

  @Test(arguments: [1, 8, 9, 12])
  func aReferenceToNothingIsCorrupt(offset: Int) async throws {
    try await forge { record, place in record[place + offset] ^= 0x40 }
    try await expectDamage()
  }

  @Test(arguments: [2, 255])
  func aTagThatMeansNothingIsCorrupt(tag: UInt8) async throws {
    try await forge { record, place in record[place] = tag }
    try await expectDamage()
  }

  @Test func aMissingPartIsCorrupt() async throws {
    try await change { tree, key, _ in try tree.remove(key) }
    try await expectDamage(ofRanges: false)
  }

  @Test func aPartOfAnotherLengthIsCorrupt() async throws {
    try await change { tree, key, value in try tree.put(key, value + [0]) }
    try await expectDamage(ofRanges: false)
  }

  @Test func aPartWithAnotherByteIsCorrupt() async throws {
    try await change { tree, key, value in try tree.put(key, [value[0] ^ 1] + value.dropFirst()) }
    try await expectDamage(ofRanges: false)
  }

  @Test func aPartOfNoValueIsFound() async throws {
    try await change { tree, key, value in
      try tree.put(key.dropLast(8) + [0, 0, 0, 99, 0, 0, 0, 0] as [UInt8], value)
    }
    #expect(try await container.verify().map(\.tree) == [parts])
  }

  /// Changes the first part of the first album's cover.
  private func change(
    _ change: @escaping @Sendable (WriteTree, [UInt8], [UInt8]) throws -> Bool
  ) async throws {
    let name = parts
    try await container.store.write { transaction in
      let tree = try transaction.tree(name)
      let (key, value) = try #require(try tree.entry(at: 0))
      _ = try change(tree, key, value)
    }
  }

  @Test func randomBytesNeverTrap() async throws {
    var random = SeededGenerator()
    let tree = records
    for _ in 0..<150 {
      let (offset, byte) = (random.number(in: 0...1_000), UInt8(random.number(in: 0...255)))
      try await container.store.write { transaction in
        let records = try transaction.tree(tree)
        var (key, record) = try #require(try records.entry(at: 0))
        record[16 + offset % (record.count - 16)] = byte
        _ = try records.put(key, record)
      }
      _ = try await container.verify()
      let context = try container.context()
      if let albums = try? context.fetch(From<Album>()) {
        for album in albums { _ = (album.cover, album.notes) }
        context.rollback()
        for album in albums { _ = try? album.blob(\.cover)?.read(0..<1_000_000) }
        _ = try? context.fetch(From<Album>().select(\.cover, \.notes))
      }
      context.end()
    }
  }
}
