import Cambium
import CambiumCSV
import CambiumImport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// A model whose objects change when they have been saved.
@Model final class Stamped {
  #Unique<Stamped>([\.code])
  var code: String
  @Attribute(.max(5)) var saves: Int = 0

  init(_ code: String) { self.code = code }

  /// Breaks the validation rule.
  func didSave() { if saves == 0 { saves = 99 } }
}

/// A model whose objects read a missing object after their save.
@Model final class Hasty {
  #Unique<Hasty>([\.code])
  var code: String

  init(_ code: String) { self.code = code }

  func didSave() {
    let id = ManagedObjectID(uriRepresentation: objectID.uriRepresentation.replacing(#/\d+$/#, with: "999"))
    guard let context, let id, let other = try? context.object(Hasty.self, with: id) else { return }
    _ = other.code
  }
}

/// The rules of imports for caches, hooks, several records of one ID, and cancellation.
struct ImportRuleTests {
  private let tunes: Tunes

  init() async throws { tunes = try await Tunes() }

  private func records(_ code: String, _ titles: String...) -> [TuneRecord] {
    titles.map { TuneRecord(code: code, title: $0, disc: nil) }
  }

  // MARK: Hooks

  /// Changes that a hook makes after the import's commit are dropped, as after the last save of a block.
  @Test(arguments: [ImportOptions.Commits.once, .eachBatch(of: 1)])
  func whatDidSaveChangesIsDropped(_ commits: ImportOptions.Commits) async throws {
    let container = try await PersistentContainer("Stamped", models: Stamped.self, at: .inMemory)
    let description = ObjectImport<String, Stamped>(key: \.code) { source, _ in source }
    var options = ImportOptions()
    options.commits = commits
    let input = ImportInput(["a", "b"])
    let report = try await container.importRecords(input, with: description, options: options)
    #expect(report.commitCount == (commits == .once ? 1 : 2))
    let saves = try await container.query { try $0.fetch(From<Stamped>()).map(\.saves) }
    #expect(saves == [0, 0])
  }

  /// A hook's failure after the commit: everything is stored.
  @Test func whatFailsInDidSaveFailsNoImport() async throws {
    let container = try await PersistentContainer("Hasty", models: Hasty.self, at: .inMemory)
    let description = ObjectImport<String, Hasty>(key: \.code) { source, _ in source }
    let report = try await container.importRecords(ImportInput(["a"]), with: description)
    #expect(report.commitCount == 1)
    let stream = AsyncStream<String> { continuation in
      continuation.yield("b")
      continuation.finish()
    }
    let streamed = try await container.importRecords(from: stream, with: description)
    #expect(streamed.commitCount == 1)
    #expect(try await container.query { try $0.count(From<Hasty>()) } == 2)
  }

  @Test func aSourceThatGrowsBetweenItsReadingsIsRefused() async throws {
    let readings = Notes()
    let input = ImportInput<TuneRecord>(isRepeatable: true) {
      readings.add("read")
      var rest = (0..<readings.all.count).map { TuneRecord(code: "\($0)", title: "a", disc: 1) }
      return { rest.popLast() }
    }
    let error = await #expect(throws: ImportError.self) {
      try await tunes.container.importRecords(input, with: TuneRecord.objectImport)
    }
    #expect(error?.code == .sourceChanged)
    #expect(try await tunes.rows() == [])
  }

  @Test func recordsWhoseObjectsAreNotFoundAgainAreCounted() async throws {
    var description = TuneRecord.objectImport
    let update = try #require(description.updateProperties)
    description.updateProperties = { record, tune, context in
      try update(record, tune, context)
      if record.code == "B" { tune.code = "changed" }
    }
    let records = ["A", "B", "C"].map { TuneRecord(code: $0, title: "a", disc: 1) }
    let report = try await tunes.container.importRecords(ImportInput(records), with: description)
    #expect(report.missingCount == 1 && report.refusedCount == 0)
  }

  @Test func aCommitThatChangesNothingIsNotTold() async throws {
    let told = Mutex(0)
    var description = TuneRecord.objectImport
    description.shouldInsert = { _, _ in false }
    var options = ImportOptions()
    options.commits = .eachBatch(of: 1)
    options.didCommit = { _ in told.withLock { $0 += 1 } }
    let input = ImportInput(records("a", "1", "2"))
    try await tunes.container.importRecords(input, with: description, options: options)
    #expect(told.withLock { $0 } == 0)
  }

  // MARK: Caches

  /// Within one batch, too: the relationships come after the deletion.
  @Test func relationshipsFindNoDeletedObjectInTheCache() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    var description = TuneRecord.objectImport
    description.updateProperties = { record, tune, context in
      if record.title == "delete" { context.delete(tune) }
    }
    let found = Mutex<[Bool]>([])
    description.updateRelationships = { _, _, context, cache in
      let tune = try context.fetchObject(Tune.self, with: "a", cache: cache)
      found.withLock { $0.append(tune != nil) }
    }
    let records = records("a", "delete") + records("b", "new")
    try context.importObjects(from: records, with: description, cache: ImportedObjectCache())
    #expect(found.withLock { $0 } == [false])
  }

