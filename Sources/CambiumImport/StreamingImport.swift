import Cambium

/// An import of records that arrive while it runs.
private struct StreamingImport<Record: Sendable, Object: ManagedObject>: Sendable {
  let description: ObjectImport<Record, Object>
  let options: ImportOptions
  let monitor: ImportMonitor
  /// The context that has the import's unsaved changes between its batches.
  let context: BackgroundContext
  let cache: ImportedObjectCache?

  func run<Records: AsyncSequence & Sendable>(_ records: Records) async throws -> ImportReport
  where Records.Element == Record {
    var counts = ImportCounts()
    var commitCount = 0
    var batch: [Record] = []
    monitor.expect(nil)
    for try await record in records {
      try monitor.check()
      batch.append(record)
      if batch.count < options.commits.batchCount(after: counts.records) { continue }
      try await run(batch, &counts, &commitCount)
      batch.removeAll()
    }
    // Some sequences end when their task is cancelled.
    try monitor.check()
    if !batch.isEmpty { try await run(batch, &counts, &commitCount) }
    var report = ImportReport(counts)
    if options.commits == .once {
      let changes = try await context.perform { try $0.commitImport(options, cache, monitor) }
      if !changes.isEmpty { commitCount += 1 }
      report.changes = changes
    }
    report.commitCount = commitCount
    monitor.finish(counts.records * description.passCount)
    return report
  }

  private func run(_ batch: [Record], _ counts: inout ImportCounts, _ commitCount: inout Int) async throws {
    let (imported, hasCommitted) = try await context.perform { context in
      context.author = options.author
      var run = ImportRun(description, in: context, cache: cache, monitor)
      _ = try run.run(batch)
      if options.commits == .once { return (run.counts, false) }
      let changes = try context.commitImport(options, cache, monitor)
      // Saved objects needn't stay in memory.
      context.reset()
      return (run.counts, !changes.isEmpty)
    }
    counts += imported
    if hasCommitted { commitCount += 1 }
  }
}

extension PersistentContainer {
  /// Imports the records of an asynchronous sequence, as ``importRecords(_:with:options:)`` does those of an input
  /// that can be read once. It runs in a context of its own, not in the queue of `write`, so others
  /// can write while it waits for records.
  ///
  /// - Throws: Also the errors of the sequence.
  @discardableResult
  public func importRecords<Records: AsyncSequence & Sendable, Object: ManagedObject>(
    from records: Records,
    with description: ObjectImport<Records.Element, Object>,
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport where Records.Element: Sendable {
    let monitor = ImportMonitor(options.progress)
    let job = StreamingImport(
      description: description,
      options: options,
      monitor: monitor,
      context: try newBackgroundContext(mergePolicy: options.mergePolicy),
      cache: options.cache.map(ImportedObjectCache.init(stagingFor:))
    )
    do {
      return try await withTaskCancellationHandler {
        try await monitor.endingWithProgress { try await job.run(records) }
      } onCancel: {
        monitor.cancel()
      }
    } catch {
      if monitor.isCancelled { throw CancellationError() }
      throw error
    }
  }
}
