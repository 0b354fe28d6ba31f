import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Changes of the schema of a store with external attributes.
struct ExternalMigrationTests {
  enum First: VersionedSchema {
    static let version = Schema.Version(1)
    static var models: [any ManagedObject.Type] { [Album.self, Single.self] }

    @Model final class Album {
      var title: String
      var scan: Data?
      @Attribute(.externalStorage) var cover: Data?
      init(_ title: String) { self.title = title }
    }

    @Model final class Single {
      @Attribute(.externalStorage) var cover: Data
      init(_ cover: Data) { self.cover = cover }
    }
  }

  /// Without the covers of albums, and without singles.
  enum Fewer {
    @Model final class Album {
      var title: String
      var scan: Data?
      init(_ title: String) { self.title = title }
    }
  }

  /// The cover has another name, and the albums have notes.
  enum Renamed {
    @Model final class Album {
      var title: String
      var scan: Data?
      @Attribute(.externalStorage, originalName: "cover") var picture: Data?
      @Attribute(.externalStorage) var notes: String = "none"
      init(_ title: String) { self.title = title }
    }
  }

  enum Inline {
    @Model final class Album {
      var title: String
      var scan: Data?
      var cover: Data?
      init(_ title: String) { self.title = title }
    }
  }

  /// The scans are stored externally, the covers are not.
  enum Exchanged: VersionedSchema {
    static let version = Schema.Version(2)
    static var models: [any ManagedObject.Type] { [Album.self, Single.self] }

    @Model final class Album {
      var title: String
      @Attribute(.externalStorage) var scan: Data?
      var cover: Data?
      init(_ title: String) { self.title = title }
    }

    @Model final class Single {
      var name: String?
      @Attribute(.externalStorage) var cover: Data
      init(_ cover: Data) { self.cover = cover }
    }
  }

  private static func bytes(_ count: Int, _ seed: Int) -> Data { ExternalAttributeTests.bytes(count, seed) }

  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("albums.cambium")) }

  init() async throws {
    folder = try TemporaryFolder()
    let container = try await PersistentContainer("Albums", plan: MigrationPlan([First.self]), at: url)
    try await container.performBackgroundTask { context in
      for number in 0..<30 {
        let album = First.Album("\(number)")
        album.cover = number == 9 ? nil : Self.bytes(10_000 * number, number)
        album.scan = Self.bytes(100 * number, number)
        context.insert(album)
        context.insert(First.Single(Self.bytes(3_000, number)))
      }
      try context.save()
    }
    #expect(try container.store.snapshot().formatVersion == 6)
    try await container.close()
  }

  @Test func whatIsRemovedLeavesNoTree() async throws {
    let container = try await PersistentContainer("Albums", models: Fewer.Album.self, at: url)
    let snapshot = try container.store.snapshot()
    #expect(try snapshot.treeNames.filter { $0.hasPrefix("b/") } == [])
    #expect(try snapshot.formatVersion == 3)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func whatIsRenamedKeepsItsValues() async throws {
    let container = try await PersistentContainer("Albums", models: Renamed.Album.self, at: url)
    #expect(try container.statistics.bytesLogged < 64 << 10)
    try await container.performBackgroundTask { context in
      for album in try context.fetch(From<Renamed.Album>()) {
        let number = try #require(Int(album.title))
        #expect(album.picture == (number == 9 ? nil : Self.bytes(10_000 * number, number)))
        #expect(album.notes == "none")
        album.notes = String(repeating: "n", count: 1_000 * number)
      }
      try context.save()
    }
    #expect(try await container.upgradeRecords() == 0)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func aRecordOfAnEarlierLayoutKeepsItsReference() async throws {
    let container = try await PersistentContainer("Albums", models: Renamed.Album.self, at: url)
    #expect(try await container.upgradeRecords() == 30)
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<Renamed.Album>().where { $0.title == "29" }).first)
      #expect(album.picture == Self.bytes(290_000, 29))
    }
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func storageIsNotChangedByItself() async throws {
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Albums", models: Inline.Album.self, at: url)
    }
    #expect(error?.code == .schemaMismatch)
    #expect(
      "\(try #require(error))".contains("Album.cover is externalData in the store and data in the model")
    )
  }

  @Test func aStageChangesStorageAndCopiesTheRest() async throws {
    let plan = MigrationPlan(
      [First.self, Exchanged.self],
      stages: [
        .custom(
          from: First.self,
          to: Exchanged.self,
          .forEach("Album", inBatchesOf: 7) { batch in
            for album in batch.objects {
              let successor = try #require(try batch.successor(of: album))
              try successor.set("cover", to: try album["cover"])
              try successor.set("scan", to: try album["scan"])
            }
          },
          .forEach("Single") { batch in
            for single in batch.objects { try batch.successor(of: single)?.set("name", to: "S") }
          }
        )
      ]
    )
    let container = try await PersistentContainer("Albums", plan: plan, at: url)
    try await container.performBackgroundTask { context in
      for album in try context.fetch(From<Exchanged.Album>()) {
        let number = try #require(Int(album.title))
        #expect(album.cover == (number == 9 ? nil : Self.bytes(10_000 * number, number)))
        #expect(album.scan == Self.bytes(100 * number, number))
      }
      let singles = try context.fetch(From<Exchanged.Single>())
      #expect(Set(singles.map(\.cover)) == Set((0..<30).map { Self.bytes(3_000, $0) }))
      #expect(singles.allSatisfy { $0.name == "S" })
    }
    #expect(try await container.verify().map(\.description) == [])
    #expect(try container.store.snapshot().treeNames.filter { $0.hasPrefix("b/") }.count == 2)
  }

  @Test func aStageThatFailsLeavesTheValues() async throws {
    struct Failure: Error {}
    let plan = MigrationPlan(
      [First.self, Exchanged.self],
      stages: [.custom(from: First.self, to: Exchanged.self, .once { _ in throw Failure() })]
    )
    await #expect(throws: ContextError.self) { try await PersistentContainer("Albums", plan: plan, at: url) }
    let container = try await PersistentContainer("Albums", plan: MigrationPlan([First.self]), at: url)
    #expect(try await container.verify().map(\.description) == [])
    #expect(try container.store.snapshot().treeNames.filter { $0.hasPrefix("b/") }.count == 2)
    try await container.performBackgroundTask { context in
      let album = try #require(try context.fetch(From<First.Album>().where { $0.title == "29" }).first)
      #expect(album.cover == Self.bytes(290_000, 29))
    }
  }

  @Test func copiesHaveTheValues() async throws {
    let container = try await PersistentContainer("Albums", plan: MigrationPlan([First.self]), at: url)
    let copy = URL(fileURLWithPath: folder.file("copy.cambium"))
    try await container.copy(to: copy)
    try await container.store.compact()
    try await container.close()
    for place in [url, copy] {
      let container = try await PersistentContainer("Albums", plan: MigrationPlan([First.self]), at: place)
      try await container.performBackgroundTask { context in
        let album = try #require(try context.fetch(From<First.Album>().where { $0.title == "29" }).first)
        #expect(album.cover == Self.bytes(290_000, 29))
      }
      #expect(try await container.verify().map(\.description) == [])
      try await container.close()
    }
  }
}

extension Snapshot {
  fileprivate var formatVersion: Int? {
    get throws { try treeIfPresent("schema")?.value(for: Array("format".utf8)).map { Int($0[0]) } }
  }
}
