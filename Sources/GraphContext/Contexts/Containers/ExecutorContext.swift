/// A context on an executor of the program's own. It corresponds to a ``BackgroundContext``, which runs on a dispatch
/// queue.
///
/// ```swift
/// let context = try container.newBackgroundContext(executor: parser.executor)
/// try await context.perform { context in
///   context.insert(Song(title: "Carey", seconds: 182))
///   try context.save()
/// }
/// ```
///
/// It has no blocking call that waits for a block: a thread can wait for a dispatch queue, but not for an executor.
/// While a block waits for the disk, it holds up all other jobs of the executor. So an executor on the threads that
/// Swift's tasks share is a bad choice for saves.
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

  /// Runs `body` with the context, and returns its result.
  ///
  /// Each block starts at the newest commit, with the unsaved changes of earlier blocks. An error of a getter makes
  /// this block throw, at its end at the latest. The next blocks throw it too, until one of them rolls the context back
  /// or resets it.
  ///
  /// - Throws: what `body` throws; a ``ContextError`` if a value couldn't be read, or, without calling `body`, if the
  ///   context can't move to the newest commit.
  public func perform<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    try blocks.perform(body)
  }
}