  /// Two objects have the same ID. Each gets the relationships of its own record.
  @Test func eachObjectOfAnIDHasItsRelationships() async throws {
    var description = TuneRecord.objectImport
    description.isUniquing = false
    let records = [
      TuneRecord(code: "a", title: "p", disc: 1), TuneRecord(code: "a", title: "q", disc: 2),
    ]
    try await tunes.container.importRecords(ImportInput(records), with: description)
    let titles = try await tunes.container.query { context in
      try context.fetch(From<Tune>().orderBy(\.title)).map { ($0.title, $0.disc?.number) }
    }
    #expect(titles.map { "\($0.0) \($0.1 ?? 0)" } == ["p 1", "q 2"])
  }

  @Test(arguments: [ImportOptions.Commits.once, .eachBatch(of: 1)])
  func whatAnImportDeletesIsNotInItsCache(_ commits: ImportOptions.Commits) async throws {
    try await tunes.store(["a", "b"])
    var description = TuneRecord.objectImport
    description.updateProperties = { record, tune, context in
      if record.title == "delete" { context.delete(tune) } else { tune.title = record.title }
    }
    let cache = ImportedObjectCache()
    var options = ImportOptions()
    options.commits = commits
    options.cache = cache
    // The cache has both objects.
    let known = ImportInput(records("a", "old") + records("b", "old"))
    try await tunes.container.importRecords(known, with: description, options: options)
    #expect(cache.count == 2)
    let deletion = ImportInput(records("a", "delete"))
    try await tunes.container.importRecords(deletion, with: description, options: options)
    #expect(cache.count == 1 && cache.objectID(Tune.self, withUniqueID: "a") == nil)
    let again = ImportInput(records("a", "new"))
    try await tunes.container.importRecords(again, with: description, options: options)
    #expect(try await tunes.rows() == ["a new 0 -", "b old 0 -"] && cache.count == 2)
  }

  /// A record for an object that an earlier record of the same import has deleted.
  @Test func aCachedObjectThatWasDeletedIsInsertedAnew() async throws {
    try await tunes.store(["a"])
    var description = TuneRecord.objectImport
    description.updateProperties = { record, tune, context in
      if record.title == "delete" { context.delete(tune) } else { tune.title = record.title }
    }
    var options = ImportOptions()
    options.cache = ImportedObjectCache()
    try await tunes.container.importRecords(
      ImportInput(records("a", "old")),
      with: description,
      options: options
    )
    try await tunes.container.importRecords(
      ImportInput(records("a", "delete", "new")),
      with: description,
      options: options
    )
    #expect(try await tunes.rows() == ["a new 0 -"])
  }

