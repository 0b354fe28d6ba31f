import Cambium
import Synchronization

/// An import of records into a container.
struct ImportJob<Record: Sendable, Object: ManagedObject>: Sendable {
  private let source: ImportInput<Record>
  private let description: ObjectImport<Record, Object>
  private let options: ImportOptions
  private let keepsIDs: Bool
  private let monitor: ImportMonitor

  /// The result of a job.
  struct Outcome: Sendable {
    var report: ImportReport
    /// The IDs of the objects, in order, if they were asked for.
    var ids: [ManagedObjectID] = []
  }

  /// - Parameter keepsIDs: whether the outcome has the IDs of the objects.
  init(
    _ source: ImportInput<Record>,
    _ description: ObjectImport<Record, Object>,
    _ options: ImportOptions,
    keepsIDs: Bool = false
  ) {
    self.source = source
    self.description = description
    self.options = options
    self.keepsIDs = keepsIDs
    monitor = ImportMonitor(options.progress)
  }

  func run(in container: PersistentContainer) async throws -> Outcome {
    let stored = StoredOutcome()
    do {
      return try await withTaskCancellationHandler {
        try await container.write(mergePolicy: options.mergePolicy) { context, shouldSave in
          // The import saves by itself. Changes that hooks make after that are not saved, and are lost with the
          // context.
          shouldSave = false
          let outcome = try run(in: context)
          stored.outcome.withLock { $0 = outcome }
          return outcome
        }
      } onCancel: {
        monitor.cancel()
      }
    } catch {
      // An error in a hook after the last commit is no failure of the import.
      if let outcome = stored.outcome.withLock({ $0 }) { return outcome }
      if monitor.isCancelled { throw CancellationError() }
      throw error
    }
  }

  /// The outcome once everything is stored.
  private final class StoredOutcome: Sendable {
    let outcome = Mutex<Outcome?>(nil)
  }

  /// The number of units by the count of the source; nil if it isn't known. The count may be any number, because a
  /// program may have it from a server.
  private var announcedUnitCount: Int? {
    guard let count = source.count else { return nil }
    let (units, isTooLarge) = count.multipliedReportingOverflow(by: description.passCount)
    return isTooLarge ? nil : units
  }

  private func run(in context: ManagedObjectContext) throws -> Outcome {
    context.author = options.author
    monitor.expect(announcedUnitCount)
    let cache = options.cache.map(ImportedObjectCache.init(stagingFor:))
    var run = ImportRun(description, in: context, cache: cache, monitor)
    var outcome = Outcome(report: ImportReport(run.counts))
    var changes = ImportChanges()
    var commitCount = 0
    let notes = ImportNotes()
    try runPasses(&run, context, notes) { ids in
      // A later batch, or the second pass, may have deleted an object.
      let kept = ids.filter { (try? context.existingObject(Object.self, with: $0)) != nil }
      changes = try context.commitImport(options, cache, monitor)
      // The save may have resolved new objects to existing ones.
      let existing = context.aliases
      outcome.ids += kept.map { existing[$0] ?? $0 }
      if !changes.isEmpty { commitCount += 1 }
    }
    outcome.report = ImportReport(run.counts)
    outcome.report.commitCount = commitCount
    (outcome.report.paddedCount, outcome.report.firstPadded) = (notes.paddedCount, notes.firstPadded)
    outcome.report.changes = options.commits == .once ? changes : nil
    monitor.finish(run.counts.records * description.passCount)
    return outcome
  }

