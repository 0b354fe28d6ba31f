import Cambium
import CambiumImport
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Imports into a container.
struct ContainerImportTests {
  private let tunes: Tunes
  private let folder: TemporaryFolder

  init() async throws {
    tunes = try await Tunes()
    folder = try TemporaryFolder()
  }

  private func records(_ count: Int, title: String = "new") -> [TuneRecord] {
    (0..<count).map { TuneRecord(code: "c\($0)", title: title, disc: $0 % 7) }
  }

  private func file(_ records: [TuneRecord]) throws -> URL {
    let url = URL(fileURLWithPath: folder.file("tunes.jsonl"))
    let lines = try records.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }
    try Data(lines.joined().utf8).write(to: url)
    return url
  }

  // MARK: What changes

  @Test func halfIsInsertedAndHalfUpdated() async throws {
    try await tunes.store((0..<500).map { "c\($0)" })
    var options = ImportOptions()
    let progress = Progress(totalUnitCount: 0)
    options.progress = progress
    let report = try await tunes.container.importObjects(from: records(1_000), options: options)
    let changes = try #require(report.changes)
    let inserted = changes.inserted.filter { $0.entityName == "Tune" }
    #expect(inserted.count == 500 && changes.updated.count == 500 && changes.deleted.isEmpty)
    #expect(changes.inserted.count == 507 && changes.all.count == 1_007)
    #expect(changes.all.allSatisfy { !$0.isProvisional })
    #expect(report.recordCount == 1_000 && report.insertedCount == 500 && report.updatedCount == 500)
    #expect(report.refusedCount == 0 && report.commitCount == 1)
    // One for each pass.
    #expect(report.lookupCount == 2)
    #expect(progress.totalUnitCount == 2_000 && progress.completedUnitCount == 2_000)
    #expect(progress.fractionCompleted == 1)
  }

  @Test func codesOfTheSameCharactersAndOtherBytesAreTwo() async throws {
    let codes = ["caf\u{E9}", "cafe\u{301}"]
    try await tunes.store(codes)
    let records = codes.map { TuneRecord(code: $0, title: "new", disc: nil) }
    let report = try await tunes.container.importObjects(from: records)
    #expect(report.updatedCount == 2 && report.insertedCount == 0)
  }

  /// The cancelled sequence ends, and doesn't throw an error.
  @Test func aStreamThatIsCancelledBetweenTwoBatchesIsCancelled() async throws {
    let (stream, continuation) = AsyncStream<TuneRecord>.makeStream()
    let (commits, wakeUp) = AsyncStream<Void>.makeStream()
    var options = ImportOptions()
    options.commits = .eachBatch(of: 1)
    options.didCommit = { _ in wakeUp.yield() }
    let task = Task { [tunes, options] in
      try await tunes.container.importRecords(from: stream, with: TuneRecord.objectImport, options: options)
    }
    continuation.yield(TuneRecord(code: "a", title: "new", disc: nil))
    for await _ in commits { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await tunes.rows() == ["a new 1 -"])
  }

  @Test func aSingleObjectIsImported() async throws {
    let record = TuneRecord(code: "A", title: "new", disc: 3)
    let first = try await tunes.container.importObject(from: record)
    let second = try await tunes.container.importObject(from: record)
    #expect(first.changes?.inserted.count == 2 && second.changes?.updated.count == 1)
    #expect(try await tunes.rows() == ["A new 2 3"])
  }

  @Test func oneClosureMakesOnePass() async throws {
    var options = ImportOptions()
    options.progress = Progress(totalUnitCount: 0)
    let plain = (0..<10).map { PlainRecord(code: "\($0)", title: "a") }
    let report = try await tunes.container.importObjects(from: plain, options: options)
    #expect(options.progress?.totalUnitCount == 10 && options.progress?.completedUnitCount == 10)
    #expect(report.lookupCount == 1)
    #expect(PlainRecord.hasProperties && !PlainRecord.hasRelationships && TuneRecord.hasRelationships)
  }

  /// Foundation ends the program when the total of a progress becomes 0.
  @Test(arguments: [0, 1, 100] as [Int64]) func nothingToImportIsDone(_ total: Int64) async throws {
    var options = ImportOptions()
    options.progress = Progress(totalUnitCount: total)
    let commit = try tunes.commit()
    let report = try await tunes.container.importObjects(from: [TuneRecord](), options: options)
    #expect(report.recordCount == 0 && options.progress?.fractionCompleted == 1)
    #expect(try tunes.commit() == commit)
  }

  @Test func aProgressCountsTheImportThatUsesItNow() async throws {
    var options = ImportOptions()
    options.progress = Progress(totalUnitCount: 0)
    let plain = (0..<10).map { PlainRecord(code: "\($0)", title: "a") }
    for records in [plain, [], plain] {
      try await tunes.container.importObjects(from: records, options: options)
      #expect(options.progress?.fractionCompleted == 1)
    }
    #expect(options.progress?.totalUnitCount == 10 && options.progress?.completedUnitCount == 10)
  }

  @Test func propertiesOfAllComeBeforeRelationshipsOfAny() async throws {
    let notes = Notes()
    var description = ObjectImport<String, Tune>(id: { source, _ in source })
    description.updateProperties = { source, _, _ in notes.add("p\(source)") }
    description.updateRelationships = { source, _, _, _ in notes.add("r\(source)") }
    description.shouldInsert = { source, _ in source != "x" }
    for isRepeatable in [true, false] {
      let input = ImportInput<String>(isRepeatable: isRepeatable) {
        var rest = ["c", "x", "b", "a"]
        return { rest.popLast() }
      }
      _ = try await tunes.container.importRecords(input, with: description)
    }
    #expect(notes.all.joined(separator: " ") == "pa pb pc ra rb rc pa pb pc ra rb rc")
  }

  @Test func relationshipsOfABatchMayFollowItsProperties() async throws {
    let notes = Notes()
    var description = ObjectImport<String, Tune>(id: { source, _ in source })
    description.updateProperties = { source, _, _ in notes.add("p\(source)") }
    description.updateRelationships = { source, _, _, _ in notes.add("r\(source)") }
    let input = ImportInput<String>(isRepeatable: true) {
      notes.add("read")
      var rest = ["c", "b", "a"]
      return { rest.popLast() }
    }
    var options = ImportOptions()
    options.relationships = .afterEachBatch
    options.commits = .eachBatch(of: 2)
    options.progress = Progress(totalUnitCount: 0)
    let report = try await tunes.container.importRecords(input, with: description, options: options)
    #expect(notes.all.joined(separator: " ") == "read pa pb ra rb pc rc")
    #expect(report.commitCount == 2 && report.lookupCount == 2)
    #expect(options.progress?.completedUnitCount == 6 && options.progress?.isFinished == true)
  }

  /// For both orders in which relationships are set.
  @Test func whatTheFirstPassDeletesHasNoRelationships() async throws {
    for place in [ImportOptions.RelationshipsOrder.afterAllRecords, .afterEachBatch] {
      try await tunes.store(["a", "b"])
      var description = ObjectImport<String, Tune>(id: { source, _ in source })
      description.updateProperties = { source, tune, context in
        if source == "a" { context.delete(tune) }
      }
      description.updateRelationships = { _, tune, context, _ in
        let disc = Disc(tune.code == "a" ? 1 : 2)
        context.insert(disc)
        tune.disc = disc
      }
      var options = ImportOptions()
      options.relationships = place
      options.progress = Progress(totalUnitCount: 0)
      let report = try await tunes.container.importRecords(
        ImportInput(["a", "b"]),
        with: description,
        options: options
      )
      #expect(report.changes?.deleted.count == 1)
      #expect(options.progress?.isFinished == true)
      try await tunes.container.resetStore()
    }
  }

  @Test func aThousandChangesComeInOnePair() async throws {
    try await tunes.store((0..<500).map { "c\($0)" })
    let context = try tunes.container.context()
    let all = From<Tune>().orderBy(\.code)
    let controller = FetchedResultsController(fetchRequest: all, context: context)
    try controller.performFetch()
    let delegate = Counter()
    controller.delegate = delegate
    try await tunes.container.importObjects(from: records(1_000))
    try context.refresh()
    #expect(delegate.willCount == 1 && delegate.didCount == 1 && delegate.changeCount == 1_000)
  }

  private final class Counter: FetchedResultsControllerDelegate {
    typealias Object = Tune
    var (willCount, didCount, changeCount) = (0, 0, 0)
    func controllerWillChangeContent(_ controller: FetchedResultsController<Tune>) { willCount += 1 }
    func controllerDidChangeContent(_ controller: FetchedResultsController<Tune>) { didCount += 1 }
    func controller(
      _ controller: FetchedResultsController<Tune>,
      didChange object: Tune,
      at indexPath: ListPath?,
      for type: ListChanges.Kind,
      newIndexPath: ListPath?
    ) { changeCount += 1 }
  }

  @Test func changesOfSeveralSavesAddUp() async throws {
    let context = try tunes.container.context()
    var changes = ImportChanges()
    let saves = context.onDidSave { changes.add($0) }
    let hundred = (0..<100).map { Tune("\($0)") }
    for tune in hundred { context.insert(tune) }
    try context.save()
    hundred[50].title = "changed"
    try context.save()
    for tune in hundred.prefix(10) { context.delete(tune) }
    try context.save()
    withExtendedLifetime(saves) {}
    #expect(changes.inserted.count == 90 && changes.updated.isEmpty && changes.deleted.isEmpty)
  }

  // MARK: Failing

  @Test func aFailedImportChangesNothing() async throws {
    try await tunes.store(["c1"])
    let cache = ImportedObjectCache()
    var options = ImportOptions()
    options.cache = cache
    var description = TuneRecord.objectImport
    let link = try #require(description.updateRelationships)
    description.updateRelationships = { record, tune, context, cache in
      try link(record, tune, context, cache)
      // Discs were inserted by then, and are in the cache of the import.
      if record.code == "c9" { throw Refusal() }
    }
    await #expect(throws: Refusal.self) {
      try await tunes.container.importRecords(ImportInput(records(10)), with: description, options: options)
    }
    #expect(try await tunes.rows() == ["c1 old 0 -"])
    #expect(cache.count == 0)
  }

  @Test(arguments: [true, false]) func aCancelledImportChangesNothing(_ byTask: Bool) async throws {
    // Leases of numbers are commits of their own.
    try await tunes.store(["old"])
    let progress = Progress(totalUnitCount: 0)
    var options = ImportOptions()
    options.progress = progress
    let url = try file(records(3_000))
    let (container, handle) = (tunes.container, Locked<Task<Void, any Error>?>(nil))
    let commits = Locked<[UInt64]>([])
    var description = TuneRecord.objectImport
    let tunes = tunes
    description.updateRelationships = { record, _, _, _ in
      guard record.code == "c1500" else { return }
      commits.withLock { $0.append((try? tunes.commit()) ?? 0) }
      if byTask { handle.withLock { $0?.cancel() } } else { progress.cancel() }
    }
    let (ready, start) = AsyncStream<Void>.makeStream()
    let task = Task { [description, options] in
      for await _ in ready { break }
      _ = try await container.importRecords(.jsonLines(at: url), with: description, options: options)
    }
    handle.withLock { $0 = task }
    start.yield()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await tunes.rows() == ["old old 0 -"])
    #expect(commits.withLock { $0 } == [try tunes.commit()])
    #expect(progress.fractionCompleted < 1)
  }

  // MARK: Commits

  @Test func eachBatchIsACommit() async throws {
    let notes = Notes()
    var options = ImportOptions()
    options.commits = .eachBatch(of: 100)
    options.didCommit = { notes.add("\($0.inserted.count) \($0.updated.count)") }
    options.progress = Progress(totalUnitCount: 0)
    let report = try await tunes.container.importJSONLines(
      at: try file(records(250)),
      as: TuneRecord.self,
      options: options
    )
    #expect(report.commitCount == 6 && report.changes == nil && report.insertedCount == 250)
    #expect(notes.all.prefix(3) == ["100 0", "100 0", "50 0"])
    #expect(notes.all[3] == "7 100")
    #expect(options.progress?.totalUnitCount == 500 && options.progress?.fractionCompleted == 1)
    #expect(try await tunes.rows().count == 250)
    let stars = try await tunes.container.query { try $0.count(From<Disc>()) }
    #expect(stars == 7)
  }

  @Test func aBatchThatChangesNothingIsNoCommit() async throws {
    var options = ImportOptions()
    options.commits = .eachBatch(of: 10)
    var description = PlainRecord.objectImport
    description.shouldInsert = { _, _ in false }
    let plain = (0..<50).map { PlainRecord(code: "\($0)", title: "a") }
    let before = try tunes.commit()
    let report = try await tunes.container.importRecords(
      ImportInput(plain),
      with: description,
      options: options
    )
    #expect(report.refusedCount == 50 && report.commitCount == 0)
    options.commits = .once
    let streamed = try await tunes.container.importRecords(
      from: AsyncStream { continuation in
        for record in plain { continuation.yield(record) }
        continuation.finish()
      },
      with: description,
      options: options
    )
    #expect(streamed.refusedCount == 50 && streamed.commitCount == 0)
    #expect(try tunes.commit() == before)
  }

  @Test func whatWasCommittedStays() async throws {
    var options = ImportOptions()
    options.commits = .eachBatch(of: 10)
    var description = PlainRecord.objectImport
    description.updateProperties = { record, tune, _ in if record.code == "25" { throw Refusal() } }
    let plain = (0..<50).map { PlainRecord(code: "\($0)", title: "a") }
    await #expect(throws: Refusal.self) {
      try await tunes.container.importRecords(ImportInput(plain), with: description, options: options)
    }
    #expect(try await tunes.rows().count == 20)
  }

  // MARK: Sequences

  private func sequence(
    _ records: [TuneRecord],
    failingAfter: Int? = nil
  ) -> AsyncThrowingStream<TuneRecord, any Error> {
    AsyncThrowingStream { continuation in
      for record in records.prefix(failingAfter ?? .max) { continuation.yield(record) }
      continuation.finish(throwing: failingAfter == nil ? nil : Refusal())
    }
  }

  @Test func recordsOfASequenceAreImported() async throws {
    var options = ImportOptions()
    options.progress = Progress(totalUnitCount: 0)
    options.cache = ImportedObjectCache()
    let once = try await tunes.container.importRecords(
      from: sequence(records(5_000)),
      with: TuneRecord.objectImport,
      options: options
    )
    #expect(once.insertedCount == 5_000 && once.commitCount == 1 && once.changes?.inserted.count == 5_007)
    #expect(options.progress?.fractionCompleted == 1 && options.cache?.count == 5_007)
    options.commits = .eachBatch(of: 100)
    let batches = try await tunes.container.importRecords(
      from: sequence(records(250, title: "newer")),
      with: TuneRecord.objectImport,
      options: options
    )
    #expect(batches.updatedCount == 250 && batches.commitCount == 3 && batches.changes == nil)
    let newer = From<Tune>().where { $0.title == "newer" }
    #expect(try await tunes.container.query { try $0.count(newer) } == 250)
  }

  @Test func aSequenceThatFailsChangesNothing() async throws {
    try await tunes.store(["old"])
    await #expect(throws: Refusal.self) {
      try await tunes.container.importRecords(
        from: sequence(records(5_000), failingAfter: 4_500),
        with: TuneRecord.objectImport
      )
    }
    #expect(try await tunes.rows() == ["old old 0 -"])
  }

  // MARK: Caches

  @Test func aCacheSparesTheQuery() async throws {
    var options = ImportOptions()
    options.cache = ImportedObjectCache()
    let first = try await tunes.container.importObjects(from: records(50), options: options)
    let second = try await tunes.container.importObjects(from: records(50), options: options)
    #expect(first.lookupCount == 1 && second.lookupCount == 0)
    #expect(options.cache?.count == 57)
    #expect(try await tunes.rows().allSatisfy { $0.contains(" new 2 ") })
    let one = options.cache?.objectID(Tune.self, withUniqueID: "c1")
    options.cache?.remove(Tune.self, withUniqueID: "c1")
    #expect(one != nil && options.cache?.objectID(Tune.self, withUniqueID: "c1") == nil)
    options.cache?.removeAll()
    #expect(options.cache?.count == 0)
  }

  /// IDs are compared, not their hash values.
  @Test func aCacheTellsEntitiesAndIDsApart() async throws {
    let cache = ImportedObjectCache()
    try await tunes.container.write { context in
      let tunes = (0..<2_000).map { Tune("\($0)") }
      for tune in tunes { context.insert(tune) }
      // An ID of another entity is another key.
      let disc = try context.insertObject(Disc.self, with: 7, cache: cache)
      cache.register(tunes)
      for tune in tunes {
        let found = try cache.object(Tune.self, withUniqueID: tune.code, in: context)
        #expect(found === tune)
      }
      let found = try cache.object(Disc.self, withUniqueID: 7, in: context)
      #expect(found === disc)
    }
  }

  // MARK: Passes

  @Test func relationshipsAloneComeWhenAllObjectsAreThere() async throws {
    let notes = Notes()
    var description = ObjectImport<String, Tune>(id: { source, _ in source })
    let all = From<Tune>()
    description.updateRelationships = { _, _, context, _ in notes.add("\(try context.count(all))") }
    var options = ImportOptions()
    options.commits = .eachBatch(of: 1)
    let progress = Progress(totalUnitCount: 0)
    options.progress = progress
    let input = ImportInput(["a", "b"])
    let report = try await tunes.container.importRecords(input, with: description, options: options)
    #expect(notes.all == ["2", "2"])
    #expect(report.recordCount == 2 && report.insertedCount == 2 && report.refusedCount == 0)
    #expect(progress.totalUnitCount == 2 && progress.completedUnitCount == 2)
  }

  @Test func aDuplicateIsNamedOnce() async throws {
    try await tunes.store(["A", "A", "A"])
    let records = [TuneRecord(code: "A", title: "new", disc: nil)]
    let report = try await tunes.container.importObjects(from: records + records)
    let others = try #require(report.storedDuplicates.first?.value)
    #expect(others.count == 2 && Set(others).count == 2)
    var options = ImportOptions()
    options.commits = .eachBatch(of: 1)
    let again = try await tunes.container.importObjects(from: records + records, options: options)
    #expect(again.storedDuplicates == report.storedDuplicates)
  }

  // MARK: Cancelling

  /// A block works outside of any task.
  @Test func anImportInABlockIsCancelled() async throws {
    let handle = Locked<Task<Void, any Error>?>(nil)
    var description = ObjectImport<String, Tune>(id: { source, _ in source })
    description.updateProperties = { source, _, _ in if source == "0" { handle.withLock { $0?.cancel() } } }
    let (ready, start) = AsyncStream<Void>.makeStream()
    let task = Task { [tunes, description] in
      for await _ in ready { break }
      try await tunes.container.write { context in
        _ = try context.importObjects(from: (0..<100).map { "\($0)" }, with: description)
      }
    }
    handle.withLock { $0 = task }
    start.yield()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await tunes.rows().isEmpty)
  }

  @Test(.timeLimit(.minutes(60))) func aWaitingImportIsCancelledByItsProgress() async throws {
    let (stream, continuation) = AsyncStream<TuneRecord>.makeStream()
    defer { continuation.finish() }
    let progress = Progress(totalUnitCount: 0)
    var options = ImportOptions()
    options.progress = progress
    let task = Task { [tunes, options] in
      try await tunes.container.importRecords(
        from: stream,
        with: TuneRecord.objectImport,
        options: options
      )
    }
    continuation.yield(TuneRecord(code: "a", title: "new", disc: nil))
    try await Task.sleep(for: .milliseconds(100))
    progress.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await tunes.rows().isEmpty)
  }
}
