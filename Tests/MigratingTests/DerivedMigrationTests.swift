import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Derived attributes that a change of the schema adds, changes and removes.
struct DerivedMigrationTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("derived")) }

  init() throws { folder = try TemporaryFolder() }

  private static func schema(
    _ derived: [PropertyDescription],
    song: [PropertyDescription] = [],
    indexes: [IndexDescription] = [],
    seconds: String = "seconds"
  ) throws -> Schema {
    try Schema(entities: [
      EntityDescription(
        name: "Album",
        properties: [
          .attribute("title", String.self),
          .relationship(.init(name: "songs", destination: "Song", cardinality: .many, inverse: "album")),
        ] + derived,
        indexes: indexes
      ),
      EntityDescription(
        name: "Song",
        properties: [
          .attribute(seconds, Int16?.self, originalName: "seconds"),
          .relationship(.init(name: "album", destination: "Album", cardinality: .optional, inverse: "songs")),
        ] + song
      ),
    ])
  }

  private func open<Result: Sendable>(
    _ schema: Schema,
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let container = try await PersistentContainer("Derived", schema: schema, at: url)
    let result = try await container.performBackgroundTask { context in
      let result = try body(context)
      try context.save()
      return result
    }
    #expect(try await container.verify() == [])
    try await container.close()
    return result
  }

  private static func make(_ context: ManagedObjectContext) throws {
    for (place, title) in ["É", "b"].enumerated() {
      let album = try context.insert(entity: "Album")
      try album.set("title", to: title)
      for seconds in 0...place {
        let song = try context.insert(entity: "Song")
        try song.set("seconds", to: .int(Int64(10 * seconds + 10)))
        try song.setObject("album", to: album)
      }
    }
  }

  private static func expect(
    _ context: ManagedObjectContext,
    _ name: String,
    _ values: [AttributeValue],
    at location: Testing.SourceLocation = #_sourceLocation
  ) throws {
    #expect(try context.fetch(DynamicQuery("Album")).map { try $0[name] } == values, sourceLocation: location)
  }

  private static let sum = PropertyDescription.attribute("total", Int.self, derived: "songs.@sum.seconds")

  @Test func aNewOneIsFilled() async throws {
    try await open(Self.schema([]), Self.make)
    let plain = try StoreMetadata(at: url).formatVersion
    let next = try Self.schema(
      [Self.sum, .attribute("folded", String.self, derived: "title[cd]")],
      indexes: [IndexDescription(["total"]), IndexDescription(["folded"])]
    )
    var options = StoreOptions()
    options.isReadOnly = true
    let refused = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("Derived", schema: next, at: url, options: options)
    }
    #expect(refused?.code == .schemaMismatch)
    try await open(next) { context in
      try Self.expect(context, "total", [.int(10), .int(30)])
      try Self.expect(context, "folded", [.string("e"), .string("b")])
      let found = try context.fetch(DynamicQuery("Album", where: PredicateTree(format: "total > 20")))
      #expect(try found.map { try $0["title"] } == [.string("b")])
    }
    #expect(try StoreMetadata(at: url).formatVersion == 8 && plain == 3)
    // Without them the store is as it was.
    try await open(Self.schema([])) { _ in }
    #expect(try StoreMetadata(at: url).formatVersion == 3)
  }

  @Test func anotherRuleAndAnotherSourceFillItAnew() async throws {
    let index = [IndexDescription(["total"])]
    try await open(Self.schema([Self.sum], indexes: index), Self.make)
    let counted = PropertyDescription.attribute("total", Int.self, derived: "songs.@count")
    try await open(Self.schema([counted], indexes: index)) { context in
      try Self.expect(context, "total", [.int(1), .int(2)])
      #expect(try context.fetch(DynamicQuery("Album", where: PredicateTree(format: "total == 2"))).count == 1)
    }
    // A renamed source keeps its values; a source that begins anew has other values.
    let renamed = PropertyDescription.attribute("total", Int.self, derived: "songs.@sum.length")
    try await open(Self.schema([renamed], indexes: index, seconds: "length")) { context in
      try Self.expect(context, "total", [.int(10), .int(30)])
    }
    let other = PropertyDescription.attribute("total", Int.self, derived: "songs.@sum.plays")
    let plays = PropertyDescription.attribute("plays", Int.self, default: 7)
    try await open(Self.schema([other], song: [plays], indexes: index, seconds: "length")) { context in
      try Self.expect(context, "total", [.int(7), .int(14)])
    }
    // An ordinary attribute that becomes a derived one, and back.
    try await open(Self.schema([.attribute("total", Int.self)], song: [plays], seconds: "length")) {
      context in
      for album in try context.fetch(DynamicQuery("Album")) { try album.set("total", to: .int(99)) }
    }
    try await open(Self.schema([other], song: [plays], seconds: "length")) { context in
      try Self.expect(context, "total", [.int(7), .int(14)])
    }
  }

  @Test func aCustomStageKeepsTheOwnersOfWhatItRebuilds() async throws {
    try await open(ShelfV1.whole(), Self.make)
    let plan = MigrationPlan(
      [ShelfV1.self, ShelfV2.self],
      stages: [
        .custom(
          from: ShelfV1.self,
          to: ShelfV2.self,
          .converting("seconds", of: "Song", .clamping),
          .forEach("Song", inBatchesOf: 1) { batch in
            for song in batch.objects {
              guard let next = try batch.successor(of: song), let seconds: Int = try next.value("seconds")
              else {
                continue
              }
              try next.set("seconds", to: .int(Int64(seconds + 1)))
            }
          }
        )
      ]
    )
    let container = try await PersistentContainer("Derived", plan: plan, at: url)
    try await container.performBackgroundTask { context in
      try Self.expect(context, "total", [.int(11), .int(32)])
      try Self.expect(context, "longest", [.int(11), .int(21)])
      let found = try context.fetch(DynamicQuery("Album", where: PredicateTree(format: "total == 32")))
      #expect(found.count == 1)
    }
    #expect(try await container.verify() == [])
    try await container.close()
  }

  /// The change takes several commits, and leaves nothing of them.
  @Test func aNumberThatDoesntFitEndsALongChange() async throws {
    try await open(Self.schema([])) { context in
      for _ in 0..<40 { try Self.make(context) }
      let album = try context.fetch(DynamicQuery("Album"))[79]
      for _ in 0..<200 { try context.insert(entity: "Song").setObject("album", to: album) }
    }
    let next = try Self.schema([PropertyDescription.attribute("count", Int8.self, derived: "songs.@count")])
    let error = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer(
        "Derived",
        schema: next,
        at: url,
        monitor: MigrationMonitor(chunkByteCount: 512)
      )
    }
    #expect(error?.code == .validationFailed)
    let store = try Store.open(at: url.path)
    #expect(try SchemaTree.migration(in: store.snapshot()) == nil)
    try await store.close()
    try await open(Self.schema([])) { context in
      let albums = try context.fetch(DynamicQuery("Album"))
      #expect(albums.count == 80)
    }
  }

  @Test func valuesThatDontFitAreRefused() async throws {
    try await open(Self.schema([])) { context in
      try Self.make(context)
      try context.fetch(DynamicQuery("Album"))[1].set("title", to: String(repeating: "x", count: 5_000))
      for _ in 0..<200 {
        try context.insert(entity: "Song").setObject("album", to: context.fetch(DynamicQuery("Album"))[1])
      }
    }
    let folded = PropertyDescription.attribute("folded", String.self, derived: "title[cd]")
    let count = PropertyDescription.attribute("count", Int8.self, derived: "songs.@count")
    for (property, code) in [(folded, ContextError.Code.indexedValueTooLong), (count, .validationFailed)] {
      let next = try Self.schema([property], indexes: [IndexDescription([property.name])])
      let error = await #expect(throws: ContextError.self) {
        _ = try await PersistentContainer("Derived", schema: next, at: url)
      }
      #expect(error?.code == code && error?.context.properties == [property.name])
      #expect(error?.context.entity == "Album")
      // Nothing is left of it.
      try await open(Self.schema([])) { context in
        let albums = try context.fetch(DynamicQuery("Album"))
        #expect(albums.count == 2)
      }
    }
    try await open(Self.schema([folded])) { _ in }
  }

  @Test func manyObjectsAreFilledInChunks() async throws {
    try await open(Self.schema([])) { context in
      for _ in 0..<40 { try Self.make(context) }
    }
    let monitor = MigrationMonitor(chunkByteCount: 512)
    let container = try await PersistentContainer(
      "Derived",
      schema: Self.schema([Self.sum], indexes: [IndexDescription(["total"])]),
      at: url,
      monitor: monitor
    )
    #expect(try await container.verify() == [])
    try await container.close()
  }
}

