import Cambium
import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

private enum First {
  @Model final class Song {
    var code: Int
    var title: String
    @Relationship var album: Album?
    init(_ code: Int, _ title: String) {
      self.code = code
      self.title = title
    }
  }
  @Model final class Album {
    var name: String
    @Relationship(inverse: \Song.album) var songs: [Song] = []
    init(_ name: String) { self.name = name }
  }
  static let models: [any ManagedObject.Type] = [Song.self, Album.self]
}

/// Two indexes, of which one is unique, and a one-to-many relationship that has become many-to-many.
private enum Second {
  @Model final class Song {
    #Index<Song>([\.title, \.code])
    @Attribute(.unique) var code: Int
    var title: String
    var year: Int = 1971
    @Relationship(originalName: "album") var albums: [Album] = []
    init(_ code: Int, _ title: String) {
      self.code = code
      self.title = title
    }
  }
  @Model final class Album {
    var name: String
    @Relationship(inverse: \Song.albums) var songs: [Song] = []
    init(_ name: String) { self.name = name }
  }
  static let models: [any ManagedObject.Type] = [Song.self, Album.self]
}

/// Changes of a schema that take many commits.
struct SchemaMigratorTests {
  /// Few songs in small commits: the store is read and verified after each call to the disk.
  private static let songCount = 80
  private static let chunkByteCount = 400

  private func open(
    _ disk: SimulatedDisk,
    _ models: [any ManagedObject.Type],
    _ monitor: MigrationMonitor = MigrationMonitor(chunkByteCount: chunkByteCount)
  ) throws -> PersistentContainer {
    let store = try Store.open(
      file: disk,
      path: "simulated",
      options: StoreOptions(),
      environment: .simulated(seed: 1)
    )
    return try PersistentContainer("songs", models: models, on: store, monitor: monitor)
  }

  private func filled() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let container = try open(disk, First.models)
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    let albums = ["Blue", "Hejira", "Mingus"].map(First.Album.init)
    for album in albums { context.insert(album) }
    for code in 0..<Self.songCount {
      let song = First.Song(code, "title \(code * 7_919 % 1_000)")
      context.insert(song)
      song.album = code % 4 == 3 ? nil : albums[code % 4]
    }
    try context.save()
    context.end()
    try container.close()
    return disk
  }

  /// Everything in a store of the first schema: a line for each song.
  private func firstDump(_ container: PersistentContainer) throws -> [String] {
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    defer { context.end() }
    return try context.fetch(From<First.Song>()).map { "\($0.code) \($0.title) \($0.album?.name ?? "-")" }
  }

  private func secondDump(_ container: PersistentContainer) throws -> [String] {
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    defer { context.end() }
    var lines: [String] = []
    for song in try context.fetch(From<Second.Song>()) {
      let albums = song.albums.map(\.name).joined()
      lines.append("\(song.code) \(song.title) \(albums.isEmpty ? "-" : albums)")
      #expect(song.year == 1971 && song.albums.allSatisfy { $0.songs.contains(song) })
    }
    let byIndex = try context.fetch(From<Second.Song>().where(\.title == "title 919"))
    #expect(byIndex.map(\.code) == [1])
    return lines
  }

  @Test func aChangeOfManyCommitsLeavesTheNewSchemaAndNothingElse() throws {
    let disk = try filled()
    let before = try firstDumpAndClose(disk)
    let monitor = MigrationMonitor(chunkByteCount: Self.chunkByteCount)
    let container = try open(disk, Second.models, monitor)
    #expect(try secondDump(container) == before)
    #expect(try container.verify().map(\.description) == [])
    #expect(monitor.progress.fractionCompleted == 1)
    #expect(monitor.progress.totalUnitCount == Int64(2 * Self.songCount + 3 * Self.songCount / 4))
    let snapshot = try container.newestView().snapshot
    #expect(try SchemaTree.migration(in: snapshot) == nil)
    let owned = Set(container.coordinator.schema.catalogue.entities.flatMap(\.trees) + ["schema"])
    #expect(try snapshot.treeNames.allSatisfy(owned.contains))
    try container.close()
  }

  private func firstDumpAndClose(_ disk: SimulatedDisk) throws -> [String] {
    let container = try open(disk, First.models)
    defer { try? container.close() }
    return try firstDump(container)
  }

  /// After every call to the disk, the store has the old schema or the new one, whole, and the change can continue to
  /// its end.
  @Test func aFailureOfThePowerAtAnyMomentLeavesOldOrNew() throws {
    var generator = SeededGenerator()
    let disk = try filled()
    let before = try firstDumpAndClose(disk)
    let points = Mutex<[CrashPoint]>([])
    disk.observe { _, point in points.withLock { $0.append(point) } }
    try open(disk, Second.models).close()
    disk.observe(nil)
    var isNew: Set<Bool> = []
    for point in points.withLock(\.self) {
      let image = point.image(generator.pick(Damage.allCases), seed: generator.next())
      let store = try Store.open(
        file: SimulatedDisk(image),
        path: "simulated",
        options: StoreOptions(),
        environment: .simulated(seed: 1)
      )
      let known = try #require(try SchemaTree.schema(in: store.snapshot()))
      isNew.insert(known.entity(named: "Song")?.property(named: "albums") != nil)
      #expect(try store.verifyObjects(includingWarnings: false).map(\.description) == [])
      let state = try SchemaTree.migration(in: store.snapshot())
      let reports = Reports(chunkByteCount: Self.chunkByteCount)
      let container = try PersistentContainer(
        "songs",
        models: Second.models,
        on: store,
        monitor: reports.monitor()
      )
      #expect(try secondDump(container) == before)
      #expect(try container.verify().map(\.description) == [])
      if let state, !state.isSwitched { #expect(reports.first > state.rowCount, "work was done again") }
      try container.close()
    }
    #expect(isNew == [true, false])
  }

  @Test func aCancelledChangeKeepsTheOldSchemaAndGoesOnLater() throws {
    let disk = try filled()
    let before = try firstDumpAndClose(disk)
    let cancelled = Reports(chunkByteCount: Self.chunkByteCount)
    let error = #expect(throws: ContextError.self) {
      try open(disk, Second.models, cancelled.monitor(cancellingAfter: 3))
    }
    #expect(error?.code == .cancelled)
    let again = Reports(chunkByteCount: Self.chunkByteCount)
    let container = try open(disk, Second.models, again.monitor())
    #expect(again.first > cancelled.last && cancelled.last > 0)
    #expect(try secondDump(container) == before)
    try container.close()
  }

  @Test func openingWithTheOldSchemaGivesAnInterruptedChangeUp() throws {
    let disk = try filled()
    let before = try firstDumpAndClose(disk)
    #expect(throws: ContextError.self) {
      try open(disk, Second.models, Reports(chunkByteCount: Self.chunkByteCount).monitor(cancellingAfter: 5))
    }
    let old = try open(disk, First.models)
    #expect(try firstDump(old) == before)
    #expect(try SchemaTree.migration(in: old.newestView().snapshot) == nil)
    #expect(try old.verify().map(\.description) == [])
    let context = try ManagedObjectContext(coordinator: old.coordinator)
    context.insert(First.Song(9_999, "last"))
    try context.save()
    context.end()
    try old.close()
    let new = try open(disk, Second.models)
    #expect(try secondDump(new) == before + ["9999 last -"])
    #expect(try new.verify().map(\.description) == [])
    try new.close()
  }
}
