import Predicates

/// The objects that a query describes, in batches: however many they are, only one batch of records is in memory.
///
/// The list of the objects and its order are fixed when the first batch is requested, unsaved changes included.
/// Later changes, saves and merges don't change the list. The objects are the context's and show its state; an
/// object that has been deleted since is left out.
///
/// Iterate on the context's actor or task. Between two batches the task is suspended for a moment, so that other
/// tasks can run, and `cancelled` is thrown if the task was cancelled.
public struct ObjectBatches<Root: ManagedObject>: AsyncSequence {
  /// A batch: never empty.
  public typealias Element = [Root]
  /// The error of fetching a batch.
  public typealias Failure = ContextError
  let stream: () -> ObjectStream<Root>

  /// Makes a separate iterator, which fixes the list of objects when the first batch is requested.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: stream()) }

  /// An iterator over the batches.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let stream: ObjectStream<Root>

    /// Returns the next batch, or nil when there are no more.
    ///
    /// - Throws: What a fetch of the query throws, and `cancelled` between two batches.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(ContextError) -> [Root]? {
      if stream.hasBegun { await Task.yield() }
      if Task.isCancelled { throw ContextError.cancelledQuery() }
      return try stream.next()
    }
  }
}

/// The batches behind ``ObjectBatches`` and `forEach`.
final class ObjectStream<Root: ManagedObject> {
  private let context: ManagedObjectContext
  /// The query, and the entity whose objects it is for.
  private let resolve: Resolve
  private let batchCount: Int
  private var results: Results?
  private var isOver = false

  typealias Resolve = (ManagedObjectContext) throws(ContextError) -> (
    query: ResolvedQuery, entity: StoredEntity
  )

  private struct Results {
    let cursor: any RowCursor
    let source: any ObjectSource
    let entity: StoredEntity
    let prefetchedPaths: [[PrefetchStep]]
  }

  init(
    _ context: ManagedObjectContext,
    batchCount: Int,
    _ resolve: @escaping Resolve
  ) {
    self.context = context
    self.resolve = resolve
    self.batchCount = batchCount
  }

  var hasBegun: Bool { results != nil }

  /// Returns the next objects, at least one; nil when there are no more. Releases the records of the objects before.
  func next() throws(ContextError) -> [Root]? {
    while !isOver {
      let results = if let begun = results { begun } else { try begin() }
      try results.source.checkCancellation()
      context.releaseKept()
      // Objects point to records of the context's own snapshot only. Below a child, the parent may have changed.
      let isCurrent = results.source.commit == context.source.commit && context.parent == nil
      let rows = try results.cursor.next(batchCount) {
        isCurrent ? context.source.keep($0, of: results.entity) : $0
      }
      isOver = rows.count < batchCount
      let objects: [Root] = try context.objects(rows, results.entity, haveRecords: isCurrent)
      try context.prefetch(results.prefetchedPaths, of: objects)
      if !objects.isEmpty { return objects }
    }
    return nil
  }

  private func begin() throws(ContextError) -> Results {
    try ContextError.resolving { () throws(QueryError) in try QueryError.checkBatch(of: batchCount) }
    let (query, entity) = try resolve(context)
    let paths = try context.prefetchPaths(of: query, entity)
    let source = context.source.another()
    let cursor = try source.cursor(of: query, over: context.layers(for: query))
    let begun = Results(cursor: cursor, source: source, entity: entity, prefetchedPaths: paths)
    results = begun
    return begun
  }
}
