import Cambium
import CambiumImport
import Testing

@testable import GraphContext

/// Imports whose closures save the context, roll it back or reset it.
struct ImportSavingTests {
  private let tunes: Tunes

  init() async throws { tunes = try await Tunes() }

  private func records(_ lines: (code: String, title: String)...) -> [TuneRecord] {
    lines.map { TuneRecord(code: $0.code, title: $0.title, disc: nil) }
  }

  /// Makes an import that sets the title of each tune, and then calls `body`.
  private func titles(
    _ body: @escaping @Sendable (TuneRecord, Tune, ManagedObjectContext) throws -> Void
  ) -> ObjectImport<TuneRecord, Tune> {
    var description = ObjectImport<TuneRecord, Tune>(id: { source, _ in source.code })
    description.updateProperties = { record, tune, context in
      tune.title = record.title
      try body(record, tune, context)
    }
    return description
  }

  /// Returns the codes and titles of a context's tunes, by code.
  private func rows(_ context: ManagedObjectContext) throws -> [String] {
    let all = From<Tune>().orderBy(\.code, \.title)
    return try context.fetch(all).map { "\($0.code) \($0.title)" }
  }

  // MARK: Saves

  /// The objects of earlier sources are found although they are saved ones by then.
  @Test func aLaterSourceFindsAnObjectThatWasSaved() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    let description = titles { _, _, context in try context.save() }
    let objects = try context.importObjects(
      from: records(("A", "first"), ("A", "second")),
      with: description
    )
    #expect(objects.count == 2 && objects.first === objects.last)
    #expect(try rows(context) == ["A second"])
  }

  /// A second object would make the second save throw `notUnique`.
  @Test func aLaterSourceFindsASavedObjectOfAUniqueID() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    var description = ObjectImport<Int, Disc>(id: { source, _ in source })
    description.updateProperties = { _, disc, context in
      disc.title += "x"
      try context.save()
    }
    try context.importObjects(from: [7, 7], with: description)
    let discs = try context.fetch(From<Disc>()).map(\.title)
    #expect(discs == ["xx"])
  }

  /// As many objects are unsaved after the insertion as before the save.
  @Test func aLaterSourceFindsWhatAClosureInsertsAfterASave() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    let description = titles { record, _, context in
      if record.code != "B" { return }
      try context.save()
      context.insert(Tune("C", "nested"))
    }
    let sources = records(("A", "a"), ("B", "b"), ("C", "c"))
    try context.importObjects(from: sources, with: description)
    #expect(try rows(context) == ["A a", "B b", "C c"])
  }

  /// No source in between sees the object among the unsaved ones.
  @Test func aLaterSourceFindsWhatAClosureInsertsBeforeASave() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    let description = titles { record, _, context in
      if record.code != "A" { return }
      context.insert(Tune("C", "nested"))
      context.insert(Tune("E", "nested"))
      try context.save()
    }
    let sources = records(("A", "a"), ("B", "b"), ("C", "c"), ("D", "d"), ("E", "e"))
    try context.importObjects(from: sources, with: description)
    #expect(try rows(context) == ["A a", "B b", "C c", "D d", "E e"])
  }

  /// An object is found by the ID that it has when it is saved.
  @Test func anIDThatAClosureChangesAndSavesCounts() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    let description = titles { record, tune, context in
      if record.title == "renamed" { tune.code = "Z" }
      try context.save()
    }
    let sources = records(("A", "renamed"), ("A", "new"), ("Z", "found"))
    try context.importObjects(from: sources, with: description)
    #expect(try rows(context) == ["A new", "Z found"])
  }

  @Test func anObjectWhoseDeletionWasSavedIsInsertedAnew() async throws {
    try await tunes.store(["A"])
    let context = try tunes.container.context()
    defer { context.end() }
    let description = titles { record, tune, context in
      if record.title == "delete" { context.delete(tune) }
      try context.save()
    }
    let sources = records(("A", "delete"), ("A", "new"), ("A", "last"))
    let objects = try context.importObjects(from: sources, with: description)
    #expect(objects.count == 2 && objects.first === objects.last)
    #expect(try rows(context) == ["A last"])
  }

  /// A few lookups follow a save, whatever the number of sources after it.
  @Test(arguments: [[], ["c0"], ["c0", "c1", "c500"]] as [[String]])
  func aSaveCostsFewLookups(_ saved: [String]) async throws {
    let description = titles { record, _, context in
      if saved.contains(record.code) { try context.save() }
    }
    let sources = (0..<1_000).map { TuneRecord(code: "c\($0)", title: "t", disc: nil) }
    let report = try await tunes.container.importRecords(ImportInput(sources), with: description)
    #expect(report.insertedCount == 1_000)
    #expect(report.lookupCount <= 1 + 10 * saved.count)
  }

  // MARK: Containers

  @Test func bothPassesMaySave() async throws {
    var description = TuneRecord.objectImport
    let update = try #require(description.updateProperties)
    let relate = try #require(description.updateRelationships)
    description.updateProperties = { record, tune, context in
      try update(record, tune, context)
      try context.save()
    }
    description.updateRelationships = { record, tune, context, cache in
      try relate(record, tune, context, cache)
      try context.save()
    }
    let sources = [("A", "first"), ("A", "second"), ("B", "third")].map { code, title in
      TuneRecord(code: code, title: title, disc: 1)
    }
    let report = try await tunes.container.importRecords(ImportInput(sources), with: description)
    #expect(report.missingCount == 0)
    #expect(try await tunes.rows() == ["A second 2 1", "B third 1 1"])
  }

  /// Others save between the sources as well, in contexts of their own.
  @Test(arguments: [ImportOptions.Commits.once, .eachBatch(of: 2)])
  func recordsOfASequenceMaySave(_ commits: ImportOptions.Commits) async throws {
    let container = tunes.container
    let description = titles { record, _, context in
      if record.code == "A" { try context.save() }
    }
    let (records, continuation) = AsyncStream<TuneRecord>.makeStream()
    let other = Task {
      for number in 0..<4 {
        try await container.write { context in context.insert(Tune("other\(number)", "o")) }
        continuation.yield(TuneRecord(code: number == 3 ? "B" : "A", title: "\(number)", disc: nil))
      }
      continuation.finish()
    }
    var options = ImportOptions()
    options.commits = commits
    let report = try await container.importRecords(from: records, with: description, options: options)
    try await other.value
    #expect(report.insertedCount == 2 && report.updatedCount == 2)
    let others = (0..<4).map { "other\($0) o 0 -" }
    #expect(try await tunes.rows() == ["A 2 0 -", "B 3 0 -"] + others)
  }

  // MARK: Rollbacks and resets

  /// The deleted object is there again, and the one that was inserted in its place is gone.
  @Test func aLaterSourceFindsWhatARollbackBringsBack() async throws {
    try await tunes.store(["A"])
    let context = try tunes.container.context()
    defer { context.end() }
    let description = titles { record, tune, context in
      if record.title == "delete" { context.delete(tune) }
      if record.title == "rollback" { context.rollback() }
    }
    let sources = records(("A", "delete"), ("A", "rollback"), ("A", "last"), ("B", "new"))
    let objects = try context.importObjects(from: sources, with: description)
    #expect(objects.map(\.code) == ["A", "A", "B"])
    #expect(try rows(context) == ["A last", "B new"])
  }

  /// Objects of the sources before the reset are gone. Later sources find the stored ones.
  @Test func aLaterSourceFindsStoredObjectsAfterAReset() async throws {
    try await tunes.store(["A", "B"])
    let context = try tunes.container.context()
    defer { context.end() }
    let description = titles { record, _, context in
      if record.title != "reset" { return }
      try context.save()
      context.reset()
    }
    let sources = records(("N", "new"), ("A", "reset"), ("B", "found"), ("N", "again"))
    let objects = try context.importObjects(from: sources, with: description)
    #expect(objects.map(\.code) == ["B", "N"])
    #expect(try rows(context) == ["A reset", "B found", "N again"])
  }

  /// The relationships of objects that a closure has taken out of the context are left out.
  @Test func relationshipsSkipObjectsThatARollbackTookAway() throws {
    let context = try tunes.container.context()
    defer { context.end() }
    var description = titles { record, _, context in
      if record.title == "rollback" { context.rollback() }
    }
    let related = Notes()
    description.updateRelationships = { record, _, _, _ in related.add(record.code) }
    let sources = records(("A", "a"), ("B", "rollback"), ("C", "c"))
    let objects = try context.importObjects(from: sources, with: description, cache: ImportedObjectCache())
    #expect(objects.map(\.code) == ["C"] && related.all == ["C"])
    #expect(try rows(context) == ["C c"])
  }
}