  /// Makes the passes one after the other where the records can be read twice, and for each batch where they can't.
  /// An import without a key, or without uniquing, is made batch by batch as well, because a second pass couldn't
  /// find the object of a record again.
  ///
  /// - Parameters:
  ///   - notes: receives the notes of the first reading.
  ///   - commit: saves, and receives the IDs of the objects since the commit before, if they are kept.
  private func runPasses(
    _ run: inout ImportRun<Record, Object>,
    _ context: ManagedObjectContext,
    _ notes: ImportNotes,
    _ commit: ([ManagedObjectID]) throws -> Void
  ) throws {
    // The first pass inserts objects, also where it writes nothing into them.
    let isSplit =
      options.relationships == .afterAllRecords && description.updateRelationships != nil
      && description.key != nil && source.isRepeatable
      // Of several objects with one ID, a second pass finds only the first.
      && description.isUniquing
    var ids: [ManagedObjectID] = []
    var firstCount: Int?
    for passes in isSplit ? [.properties, .relationships] : [.both] as [ImportRun<Record, Object>.Passes] {
      var records = try source.openReader(firstCount == nil ? notes : ImportNotes())
      var recordCount = 0
      while true {
        let batch = try nextBatch(of: &records, after: recordCount)
        if batch.isEmpty { break }
        let objects = try run.run(batch, passes)
        if keepsIDs, passes != .relationships { ids += objects.map { $0.objectID } }
        recordCount += batch.count
        if options.commits != .once {
          try commit(ids)
          ids.removeAll()
          // Saved objects needn't stay in memory.
          context.reset()
        }
      }
      if let firstCount, firstCount != recordCount {
        let message = "the source had \(firstCount) records when first read, and has \(recordCount) now"
        throw ImportError(.sourceChanged, message)
      }
      firstCount = recordCount
      if passes == .properties { monitor.expect(recordCount * description.passCount) }
    }
    if options.commits == .once { try commit(ids) }
  }

  private func nextBatch(
    of records: inout ImportInput<Record>.Reader,
    after recordCount: Int
  ) throws -> [Record] {
    let count = needsOneBatch ? .max : options.commits.batchCount(after: recordCount)
    var batch: [Record] = []
    while batch.count < count, let record = try records() {
      try monitor.check()
      batch.append(record)
    }
    return batch
  }
}

extension ImportJob {
  /// True if the import takes all records as one batch. It does if it has one commit, its records are in memory,
  /// and a rule chooses among several records of one ID.
  private var needsOneBatch: Bool {
    options.commits == .once && source.isCollection
      && (description.duplicates == .lastWins || !description.isUniquing)
  }
}

extension ImportOptions.Commits {
  /// The records of the next batch.
  ///
  /// In an import with one commit, each batch has as many records as all batches before it, up to a bound: the
  /// lookup for a batch reads every unsaved object, and the decoded records of a batch are in memory.
  func batchCount(after recordCount: Int) -> Int {
    switch self {
    case .once: min(max(4_096, recordCount), 65_536)
    case .eachBatch(let count): max(1, count)
    }
  }
}

extension ManagedObjectContext {
  /// Saves the changes of an import, hands its objects to the cache, and reports the commit.
  func commitImport(
    _ options: ImportOptions,
    _ cache: ImportedObjectCache?,
    _ monitor: ImportMonitor
  ) throws -> ImportChanges {
    var changes = ImportChanges()
    let saves = onDidSave { changes.add($0) }
    defer { withExtendedLifetime(saves) {} }
    try monitor.check()
    try saveLast(durability: options.durability)
    cache?.handOver(unifiedAs: aliases)
    if !changes.isEmpty { options.didCommit?(changes) }
    return changes
  }
}

extension PersistentContainer {
  /// Imports records in the background, in the queue of the container's `write` blocks, as an
  /// ``ObjectImport`` says.
  ///
  /// With ``ImportOptions/Commits/once`` an import that throws or is cancelled changes nothing. Properties come
  /// first and relationships second. This holds for all records at once if ``ImportOptions/relationships`` says so,
  /// the source can be read twice, and the import has a key and is uniquing. Otherwise it holds batch by batch.
  ///
  /// O(records · log n). An import with one commit also looks at all its changed objects for each batch, of up to
  /// 65,536 records.
  ///
  /// - Throws: `CancellationError` when the task or the progress is cancelled; ``ImportError`` for what can't be
  ///   read; what closures and the save throw.
  @discardableResult
  public func importRecords<Record: Sendable, Object: ManagedObject>(
    _ source: ImportInput<Record>,
    with description: ObjectImport<Record, Object>,
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    try await ImportJob(source, description, options).run(in: self).report
  }
}
