/// A context of its own on an executor of the program's own: what a ``BackgroundContext`` is on a dispatch queue.
///
/// ```swift
/// let context = try container.newBackgroundContext(executor: parser.executor)
/// try await context.perform { context in
///   context.insert(Song(title: "Carey", seconds: 182))
///   try context.save()
/// }
/// ```
///
/// It has no way to wait for a block without awaiting it: an executor runs jobs, and only a dispatch queue can be waited for. A block holds
/// up everything else that the executor runs, for as long as the disk takes: an executor on the threads that Swift's tasks share is a bad place for saves.
public actor ExecutorContext {
  private let executor: any SerialExecutor
  private let blocks: ContextBlocks

  init(
    coordinator: StoreCoordinator,
    name: String?,
    mergePolicy: MergePolicy,
    executor: any SerialExecutor
  ) throws(ContextError) {
    self.executor = executor
    blocks = try ContextBlocks(coordinator: coordinator, name: name, mergePolicy: mergePolicy)
  }

  isolated deinit { blocks.end() }

  /// The executor that runs the context's work.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Runs `body` with the context, and returns what it returns.
  ///
  /// Each block starts at the newest commit, with what the blocks before have left unsaved. An error of a getter makes this block throw, at its end at
  /// the latest. The next blocks throw it too, until one of them rolls the context back or resets it.
  ///
  /// - Throws: what `body` throws; a ``ContextError`` for what went wrong while values were read, and where the context can't move to the
  ///   newest commit, without having called `body`.
  public func perform<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    try blocks.perform(body)
  }
}