/// Albums that know the sum of their songs' seconds.
private enum ShelfV1: VersionedSchema {
  static let version = Schema.Version(1)
  static func schema() throws(SchemaError) -> Schema? { try whole() }
  static func whole() throws(SchemaError) -> Schema {
    try shelf(.attribute("seconds", Int16?.self), longest: Int16?.self)
  }
}

/// The seconds have another kind, and a conversion makes their values.
private enum ShelfV2: VersionedSchema {
  static let version = Schema.Version(2)
  static func schema() throws(SchemaError) -> Schema? {
    try shelf(.attribute("seconds", Int8?.self), longest: Int8?.self, named: "longest")
  }
}

private func shelf<Value: AttributeType>(
  _ seconds: PropertyDescription,
  longest: Value.Type,
  named name: String = "longer"
) throws(SchemaError) -> Schema {
  try Schema(entities: [
    EntityDescription(
      name: "Album",
      properties: [
        .attribute("title", String.self), .attribute("total", Int.self, derived: "songs.@sum.seconds"),
        .attribute(name, longest, derived: "songs.@max.seconds"),
        .relationship(.init(name: "songs", destination: "Song", cardinality: .many, inverse: "album")),
      ],
      indexes: [IndexDescription(["total"])]
    ),
    EntityDescription(
      name: "Song",
      properties: [
        seconds,
        .relationship(.init(name: "album", destination: "Album", cardinality: .optional, inverse: "songs")),
      ]
    ),
  ])
}
