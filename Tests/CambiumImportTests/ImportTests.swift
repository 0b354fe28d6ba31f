import Cambium
import Testing

@testable import CambiumImport
@testable import GraphContext

/// Imports into a context.
struct ImportTests {
  private let tunes: Tunes
  private let context: ManagedObjectContext

  init() async throws {
    tunes = try await Tunes()
    context = try tunes.container.context()
  }

  private func stored(_ codes: String...) throws {
    for code in codes { context.insert(Tune(code, "old")) }
    try context.save()
  }

  // MARK: One object

  @Test func anObjectIsFoundByItsUniqueID() throws {
    try stored("A", "B")
    let request = From<Tune>().where(Tune.uniqueObjectPredicate(with: "B"))
    let found = try context.fetch(request)
    #expect(found.map(\.uniqueIDValue) == ["B"])
    found[0].uniqueIDValue = "C"
    #expect(found[0].code == "C")
  }

  @Test func anInsertedObjectIsRegisteredBeforeItIsConfigured() throws {
    let cache = ImportedObjectCache()
    var known: Tune?
    let tune = try context.insertObject(Tune.self, with: "A", cache: cache) { tune in
      #expect(tune.code == "A" && tune.isInserted && !tune.objectID.isProvisional)
      known = try cache.object(withUniqueID: "A", in: context)
      tune.title = "new"
    }
    #expect(known === tune)
    // No initialiser was called.
    #expect(tune.origin == "declared" && tune.plays == 0 && tune.disc == nil)
    try context.save()
  }

  @Test func anObjectIsFetchedOnceForACache() throws {
    try stored("A")
    let cache = ImportedObjectCache()
    #expect(try context.fetchObject(Tune.self, with: "Z", cache: cache) == nil)
    let found = try #require(try context.fetchObject(Tune.self, with: "A", cache: cache))
    #expect(found.code == "A")
    // A cached object isn't looked up again: the cache finds the object under its old ID.
    found.code = "B"
    #expect(try context.fetchObject(Tune.self, with: "A", cache: cache) === found)
    #expect(try context.fetchObject(Tune.self, with: "A") == nil)
    let unsaved = Tune("U")
    context.insert(unsaved)
    #expect(try context.fetchObject(Tune.self, with: "U") === unsaved)
  }

  @Test func anObjectIsInsertedOnceAndConfiguredTwice() throws {
    var ids: [String] = []
    let first = try context.fetchOrInsertObject(Tune.self, with: "A") { ids.append($0.code) }
    let second = try context.fetchOrInsertObject(Tune.self, with: "A") { ids.append($0.code) }
    #expect(first === second && ids == ["A", "A"])
  }

  // MARK: Many objects

  @Test func everyOneInOrderConfigures() throws {
    try stored("A")
    let notes = Notes()
    let sources = [("A", 1), ("N", 2), ("A", 3), ("N", 4)]
    let objects = try context.insertOrUpdate(sources, into: Tune.self, id: { $0.0 }) { source, tune in
      notes.add("\(source.1) \(tune.code)")
    }
    #expect(notes.all == ["1 A", "2 N", "3 A", "4 N"])
    #expect(objects.map(\.code) == ["A", "N", "A", "N"])
    #expect(objects[0] === objects[2] && objects[1] === objects[3])
    try context.save()
    let all = From<Tune>()
    #expect(try context.count(all) == 2)
  }

  @Test func anEmptyImportDoesNothing() throws {
    #expect(
      try context.insertOrUpdate([String](), into: Tune.self, id: { $0 }, configure: { _, _ in }).isEmpty
    )
    #expect(!context.hasChanges)
  }

  @Test func cachedObjectsAreConfiguredFirst() throws {
    try stored("A", "B", "C")
    let cache = ImportedObjectCache()
    _ = try context.fetchObject(Tune.self, with: "C", cache: cache)
    let notes = Notes()
    let objects = try context.insertOrUpdate(
      ["A", "C", "N"],
      into: Tune.self,
      id: { $0 },
      cache: cache
    ) { notes.add("\($0) \($1.code)") }
    #expect(notes.all == ["C C", "A A", "N N"])
    // The result is in the order of the sources.
    #expect(objects.map(\.code) == ["A", "C", "N"])
    #expect(cache.count == 3)
    #expect(cache.objectID(Tune.self, withUniqueID: "N") == objects[2].objectID)
  }

  @Test func theFirstOfSeveralStoredObjectsIsUpdated() async throws {
    try stored("A", "A")
    try await tunes.container.write { context in
      let description = PlainRecord.objectImport
      _ = try context.importObjects(from: [PlainRecord(code: "A", title: "new")], with: description)
    }
    #expect(try await tunes.rows() == ["A new 0 -", "A old 0 -"])
    let report = try await tunes.container.importObjects(from: [PlainRecord(code: "A", title: "newer")])
    #expect(report.storedDuplicates.count == 1 && report.updatedCount == 1)
    let (first, others) = try #require(report.storedDuplicates.first)
    #expect(others.count == 1 && first.number < others[0].number)
  }

  /// The exact algorithm of PeakCoreData, and its behaviour with `isUniquing`.
  @Test(arguments: [true, false]) func nestedImportsAreFoundWhereObjectsAreUniqued(_ isUniquing: Bool) throws
  {
    var description = ObjectImport<String, Tune>(id: { source, _ in source })
    description.isUniquing = isUniquing
    description.updateProperties = { source, tune, context in
      // The first one inserts the second.
      if source == "A" { try context.fetchOrInsertObject(Tune.self, with: "B") }
    }
    let objects = try context.importObjects(from: ["A", "B", "C", "C"], with: description)
    let all = From<Tune>().orderBy(\.code)
    let expected = isUniquing ? ["A", "B", "C"] : ["A", "B", "B", "C", "C"]
    #expect(try context.fetch(all).map(\.code) == expected)
    #expect((objects[2] === objects[3]) == isUniquing)
  }

  @Test func aDeletedObjectIsInsertedAnew() throws {
    try stored("A", "B")
    let notes = Notes()
    var description = ObjectImport<String, Tune>(id: { source, _ in source })
    description.updateProperties = { source, tune, context in
      notes.add("\(source) \(tune.title)")
      let other = From<Tune>().where { $0.code == "B" }
      if source == "A" { for tune in try context.fetch(other) { context.delete(tune) } }
    }
    try context.importObjects(from: ["A", "B"], with: description)
    #expect(notes.all == ["A old", "B "])
  }

  @Test func aLookupUsesTheIndex() throws {
    for number in 0..<2_000 { context.insert(Tune("\(number)", "old")) }
    try context.save()
    let key = try #require(TuneRecord.objectImport.key)
    let plan = try context.explain(key.access().request((0..<100).map { .string(String($0)) }))
    #expect(plan.access != .fullScan && plan.rowCount == 100, "\(plan)")
  }

  @Test func preProcessingKeepsCodesOfOtherBytes() throws {
    var description = ObjectImport<String, Tune>(id: { source, _ in source })
    description.preProcess { (sources: [String: String]) in sources.filter { $0.key != "dropped" } }
    let sources = ["caf\u{E9}", "dropped", "cafe\u{301}"]
    let objects = try context.importObjects(from: sources, with: description)
    #expect(objects.map { Array($0.code.utf8) } == [sources[0], sources[2]].map { Array($0.utf8) })
  }
}
