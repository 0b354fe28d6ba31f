import Cambium

/// An import of records into a container.
struct ImportJob<Record: Sendable, Object: ManagedObject>: Sendable {
  private let source: ImportInput<Record>
  private let description: ObjectImport<Record, Object>
  private let options: ImportOptions
  private let keepsIDs: Bool
  private let monitor: ImportMonitor

  /// What comes of a job.
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

  /// The records of the first batch of an import with one commit. Each later one has as many as all before: a query that sees unsaved objects looks at each of them, so
  /// all queries together look at each object a few times.
  private static var firstBatchCount: Int { 4_096 }

  func run(in container: PersistentContainer) async throws -> Outcome {
    do {
      return try await withTaskCancellationHandler {
        try await container.write(mergePolicy: options.mergePolicy) { context in try run(in: context) }
      } onCancel: {
        monitor.cancel()
      }
    } catch {
      if monitor.isCancelled { throw CancellationError() }
      throw error
    }
  }

  private func run(in context: ManagedObjectContext) throws -> Outcome {
    context.author = options.author
    monitor.expect(source.count.map { $0 * description.passCount })
    let cache = options.cache.map(ImportedObjectCache.init(stagingFor:))
    var run = ImportRun(description, in: context, cache: cache, monitor)
    var outcome = Outcome(report: ImportReport(run.counts))
    var changes = ImportChanges()
    let saves = context.onDidSave { changes.add($0) }
    defer { withExtendedLifetime(saves) {} }
    var commitCount = 0
    try runPasses(&run, context, &outcome.ids) {
      try monitor.check()
      try context.save(durability: options.durability)
      cache?.handOver()
      commitCount += 1
      options.didCommit?(changes)
      if options.commits != .once { changes = ImportChanges() }
    }
    outcome.report = ImportReport(run.counts)
    outcome.report.commitCount = commitCount
    outcome.report.changes = options.commits == .once ? changes : nil
    monitor.finish(run.counts.records * description.passCount)
    return outcome
  }

  /// Makes the passes one after the other where the records can be read twice, and for each batch where they can't.
  private func runPasses(
    _ run: inout ImportRun<Record, Object>,
    _ context: ManagedObjectContext,
    _ ids: inout [ManagedObjectID],
    _ commit: () throws -> Void
  ) throws {
    let isSplit = description.hasTwoPasses && description.key != nil && source.isRepeatable
    for passes in isSplit ? [.properties, .relationships] : [.both] as [ImportRun<Record, Object>.Passes] {
      var records = try source.makeReader()
      var recordCount = 0
      while true {
        let batch = try nextBatch(of: &records, after: recordCount)
        if batch.isEmpty { break }
        let objects = try run.run(batch, passes)
        if keepsIDs, passes != .relationships { ids += objects.map(\.objectID) }
        recordCount += batch.count
        if options.commits != .once {
          try commit()
          // What is saved needs no object in memory any more.
          context.reset()
        }
      }
      if passes == .properties { monitor.expect(recordCount * 2) }
    }
    if options.commits == .once { try commit() }
  }

  private func nextBatch(
    of records: inout ImportInput<Record>.Reader,
    after recordCount: Int
  ) throws -> [Record] {
    let count =
      switch options.commits {
      case .once: max(Self.firstBatchCount, recordCount)
      case .eachBatch(let count): max(1, count)
      }
    var batch: [Record] = []
    while batch.count < count, let record = try records() {
      if batch.count & 255 == 0 { try monitor.check() }
      batch.append(record)
    }
    return batch
  }
}

extension PersistentContainer {
  /// Imports records in the background, in the queue of the container's ``PersistentContainer/write(mergePolicy:_:)`` blocks, as an ``ObjectImport`` says.
  ///
  /// With ``ImportOptions/Commits/once`` an import that throws or is cancelled changes nothing. Properties come first and relationships second: for all records
  /// where the source can be read twice, else batch by batch.
  ///
  /// O(records · log n).
  ///
  /// - Throws: `CancellationError` when the task or the progress is cancelled; ``ImportError`` for what can't be read; what closures and the save
  ///   throw.
  @discardableResult
  public func importRecords<Record: Sendable, Object: ManagedObject>(
    _ source: ImportInput<Record>,
    with description: ObjectImport<Record, Object>,
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    try await ImportJob(source, description, options).run(in: self).report
  }
}
