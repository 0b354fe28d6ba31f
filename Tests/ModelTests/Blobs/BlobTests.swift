import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Values that are read in parts.
struct BlobTests {
  typealias Album = ExternalAttributeTests.Album
  typealias Page = ExternalAttributeTests.Page

  let folder: TemporaryFolder
  let container: PersistentContainer

  init() async throws {
    folder = try TemporaryFolder()
    container = try await ExternalAttributeTests.open(folder)
  }

  private static func bytes(_ count: Int, _ seed: Int) -> Data { ExternalAttributeTests.bytes(count, seed) }

  private func insert(_ cover: Data?) async throws {
    try await container.performBackgroundTask { context in
      context.insert(Album("A", cover: cover))
      try context.save()
    }
  }

  @Test(arguments: [100, 70_000, 200_000])
  func rangesAndChunksAreThoseOfTheValue(count: Int) async throws {
    let cover = Self.bytes(count, 3)
    try await insert(cover)
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<Album>()).first)
      let blob = try #require(try album.blob(\.cover))
      #expect(blob.count == count && !album._$state.isLoaded(1))
      #expect(blob.hash == cover.withUnsafeBytes { BlobHash.hash($0) })
      for range in [
        0..<0, 0..<1, 10..<90, 65_400..<65_600, 65_472..<65_473, 0..<count, count - 1..<count + 9,
      ] {
        let range = range.clamped(to: 0..<max(range.upperBound, 0))
        #expect(try blob.read(range) == cover[range.clamped(to: 0..<count)])
      }
      #expect(try blob.read(count..<count + 5).isEmpty)
      #expect(try album.blob(\.notes)?.count == 0)
    }
  }

  @Test func chunksStreamToAnotherTask() async throws {
    let cover = Self.bytes(1 << 20, 4)
    try await insert(cover)
    let blob = try await container.performBackgroundTask { context in
      try #require(try context.fetch(From<Album>()).first?.blob(\.cover))
    }
    for size in [1_000, 64 << 10, 65_472, 2 << 20] {
      var joined = Data()
      for try await chunk in blob.chunks(of: size) {
        #expect(chunk.count == min(size, cover.count - joined.count))
        joined.append(chunk)
      }
      #expect(joined == cover)
    }
  }

  /// A value of many times the cache streams through the cache.
  @Test func chunksOfALongValueTakeLittleMemory() async throws {
    let cover = Self.bytes(24 << 20, 8)
    try await insert(cover)
    try await container.close()
    var options = StoreOptions()
    options.cacheBytes = 1 << 20
    let small = try await ExternalAttributeTests.open(folder, options: options)
    let blob = try await small.performBackgroundTask { context in
      try #require(try context.fetch(From<Album>()).first?.blob(\.cover))
    }
    var (position, greatest) = (0, UInt64(0))
    for try await chunk in blob.chunks(of: 64 << 10) {
      #expect(chunk == cover[position..<position + chunk.count])
      position += chunk.count
      greatest = max(greatest, try small.statistics.residentBytes)
    }
    #expect(position == cover.count && greatest < 4 << 20)
    try await small.close()
  }

  @Test func aBlobIsTheValueThatItWas() async throws {
    let (first, second) = (Self.bytes(200_000, 5), Self.bytes(1_000, 6))
    try await insert(first)
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<Album>()).first)
      let blob = try #require(try album.blob(\.cover))
      album.cover = second
      let unsaved = try #require(try album.blob(\.cover))
      try context.save()
      context.delete(album)
      try context.save()
      #expect(try blob.read(0..<blob.count) == first)
      #expect(try unsaved.read(0..<unsaved.count) == second)
    }
  }

  @Test func nilHasNoBlobAndANumberNone() async throws {
    try await insert(nil)
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<Album>()).first)
      #expect(try album.blob(\.cover) == nil)
      #expect(try album.blob(\.title)?.read(0..<5) == Data("A".utf8))
      let page = Page(Data())
      page.album = album
      #expect(throws: ContextError.self) { try page.blob(\.album?.title) }
      #expect(try page.blob(\.scan)?.count == 0)
    }
  }

  @Test func recordsHaveBlobsByName() async throws {
    let cover = Self.bytes(100_000, 7)
    try await insert(cover)
    try await container.close()
    let store = try await PersistentContainer(
      "Albums",
      at: URL(fileURLWithPath: folder.file("albums.cambium"))
    )
    try await store.performBackgroundTask { context in
      let album = try #require(try context.fetch(DynamicQuery("Album")).first)
      #expect(try album.blob("cover")?.read(0..<10) == cover.prefix(10))
      #expect(try album["cover"] == .data(cover) && album["notes"] == .string(""))
      try album.set("notes", to: String(repeating: "n", count: 5_000))
      try context.save()
      #expect(throws: ContextError.self) { try album.blob("pages") }
    }
    #expect(try await store.verify().isEmpty)
  }
}