  @Test func anImportThatThrowsLeavesTheCache() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    let cache = ImportedObjectCache()
    var failing = TuneRecord.objectImport
    failing.updateRelationships = { _, _, _, _ in throw Refusal() }
    #expect(throws: Refusal.self) {
      try context.importObjects(from: records("a", "new"), with: failing, cache: cache)
    }
    context.rollback()
    #expect(cache.count == 0)
    try context.importObjects(from: records("a", "new"), with: TuneRecord.objectImport, cache: cache)
    try context.save()
    #expect(cache.count == 1 && cache.objectID(Tune.self, withUniqueID: "a") != nil)
  }

  /// A closure that imports with the cache that it gets sees the cached objects of the outer import.
  @Test func anImportWithinAnImportSharesTheCache() async throws {
    var description = TuneRecord.objectImport
    description.updateRelationships = { record, tune, context, cache in
      if record.code != "a" { return }
      let nested = [TuneRecord(code: "b", title: "nested", disc: nil)]
      try context.importObjects(from: nested, with: TuneRecord.objectImport, cache: cache)
    }
    var options = ImportOptions()
    let cache = ImportedObjectCache()
    options.cache = cache
    try await tunes.store(["b"])
    for _ in 0..<2 {
      let input = ImportInput(records("a", "outer"))
      try await tunes.container.importRecords(input, with: description, options: options)
    }
    #expect(cache.count == 2)
    #expect(try await tunes.rows() == ["a outer 2 -", "b nested 2 -"])
  }

  // MARK: Several records of one ID

  @Test func preProcessingKeepsTheRule() async throws {
    let calls = Notes()
    var description = TuneRecord.objectImport
    description.updateRelationships = nil
    description.preProcess { (sources: [String: TuneRecord]) in
      calls.add("\(sources.values.map(\.title).sorted())")
      return sources.filter { $0.value.title != "dropped" }
    }
    let input = records("A", "0", "1", "dropped", "2") + records("B", "3")
    try await tunes.container.importRecords(ImportInput(input), with: description)
    #expect(try await tunes.rows() == ["A 2 3 -", "B 3 1 -"])
    #expect(calls.all == ["[\"0\", \"3\"]", "[\"1\"]", "[\"dropped\"]", "[\"2\"]"])
  }

  @Test func preProcessingKeepsThePlaceOfTheFirst() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    var description = TuneRecord.objectImport
    description.duplicates = .lastWins
    description.preProcess { (sources: [String: TuneRecord]) in sources }
    let input = records("A", "0") + records("B", "1") + records("A", "2")
    let objects = try context.importObjects(from: input, with: description)
    #expect(objects.map { "\($0.code)\($0.title)" } == ["A2", "B1"])
  }

  /// The records of a collection are one batch, however many they are.
  @MainActor @Test func theLastSourceWinsInALongImport() async throws {
    let container = try await PersistentContainer("Sky", models: [Note.self, Star.self], at: .inMemory)
    let sources = (0..<5_000).map { StarSource(id: $0, name: "a") } + [StarSource(id: 0, name: "z")]
    let stars = try await container.importUniqueObjects(Star.self, from: sources)
    #expect(stars.count == 5_000 && stars[0].log == "i0" && stars[0].name == "z")
  }

  // MARK: Exports

  @Test func aCancelledExportThrowsCancellationError() async throws {
    try await tunes.store((0..<600).map(String.init))
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("x.jsonl"))
    let container = tunes.container
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await container.exportJSONLines(From<Tune>(), as: TuneRecord.self, to: url)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func anEmptyExportHasTheColumnsThatWereNamed() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("x.csv"))
    let (container, columns) = (tunes.container, ["code", "title"])
    try await container.exportCSV(From<Tune>(), as: TuneRecord.self, to: url, columns: columns)
    #expect(try String(contentsOf: url, encoding: .utf8) == "code,title\n")
  }

  /// A name may take 255 bytes, and a link stays one.
  @Test func anExportReplacesTheFileOfALink() async throws {
    try await tunes.store(["a"])
    let folder = try TemporaryFolder()
    let target = URL(fileURLWithPath: folder.file(String(repeating: "n", count: 250)))
    let link = URL(fileURLWithPath: folder.file("link"))
    try Data().write(to: target)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    try await tunes.container.exportJSONLines(From<Tune>(), as: TuneRecord.self, to: link)
    #expect(try Data(contentsOf: target).isEmpty == false)
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: link.path)
    #expect(path.hasSuffix("nnn"))
  }
}
