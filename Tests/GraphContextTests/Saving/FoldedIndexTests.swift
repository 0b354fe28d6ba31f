import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

// The same entity with a plain index and with folded ones.
private enum Plain {
  @Model final class Track {
    #Index<Track>([\.title])
    var title: String
    var artist: String?
    init(_ title: String, _ artist: String? = nil) {
      self.title = title
      self.artist = artist
    }
  }
}

private enum Folded {
  @Model final class Track {
    #Index<Track>([\.title])
    #Index<Track>([\.title], folding: [.case, .diacritics])
    #Unique<Track>([\.artist, \.title], folding: .case)
    var title: String
    var artist: String?
    init(_ title: String, _ artist: String? = nil) {
      self.title = title
      self.artist = artist
    }
  }
}

/// Folded indexes in a store: kept up to date, verified, reopened, and made again when the folding tables differ.
struct FoldedIndexTests {
  private static let titles = ["Élan", "elan", "ELAN!", "Straße", "strasse", "Zebra", "e\u{301}lan"]

  private func open(
    _ path: String,
    _ model: any ManagedObject.Type = Folded.Track.self,
    isReadOnly: Bool = false
  ) async throws -> PersistentContainer {
    var options = StoreOptions()
    options.isReadOnly = isReadOnly
    return try await PersistentContainer(
      "Tracks",
      models: [model],
      at: .file(URL(fileURLWithPath: path)),
      options: options
    )
  }

  private func fill(_ container: PersistentContainer) async throws {
    try await container.performBackgroundTask { context in
      for title in Self.titles { context.insert(Folded.Track(title)) }
      try context.save()
    }
  }

  /// The titles that a query finds, and how.
  private func find(_ format: String, in container: PersistentContainer) async throws -> ([String], String) {
    try await container.performBackgroundTask { context in
      let request = From<Folded.Track>().where(format: format)
      return (try context.fetch(request).map(\.title), try context.explain(request).description)
    }
  }

