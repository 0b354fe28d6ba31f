import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

struct MigrationForecastTests {
  private let folder: TemporaryFolder
  private let url: URL

  init() async throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("music.cambium"))
    try await MusicSchemas.makeStore(at: url)
  }

  @Test func everythingThatHappensIsForetold() throws {
    let forecast = try MigrationForecast(at: url, to: MusicSchemas.new())
    #expect(forecast.isPossible && !forecast.isCurrent)
    #expect(
      forecast.description == """
        changes:
          removed entity Label
          added entity Player
          changed entity Record: name Album → Record
          changed attribute Record.name: optional false → true
          added index Record: index name[c]
          removed attribute Song.mood: string?
          changed attribute Song.name: name title → name
          changed attribute Song.year: kind int16 → int64, optional true → false
          added attribute Song.plays: int64
          changed relationship Song.genres: name genre → genres, cardinality optional → many
          removed index Song: index seconds
          added index Song: index plays,name
        values for objects that have none:
          Song.year 1900: 5 objects
          Song.plays 7: 20 objects
        trees built:
          the index name[c] of Record: 2 entries, 28 bytes of keys
          the links of Song.genres: 7 entries, 112 bytes of keys
          the index year of Song: 20 entries, 220 bytes of keys, anew
          the index plays,name of Song: 20 entries, 370 bytes of keys
        trees dropped:
          the records of Label: 3 entries
          the index seconds of Song: 20 entries
          the index year of Song: 20 entries
        records that stay as they are, and are translated when they are read:
          Song: 20
        """
    )
    let changes = forecast.difference.changes
    #expect(changes.first { $0.name == "year" }?.aspects.map(\.effect) == [.widened, .required])
    #expect(changes.first { $0.name == "genres" }?.aspects.map(\.effect) == [.renamed, .toMany])
    let coded = try JSONEncoder().encode(forecast)
    #expect(try JSONDecoder().decode(MigrationForecast.self, from: coded) == forecast)
  }

  @Test func notOneByteIsWritten() throws {
    let before = try FolderState(folder.path)
    _ = try MigrationForecast(at: url, to: MusicSchemas.new())
    _ = try MigrationForecast(at: url, to: MusicSchemas.new(year: nil))
    _ = try MigrationForecast(
      at: url,
      to: [Museum.Room.self] + Museum.models.filter { $0 != Museum.Room.self }
    )
    #expect(try FolderState(folder.path) == before)
  }

  @Test func theOpeningHasTheCountsThatWereForetold() async throws {
    let schema = try MusicSchemas.new()
    let forecast = try MigrationForecast(at: url, to: schema)
    let dropped = try Self.trees(of: forecast.droppedTrees, at: url)
    let music = try await PersistentContainer("Music", schema: schema, at: url)
    let snapshot = try music.store.snapshot()
    #expect(forecast.builtTrees.count == 4 && forecast.droppedTrees.count == 3)
    for built in forecast.builtTrees {
      let tree = try snapshot.tree(music.tree(built.tree.label))
      var byteCount = 0
      var cursor = tree.cursor()
      while try cursor.next() { byteCount += try cursor.key().count }
      let entryCount = try tree.count
      #expect(entryCount == built.tree.entryCount && byteCount == built.keyByteCount, "\(built)")
    }
    for name in dropped { #expect(try snapshot.treeIfPresent(name) == nil, "\(name)") }
    for earlier in forecast.earlierRecords {
      let entity = try #require(music.coordinator.schema.catalogue.entity(named: earlier.entity))
      let census = try LayoutCensus(of: entity, in: snapshot)
      #expect(census.count(besides: UInt32(entity.layouts.count - 1)) == earlier.count)
    }
    try await music.performBackgroundTask { context in
      let songs = try context.fetch(DynamicQuery("Song"))
      let years = try songs.map { try $0["year"] }
      let plays = try songs.map { try $0["plays"] }
      #expect(years.count { $0 == .int(1900) } == 5 && plays == Array(repeating: .int(7), count: 20))
    }
    #expect(try await music.verify().map(\.description) == [])
    try await music.close()
    let after = try MigrationForecast(at: url, to: schema)
    #expect(after.isCurrent && after.difference.isEmpty && after.builtTrees.isEmpty && after.fillings.isEmpty)
    #expect(after.description == "the store has the schema already")
    // The records are translated at each reading until a context saves them.
    #expect(after.earlierRecords == forecast.earlierRecords)
  }

  private static func trees(of dropped: [MigrationForecast.Tree], at url: URL) throws -> [String] {
    let snapshot = try Store.openToRead(url).snapshot()
    let catalogue = try #require(try SchemaTree.schema(in: snapshot))
    var names: [String] = []
    for tree in dropped {
      names.append(TreeLabels(catalogue).tree(tree.label))
      let entryCount = try snapshot.tree(names.last ?? "").count
      #expect(entryCount == tree.entryCount)
    }
    return names
  }

  @Test func aRefusalIsTheOneOfTheOpening() async throws {
    let before = try FolderState(folder.path)
    let offending = try MusicSchemas.new(year: nil)
    let forecast = try MigrationForecast(at: url, to: offending)
    #expect(!forecast.isPossible && forecast.refusal.offenderCount == 5)
    #expect(forecast.description.contains("in the way:\n  cambium://"))
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Music", schema: offending, at: url)
    }
    #expect(error?.refusal == forecast.refusal)
    var entities = try MusicSchemas.old().entities
    let place = try #require(entities.firstIndex { $0.name == "Song" })
    entities[place].properties[2] = .attribute("seconds", String.self)
    let unlike = try MigrationForecast(at: url, to: Schema(entities: entities))
    #expect(unlike.refusal.obstacles.map(\.property) == ["seconds"] && unlike.builtTrees.isEmpty)
    #expect(unlike.difference.changes.flatMap(\.aspects).map(\.effect) == [.retyped])
    #expect(try FolderState(folder.path) == before)
  }

  @Test func valuesCanBeKeptOut() throws {
    var entities = try MusicSchemas.old().entities
    let place = try #require(entities.firstIndex { $0.name == "Album" })
    entities[place].indexes = [IndexDescription(["name"], isUnique: true, folding: .case)]
    let schema = try Schema(entities: entities)
    let shown = try MigrationForecast(at: url, to: schema).refusal.offenders
    #expect(shown.map(\.values) == [[.string("Blue")], [.string("blue")]])
    let hidden = try MigrationForecast(at: url, to: schema, showsValues: false).refusal.offenders
    #expect(hidden.map(\.values) == [[], []] && hidden.map(\.objectID) == shown.map(\.objectID))
  }

  @Test func aStoreThatIsWrittenToIsInUse() async throws {
    let music = try await PersistentContainer("Music", at: url)
    let error = #expect(throws: ContextError.self) { try MigrationForecast(at: url, to: MusicSchemas.new()) }
    #expect(error?.storeError?.code == .storeInUse)
    try await music.close()
    #expect(throws: ContextError.self) {
      try MigrationForecast(at: URL(fileURLWithPath: folder.file("none")), to: MusicSchemas.new())
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
  }

  @Test func aNewStoreGetsEverything() throws {
    let path = folder.file("empty.cambium")
    try Store.open(at: path).close()
    let forecast = try MigrationForecast(at: URL(fileURLWithPath: path), to: MusicSchemas.old())
    #expect(forecast.formatVersion == nil && forecast.isPossible && !forecast.isCurrent)
    #expect(forecast.difference.changes.map(\.kind) == [.added, .added, .added, .added])
    #expect(forecast.builtTrees.isEmpty && forecast.droppedTrees.isEmpty)
  }
}

extension MigrationForecast.Tree {
  /// The label that ``TreeLabels`` gives the tree.
  fileprivate var label: String {
    let letter = [Kind.records: "e", .index: "i", .references: "r", .pairs: "m"][kind] ?? ""
    return ([letter, entity] + [name].compactMap(\.self)).joined(separator: "/")
  }
}