  @Test func aQueryWithTheSameOptionsUsesTheIndex() async throws {
    let folder = try TemporaryFolder()
    let container = try await open(folder.file("tracks.cambium"))
    try await fill(container)
    let (equal, plan) = try await find("title ==[cd] 'ÉLAN'", in: container)
    #expect(equal.map { Array($0.utf8) } == ["Élan", "elan", "e\u{301}lan"].map { Array($0.utf8) })
    #expect(plan.contains("index title[cd], title ==[cd] \"elan\": 3 rows (exact)"))
    let (beginning, otherPlan) = try await find("title BEGINSWITH[cd] 'STRASS'", in: container)
    #expect(
      beginning == ["Straße", "strasse"]
        && otherPlan.contains("index title[cd], title BEGINSWITH[cd] \"strass\"")
    )
    #expect(try await find("title ==[c] 'zebra'", in: container).1.contains("full scan"))
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func changesAndDeletionsAreFollowed() async throws {
    let folder = try TemporaryFolder()
    let container = try await open(folder.file("tracks.cambium"))
    try await fill(container)
    try await container.performBackgroundTask { context in
      let tracks = try context.fetch(
        From<Folded.Track>().where { $0.title.localizedStandardContains("elan") }
      )
      #expect(tracks.count == 4)
      tracks[0].title = "ÉTUDE"
      context.delete(tracks[1])
      // Unsaved changes are seen as saved ones are.
      #expect(
        try context.count(
          From<Folded.Track>().where { $0.title.equals("etude", [.caseInsensitive, .diacriticInsensitive]) }
        ) == 1
      )
      try context.save()
    }
    #expect(try await find("title ==[cd] 'étude'", in: container).0 == ["ÉTUDE"])
    #expect(try await find("title ==[cd] 'elan'", in: container).0.count == 1)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func aFoldedConstraintTakesFoldedStringsForEqual() async throws {
    let container = try await PersistentContainer("Tracks", models: Folded.Track.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      context.insert(Folded.Track("Straße", "Ana"))
      context.insert(Folded.Track("Élan", "Ana"))
      context.insert(Folded.Track("Elan", "Ana"))
      context.insert(Folded.Track("straße"))
      context.insert(Folded.Track("STRASSE"))
      try context.save()
      context.insert(Folded.Track("STRASSE", "ANA"))
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .notUnique && error?.context.properties == ["artist", "title"])
      #expect(error?.context.values == [.string("ANA"), .string("STRASSE")])
    }
  }

  @Test func aFoldedIndexIsTakenUpAndDropped() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tracks.cambium")
    func folding(_ container: PersistentContainer) throws -> [UInt8]? {
      try container.newestView().snapshot.tree(SchemaTree.name).value(for: SchemaTree.foldingKey)
    }
    let plain = try await open(path, Plain.Track.self)
    try await plain.performBackgroundTask { context in
      for title in Self.titles { context.insert(Plain.Track(title)) }
      try context.save()
    }
    #expect(try folding(plain) == nil)
    try await plain.close()
    let folded = try await open(path)
    #expect(try await find("title ==[cd] 'elan'", in: folded).0.count == 3)
    #expect(try folding(folded) == Array(StringFolding.tables.utf8))
    let tree = folded.tree("i/Track/title[cd]")
    #expect(try folded.newestView().snapshot.treeNames.contains(tree))
    #expect(try await folded.verify().map(\.description) == [])
    try await folded.close()
    let again = try await open(path, Plain.Track.self)
    #expect(try folding(again) == nil)
    #expect(try !again.newestView().snapshot.treeNames.contains(tree))
    try await again.close()
  }

  /// Marks the store as folded by other tables, and removes the tree of its index.
  private func makeForeign(_ path: String) async throws {
    let container = try await open(path)
    if try container.newestView().records(of: container.coordinator.schema.entities[0]) == nil {
      try await fill(container)
    }
    let tree = container.tree("i/Track/title[cd]")
    try await container.store.write { transaction in
      try transaction.tree(SchemaTree.name).put(SchemaTree.foldingKey, Array("1/1.0".utf8))
      try transaction.dropTree(tree)
    }
    try await container.close()
  }

  @Test func otherTablesMakeTheIndexAnew() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tracks.cambium")
    try await makeForeign(path)
    let container = try await open(path)
    let (found, plan) = try await find("title ==[cd] 'elan'", in: container)
    #expect(found.count == 3 && plan.contains("index title[cd]"))
    #expect(try await container.verify().map(\.description) == [])
    #expect(try SchemaTree.isFoldedAsHere(container.newestView().snapshot))
    try await container.close()
  }

  @Test func aReaderLeavesAnIndexOfOtherTablesAlone() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tracks.cambium")
    try await makeForeign(path)
    let container = try await open(path, isReadOnly: true)
    let (found, plan) = try await find("title ==[cd] 'elan'", in: container)
    #expect(found.count == 3 && plan.contains("full scan"))
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
    let store = try DynamicStore(at: URL(fileURLWithPath: path))
    let query = DynamicQuery("Track", where: try PredicateTree(format: "title ==[cd] 'elan'"))
    #expect(try store.count(query) == 3)
    #expect(try store.explain(query).access == .fullScan)
    try await store.store.close()
  }

  @Test func aReaderNamesTheIndexesThatItWouldHaveToBuild() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tracks.cambium")
    let plain = try await open(path, Plain.Track.self)
    try await plain.performBackgroundTask { context in
      context.insert(Plain.Track("Élan"))
      try context.save()
    }
    try await plain.close()
    let error = await #expect(throws: ContextError.self) { try await open(path, isReadOnly: true) }
    #expect(error?.code == .schemaMismatch)
    #expect(
      error?.message == """
        the store lacks the index title[cd] of Track and the index artist,title[c] of Track, and is open for reading only: \
        opening it for writing builds what is missing
        """
    )
    #expect(error?.context == .init(entity: "Track", properties: ["title"]))
    let again = try await open(path, Plain.Track.self, isReadOnly: true)
    #expect(try await again.performBackgroundTask { try $0.count(From<Plain.Track>()) } == 1)
    try await again.close()
  }

  @Test func theSchemaKeepsTheFolding() throws {
    let schema = try Schema([Folded.Track.self])
    let indexes = schema.entities[0].indexes
    #expect(indexes.map(\.name) == ["title", "title[cd]", "artist,title[c]"])
    let read = try JSONDecoder().decode(Schema.self, from: Data(try SchemaTree.encoded(schema)))
    #expect(read == schema)
    let old = #"{"isUnique":true,"properties":["a"]}"#
    #expect(
      try JSONDecoder().decode(IndexDescription.self, from: Data(old.utf8))
        == IndexDescription(["a"], isUnique: true)
    )
    let newer = #"{"folding":"cx","isUnique":true,"properties":["a"]}"#
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(IndexDescription.self, from: Data(newer.utf8))
    }
  }

  @Test func anIndexWithoutStringsHasNothingToFold() {
    let entity = EntityDescription(
      name: "Thing",
      properties: [.attribute("n", Int.self)],
      indexes: [IndexDescription(["n"], folding: .case)]
    )
    let error = #expect(throws: SchemaError.self) { try Schema(entities: [entity]) }
    #expect(error?.problems == ["the index n[c] of Thing folds strings, and has none"])
  }
}
